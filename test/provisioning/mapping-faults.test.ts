import type { Json } from '../../src/schema/resource.ts';
import type { Lookups } from '../../src/translator/translation.ts';
import { type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
const travelUrn = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';
const known: Partial<Lookups> = {
  billingProfiles: [
    { id: 'bp-1', name: 'Headquarters', archived: false },
    { id: 'bp-2', name: 'Branch', archived: false },
  ],
  costCenters: [{ id: 'cc-1', name: 'Marketing', archived: false }],
  customFields: [{ id: 'cf-1', name: 'Job title', dataType: 'text', disabled: false, options: [] }],
};

const headquarters = { defaults: { billingProfile: { name: 'Headquarters' } } };
const headquaters = { defaults: { billingProfile: { name: 'Headquaters' } } };

/** Starts anew with another mapping, and works off what that makes due. */
async function restartWith(fixture: ProvisioningFixture, mapping: Json): Promise<void> {
  fixture.connection.mapping = mappingOf(mapping);
  await fixture.restart();
  await fixture.bridge.startBackground().stop();
  await fixture.bridge.reconcileDue();
  await fixture.waitForLeases();
}

function inKnownFixture(mapping: Json, test: (fixture: ProvisioningFixture) => Promise<void>): Promise<void> {
  return withFixture(
    async (fixture) => {
      fixture.travel.lookupData = { ...fixture.travel.lookupData, ...known };
      await test(fixture);
    },
    { mapping },
  );
}

it('a default with a misspelled name takes the billing profile from nobody', () =>
  inKnownFixture(headquarters, async (fixture) => {
    const ada = await fixture.bridge.users.create(users, person('Ada'));
    const bob = await fixture.bridge.users.create(
      users,
      person('Bob', { [travelUrn]: { billingProfile: { name: 'Branch' } } }),
    );
    fixture.travel.calls.length = 0;
    await restartWith(fixture, headquaters);
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

it('nor does it when the IdP takes its own value back meanwhile; once mended, all is as the rules say', () =>
  inKnownFixture(headquarters, async (fixture) => {
    const branch = { [travelUrn]: { billingProfile: { name: 'Branch' } } };
    const { id } = await fixture.bridge.users.create(users, person('Ada', branch));
    await restartWith(fixture, headquaters);
    await fixture.patch(id, { [travelUrn]: {} });
    await fixture.bridge.reconcileDue();
    expect((await fixture.traveler(id))?.billingProfileId).toBe('bp-2');
    await restartWith(fixture, headquarters);
    expect((await fixture.traveler(id))?.billingProfileId).toBe('bp-1');
    expect(await fixture.findings(id)).toEqual([]);
    expect(fixture.bridge.mappingFaults()).toEqual([{ connection: users, count: 0 }]);
    await restartWith(fixture, {});
    expect((await fixture.traveler(id))?.billingProfileId).toBeUndefined();
  }));

it('a value of the IdP that changes and does not resolve is still taken away', () =>
  inKnownFixture({}, async (fixture) => {
    const { id } = await fixture.bridge.users.create(
      users,
      person('Ada', { [travelUrn]: { billingProfile: { name: 'Branch' } } }),
    );
    await fixture.patch(id, { [travelUrn]: { billingProfile: { name: 'Brunch' } } });
    expect((await fixture.traveler(id))?.billingProfileId).toBeUndefined();
    expect(await fixture.findings(id)).toEqual(['billingProfileId: billingProfileUnknown']);
  }));

it('a custom field with a misspelled name keeps its value and its owner until the name is mended', () =>
  inKnownFixture(
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

it('a result of map with a misspelled name keeps the cost center, of those who change their job as well', () => {
  const ruleWith = (name: string) => ({
    scimUserMapping: [
      {
        scimAttribute: 'title',
        userAttribute: 'costCenterId',
        transforms: [{ map: { Buyer: 'Marketing', Seller: name } }],
      },
    ],
  });
  return inKnownFixture(ruleWith('Marketing'), async (fixture) => {
    const { id } = await fixture.bridge.users.create(users, person('Ada', { title: 'Buyer' }));
    await restartWith(fixture, ruleWith('Marketting'));
    await fixture.patch(id, { title: 'Seller' });
    expect((await fixture.traveler(id))?.costCenterId).toBe('cc-1');
    const [finding] = (await fixture.identity(id)).findings;
    expect(finding?.mappingPath).toBe('scimUserMapping[0].transforms[0].map.Seller');
  });
});

it('a row of the collection that becomes unusable takes nothing away', () =>
  inKnownFixture({}, async (fixture) => {
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
