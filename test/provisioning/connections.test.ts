import { fakeTravel } from '../fixtures/fake-travel.ts';
import {
  addressOf,
  allUsers,
  desiredOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  usersWhere,
  withFixture,
} from '../fixtures/provisioning.ts';
import { importedIdentity } from '../fixtures/store.ts';

const conflict = { kind: 'conflict' };

test('a user of one connection cannot be read, listed, changed or deleted through another', () =>
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

describe('an unclaimed identity whose traveler another connection has linked', () => {
  // A link and an import that overlap can leave it: neither sees what the other has not committed.
  async function withStray(test: (fixture: ProvisioningFixture, stray: string) => Promise<void>) {
    await withFixture(
      async (fixture) => {
        const { id } = await fixture.bridge.users.create('entra', person('Ada'));
        const { travelId = '', observed } = await fixture.identity(id, 'entra');
        const { id: connection } = fixture.connection;
        const identity = importedIdentity('stray', travelId, {
          connection,
          observed,
          desired: person('Ada'),
        });
        await fixture.store.identities.commit(connection, [{ kind: 'insert', identity }]);
        await test(fixture, 'stray');
        expect(await fixture.store.identities.findById(connection, 'stray')).toBeUndefined();
        expect(fixture.travel.travelers.get(travelId)).toMatchObject({ archived: false, firstName: 'Ada' });
      },
      { more: ['entra'] },
    );
  }

  test('is removed by an import', () =>
    withStray(async ({ clock, importTravelers }) => {
      clock.advance(3_600_000);
      await importTravelers();
    }));

  test('does not hinder the answer to a POST of the person, which is a conflict', () =>
    withStray(async ({ bridge }) => {
      await expect(bridge.users.create('default', person('Ada'))).rejects.toMatchObject(conflict);
    }));

  test.each(['patch', 'replace'] as const)('is not found by a %s', (kind) =>
    withStray(async ({ bridge }, stray) => {
      const change = bridge.users.change('default', stray, (user) => ({ ...user, title: 'Dr.' }), kind);
      await expect(change).rejects.toMatchObject({ kind: 'notFound' });
    }),
  );

  test('is not found by a DELETE', () =>
    withStray(async ({ bridge }, stray) => {
      await expect(bridge.users.remove('default', stray)).rejects.toMatchObject({ kind: 'notFound' });
    }));
});

test('creating a user whose address belongs to another connection of the account is a conflict that names neither user nor connection', () =>
  withFixture(
    async ({ bridge, travel }) => {
      await bridge.users.create('default', person('Ada'));
      const writesBefore = travel.writes().length;
      const second = bridge.users.create('other', person('Ada', { userName: 'ada' }));
      await expect(second).rejects.toMatchObject(conflict);
      await expect(second).rejects.not.toThrow(/ada|default/i);
      expect(travel.writes()).toHaveLength(writesBefore);
    },
    { more: ['other'] },
  ));

test('two connections may have users with the same userName', () =>
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

test('an import skips travelers linked by another connection, and a traveler claimed there later is no longer listed', () =>
  withFixture(
    async ({ bridge, travel, importTravelers, connectionOf }) => {
      await bridge.users.create('default', person('Ada'));
      travel.addTraveler({ email: addressOf('Bob') });
      await importTravelers(connectionOf('other'));
      await importTravelers(connectionOf('default'));
      const listUserNames = async () =>
        (await bridge.users.list('other', allUsers())).rows.map((user) => desiredOf(user).userName);
      expect(await listUserNames()).toEqual([addressOf('Bob')]);
      await bridge.users.create('default', person('Bob'));
      expect(await listUserNames()).toEqual([]);
      await importTravelers(connectionOf('other'));
      expect(await listUserNames()).toEqual([]);
    },
    { more: ['other'] },
  ));

test('a user who waits for an email address of another connection gets it when it becomes free', () =>
  withFixture(
    async ({ bridge, patch, reconcileAfter, traveler, findings }) => {
      const ada = await bridge.users.create('default', person('Ada'));
      const bob = await bridge.users.create('other', person('Bob'));
      await patch(bob.id, emailsOf(addressOf('Ada')), 'other');
      expect(await findings(bob.id, 'other')).toEqual(['email: emailTaken']);
      await patch(ada.id, emailsOf('new@corp.example'));
      await reconcileAfter(0);
      expect((await traveler(bob.id, 'other'))?.email).toBe(addressOf('Ada'));
    },
    { more: ['other'] },
  ));

test('if two connections create users with the same address at the same time, one is created and the other refused', () =>
  withFixture(
    async ({ bridge, travel, reconcileAfter }) => {
      const answers = await Promise.allSettled([
        bridge.users.create('default', person('Ada', { userName: 'ada' })),
        bridge.users.create('other', person('Eve', { userName: 'eve', ...emailsOf(addressOf('Ada')) })),
      ]);
      await reconcileAfter(5_000);
      expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const refused = answers.find(({ status }) => status === 'rejected');
      expect(refused).toMatchObject({ reason: { kind: 'conflict' } });
      const [, created, ...others] = [...travel.travelers.values()];
      expect(created?.firstName).toBe(answers[0]?.status === 'fulfilled' ? 'Ada' : 'Eve');
      expect(others).toEqual([]);
    },
    { more: ['other'] },
  ));

test.each([
  ['was never sent', { kind: 'unavailable', text: 'down' }],
  ['was carried out without an answer', 'lose'],
] as const)(
  'a person who moves to another connection while the create of the first one %s ends with one traveler',
  (_, fault) =>
    withFixture(
      async ({ bridge, travel, reconcileAfter, identity }) => {
        travel.faultFor = ({ verb }) => (verb === 'create' || verb === 'findByEmails' ? fault : undefined);
        const ada = await bridge.users.create('default', person('Ada'));
        await bridge.users.remove('default', ada.id);
        const moved = await bridge.users.create('other', person('Ada', { externalId: 'elsewhere' }));
        travel.faultFor = () => undefined;
        for (let round = 0; round < 4; round += 1) await reconcileAfter(60_000);
        expect([...travel.travelers.values()].slice(1)).toEqual([
          expect.objectContaining({ email: addressOf('Ada'), archived: false }),
        ]);
        const [, travelId] = [...travel.travelers.keys()];
        expect(await identity(moved.id, 'other')).toMatchObject({ state: 'synced', travelId });
        expect(await identity(ada.id)).toMatchObject({ state: 'synced', travelId: undefined });
      },
      { more: ['other'] },
    ),
);

test('a change of a user in one travel account does not reach the user with the same address in another', () => {
  const otherTravel = fakeTravel();
  return withFixture(
    async ({ bridge, travel, patch }) => {
      const ada = await bridge.users.create('default', person('Ada'));
      const other = await bridge.users.create('far', person('Ada'));
      await patch(other.id, { preferredLanguage: 'fr' }, 'far');
      expect(travel.travelers.get(ada.travelUserId ?? '')).not.toHaveProperty('lang');
      expect(otherTravel.travelers.get(other.travelUserId ?? '')).toMatchObject({ lang: 'fr' });
    },
    { more: [{ id: 'far', account: 'far', travel: otherTravel }] },
  );
});

test('an open circuit breaker of one connection does not stop another', () => {
  const otherTravel = fakeTravel();
  return withFixture(
    async ({ bridge, travel }) => {
      travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
      for (const name of ['A', 'B', 'C', 'D', 'E', 'F']) await bridge.users.create('default', person(name));
      const ada = await bridge.users.create('far', person('Ada'));
      expect(ada.travelUserId).toBeDefined();
    },
    { more: [{ id: 'far', account: 'far', travel: otherTravel }] },
  );
});
