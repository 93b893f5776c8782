import type { Lookups } from '../../src/model/translation.ts';
import type { Json } from '../../src/schema/resource.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
const travelUrn = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';
const knownLookups: Partial<Lookups> = {
  billingProfiles: [
    { id: 'bp-1', name: 'Headquarters', archived: false },
    { id: 'bp-2', name: 'Branch', archived: false },
  ],
  costCenters: [{ id: 'cc-1', name: 'Marketing', archived: false }],
  customFields: [{ id: 'cf-1', name: 'Job title', dataType: 'text', disabled: false, options: [] }],
};

const correctMapping = { defaults: { billingProfile: { name: 'Headquarters' } } };
const misspelledMapping = { defaults: { billingProfile: { name: 'Headquaters' } } };

/** Restarts the service with another mapping, and reconciles the identities that this makes due. */
async function restartWith(fixture: ProvisioningFixture, mapping: Json): Promise<void> {
  fixture.connection.mapping = mappingOf(mapping);
  await fixture.restart();
  await fixture.bridge.startBackground().stop();
  await fixture.bridge.reconcileDue();
  await fixture.waitForLeases();
}

function withKnownLookups(
  mapping: Json,
  test: (fixture: ProvisioningFixture) => Promise<void>,
): Promise<void> {
  return withFixture(
    async (fixture) => {
      fixture.travel.lookupData = { ...fixture.travel.lookupData, ...knownLookups };
      await test(fixture);
    },
    { mapping },
  );
}

it('a default with a misspelled name removes the billing profile from no traveler, and becomes a finding', () =>
  withKnownLookups(correctMapping, async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    const bob = await fixture.bridge.users.create(
      users,
      person('Bob', { [travelUrn]: { billingProfile: { name: 'Branch' } } }),
    );
    fixture.travel.calls.length = 0;
    await restartWith(fixture, misspelledMapping);
    expect(fixture.travel.writes()).toEqual([]);
    expect((await fixture.traveler(ada.id))?.billingProfileId).toBe('bp-1');
    const { findings } = await fixture.identity(ada.id);
    expect(findings).toEqual([
      {
        field: 'billingProfileId',
        code: 'billingProfileUnknown',
        value: { name: 'Headquaters' },
        reason:
          'The mapping is at fault (defaults.billingProfile.name). The travel service has no such billing profile.',
        remedy: 'Correct defaults.billingProfile.name. Until then the field stays as it is.',
        mappingPath: 'defaults.billingProfile.name',
      },
    ]);
    expect(await fixture.findings(bob.id)).toEqual([]);
    expect(fixture.bridge.mappingFaults()).toEqual([{ connection: users, count: 1 }]);
  }));

it('if the IdP removes its own value while a default is misspelled, the field keeps its value until the mapping is corrected', () =>
  withKnownLookups(correctMapping, async (fixture) => {
    const branch = { [travelUrn]: { billingProfile: { name: 'Branch' } } };
    const { id } = await fixture.bridge.users.create(users, person('Ada', branch));
    await restartWith(fixture, misspelledMapping);
    await fixture.patch(id, { [travelUrn]: {} });
    await fixture.bridge.reconcileDue();
    expect((await fixture.traveler(id))?.billingProfileId).toBe('bp-2');
    await restartWith(fixture, correctMapping);
    expect((await fixture.traveler(id))?.billingProfileId).toBe('bp-1');
    expect(await fixture.findings(id)).toEqual([]);
    expect(fixture.bridge.mappingFaults()).toEqual([{ connection: users, count: 0 }]);
    await restartWith(fixture, {});
    expect((await fixture.traveler(id))?.billingProfileId).toBeUndefined();
  }));

it('a changed value of the IdP that does not resolve removes the field', () =>
  withKnownLookups({}, async (fixture) => {
    const { id } = await fixture.bridge.users.create(
      users,
      person('Ada', { [travelUrn]: { billingProfile: { name: 'Branch' } } }),
    );
    await fixture.patch(id, { [travelUrn]: { billingProfile: { name: 'Brunch' } } });
    expect((await fixture.traveler(id))?.billingProfileId).toBeUndefined();
    expect(await fixture.findings(id)).toEqual(['billingProfileId: billingProfileUnknown']);
  }));

it('a custom field with a misspelled name keeps its value and stays owned until the name is corrected', () =>
  withKnownLookups(
    { scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title' }] },
    async (fixture) => {
      const { id } = await fixture.bridge.users.create(users, person('Ada', { title: 'Buyer' }));
      const buyer = [{ customFieldId: 'cf-1', values: [{ data: 'Buyer' }] }];
      await restartWith(fixture, { scimUserMapping: [{ scimAttribute: 'title', customField: 'Job titel' }] });
      await fixture.patch(id, { title: null });
      await fixture.bridge.reconcileDue();
      expect((await fixture.traveler(id))?.customFields).toEqual(buyer);
      await restartWith(fixture, { scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title' }] });
      expect((await fixture.traveler(id))?.customFields ?? []).toEqual([]);
    },
  ));

it('a misspelled result of `map` keeps the cost center, also if the source value changes to the one with that result', () => {
  const ruleWith = (name: string) => ({
    scimUserMapping: [
      {
        scimAttribute: 'title',
        userAttribute: 'costCenterId',
        transforms: [{ map: { Buyer: 'Marketing', Seller: name } }],
      },
    ],
  });
  return withKnownLookups(ruleWith('Marketing'), async (fixture) => {
    const { id } = await fixture.bridge.users.create(users, person('Ada', { title: 'Buyer' }));
    await restartWith(fixture, ruleWith('Marketting'));
    await fixture.patch(id, { title: 'Seller' });
    expect((await fixture.traveler(id))?.costCenterId).toBe('cc-1');
    const [finding] = (await fixture.identity(id)).findings;
    expect(finding?.mappingPath).toBe('scimUserMapping[0].transforms[0].map.Seller');
  });
});

it('a row of the scimUserMapping collection that becomes unusable removes no value', () =>
  withKnownLookups({}, async (fixture) => {
    const row = (scimAttribute: string) => {
      const scimUserMappings = [{ scimAttribute, userAttribute: 'costCenterId' }];
      fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings };
    };
    row('title');
    const { id } = await fixture.bridge.users.create(users, person('Ada', { title: 'Marketing' }));
    expect((await fixture.traveler(id))?.costCenterId).toBe('cc-1');
    row('titel');
    await restartWith(fixture, {});
    expect((await fixture.traveler(id))?.costCenterId).toBe('cc-1');
    expect(await fixture.findings(id)).toEqual(['costCenterId: mappingUnusable']);
    expect(fixture.bridge.mappingFaults()).toEqual([{ connection: users, count: 1 }]);
  }));
