import { holdFirstCall } from '../fixtures/holding-first.ts';
import { managedBy, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';

/** Creates a manager and a report. */
async function bossAndAda({ bridge }: ProvisioningFixture) {
  const boss = await bridge.users.create(users, person('Boss', { externalId: '00uBoss' }));
  const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
  return { boss, ada };
}

test('the reports of a manager who is deactivated get a finding, and it goes with the reactivation', () =>
  withFixture(async (fixture) => {
    const { boss, ada } = await bossAndAda(fixture);
    const { patch, traveler, findings, reconcileAfter } = fixture;
    await patch(boss.id, { active: false });
    await reconcileAfter(0);
    expect(await findings(ada.id)).toEqual(['managerId: managerInactive']);
    expect((await traveler(ada.id))?.managerId).toBeUndefined();
    await patch(boss.id, { active: true });
    await reconcileAfter(0);
    expect(await findings(ada.id)).toEqual([]);
    expect((await traveler(ada.id))?.managerId).toBe(boss.travelUserId);
  }));

test('a report who is created later has the same finding', () =>
  withFixture(async ({ bridge, patch, traveler, findings }) => {
    const boss = await bridge.users.create(users, person('Boss'));
    await patch(boss.id, { active: false });
    const ada = await bridge.users.create(users, person('Ada', managedBy(boss.id)));
    expect(await findings(ada.id)).toEqual(['managerId: managerInactive']);
    expect((await traveler(ada.id))?.managerId).toBeUndefined();
  }));

test('a manager whose deactivation is held counts as inactive', () =>
  withFixture(
    async (fixture) => {
      const { boss, ada } = await bossAndAda(fixture);
      await fixture.patch(boss.id, { active: false });
      await fixture.reconcileAfter(0);
      expect((await fixture.identity(boss.id)).state).toBe('held');
      expect(await fixture.findings(ada.id)).toEqual(['managerId: managerInactive']);
    },
    {
      policies: { safetyValve: { share: 0, minimum: 0, windowMs: 3_600_000 } },
    },
  ));

test('a manager who is archived in the travel service before an IdP has written them is inactive', () =>
  withFixture(async ({ bridge, travel, findings, importTravelers }) => {
    const boss = travel.addTraveler({ email: 'boss@corp.example' });
    await importTravelers();
    const ada = await bridge.users.create(users, person('Ada', managedBy('boss@corp.example')));
    expect(await findings(ada.id)).toEqual([]);
    travel.travelers.set(boss.id, { ...boss, archived: true });
    await importTravelers();
    expect(await findings(ada.id)).toEqual(['managerId: managerInactive']);
    travel.travelers.set(boss.id, { ...boss, archived: false });
    await importTravelers();
    expect(await findings(ada.id)).toEqual([]);
  }));

test('an inactive manager whom the mapping names is removed as well, and the mapping is not at fault', () =>
  withFixture(
    async (fixture) => {
      const { boss, ada } = await bossAndAda(fixture);
      expect((await fixture.traveler(ada.id))?.managerId).toBe(boss.travelUserId);
      await fixture.patch(boss.id, { active: false });
      await fixture.reconcileAfter(0);
      expect(await fixture.traveler(ada.id)).not.toHaveProperty('managerId');
      const { findings } = await fixture.identity(ada.id);
      expect(findings).toMatchObject([{ code: 'managerInactive' }]);
      expect(findings[0]).not.toHaveProperty('mappingPath');
    },
    {
      mapping: { scimUserMapping: [{ template: '00uBoss', userAttribute: 'managerId' }] },
    },
  ));

test('a deleted manager is removed from the reports, as before', () =>
  withFixture(async (fixture) => {
    const { boss, ada } = await bossAndAda(fixture);
    await fixture.patch(boss.id, { active: false });
    await fixture.bridge.users.remove(users, boss.id);
    await fixture.reconcileAfter(0);
    expect(await fixture.findings(ada.id)).toEqual(['managerId: managerGone']);
    expect(await fixture.traveler(ada.id)).not.toHaveProperty('managerId');
  }));

test('the reports learn of a deactivation after a restart, if the process ended right after it', () =>
  withFixture(async (fixture) => {
    const { boss, ada } = await bossAndAda(fixture);
    const held = fixture.travel.holdCall('patch');
    void fixture.patch(boss.id, { active: false }).catch(() => {});
    await held.reached;
    await fixture.restart();
    await fixture.reconcileAfter(60_000);
    await fixture.reconcileAfter(60_000);
    expect(await fixture.findings(ada.id)).toEqual(['managerId: managerInactive']);
  }));

test('the reports learn of a deactivation from the archived traveler, if the process ended before the write told them', () =>
  withFixture(async (fixture) => {
    const { boss, ada } = await bossAndAda(fixture);
    const { references } = fixture.store;
    const search = holdFirstCall(references.findReferrers);
    references.findReferrers = search.held;
    const call = fixture.travel.holdCall('patch');
    void fixture.patch(boss.id, { active: false }).catch(() => {});
    await Promise.all([search.reached, call.reached]);
    await fixture.restart();
    expect((await fixture.identity(ada.id)).state).toBe('synced');
    await fixture.reconcileAfter(60_000);
    await fixture.reconcileAfter(60_000);
    expect(await fixture.findings(ada.id)).toEqual(['managerId: managerInactive']);
  }));
