import { applyMapping } from '../../src/provisioning/mapping-changes/apply-mapping.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { approve, goLiveAsReported, report, toShadow } from '../fixtures/shadow.ts';

const users = 'default';
const HOUR_MS = 3_600_000;
const valve = { policies: { safetyValve: { share: 0, minimum: 1, windowMs: HOUR_MS } } };

const employee = (name: string, extra: ScimResource = {}) => person(name, { userType: 'Employee', ...extra });
const contractor = (name: string) => person(name, { userType: 'Contractor' });

/** An admin puts a mapping in force that leaves contractors out. */
async function leaveContractorsOut({ store, clock, connection }: ProvisioningFixture): Promise<void> {
  const mapping = {
    scimUserMapping: [],
    scope: 'userType eq "Employee"',
    outOfScope: 'archive' as const,
  };
  const [{ generation: expected = 0 } = {}] = await store.rules.listMappings(users, 1);
  const change = { mapping, expected, source: 'command', author: 'Ada' } as const;
  const applied = await applyMapping({ ...store, runtime: clock }, connection, { change });
  expect(applied).toMatchObject({ outcome: 'applied' });
}

/** The background work follows changed rules, and everybody who is due is planned. */
async function followRules({ bridge }: ProvisioningFixture): Promise<void> {
  await bridge.startBackground().stop();
  await bridge.reconcileDue();
}

test('a change of the mapping plans everybody again, and going live does what the report says, person by person', () =>
  withFixture(async (fixture) => {
    const { bridge, travel, clock } = fixture;
    for (const name of ['Known', 'Outside', 'Extern'])
      travel.addTraveler({ email: addressOf(name), firstName: 'Former', lastName: 'Smith' });
    await fixture.importTravelers();
    await bridge.users.create(users, employee('Stays'));
    for (const name of ['Leaver', 'Second', 'Third']) await bridge.users.create(users, contractor(name));
    await toShadow(fixture);
    for (const name of ['New', 'Known', 'Nobody'])
      await bridge.users.create(
        users,
        employee(name, name === 'Nobody' ? { emails: [], userName: name } : {}),
      );
    for (const name of ['Agency', 'Outside', 'Extern']) await bridge.users.create(users, contractor(name));
    clock.advance(1_000);
    await bridge.users.create(users, employee('Agency', { userName: 'same-address' }));
    expect((await report(fixture)).sums).toMatchObject({ create: 2, link: 3, leftOut: 2, same: 4 });
    await leaveContractorsOut(fixture);
    await followRules(fixture);
    const { sums, of } = await report(fixture);
    expect(sums).toMatchObject({ create: 2, link: 1, end: 3, leftOut: 4, same: 1 });
    expect(of('Agency')).toMatchObject({ outcome: 'leftOut', codes: ['outOfScope'] });
    const { planned, done } = await goLiveAsReported(fixture);
    expect(done).toEqual(planned);
    expect(done[addressOf('Second')]).toEqual({ isCreated: false, archived: true });
  }, valve));

test('while a change of rules is being planned, the report says so and going live waits', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    await toShadow(fixture);
    for (const name of ['One', 'Two']) await bridge.users.create(users, contractor(name));
    await bridge.users.create(users, person('Same'));
    const before = await report(fixture);
    await leaveContractorsOut(fixture);
    expect((await report(fixture)).sums).toEqual({ unplanned: 3 });
    expect(await approve(fixture, before.digest, 99)).toEqual({ outcome: 'planning', left: 3 });
    await followRules(fixture);
    expect(travel.writes()).toEqual([]);
    const { digest, sums } = await report(fixture);
    expect(sums).toMatchObject({ leftOut: 3 });
    expect(await approve(fixture, digest)).toMatchObject({ outcome: 'live' });
    expect(travel.writes()).toEqual([]);
  }));
