import { type ScimResource, urns } from '../../src/schema/resource.ts';
import { managedBy, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const mapping = { scimUserMapping: [{ scimAttribute: 'manager.department', userAttribute: 'gender' }] };
const inDepartment = (department: string | null) => ({ [urns.enterprise]: { department } }) as ScimResource;

/** The field that the rule sets. Its values are those of the department. */
async function genderOf({ traveler }: ProvisioningFixture, id: string) {
  return (await traveler(id))?.gender;
}

test('a field follows an attribute of the manager, and changes with it', () =>
  withFixture(
    async (fixture) => {
      const { bridge, patch, reconcileAfter, findings, identity } = fixture;
      const boss = await bridge.users.create(users, person('Boss', inDepartment('male')));
      const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
      expect(await genderOf(fixture, ada.id)).toBe('male');
      const { version, lastModified } = await identity(ada.id);
      await patch(boss.id, inDepartment('female'));
      await reconcileAfter(0);
      expect(await genderOf(fixture, ada.id)).toBe('female');
      await patch(boss.id, inDepartment(null));
      await reconcileAfter(0);
      expect(await genderOf(fixture, ada.id)).toBeUndefined();
      expect(await findings(ada.id)).toEqual([]);
      expect(await identity(ada.id)).toMatchObject({ version, lastModified });
    },
    { mapping },
  ));

test('a field waits for a manager who comes later, also if that one gets no traveler', () =>
  withFixture(
    async (fixture) => {
      const { bridge, reconcileAfter, findings } = fixture;
      const ada = await bridge.users.create(users, person('Ada', managedBy('00uBoss')));
      expect(await genderOf(fixture, ada.id)).toBeUndefined();
      expect(await findings(ada.id)).toEqual(['managerId: managerUnknown', 'gender: managerAwaited']);
      const service = { ...inDepartment('female'), externalId: '00uBoss', userType: 'Service' };
      await bridge.users.create(users, person('Boss', service));
      await reconcileAfter(0);
      expect(await genderOf(fixture, ada.id)).toBe('female');
      expect(await findings(ada.id)).toEqual(['managerId: managerNotLinked']);
    },
    { mapping: { ...mapping, scope: 'not (userType eq "Service")' } },
  ));

test('while a new manager is not known, the value of the former one stays', () =>
  withFixture(
    async (fixture) => {
      const { bridge, patch, reconcileAfter } = fixture;
      const boss = await bridge.users.create(users, person('Boss', inDepartment('male')));
      const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
      await patch(ada.id, managedBy('00uNext'));
      expect((await fixture.traveler(ada.id))?.managerId).toBeUndefined();
      expect(await genderOf(fixture, ada.id)).toBe('male');
      const next = { ...inDepartment('female'), externalId: '00uNext' };
      await bridge.users.create(users, person('Next', next));
      await reconcileAfter(0);
      expect(await genderOf(fixture, ada.id)).toBe('female');
    },
    { mapping },
  ));

test('the value of the former manager stays for a person who moves and has one who is not known', () =>
  withFixture(
    async (fixture) => {
      const { bridge, store, clock } = fixture;
      const boss = await bridge.users.create(users, person('Boss', inDepartment('male')));
      const staff = { externalId: 'e1', ...managedBy(boss.id) };
      const left = await bridge.users.create(users, person('Ada', staff));
      await bridge.users.remove(users, left.id);
      // The address of the traveler is not known at the POST: the leaver is found only by the traveler.
      await store.imports.saveObserved(users, [{ id: left.id, observed: undefined }], clock.now());
      const next = person('Ada', { ...staff, ...managedBy('00uNext') });
      const ada = await bridge.users.create('other', next);
      expect(ada.travelUserId).toBe(left.travelUserId);
      expect((await fixture.traveler(ada.id, 'other'))?.gender).toBe('male');
    },
    { mapping, more: ['other'] },
  ));

test('a manager who is deleted takes the value away', () =>
  withFixture(
    async (fixture) => {
      const boss = await fixture.bridge.users.create(users, person('Boss', inDepartment('male')));
      const ada = await fixture.bridge.users.create(users, person('Ada', managedBy(boss.id)));
      await fixture.bridge.users.remove(users, boss.id);
      await fixture.reconcileAfter(0);
      expect(await genderOf(fixture, ada.id)).toBeUndefined();
      expect(await fixture.findings(ada.id)).toEqual(['managerId: managerGone']);
    },
    { mapping },
  ));

test('a change of the manager reaches the reports although the process ends before the outcome', () =>
  withFixture(
    async (fixture) => {
      const { bridge, travel, patch, restart } = fixture;
      const boss = await bridge.users.create(users, person('Boss', inDepartment('male')));
      const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
      travel.faultFor = ({ verb }) => (verb === 'patch' ? 'hang' : undefined);
      void patch(boss.id, { ...inDepartment('female'), name: { givenName: 'Max', familyName: 'X' } });
      await travel.holdCall('patch').reached;
      travel.faultFor = () => undefined;
      await restart();
      await fixture.reconcileAfter(120_000);
      await fixture.reconcileAfter(0);
      expect(await genderOf(fixture, ada.id)).toBe('female');
    },
    { mapping },
  ));

test('a change of what no rule reads makes no report dirty, nor does a manager whom no rule reads', () =>
  withFixture(
    async (fixture) => {
      const { bridge, patch, identity } = fixture;
      const boss = await bridge.users.create(users, person('Boss', inDepartment('male')));
      const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
      await fixture.reconcileAfter(0);
      const { revision } = await identity(ada.id);
      await patch(boss.id, { title: 'Head' });
      expect(await identity(ada.id)).toMatchObject({ revision, state: 'synced' });
      await patch(boss.id, inDepartment('female'));
      expect((await identity(ada.id)).state).toBe('dirty');
    },
    { mapping },
  ));

test('without such a rule nothing is remembered of a manager', () =>
  withFixture(async ({ bridge, identity }) => {
    const boss = await bridge.users.create(users, person('Boss', inDepartment('male')));
    expect((await identity(boss.id)).progress).not.toHaveProperty('managerValues');
  }));
