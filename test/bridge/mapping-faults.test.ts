import type { Json } from '../../src/schema/resource.ts';
import type { Lookups } from '../../src/translator/snapshot.ts';
import { type BridgeHouse, inHouse, person } from '../support/bridge-house.ts';
import { mappingOf } from '../translator/house.ts';

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
async function restartWith(house: BridgeHouse, mapping: Json): Promise<void> {
  house.connection.mapping = mappingOf(mapping);
  await house.restart();
  await house.bridge.run().stop();
  await house.bridge.settleDue();
  await house.quiet();
}

function inKnownHouse(mapping: Json, test: (house: BridgeHouse) => Promise<void>): Promise<void> {
  return inHouse(
    async (house) => {
      house.travel.known = { ...house.travel.known, ...known };
      await test(house);
    },
    { mapping },
  );
}

it('a default with a misspelled name takes the billing profile from nobody', () =>
  inKnownHouse(headquarters, async (house) => {
    const ada = await house.bridge.users.create(users, person('Ada'));
    const bob = await house.bridge.users.create(
      users,
      person('Bob', { [travelUrn]: { billingProfile: { name: 'Branch' } } }),
    );
    house.travel.calls.length = 0;
    await restartWith(house, headquaters);
    expect(house.travel.writes()).toEqual([]);
    expect((await house.traveler(ada.id))?.billingProfileId).toBe('bp-1');
    const { findings } = await house.identity(ada.id);
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
    expect(await house.findings(bob.id)).toEqual([]);
    expect(house.bridge.mappingFaults()).toEqual([{ connection: users, count: 1 }]);
  }));

it('nor does it when the IdP takes its own value back meanwhile; once mended, all is as the rules say', () =>
  inKnownHouse(headquarters, async (house) => {
    const branch = { [travelUrn]: { billingProfile: { name: 'Branch' } } };
    const { id } = await house.bridge.users.create(users, person('Ada', branch));
    await restartWith(house, headquaters);
    await house.patch(id, { [travelUrn]: {} });
    await house.bridge.settleDue();
    expect((await house.traveler(id))?.billingProfileId).toBe('bp-2');
    await restartWith(house, headquarters);
    expect((await house.traveler(id))?.billingProfileId).toBe('bp-1');
    expect(await house.findings(id)).toEqual([]);
    expect(house.bridge.mappingFaults()).toEqual([{ connection: users, count: 0 }]);
    await restartWith(house, {});
    expect((await house.traveler(id))?.billingProfileId).toBeUndefined();
  }));

it('a value of the IdP that changes and does not resolve is still taken away', () =>
  inKnownHouse({}, async (house) => {
    const { id } = await house.bridge.users.create(
      users,
      person('Ada', { [travelUrn]: { billingProfile: { name: 'Branch' } } }),
    );
    await house.patch(id, { [travelUrn]: { billingProfile: { name: 'Brunch' } } });
    expect((await house.traveler(id))?.billingProfileId).toBeUndefined();
    expect(await house.findings(id)).toEqual(['billingProfileId: billingProfileUnknown']);
  }));

it('a custom field with a misspelled name keeps its value and its owner until the name is mended', () =>
  inKnownHouse({ scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title' }] }, async (house) => {
    const { id } = await house.bridge.users.create(users, person('Ada', { title: 'Buyer' }));
    const buyer = [{ customFieldId: 'cf-1', values: [{ data: 'Buyer' }] }];
    await restartWith(house, { scimUserMapping: [{ scimAttribute: 'title', customField: 'Job titel' }] });
    await house.patch(id, { title: null });
    await house.bridge.settleDue();
    expect((await house.traveler(id))?.customFields).toEqual(buyer);
    await restartWith(house, { scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title' }] });
    expect((await house.traveler(id))?.customFields ?? []).toEqual([]);
  }));

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
  return inKnownHouse(ruleWith('Marketing'), async (house) => {
    const { id } = await house.bridge.users.create(users, person('Ada', { title: 'Buyer' }));
    await restartWith(house, ruleWith('Marketting'));
    await house.patch(id, { title: 'Seller' });
    expect((await house.traveler(id))?.costCenterId).toBe('cc-1');
    const [finding] = (await house.identity(id)).findings;
    expect(finding?.mappingPath).toBe('scimUserMapping[0].transforms[0].map.Seller');
  });
});

it('a row of the collection that becomes unusable takes nothing away', () =>
  inKnownHouse({}, async (house) => {
    const row = (scimAttribute: string) => {
      const scimUserMappings = [{ scimAttribute, userAttribute: 'costCenterId' }];
      house.travel.known = { ...house.travel.known, scimUserMappings };
    };
    row('title');
    const { id } = await house.bridge.users.create(users, person('Ada', { title: 'Marketing' }));
    expect((await house.traveler(id))?.costCenterId).toBe('cc-1');
    row('titel');
    await restartWith(house, {});
    expect((await house.traveler(id))?.costCenterId).toBe('cc-1');
    expect(await house.findings(id)).toEqual(['costCenterId: mappingUnusable']);
    expect(house.bridge.mappingFaults()).toEqual([{ connection: users, count: 1 }]);
  }));
