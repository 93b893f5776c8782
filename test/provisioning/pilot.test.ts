import type { TravelUser } from '../../src/model/traveler.ts';
import {
  addressOf,
  emailsOf,
  managedBy,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';
import { approve, changePilot, report, toShadow } from '../fixtures/shadow.ts';

const users = 'default';
const HOUR_MS = 3_600_000;
const valve = { policies: { safetyValve: { share: 0, minimum: 1, windowMs: HOUR_MS } } };

const inSales = (name: string, extra = {}) => person(name, { title: 'Sales', ...extra });
const named = (givenName: string) => ({ name: { givenName, familyName: 'Smith' } });
const down = { kind: 'unavailable', text: 'down', isRejected: true } as const;
const SALES = 'title eq "Sales"';
const PILOT = 'groups[display eq "Pilot"]';

async function create({ bridge, clock }: ProvisioningFixture, user: object): Promise<string> {
  clock.advance(1_000);
  return (await bridge.users.create(users, { ...user })).id;
}

/** Does the background work of changed groups, and reconciles who is due. */
async function followGroups({ store, clock, bridge }: ProvisioningFixture): Promise<void> {
  while (await store.memberships.markSome(users, clock.now()));
  await bridge.reconcileDue();
}

test('people of the pilot are provisioned at once, and all others are planned', () =>
  withFixture(async (fixture) => {
    const { travel } = fixture;
    await toShadow(fixture);
    await changePilot(fixture, SALES);
    const ada = await create(fixture, inSales('Ada'));
    const bob = await create(fixture, person('Bob'));
    expect(await fixture.traveler(ada)).toMatchObject({ email: addressOf('Ada') });
    expect(await fixture.traveler(bob)).toBeUndefined();
    expect((await report(fixture)).sums).toEqual({ live: 1, create: 1 });
    await fixture.patch(ada, { active: false });
    await fixture.patch(bob, { active: false });
    expect(await fixture.traveler(ada)).toMatchObject({ archived: true });
    expect(travel.writes().map(({ verb }) => verb)).toEqual(['create', 'patch']);
  }));

test('a pilot that is widened carries out the plans of whom it adds, and one that is narrowed or ended changes nothing', () =>
  withFixture(async (fixture) => {
    const { travel } = fixture;
    travel.addTraveler({ email: addressOf('Known'), firstName: 'Former', lastName: 'Smith' });
    await toShadow(fixture);
    const [known, fresh] = [await create(fixture, inSales('Known')), await create(fixture, person('Fresh'))];
    await changePilot(fixture, SALES);
    expect(await fixture.traveler(known)).toMatchObject({ firstName: 'Known' });
    expect((await report(fixture)).sums).toEqual({ live: 1, create: 1 });
    await changePilot(fixture, `${SALES} or userName pr`);
    expect(await fixture.traveler(fresh)).toMatchObject({ firstName: 'Fresh' });
    const before = structuredClone([...travel.travelers]);
    for (const pilot of [SALES, undefined]) {
      await changePilot(fixture, pilot);
      await fixture.patch(fresh, named('Other'));
      await fixture.reconcileAfter(HOUR_MS);
    }
    await fixture.patch(known, { active: false });
    await fixture.reconcileAfter(HOUR_MS);
    expect([...travel.travelers]).toEqual(before);
    expect((await report(fixture)).of('Known')).toMatchObject({ outcome: 'end' });
  }));

test('people enter and leave the pilot by their group and their attributes', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    await toShadow(fixture);
    await changePilot(fixture, PILOT);
    const ada = await create(fixture, person('Ada'));
    expect(travel.writes()).toEqual([]);
    const { id: group } = await bridge.groups.create(users, { displayName: 'Pilot' }, [{ value: ada }]);
    await followGroups(fixture);
    expect(await fixture.traveler(ada)).toMatchObject({ firstName: 'Ada' });
    const change = (kind: 'add' | 'remove') =>
      bridge.groups.change(
        users,
        group,
        {
          attributes: (current) => current,
          members: [kind === 'add' ? { kind, members: [{ value: ada }] } : { kind, values: [ada] }],
        },
        false,
      );
    await change('remove');
    await followGroups(fixture);
    await fixture.patch(ada, named('Adele'));
    expect(await fixture.traveler(ada)).toMatchObject({ firstName: 'Ada' });
    expect((await report(fixture)).of('Ada')).toMatchObject({
      outcome: 'change',
      fields: [{ field: 'firstName', before: 'Ada', after: 'Adele' }],
    });
    await change('add');
    await followGroups(fixture);
    expect(await fixture.traveler(ada)).toMatchObject({ firstName: 'Adele' });
    await changePilot(fixture, SALES);
    await fixture.patch(ada, { title: 'Sales', ...named('Ann') });
    expect(await fixture.traveler(ada)).toMatchObject({ firstName: 'Ann' });
    await fixture.patch(ada, { title: 'Lead', ...named('Ada') });
    expect(await fixture.traveler(ada)).toMatchObject({ firstName: 'Ann' });
  }));

test('while its group is not known, a pilot that leaves the members of a group out has nobody', () =>
  withFixture(async (fixture) => {
    await toShadow(fixture);
    await changePilot(fixture, `not (${PILOT.replace('Pilot', 'Later')})`);
    const [ada, bob] = [await create(fixture, person('Ada')), await create(fixture, person('Bob'))];
    expect((await report(fixture)).sums).toEqual({ create: 2 });
    await fixture.bridge.groups.create(users, { displayName: 'Later' }, [{ value: bob }]);
    await followGroups(fixture);
    expect(await fixture.traveler(ada)).toBeDefined();
    expect(await fixture.traveler(bob)).toBeUndefined();
  }));

test('the DELETE of a member is carried out although no group has the person any more, also after an outage and another pilot', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    await toShadow(fixture);
    await changePilot(fixture, PILOT);
    const ids = [await create(fixture, person('Ada')), await create(fixture, person('Bob'))];
    const planned = await create(fixture, person('Eve'));
    await bridge.groups.create(
      users,
      { displayName: 'Pilot' },
      ids.map((value) => ({ value })),
    );
    await followGroups(fixture);
    const [ada = '', bob = ''] = ids;
    await bridge.users.remove(users, ada);
    expect(await fixture.traveler(ada)).toMatchObject({ archived: true });
    travel.faultFor = ({ verb }) => (verb === 'patch' ? down : undefined);
    await bridge.users.remove(users, bob);
    expect(await fixture.traveler(bob)).toMatchObject({ archived: false });
    travel.faultFor = () => undefined;
    await changePilot(fixture, SALES);
    await fixture.reconcileAfter(HOUR_MS);
    expect(await fixture.traveler(bob)).toMatchObject({ archived: true });
    await bridge.users.remove(users, planned);
    expect((await report(fixture)).sums).toEqual({});
  }));

test('an address that the report gives to an earlier user stays free for that user', () =>
  withFixture(async (fixture) => {
    await toShadow(fixture);
    const first = await create(fixture, person('First'));
    const same = { ...emailsOf(addressOf('First')), title: 'Sales' };
    const second = await create(fixture, person('Second', same));
    const { userName: _, ...nameless } = person('Third', same);
    const third = await create(fixture, { ...nameless, userName: 'third', externalId: '3' });
    const shown = await report(fixture);
    expect(shown.of('Second')).toMatchObject({ outcome: 'create' });
    await changePilot(fixture, SALES);
    expect(await fixture.traveler(second)).toMatchObject({ email: addressOf('Second') });
    expect(await fixture.identity(third)).toMatchObject({
      ...{ state: 'pending', travelId: undefined },
      findings: [{ code: 'emailTaken', reason: expect.stringContaining('not in the pilot') }],
    });
    await changePilot(fixture, `${SALES} or userName eq "${addressOf('First')}"`);
    expect(await fixture.traveler(first)).toMatchObject({ email: addressOf('First') });
    await changePilot(fixture, undefined);
    await fixture.bridge.users.remove(users, first);
    expect((await report(fixture)).sums).toMatchObject({ end: 1 });
  }));

test('an address that somebody of the pilot gets is planned for nobody else any more', () =>
  withFixture(async (fixture) => {
    await toShadow(fixture);
    await changePilot(fixture, SALES);
    const ada = await create(fixture, inSales('Ada'));
    await create(fixture, person('Bob', emailsOf(addressOf('Shared'))));
    const plannedEmail = async () =>
      (await report(fixture)).of('Bob').fields.find(({ field }) => field === 'email')?.after;
    expect(await plannedEmail()).toBe(addressOf('Shared'));
    await fixture.patch(ada, emailsOf(addressOf('Shared')));
    expect(await fixture.traveler(ada)).toMatchObject({ email: addressOf('Shared') });
    await fixture.reconcileAfter(0);
    expect(await plannedEmail()).toBe(addressOf('Bob'));
  }));

test('two people of the pilot swap their addresses, and whoever is planned is not waited for', () =>
  withFixture(async (fixture) => {
    const { travel } = fixture;
    const [ada, bob] = [await create(fixture, inSales('Ada')), await create(fixture, inSales('Bob'))];
    const swap = async (one: string, other: string) => {
      await fixture.patch(ada, emailsOf(addressOf(one)));
      await fixture.patch(bob, emailsOf(addressOf(other)));
      await fixture.reconcileAfter(HOUR_MS);
      return [(await fixture.traveler(ada))?.email, (await fixture.traveler(bob))?.email];
    };
    await toShadow(fixture);
    await changePilot(fixture, 'userName sw "ada"');
    expect(await swap('Bob', 'Ada')).toEqual([addressOf('Ada'), addressOf('Bob')]);
    expect(travel.writes()).toEqual([]);
    await changePilot(fixture, SALES);
    await fixture.reconcileAfter(HOUR_MS);
    expect(await swap('Bob', 'Ada')).toEqual([addressOf('Bob'), addressOf('Ada')]);
  }));

test('departures of the pilot pass the safety valve, and those of the plan are approved when the connection goes live', () =>
  withFixture(async (fixture) => {
    const ids: string[] = [];
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five'])
      ids.push(await create(fixture, inSales(name)));
    const [one = '', two = '', three = '', ...planned] = ids;
    await toShadow(fixture);
    for (const id of [three, ...planned]) await fixture.patch(id, { title: 'Other' });
    await changePilot(fixture, SALES);
    for (const id of ids) await fixture.patch(id, { active: false });
    expect(await fixture.traveler(one)).toMatchObject({ archived: true });
    expect(await fixture.identity(two)).toMatchObject({ state: 'held', hold: { cause: 'safetyValve' } });
    const { digest, sums } = await report(fixture);
    expect(sums).toEqual({ live: 2, end: 3 });
    expect(await approve(fixture, digest)).toEqual({ outcome: 'live', approved: 3, changed: 0 });
    for (const id of [three, ...planned])
      expect(await fixture.traveler(id)).toMatchObject({ archived: true });
    expect(await fixture.identity(two)).toMatchObject({ state: 'held' });
  }, valve));

test('a connection that goes live and back begins shadow mode without a pilot', () =>
  withFixture(async (fixture) => {
    const { store, clock } = fixture;
    await toShadow(fixture);
    await changePilot(fixture, SALES);
    expect(await store.modes.changePilot(users, SALES)).toBe('unchanged');
    await store.modes.change(users, { to: 'live', now: clock.now() });
    expect(await store.modes.changePilot(users, SALES)).toBe('notInShadow');
    await toShadow(fixture);
    expect((await store.modes.readShadow(users))?.pilot).toBeUndefined();
    const ada = await create(fixture, inSales('Ada'));
    expect(await fixture.traveler(ada)).toBeUndefined();
  }));

test('somebody who leaves the pilot without a traveler gets none, and a manager who is planned is set later', () =>
  withFixture(async (fixture) => {
    const { travel } = fixture;
    await toShadow(fixture);
    await changePilot(fixture, SALES);
    travel.faultFor = ({ verb }) => (verb === 'create' ? down : undefined);
    const ada = await create(fixture, inSales('Ada'));
    travel.faultFor = () => undefined;
    await changePilot(fixture, 'title eq "Chief"');
    await fixture.reconcileAfter(HOUR_MS);
    expect(await fixture.traveler(ada)).toBeUndefined();
    const chief = await create(fixture, person('Chief'));
    const member = await create(fixture, person('Bob', { ...managedBy(addressOf('Chief')), title: 'Chief' }));
    expect(await fixture.traveler(member)).not.toHaveProperty('managerId');
    await fixture.patch(chief, { title: 'Chief' });
    await fixture.reconcileAfter(0);
    const { id: managerId } = (await fixture.traveler(chief)) as TravelUser;
    expect(await fixture.traveler(member)).toMatchObject({ managerId });
  }));
