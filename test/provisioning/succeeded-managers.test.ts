import { joinPeople } from '../../src/provisioning/people/join-people.ts';
import type { ScimResource } from '../../src/schema/resource.ts';
import {
  addressOf,
  managedBy,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const users = 'default';
const bert = { name: { givenName: 'Bert', familyName: 'Quinn' } };

async function settle(fixture: ProvisioningFixture): Promise<void> {
  for (let round = 0; round < 3; round += 1) await fixture.reconcileAfter(61_000);
  expect(await fixture.bridge.reconcileDue()).toBe(0);
}

interface Team {
  boss: { id: string; travelId: string };
  report: string;
}

/** Creates a manager and a report that names the manager in this way, and lets the manager leave. */
async function leaveTeam(
  fixture: ProvisioningFixture,
  { isDeleted = true, naming = addressOf('Boss') }: { isDeleted?: boolean; naming?: string } = {},
): Promise<Team> {
  const { bridge } = fixture;
  const boss = await bridge.users.create(users, person('Boss', { userName: 'boss', externalId: '00uBoss' }));
  const report = await bridge.users.create(
    users,
    person('Report', managedBy(naming === 'id' ? boss.id : naming)),
  );
  expect((await fixture.traveler(report.id))?.managerId).toBe(boss.travelUserId);
  if (isDeleted) await bridge.users.remove(users, boss.id);
  else await fixture.patch(boss.id, { active: false });
  return { boss: { id: boss.id, travelId: boss.travelUserId ?? '' }, report: report.id };
}

/** Creates another person, or the same one, with the address of the manager. */
async function succeed({ bridge }: ProvisioningFixture, attributes: ScimResource = {}): Promise<string> {
  const values = { userName: 'boss.two', ...bert, ...attributes };
  return (await bridge.users.create(users, person('Boss', values))).id;
}

async function expectNoManager(fixture: ProvisioningFixture, report: string): Promise<void> {
  expect(await fixture.traveler(report)).not.toHaveProperty('managerId');
  expect(await fixture.findings(report)).toEqual([
    expect.stringMatching(/^managerId: manager(Replaced|Gone)$/),
  ]);
}

test.each(['id', 'boss', addressOf('Boss')])(
  'another person who takes the place of a deleted manager is not the manager of a report that names the leaver by %s',
  (naming) =>
    withFixture(async (fixture) => {
      const { boss, report } = await leaveTeam(fixture, { naming });
      const newcomer = await succeed(fixture, { userName: 'boss' });
      expect((await fixture.traveler(newcomer))?.id).not.toBe(boss.travelId);
      await settle(fixture);
      await expectNoManager(fixture, report);
      await fixture.patch(report, { title: 'Weaver' });
      await settle(fixture);
      await expectNoManager(fixture, report);
    }),
);

test('another person who takes the place of a deactivated manager is not the manager of the reports', () =>
  withFixture(async (fixture) => {
    const { report } = await leaveTeam(fixture, { isDeleted: false });
    await succeed(fixture);
    await settle(fixture);
    expect(await fixture.traveler(report)).not.toHaveProperty('managerId');
    expect(await fixture.findings(report)).toEqual(['managerId: managerInactive']);
  }));

test('the manager is removed also if the first attempt at the report fails', () =>
  withFixture(async (fixture) => {
    const { report } = await leaveTeam(fixture, { naming: 'id' });
    const { travelId } = await fixture.identity(report);
    fixture.travel.faultFor = ({ verb, id }) =>
      verb === 'patch' && id === travelId ? { kind: 'unavailable', text: '503' } : undefined;
    await succeed(fixture);
    await fixture.reconcileAfter(1_000);
    fixture.travel.faultFor = () => undefined;
    await settle(fixture);
    await expectNoManager(fixture, report);
  }));

test('the newcomer is the manager of whoever names the newcomer, by the same values too', () =>
  withFixture(async (fixture) => {
    const { report } = await leaveTeam(fixture);
    const newcomer = await succeed(fixture);
    await settle(fixture);
    const { travelId } = await fixture.identity(newcomer);
    const other = await fixture.bridge.users.create(users, person('Other', managedBy(addressOf('Boss'))));
    expect((await fixture.traveler(other.id))?.managerId).toBe(travelId);
    await fixture.patch(report, managedBy(newcomer));
    expect((await fixture.traveler(report))?.managerId).toBe(travelId);
    expect(await fixture.findings(report)).toEqual([]);
  }));

test('the reports of the same person follow to the new user', () =>
  withFixture(async (fixture) => {
    const { boss, report } = await leaveTeam(fixture, { isDeleted: false, naming: 'id' });
    await settle(fixture);
    const back = await succeed(fixture, { ...person('Boss'), userName: 'boss.two', externalId: '00uBoss' });
    await settle(fixture);
    expect((await fixture.traveler(back))?.id).toBe(boss.travelId);
    expect((await fixture.traveler(report))?.managerId).toBe(boss.travelId);
    expect(await fixture.findings(report)).toEqual([]);
  }));

test('neither a successor who is hired again nor the next one is the manager of the reports', () =>
  withFixture(async (fixture) => {
    const { report } = await leaveTeam(fixture);
    const first = await succeed(fixture, { externalId: '00uBert' });
    await fixture.bridge.users.remove(users, first);
    await settle(fixture);
    const again = await succeed(fixture, { externalId: '00uBert' });
    await settle(fixture);
    await expectNoManager(fixture, report);
    await fixture.bridge.users.remove(users, again);
    await settle(fixture);
    await succeed(fixture, { name: { givenName: 'Dora', familyName: 'Ivy' }, externalId: '00uDora' });
    await settle(fixture);
    await expectNoManager(fixture, report);
  }));

test('a manager who comes back after another person had the place is the manager of the reports again', () =>
  withFixture(async (fixture) => {
    const { boss, report } = await leaveTeam(fixture);
    const successor = await succeed(fixture, { externalId: '00uBert' });
    await settle(fixture);
    await expectNoManager(fixture, report);
    await fixture.bridge.users.remove(users, successor);
    await settle(fixture);
    const back = await succeed(fixture, { ...person('Boss'), userName: 'boss', externalId: '00uBoss' });
    await settle(fixture);
    expect((await fixture.traveler(back))?.id).toBe(boss.travelId);
    expect((await fixture.traveler(report))?.managerId).toBe(boss.travelId);
    expect(await fixture.findings(report)).toEqual([]);
  }));

test('a successor who came back and then got the name of the former manager is not the manager of the reports', () =>
  withFixture(async (fixture) => {
    const { report } = await leaveTeam(fixture);
    const successor = await succeed(fixture, { userName: 'boss', externalId: '00uBert' });
    await fixture.bridge.users.remove(users, successor);
    await settle(fixture);
    const back = await succeed(fixture, { userName: 'boss', externalId: '00uBert' });
    await settle(fixture);
    await fixture.patch(back, { name: { givenName: 'Boss', familyName: 'Smith' } });
    await fixture.patch(report, { title: 'Weaver' });
    await settle(fixture);
    await expectNoManager(fixture, report);
  }));

test('a SCIM user that is activated for another person stays the manager whom the reports name', () =>
  withFixture(async (fixture) => {
    const { boss, report } = await leaveTeam(fixture, { isDeleted: false, naming: 'id' });
    await fixture.patch(boss.id, { ...bert, externalId: '00uBert', active: true });
    await settle(fixture);
    const { travelId } = await fixture.identity(boss.id);
    expect(travelId).not.toBe(boss.travelId);
    expect((await fixture.traveler(report))?.managerId).toBe(travelId);
    expect(await fixture.findings(report)).toEqual([]);
  }));

test('the reports of a leaver follow to the user with whom an admin joins the leaver', () =>
  withFixture(async (fixture) => {
    const { clock, store } = fixture;
    const { boss, report } = await leaveTeam(fixture, { isDeleted: false, naming: 'id' });
    clock.advance(365 * 86_400_000);
    const newcomer = await succeed(fixture, person('Boss', { userName: 'boss.two' }));
    await settle(fixture);
    const people = { leaver: await fixture.identity(boss.id), newcomer: await fixture.identity(newcomer) };
    const deps = { identities: store.identities, runtime: { ...clock, newId: () => 'joined' } };
    expect(await joinPeople(deps, people)).toBe('joined');
    await settle(fixture);
    expect((await fixture.traveler(newcomer))?.id).toBe(boss.travelId);
    expect((await fixture.traveler(report))?.managerId).toBe(boss.travelId);
    expect(await fixture.findings(report)).toEqual([]);
  }));
