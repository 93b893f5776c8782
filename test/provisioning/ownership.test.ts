import type { TravelUser } from '../../src/model/traveler.ts';
import { type ScimResource, urns } from '../../src/schema/resource.ts';
import { addressOf, type ProvisioningFixture, person, withFixture } from '../fixtures/provisioning.ts';
import { mappingOf } from '../fixtures/translator.ts';

const users = 'default';
const fields = [
  { id: 'cf-1', name: 'Title', dataType: 'text', disabled: false, options: [] },
  { id: 'cf-2', name: 'Badge', dataType: 'text', disabled: false, options: [] },
];
const rules = [
  { scimAttribute: 'title', customFieldId: 'cf-1' },
  { scimAttribute: 'nickName', customFieldId: 'cf-2' },
];

/** A traveler with a value in every field that can be entered by hand. */
const manualTraveler: Partial<TravelUser> & { email: string } = {
  ...{ email: addressOf('Ada'), firstName: 'Ada', lastName: 'Smith', phoneNumber: '+41 443334455' },
  roles: ['organizer', 'guest'],
  customFields: [
    { customFieldId: 'cf-1', values: [{ data: 'Boss' }] },
    { customFieldId: 'cf-2', values: [{ data: '4711' }] },
    { customFieldId: 'cf-9', values: [{ data: 'mine' }] },
  ] as never,
  address: { streetAddress: 'Main 1', city: 'Bern', postalCode: '3000', countryCode: 'CH' },
};

/** Imports a traveler that no IdP has written, and returns the ids of user and traveler. */
async function importTraveler(fixture: ProvisioningFixture): Promise<{ id: string; travelId: string }> {
  const travelPolicies = ['Lax', 'Strict'].map((name) => ({ id: `tp-${name}`, name, archived: false }));
  const lookupData = { customFields: fields as never, scimUserMappings: rules, travelPolicies };
  fixture.travel.lookupData = { ...fixture.travel.lookupData, ...lookupData };
  const { id: travelId } = fixture.travel.addTraveler(manualTraveler);
  await fixture.importTravelers();
  const [found] = await fixture.store.identities.find(users, { by: 'travelId', value: travelId });
  fixture.travel.calls.length = 0;
  return { id: found?.id ?? '', travelId };
}

const travelerOf = (fixture: ProvisioningFixture, travelId: string) => fixture.travel.travelers.get(travelId);
const ownedFields = async (fixture: ProvisioningFixture, id: string) =>
  Object.keys((await fixture.identity(id)).applied).toSorted();
const desiredUserOf = async (fixture: ProvisioningFixture, id: string) =>
  (await fixture.identity(id)).desired;
const nameOf = (givenName: string): ScimResource => ({ name: { givenName, familyName: 'Smith' } });

/** Changes a traveler by hand and runs an import. */
async function editByHand(fixture: ProvisioningFixture, travelId: string, values: object): Promise<void> {
  const now = travelerOf(fixture, travelId);
  if (now) fixture.travel.travelers.set(travelId, { ...now, ...values });
  await fixture.importTravelers();
}

async function withImportedTraveler(
  run: (fixture: ProvisioningFixture, user: { id: string; travelId: string }) => Promise<void>,
  options: Parameters<typeof withFixture>[1] = {},
): Promise<void> {
  await withFixture(async (fixture) => run(fixture, await importTraveler(fixture)), options);
}

test('a PATCH of one attribute owns its field alone, and changes nothing else', () =>
  withImportedTraveler(async (fixture, { id, travelId }) => {
    await fixture.patch(id, nameOf('Anna'));
    expect(travelerOf(fixture, travelId)).toMatchObject({ ...manualTraveler, firstName: 'Anna' });
    expect(await ownedFields(fixture, id)).toEqual(['firstName']);
    await editByHand(fixture, travelId, { lastName: 'Jones', phoneNumber: '+41440000000', roles: ['guest'] });
    expect(await fixture.findings(id)).toEqual([]);
    await fixture.patch(id, nameOf('Berta'));
    expect(travelerOf(fixture, travelId)).toMatchObject({
      ...{ firstName: 'Berta', lastName: 'Jones', phoneNumber: '+41440000000', roles: ['guest'] },
    });
    expect(await ownedFields(fixture, id)).toEqual(['firstName']);
  }));

test('a PATCH that writes the current value changes nothing and owns nothing', () =>
  withImportedTraveler(async (fixture, { id }) => {
    await fixture.patch(id, { displayName: 'Whoever' });
    expect(fixture.travel.writes()).toEqual([]);
    expect(await ownedFields(fixture, id)).toEqual([]);
  }));

test('a later PATCH owns each element that it adds, changes or removes', () =>
  withImportedTraveler(async (fixture, { id, travelId }) => {
    const { roles = [] } = (await desiredUserOf(fixture, id))[urns.travel] as { roles?: { value: string }[] };
    await fixture.patch(id, { nickName: '4712' });
    expect(await ownedFields(fixture, id)).toEqual(['customFields.cf-2']);
    const custom = (key: string) =>
      travelerOf(fixture, travelId)?.customFields?.find(({ customFieldId }) => customFieldId === key)
        ?.values[0]?.data;
    expect(['cf-1', 'cf-2', 'cf-9'].map(custom)).toEqual(['Boss', '4712', 'mine']);
    const extension = (await desiredUserOf(fixture, id))[urns.travel] as ScimResource;
    const left = [...roles.filter(({ value }) => value !== 'guest'), { value: 'premium' }];
    await fixture.patch(id, { [urns.travel]: { ...extension, roles: left } });
    expect(travelerOf(fixture, travelId)?.roles?.toSorted()).toEqual(['organizer', 'premium']);
    expect(await ownedFields(fixture, id)).toEqual(['customFields.cf-2', 'roles.premium']);
    await editByHand(fixture, travelId, { roles: ['premium', 'guest'] });
    expect(await fixture.findings(id)).toEqual([]);
    await fixture.patch(id, { title: undefined } as never);
    expect(['cf-1', 'cf-2', 'cf-9'].map(custom)).toEqual([undefined, '4712', 'mine']);
    expect(travelerOf(fixture, travelId)?.roles?.toSorted()).toEqual(['guest', 'premium']);
  }));

test('a value that a PATCH removes comes back when the IdP sets it again', () =>
  withImportedTraveler(async (fixture, { id, travelId }) => {
    const { phoneNumbers = [] } = await desiredUserOf(fixture, id);
    await fixture.patch(id, { phoneNumbers: [] });
    expect(travelerOf(fixture, travelId)?.phoneNumber).toBeUndefined();
    fixture.travel.calls.length = 0;
    await fixture.store.reconcileQueue.markDirty(users, [id], fixture.clock.now());
    await editByHand(fixture, travelId, { phoneNumber: '+41440000000' });
    expect(fixture.travel.writes()).toEqual([]);
    expect(travelerOf(fixture, travelId)?.phoneNumber).toBe('+41440000000');
    await fixture.patch(id, { phoneNumbers });
    expect(travelerOf(fixture, travelId)?.phoneNumber).toBe('+41 443334455');
  }));

test('a part of an address that a PATCH changes is owned, and the other parts are not', () =>
  withImportedTraveler(async (fixture, { id, travelId }) => {
    const [home] = (await desiredUserOf(fixture, id)).addresses as ScimResource[];
    await fixture.patch(id, { addresses: [{ ...home, locality: 'Basel' }] });
    expect(travelerOf(fixture, travelId)?.address).toMatchObject({ streetAddress: 'Main 1', city: 'Basel' });
    expect(await ownedFields(fixture, id)).toEqual(['address.city']);
    await fixture.patch(id, { addresses: [] });
    const { address } = travelerOf(fixture, travelId) ?? {};
    expect(address).toBeUndefined();
  }));

test('a PUT owns the attributes that it has, and removes no field that the IdP never wrote', () =>
  withImportedTraveler(async (fixture, { id, travelId }) => {
    const put = person('Ada', { title: 'Queen' });
    await fixture.bridge.users.change(users, id, () => put, 'replace');
    expect(travelerOf(fixture, travelId)).toMatchObject({
      phoneNumber: manualTraveler.phoneNumber,
      roles: manualTraveler.roles,
    });
    expect(await ownedFields(fixture, id)).toEqual([
      'archived',
      'customFields.cf-1',
      'email',
      'firstName',
      'lastName',
    ]);
    await editByHand(fixture, travelId, { phoneNumber: '+41440000000', firstName: 'Adele' });
    expect(await fixture.findings(id)).toEqual(['firstName: drift']);
  }));

test('a PUT after a PATCH owns the attributes that it has, and removes only fields that the PATCH had sent', () =>
  withImportedTraveler(async (fixture, { id, travelId }) => {
    await fixture.patch(id, { nickName: '4712' });
    await fixture.bridge.users.change(users, id, () => person('Ada'), 'replace');
    const ids = travelerOf(fixture, travelId)?.customFields?.map(({ customFieldId }) => customFieldId);
    expect(ids).toEqual(['cf-1', 'cf-9']);
    expect(travelerOf(fixture, travelId)).toMatchObject({
      phoneNumber: manualTraveler.phoneNumber,
      roles: manualTraveler.roles,
    });
    expect((await fixture.identity(id)).origin.baseline).toBeUndefined();
  }));

test('a POST of an imported user owns the attributes that it has', () =>
  withImportedTraveler(async (fixture, { travelId }) => {
    const { id } = await fixture.bridge.users.create(users, person('Ada', { title: 'Queen' }));
    expect((await fixture.identity(id)).travelId).toBe(travelId);
    expect(travelerOf(fixture, travelId)).toMatchObject({
      phoneNumber: manualTraveler.phoneNumber,
      roles: manualTraveler.roles,
    });
    expect(await ownedFields(fixture, id)).toEqual([
      'archived',
      'customFields.cf-1',
      'email',
      'firstName',
      'lastName',
    ]);
  }));

test('a rule that is added, removed or changed does not change a field that the IdP never wrote', () =>
  withImportedTraveler(async (fixture, { id, travelId }) => {
    await fixture.patch(id, nameOf('Anna'));
    fixture.travel.calls.length = 0;
    for (const scimUserMappings of [
      [],
      rules.slice(0, 1),
      [{ scimAttribute: 'nickName', customFieldId: 'cf-1' }],
      rules,
    ]) {
      fixture.travel.lookupData = { ...fixture.travel.lookupData, scimUserMappings };
      await fixture.bridge.startBackground().stop();
      await fixture.bridge.reconcileDue();
    }
    expect(fixture.travel.writes()).toEqual([]);
    expect(travelerOf(fixture, travelId)).toMatchObject({ ...manualTraveler, firstName: 'Anna' });
  }));

test('a default of the mapping fills no field of an imported user who is patched', () =>
  withImportedTraveler(
    async (fixture, { id, travelId }) => {
      await fixture.patch(id, nameOf('Anna'));
      expect(travelerOf(fixture, travelId)).toMatchObject({ ...manualTraveler, firstName: 'Anna' });
      fixture.connection.mapping = mappingOf({
        scimUserMapping: [],
        defaults: { travelPolicy: { name: 'Strict' } },
      });
      await fixture.restart();
      await fixture.bridge.startBackground().stop();
      await fixture.bridge.reconcileDue();
      expect(travelerOf(fixture, travelId)).toMatchObject({ ...manualTraveler, firstName: 'Anna' });
    },
    { mapping: { scimUserMapping: [], defaults: { travelPolicy: { name: 'Lax' } } } },
  ));

test('a PATCH of an attribute in a condition owns the fields whose rule it switches, and no others', () =>
  withImportedTraveler(
    async (fixture, { id, travelId }) => {
      await fixture.patch(id, nameOf('Anna'));
      expect(await ownedFields(fixture, id)).toEqual(['firstName']);
      await fixture.patch(id, { userType: 'Contractor' });
      expect(travelerOf(fixture, travelId)).toMatchObject({
        ...manualTraveler,
        firstName: 'Anna',
        travelPolicyId: 'tp-Lax',
        customFields: expect.arrayContaining([{ customFieldId: 'cf-1', values: [{ data: 'Boss (ext)' }] }]),
      });
      const owned = ['customFields.cf-1', 'firstName', 'travelPolicyId'];
      expect(await ownedFields(fixture, id)).toEqual(owned);
      await fixture.patch(id, { userType: 'Employee' });
      expect(travelerOf(fixture, travelId)).toMatchObject({
        ...{ ...manualTraveler, firstName: 'Anna', travelPolicyId: 'tp-Strict' },
        customFields: expect.arrayContaining(manualTraveler.customFields ?? []),
      });
      await fixture.patch(id, { userType: undefined } as never);
      expect(travelerOf(fixture, travelId)?.travelPolicyId).toBeUndefined();
      expect(await ownedFields(fixture, id)).toEqual(['customFields.cf-1', 'firstName']);
    },
    {
      mapping: {
        scimUserMapping: [
          { template: 'Lax', userAttribute: 'travelPolicyId', when: 'userType eq "Contractor"' },
          { template: 'Strict', userAttribute: 'travelPolicyId', when: 'userType eq "Employee"' },
          { template: '{title} (ext)', customFieldId: 'cf-1', when: 'userType eq "Contractor"' },
          { template: '4711', customFieldId: 'cf-2', when: 'userType eq "Contractor"' },
        ],
      },
    },
  ));

test.each(['lose', 'die', 'hang'] as const)(
  'a PATCH whose outcome is not known ("%s") owns the same fields as one that succeeds',
  (end) =>
    withImportedTraveler(async (fixture, { id, travelId }) => {
      const call = fixture.travel.holdCall('patch');
      const done = fixture.patch(id, { name: { givenName: 'Anna', familyName: 'Smith' }, phoneNumbers: [] });
      await call.reached;
      call.release(end);
      if (end === 'lose') await done;
      await fixture.restart();
      await fixture.reconcileAfter(120_000);
      expect(travelerOf(fixture, travelId)).toMatchObject({ firstName: 'Anna', lastName: 'Smith' });
      expect(travelerOf(fixture, travelId)?.phoneNumber).toBeUndefined();
      expect(await ownedFields(fixture, id)).toEqual(['firstName']);
      await editByHand(fixture, travelId, { lastName: 'Jones' });
      expect(await fixture.findings(id)).toEqual([]);
    }),
);

test('an imported user who is patched inactive is archived, and only `archived` is owned', () =>
  withImportedTraveler(async (fixture, { id, travelId }) => {
    await fixture.patch(id, { active: false });
    expect(travelerOf(fixture, travelId)).toMatchObject({ ...manualTraveler, archived: true });
    expect(await ownedFields(fixture, id)).toEqual(['archived']);
    await fixture.patch(id, { active: true });
    expect(travelerOf(fixture, travelId)).toMatchObject({ ...manualTraveler, archived: false });
  }));
