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
import { saveDecision } from '../fixtures/save-decision.ts';

const users = 'default';
const notFound = { kind: 'notFound' };

const byName = (name: string) =>
  usersWhere({ field: 'userName', operator: 'eq', value: addressOf(name) } as const);

/** Imports a traveler whom nobody has provisioned, and returns the SCIM id of the person. */
async function importStranger(fixture: ProvisioningFixture, name: string): Promise<string> {
  const { id: travelId } = fixture.travel.addTraveler({
    email: addressOf(name),
    firstName: name,
    lastName: 'Smith',
    currency: 'EUR',
  });
  await fixture.importTravelers();
  const [identity] = await fixture.store.identities.find(users, { by: 'travelId', value: travelId });
  return identity?.id ?? '';
}

async function travelerOf({ travel }: ProvisioningFixture, name: string) {
  return [...travel.travelers.values()].find(({ email }) => email === addressOf(name));
}

async function heldIds({ store }: ProvisioningFixture): Promise<string[]> {
  return (await store.holds.findHeldPeople({ cause: 'neverProvisioned', limit: 100 })).map(({ id }) => id);
}

async function decide(
  { store, clock, bridge }: ProvisioningFixture,
  ids: string[],
  answer: 'approved' | 'discarded',
): Promise<void> {
  await saveDecision(store, users, { ids }, answer, clock.now(), 'Grace Hopper');
  await bridge.reconcileDue();
}

test('a client that lists all users and deletes those whom it does not know archives nobody', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, store } = fixture;
    for (let n = 0; n < 24; n += 1) travel.addTraveler({ email: addressOf(`P${n}`) });
    await fixture.importTravelers();
    const { rows } = await bridge.users.list(users, allUsers(100));
    const strangers = rows.filter(({ travelUserId }) => travelUserId !== 't-1');
    for (const { id } of strangers) await bridge.users.remove(users, id);
    expect(travel.writes()).toEqual([]);
    expect([...travel.travelers.values()].filter(({ archived }) => archived)).toEqual([]);
    expect(await store.holds.countHolds()).toMatchObject([{ cause: 'neverProvisioned', count: 24 }]);
    expect((await bridge.users.list(users, allUsers(100))).rows).not.toEqual(
      expect.arrayContaining([expect.objectContaining({ travelUserId: 't-2' })]),
    );
  }));

test('after the DELETE of a stranger the person is not found, listed or counted, whatever is imported or searched', () =>
  withFixture(async (fixture) => {
    const { travel, clock } = fixture;
    const { total: before } = await fixture.bridge.users.list(users, allUsers());
    const ada = await importStranger(fixture, 'Ada');
    const expectGone = async () => {
      await expect(fixture.bridge.users.read(users, ada)).rejects.toMatchObject(notFound);
      expect((await fixture.bridge.users.list(users, byName('Ada'))).total).toBe(0);
      expect((await fixture.bridge.users.list(users, allUsers())).rows.map(({ id }) => id)).not.toContain(
        ada,
      );
      const active = usersWhere({ field: 'active', operator: 'eq', value: true });
      expect((await fixture.bridge.users.list(users, active)).rows.map(({ id }) => id)).not.toContain(ada);
      await expect(fixture.patch(ada, { title: 'Dr.' })).rejects.toMatchObject(notFound);
      await expect(fixture.bridge.users.remove(users, ada)).rejects.toMatchObject(notFound);
    };
    await fixture.bridge.users.remove(users, ada);
    await expectGone();
    const traveler = await travelerOf(fixture, 'Ada');
    travel.travelers.set(traveler?.id ?? '', { ...traveler, firstName: 'Augusta' } as never);
    clock.advance(3_600_000);
    await fixture.restart();
    await fixture.importTravelers();
    await expectGone();
    expect((await fixture.bridge.users.list(users, allUsers())).total).toBeGreaterThanOrEqual(before);
    expect(await heldIds(fixture)).toEqual([ada]);
    expect(travel.writes()).toEqual([]);
  }));

test('a POST brings a deleted stranger back with the traveler', () =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const stranger = await importStranger(fixture, 'Ada');
    await bridge.users.remove(users, stranger);
    const { id } = await bridge.users.create(users, person('Ada', { title: 'Dr.' }));
    expect(await fixture.traveler(id)).toEqual(
      expect.objectContaining({ id: 't-2', archived: false, currency: 'EUR' }),
    );
    expect(fixture.travel.writes().filter(({ verb }) => verb === 'create')).toEqual([]);
    expect(await heldIds(fixture)).toEqual([]);
    expect((await bridge.users.list(users, byName('Ada'))).rows.map((user) => user.id)).toEqual([id]);
  }));

test('a POST under another userName finds a deleted stranger by the address', () =>
  withFixture(async (fixture) => {
    await fixture.bridge.users.remove(users, await importStranger(fixture, 'Ada'));
    const { id } = await fixture.bridge.users.create(
      users,
      person('Ada', { userName: 'ada', externalId: 'e1', ...emailsOf(addressOf('Ada')) }),
    );
    expect((await fixture.identity(id)).travelId).toBe('t-2');
    expect(await heldIds(fixture)).toEqual([]);
  }));

test('an approval archives the traveler of a deleted stranger, and the safety valve does not count it', () =>
  withFixture(
    async (fixture) => {
      const ids = [await importStranger(fixture, 'Ada'), await importStranger(fixture, 'Bob')];
      for (const id of ids) await fixture.bridge.users.remove(users, id);
      await decide(fixture, ids, 'approved');
      for (const name of ['Ada', 'Bob'])
        expect(await travelerOf(fixture, name)).toMatchObject({ archived: true, currency: 'EUR' });
      expect(await fixture.store.holds.countHolds()).toEqual([]);
      fixture.clock.advance(3_600_000);
      await fixture.importTravelers();
      await expect(fixture.bridge.users.read(users, ids[0] ?? '')).rejects.toMatchObject(notFound);
    },
    { policies: { safetyValve: { share: 0, minimum: 0, windowMs: 3_600_000 } } },
  ));

test('an approved stranger who is an administrator waits for an approval of its own', () =>
  withFixture(async (fixture) => {
    const { travel, store, bridge } = fixture;
    travel.addTraveler({ email: addressOf('Ada'), roles: ['admin'] });
    await fixture.importTravelers();
    const [identity] = await store.identities.find(users, { by: 'travelId', value: 't-2' });
    const ada = identity?.id ?? '';
    await bridge.users.remove(users, ada);
    await decide(fixture, [ada], 'approved');
    expect(await travelerOf(fixture, 'Ada')).toMatchObject({ archived: false });
    expect(await store.holds.countHolds()).toMatchObject([{ cause: 'guarded', count: 1 }]);
    await decide(fixture, [ada], 'approved');
    expect(await travelerOf(fixture, 'Ada')).toMatchObject({ archived: true });
  }));

test('a discard lists a deleted stranger again, and a later DELETE is held again', () =>
  withFixture(async (fixture) => {
    const { bridge, store } = fixture;
    const ada = await importStranger(fixture, 'Ada');
    const { total } = await bridge.users.list(users, allUsers());
    await bridge.users.remove(users, ada);
    expect((await bridge.users.list(users, allUsers())).total).toBe(total - 1);
    await decide(fixture, [ada], 'discarded');
    expect((await bridge.users.list(users, allUsers())).total).toBe(total);
    expect(desiredOf(await bridge.users.read(users, ada))).toMatchObject({ active: true });
    expect(await fixture.identity(ada)).toMatchObject({ state: 'synced', claimed: false, findings: [] });
    expect(await store.holds.countHolds()).toEqual([]);
    await bridge.users.remove(users, ada);
    expect(await heldIds(fixture)).toEqual([ada]);
    expect(fixture.travel.writes()).toEqual([]);
  }));

test('a deleted stranger whose userName somebody else has by now is discarded without a second user of that name', () =>
  withFixture(async (fixture) => {
    const { bridge } = fixture;
    const ada = await importStranger(fixture, 'Ada');
    await bridge.users.remove(users, ada);
    const bob = await bridge.users.create(users, person('Bob'));
    await fixture.patch(bob.id, { userName: addressOf('Ada') });
    await decide(fixture, [ada], 'discarded');
    const found = await bridge.users.list(users, byName('Ada'));
    expect(found).toMatchObject({ total: 1, rows: [{ id: bob.id }] });
    expect(await fixture.store.holds.countHolds()).toEqual([]);
  }));

test('a deleted stranger is still listed by another connection of the account, which may take the person over', () =>
  withFixture(
    async (fixture) => {
      const { bridge } = fixture;
      const ada = await importStranger(fixture, 'Ada');
      await fixture.importTravelers(fixture.connectionOf('entra'));
      await bridge.users.remove(users, ada);
      expect((await bridge.users.list('entra', byName('Ada'))).total).toBe(1);
      const { id } = await bridge.users.create('entra', person('Ada'));
      expect((await fixture.identity(id, 'entra')).travelId).toBe('t-2');
      expect(await fixture.store.holds.countHolds()).toEqual([]);
    },
    { more: ['entra'] },
  ));

test.each([
  ['a list', allUsers()],
  ['a filter that names nobody', usersWhere({ field: 'active', operator: 'eq', value: true })],
  ['a filter on userName', byName('Ada')],
  ['a filter on an address', usersWhere({ field: 'email', operator: 'eq', value: addressOf('Ada') })],
])('a DELETE of a person whom the client knows from %s is held', (_, query) =>
  withFixture(async (fixture) => {
    const ada = await importStranger(fixture, 'Ada');
    await importStranger(fixture, 'Bob');
    const { rows } = await fixture.bridge.users.list(users, query);
    expect(rows.map(({ id }) => id)).toContain(ada);
    await fixture.bridge.users.read(users, ada);
    await fixture.bridge.users.remove(users, ada);
    expect(fixture.travel.writes()).toEqual([]);
    expect(await heldIds(fixture)).toEqual([ada]);
  }),
);

test('a person whom the client has matched by a filter and never written is ended by active false', () =>
  withFixture(async (fixture) => {
    const ada = await importStranger(fixture, 'Ada');
    await fixture.bridge.users.list(users, byName('Ada'));
    await fixture.patch(ada, { active: false });
    await fixture.bridge.users.remove(users, ada);
    expect(await travelerOf(fixture, 'Ada')).toMatchObject({ archived: true });
    expect(await heldIds(fixture)).toEqual([]);
  }));

test('a deactivation of a stranger is carried out through the safety valve, and the user stays readable', () =>
  withFixture(
    async (fixture) => {
      const [ada, bob] = [await importStranger(fixture, 'Ada'), await importStranger(fixture, 'Bob')];
      await fixture.patch(ada, { active: false });
      await fixture.patch(bob, { active: false });
      expect(await travelerOf(fixture, 'Ada')).toMatchObject({ archived: true });
      expect(await travelerOf(fixture, 'Bob')).toMatchObject({ archived: false });
      expect(await fixture.store.holds.countHolds()).toMatchObject([{ cause: 'safetyValve', count: 1 }]);
      for (const id of [ada, bob])
        expect(desiredOf(await fixture.bridge.users.read(users, id)).active).toBe(false);
    },
    { policies: { safetyValve: { share: 0, minimum: 1, windowMs: 3_600_000 } } },
  ));

test('a stranger whom the client has written is archived by a DELETE', () =>
  withFixture(async (fixture) => {
    const ada = await importStranger(fixture, 'Ada');
    await fixture.patch(ada, { title: 'Dr.' });
    await fixture.bridge.users.remove(users, ada);
    expect(await travelerOf(fixture, 'Ada')).toMatchObject({ archived: true });
  }));

test('a deleted stranger is forgotten when the traveler is deleted in the travel service', () =>
  withFixture(async (fixture) => {
    const ada = await importStranger(fixture, 'Ada');
    await fixture.bridge.users.remove(users, ada);
    fixture.travel.travelers.delete('t-2');
    fixture.clock.advance(3_600_000);
    await fixture.importTravelers();
    expect(await fixture.store.identities.findById(users, ada)).toBeUndefined();
    expect(await fixture.store.holds.countHolds()).toEqual([]);
  }));

test('the DELETE of a stranger is held also while the travel API is down', () =>
  withFixture(async (fixture) => {
    const ada = await importStranger(fixture, 'Ada');
    fixture.travel.faultFor = () => ({ kind: 'unavailable', text: 'down' });
    await fixture.bridge.users.remove(users, ada);
    expect(await heldIds(fixture)).toEqual([ada]);
    await decide(fixture, [ada], 'approved');
    fixture.travel.faultFor = () => undefined;
    await fixture.reconcileAfter(120_000);
    expect(await travelerOf(fixture, 'Ada')).toMatchObject({ archived: true });
  }));
