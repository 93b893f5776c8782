import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';

const users = 'default';
const project = { id: 'cf-1', name: 'Project', dataType: 'text', disabled: false, options: [] };

/** Runs the background tasks until they have applied the current rules, and reconciles the identities that became due. */
async function applyRules(fixture: ProvisioningFixture): Promise<void> {
  await fixture.bridge.startBackground().stop();
  await fixture.bridge.reconcileDue();
}

test('a change of the scimUserMapping collection updates the travelers whose values it changes, and no others', () =>
  withFixture(async (fixture) => {
    const { bridge, travel } = fixture;
    travel.lookupData = { ...travel.lookupData, customFields: [project] };
    const ada = await bridge.users.create(users, person('Ada', { title: 'Engines' }));
    const bob = await bridge.users.create(users, person('Bob'));
    travel.calls.length = 0;
    travel.lookupData = {
      ...travel.lookupData,
      scimUserMappings: [{ scimAttribute: 'title', customFieldId: 'cf-1' }],
    };
    await applyRules(fixture);
    expect(travel.writes().map(({ id }) => id)).toEqual([ada.travelUserId]);
    expect((await fixture.traveler(ada.id))?.customFields).toEqual([
      { customFieldId: 'cf-1', values: [{ data: 'Engines' }] },
    ]);
    const versions = [
      (await fixture.identity(ada.id)).rulesGeneration,
      (await fixture.identity(bob.id)).rulesGeneration,
    ];
    expect(new Set(versions).size).toBe(1);
    expect((await bridge.users.read(users, ada.id)).version).toBe(1);
  }));

test('rules that did not change write no identity', () =>
  withFixture(async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    const { revision } = await fixture.identity(ada.id);
    await applyRules(fixture);
    expect((await fixture.identity(ada.id)).revision).toBe(revision);
  }));

test('a new cost center is set on the travelers whose users name it', () =>
  withFixture(async (fixture) => {
    const urn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    const ada = await fixture.bridge.users.create(users, person('Ada', { [urn]: { costCenter: 'Finance' } }));
    expect(await fixture.findings(ada.id)).toEqual(['costCenterId: costCenterUnknown']);
    fixture.travel.lookupData = {
      ...fixture.travel.lookupData,
      costCenters: [{ id: 'cc-1', name: 'Finance', archived: false }],
    };
    await applyRules(fixture);
    expect((await fixture.traveler(ada.id))?.costCenterId).toBe('cc-1');
    expect(await fixture.findings(ada.id)).toEqual([]);
  }));

test('a write uses changed rules at once', () =>
  withFixture(async (fixture) => {
    const { travel } = fixture;
    await fixture.bridge.users.create(users, person('Ada'));
    travel.lookupData = {
      ...travel.lookupData,
      scimUserMappings: [{ scimAttribute: 'nickName', userAttribute: 'firstName' }],
    };
    const bob = await fixture.bridge.users.create(users, person('Bob', { nickName: 'Bobby' }));
    expect((await fixture.traveler(bob.id))?.firstName).toBe('Bobby');
  }));
