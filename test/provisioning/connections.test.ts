import { fakeTravel } from '../fixtures/fake-travel.ts';
import {
  addressOf,
  allUsers,
  desiredOf,
  emailsOf,
  person,
  usersWhere,
  withFixture,
} from '../fixtures/provisioning.ts';

const conflict = { kind: 'conflict' };

test('nothing of one connection is seen in another', () =>
  withFixture(
    async ({ bridge }) => {
      const ada = await bridge.users.create('default', person('Ada', { externalId: '1' }));
      await expect(bridge.users.read('other', ada.id)).rejects.toMatchObject({ kind: 'notFound' });
      await expect(bridge.users.remove('other', ada.id)).rejects.toMatchObject({ kind: 'notFound' });
      const change = bridge.users.change('other', ada.id, (user) => user, 'patch');
      await expect(change).rejects.toMatchObject({ kind: 'notFound' });
      expect((await bridge.users.list('other', allUsers())).total).toBe(0);
      const byName = { field: 'userName', operator: 'eq', value: addressOf('Ada') } as const;
      expect((await bridge.users.list('other', usersWhere(byName))).rows).toEqual([]);
    },
    { more: ['other'] },
  ));

test('somebody of another connection of the account is a conflict that names nobody', () =>
  withFixture(
    async ({ bridge, travel }) => {
      await bridge.users.create('default', person('Ada'));
      const calls = travel.writes().length;
      const again = bridge.users.create('other', person('Ada', { userName: 'ada' }));
      await expect(again).rejects.toMatchObject(conflict);
      await expect(again).rejects.not.toThrow(/ada|default/i);
      expect(travel.writes()).toHaveLength(calls);
    },
    { more: ['other'] },
  ));

test('one userName may be in two connections', () =>
  withFixture(
    async ({ bridge }) => {
      const ada = await bridge.users.create('default', person('Ada', { userName: 'ada' }));
      const other = await bridge.users.create(
        'other',
        person('Ada', { userName: 'ada', ...emailsOf('ada@other.example') }),
      );
      expect(other.travelUserId).not.toBe(ada.travelUserId);
    },
    { more: ['other'] },
  ));

test('people of another connection are not imported, and whoever is claimed there is shown no more', () =>
  withFixture(
    async ({ bridge, travel, importTravelers: imported, connectionOf }) => {
      await bridge.users.create('default', person('Ada'));
      travel.addTraveler({ email: addressOf('Bob') });
      await imported(connectionOf('other'));
      await imported(connectionOf('default'));
      const names = async () =>
        (await bridge.users.list('other', allUsers())).rows.map((user) => desiredOf(user).userName);
      expect(await names()).toEqual(['bridge@travel.example', addressOf('Bob')]);
      await bridge.users.create('default', person('Bob'));
      expect(await names()).toEqual(['bridge@travel.example']);
      await imported(connectionOf('other'));
      expect(await names()).toEqual(['bridge@travel.example']);
    },
    { more: ['other'] },
  ));

test('who waits for an address of another connection gets it when that is free', () =>
  withFixture(
    async ({ bridge, patch, reconcileAfter: pass, traveler, findings }) => {
      const ada = await bridge.users.create('default', person('Ada'));
      const bob = await bridge.users.create('other', person('Bob'));
      await patch(bob.id, emailsOf(addressOf('Ada')), 'other');
      expect(await findings(bob.id, 'other')).toEqual(['email: emailTaken']);
      await patch(ada.id, emailsOf('new@corp.example'));
      await pass(0);
      expect((await traveler(bob.id, 'other'))?.email).toBe(addressOf('Ada'));
    },
    { more: ['other'] },
  ));

test('of two who join under one address in the same moment, from two connections, one is created and one refused', () =>
  withFixture(
    async ({ bridge, travel, reconcileAfter: pass }) => {
      const answers = await Promise.allSettled([
        bridge.users.create('default', person('Ada', { userName: 'ada' })),
        bridge.users.create('other', person('Eve', { userName: 'eve', ...emailsOf(addressOf('Ada')) })),
      ]);
      await pass(5_000);
      expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const refused = answers.find(({ status }) => status === 'rejected');
      expect(refused).toMatchObject({ reason: { kind: 'conflict' } });
      const [, made, ...others] = [...travel.travelers.values()];
      expect(made?.firstName).toBe(answers[0]?.status === 'fulfilled' ? 'Ada' : 'Eve');
      expect(others).toEqual([]);
    },
    { more: ['other'] },
  ));

test.each([
  ['was never sent', { kind: 'unavailable', text: 'down' }],
  ['was carried out without an answer', 'lose'],
] as const)(
  'somebody moves to another connection while their create %s, and has one traveler',
  (_, trouble) =>
    withFixture(
      async ({ bridge, travel, reconcileAfter: pass, identity }) => {
        travel.faultFor = ({ verb }) => (verb === 'create' || verb === 'findByEmails' ? trouble : undefined);
        const ada = await bridge.users.create('default', person('Ada'));
        await bridge.users.remove('default', ada.id);
        const moved = await bridge.users.create('other', person('Ada', { externalId: 'elsewhere' }));
        travel.faultFor = () => undefined;
        for (let turn = 0; turn < 4; turn += 1) await pass(60_000);
        expect([...travel.travelers.values()].slice(1)).toEqual([
          expect.objectContaining({ email: addressOf('Ada'), archived: false }),
        ]);
        const [, traveler] = [...travel.travelers.keys()];
        expect(await identity(moved.id, 'other')).toMatchObject({ state: 'synced', travelId: traveler });
        expect(await identity(ada.id)).toMatchObject({ state: 'synced', travelId: undefined });
      },
      { more: ['other'] },
    ),
);

test('two accounts have nothing to do with each other', () => {
  const elsewhere = fakeTravel();
  return withFixture(
    async ({ bridge, travel, patch }) => {
      const ada = await bridge.users.create('default', person('Ada'));
      const other = await bridge.users.create('far', person('Ada'));
      await patch(other.id, { preferredLanguage: 'fr' }, 'far');
      expect(travel.travelers.get(ada.travelUserId ?? '')).not.toHaveProperty('lang');
      expect(elsewhere.travelers.get(other.travelUserId ?? '')).toMatchObject({ lang: 'fr' });
    },
    { more: [{ id: 'far', account: 'far', travel: elsewhere }] },
  );
});

test('one connection that pauses does not stop another', () => {
  const elsewhere = fakeTravel();
  return withFixture(
    async ({ bridge, travel }) => {
      travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
      for (const name of ['A', 'B', 'C', 'D', 'E', 'F']) await bridge.users.create('default', person(name));
      const ada = await bridge.users.create('far', person('Ada'));
      expect(ada.travelUserId).toBeDefined();
    },
    { more: [{ id: 'far', account: 'far', travel: elsewhere }] },
  );
});
