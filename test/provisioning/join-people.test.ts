import { joinPeople } from '../../src/provisioning/people/join-people.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const YEAR_MS = 365 * 86_400_000;
const manualFields = { gender: 'female', roles: ['premium'] };

/** Joins two users, by their SCIM ids, and reconciles what became due. */
async function join(fixture: ProvisioningFixture, leaver: string, newcomer: string) {
  const people = { leaver: await fixture.identity(leaver), newcomer: await fixture.identity(newcomer) };
  let id = 0;
  const newId = () => {
    id += 1;
    return `join-${id}`;
  };
  const result = await joinPeople(
    { identities: fixture.store.identities, runtime: { ...fixture.clock, newId } },
    people,
  );
  for (let round = 0; round < 4; round += 1) await fixture.reconcileAfter(61_000);
  expect(await fixture.bridge.reconcileDue()).toBe(0);
  return result;
}

/** A leaver, and a user of the same name who came a year later under another externalId. */
async function namesakes(fixture: ProvisioningFixture, isDeleted: boolean, newcomer: ScimResource = {}) {
  const { bridge, travel, clock } = fixture;
  const old = await bridge.users.create(users, person('Ada', { userName: 'ada.one', externalId: 'e1' }));
  const traveler = await fixture.traveler(old.id);
  if (!traveler) throw new Error('there is no traveler');
  travel.travelers.set(traveler.id, { ...traveler, ...manualFields });
  if (isDeleted) await bridge.users.remove(users, old.id);
  else await fixture.patch(old.id, { active: false });
  clock.advance(YEAR_MS);
  const fresh = person('Ada', { userName: 'ada.two', externalId: 'e2', ...newcomer });
  const user = await bridge.users.create(users, fresh);
  for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
  return { leaver: old.id, newcomer: user.id, travelId: traveler.id };
}

test.each([true, false])(
  'a joined newcomer has the traveler of the leaver with everything that it has (leaver deleted: %s)',
  (isDeleted) =>
    withFixture(async (fixture) => {
      const { leaver, newcomer, travelId } = await namesakes(fixture, isDeleted);
      const own = (await fixture.identity(newcomer)).travelId ?? '';
      expect(await fixture.findings(newcomer)).toEqual(['*: otherPerson']);
      expect(own).not.toBe(travelId);
      expect(await join(fixture, leaver, newcomer)).toBe('joined');
      expect(await fixture.traveler(newcomer)).toMatchObject({
        ...{ id: travelId, archived: false, email: addressOf('Ada') },
        ...manualFields,
      });
      expect(fixture.travel.travelers.get(own)).toMatchObject({
        archived: true,
        email: expect.stringMatching(/^parked-/),
      });
      expect(await fixture.identity(newcomer)).toMatchObject({ state: 'synced', findings: [] });
      expect(await fixture.identity(leaver)).toMatchObject({ travelId: undefined, state: 'synced' });
      expect(await fixture.findings(leaver)).toEqual(['*: passedOn']);
    }),
);

test('a joined user who leaves and returns has the traveler of the leaver again', () =>
  withFixture(async (fixture) => {
    const { leaver, newcomer, travelId } = await namesakes(fixture, true);
    await join(fixture, leaver, newcomer);
    await fixture.bridge.users.remove(users, newcomer);
    const back = await fixture.bridge.users.create(
      users,
      person('Ada', { userName: 'ada.two', externalId: 'e2' }),
    );
    for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
    expect((await fixture.identity(back.id)).travelId).toBe(travelId);
  }));

test('another person by the table is joined all the same', () =>
  withFixture(async (fixture) => {
    const other = { name: { givenName: 'Adele', familyName: 'Smith' } };
    const { leaver, newcomer, travelId } = await namesakes(fixture, false, other);
    expect(await join(fixture, leaver, newcomer)).toBe('joined');
    expect(await fixture.traveler(newcomer)).toMatchObject({
      id: travelId,
      firstName: 'Adele',
      ...manualFields,
    });
    expect(await fixture.identity(newcomer)).toMatchObject({ state: 'synced', hold: undefined });
  }));

test('an archived traveler without a user can be joined to a newcomer', () =>
  withFixture(async (fixture) => {
    const old = fixture.travel.addTraveler({
      ...{ email: 'ada.old@corp.example', archived: true, firstName: 'Ada', lastName: 'Smith' },
      ...manualFields,
    });
    await fixture.importTravelers();
    const user = await fixture.bridge.users.create(users, person('Ada'));
    const [unclaimed] = await fixture.store.identities.find(users, { by: 'travelId', value: old.id });
    expect(await join(fixture, unclaimed?.id ?? '', user.id)).toBe('joined');
    expect(await fixture.traveler(user.id)).toMatchObject({ id: old.id, archived: false, ...manualFields });
  }));

test('an active user is joined to nobody, and no inactive user gets a traveler', () =>
  withFixture(async (fixture) => {
    const one = await fixture.bridge.users.create(users, person('Ada'));
    const two = await fixture.bridge.users.create(users, person('Bob'));
    expect(await join(fixture, one.id, two.id)).toEqual({ refused: expect.stringContaining('is active') });
    await fixture.patch(two.id, { active: false });
    expect(await join(fixture, one.id, two.id)).toEqual({
      refused: expect.stringContaining('not an active user'),
    });
  }));

test.each([
  ['leaves out', 'not (userType eq "Service")'],
  ['may leave out', 'not (userType eq "Service") or groups[display eq "Robots"]'],
])('nobody whom the scope %s is joined to a leaver: the traveler would stay archived', (_, scope) =>
  withFixture(
    async (fixture) => {
      const { leaver, newcomer, travelId: former } = await namesakes(fixture, true);
      const { travelId } = await fixture.identity(newcomer);
      await fixture.patch(newcomer, { userType: 'Service' });
      expect(await join(fixture, leaver, newcomer)).toEqual({ refused: expect.stringContaining('scope') });
      expect(await fixture.traveler(newcomer)).toMatchObject({ id: travelId, archived: false });
      await fixture.patch(newcomer, { userType: 'Employee' });
      expect(await join(fixture, leaver, newcomer)).toBe('joined');
      expect(await fixture.traveler(newcomer)).toMatchObject({ id: former, archived: false });
    },
    { mapping: { scope } },
  ),
);
