import { type ScimResource, urns } from '../../src/schema/resource.ts';
import { managedBy, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const numbered = (employeeNumber: string) => ({ [urns.enterprise]: { employeeNumber } });
const byNumber = { mapping: { manager: { by: 'employeeNumber' } } };

/** Creates a user whose names nobody else has, and returns the SCIM id. */
async function create({ bridge }: ProvisioningFixture, name: string, values: ScimResource): Promise<string> {
  const names = { givenName: name, familyName: `${name}son` };
  return (await bridge.users.create(users, person(name, { name: names, ...values }))).id;
}

async function managerOf(fixture: ProvisioningFixture, id: string): Promise<string | undefined> {
  const managerId = (await fixture.traveler(id))?.managerId;
  const [manager] = await fixture.store.identities.find(users, { by: 'travelId', value: managerId ?? '' });
  return String(manager?.desired.userName).replace(/@.*/, '');
}

test.each([
  ['the leaver is the older one', ['Leaver', 'Boss']],
  ['the leaver is the younger one', ['Boss', 'Leaver']],
])('of a leaver and an active holder of a number, the active one is the manager: %s', (_, names) =>
  withFixture(async (fixture) => {
    for (const name of names) {
      await create(fixture, name, { ...numbered('7'), active: name === 'Boss' });
      fixture.clock.advance(1_000);
    }
    const ada = await create(fixture, 'Ada', managedBy('7'));
    expect(await managerOf(fixture, ada)).toBe('boss');
    expect(await fixture.findings(ada)).toEqual([]);
  }, byNumber),
);

test('the person who has taken the traveler of a leaver of the same number over is the manager', () =>
  withFixture(async (fixture) => {
    const values = { ...numbered('7'), externalId: 'e7' };
    const old = await create(fixture, 'Boss', values);
    await fixture.patch(old, { active: false });
    await create(fixture, 'Boss', { ...values, userName: 'boss.again' });
    expect(await fixture.traveler(old)).toBeUndefined();
    const ada = await create(fixture, 'Ada', managedBy('7'));
    expect(await managerOf(fixture, ada)).toBe('boss.again');
    expect(await fixture.findings(ada)).toEqual([]);
  }, byNumber));

test('the same is true where the value is an externalId', () =>
  withFixture(async (fixture) => {
    const old = await create(fixture, 'Boss', { externalId: 'e7' });
    await fixture.patch(old, { active: false });
    await create(fixture, 'Boss', { externalId: 'e7', userName: 'boss.again' });
    const ada = await create(fixture, 'Ada', managedBy('e7'));
    expect(await managerOf(fixture, ada)).toBe('boss.again');
  }));

test('the manager changes with who of the holders is active, also for reports that were resolved before', () =>
  withFixture(async (fixture) => {
    const one = await create(fixture, 'One', numbered('7'));
    const two = await create(fixture, 'Two', { ...numbered('7'), active: false });
    const ada = await create(fixture, 'Ada', managedBy('7'));
    expect(await managerOf(fixture, ada)).toBe('one');
    await fixture.patch(one, { active: false });
    await fixture.reconcileAfter(0);
    expect((await fixture.traveler(ada))?.managerId).toBeUndefined();
    expect(await fixture.findings(ada)).toEqual(['managerId: managerInactive']);
    await fixture.patch(two, { active: true });
    await fixture.reconcileAfter(0);
    expect(await managerOf(fixture, ada)).toBe('two');
    expect(await fixture.findings(ada)).toEqual([]);
  }, byNumber));

test('several active holders of a number are ambiguous: nobody becomes the manager, and a manager who was set stays', () =>
  withFixture(async (fixture) => {
    await create(fixture, 'One', numbered('7'));
    const before = await create(fixture, 'Ada', managedBy('7'));
    const two = await create(fixture, 'Two', numbered('7'));
    const after = await create(fixture, 'Bob', managedBy('7'));
    await fixture.reconcileAfter(0);
    expect(await managerOf(fixture, before)).toBe('one');
    expect((await fixture.traveler(after))?.managerId).toBeUndefined();
    for (const id of [before, after])
      expect(await fixture.findings(id)).toEqual(['managerId: managerAmbiguous']);
    await fixture.patch(two, numbered('8'));
    await fixture.reconcileAfter(0);
    expect(await managerOf(fixture, after)).toBe('one');
    for (const id of [before, after]) expect(await fixture.findings(id)).toEqual([]);
  }, byNumber));
