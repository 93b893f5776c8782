import { type ScimResource, urns } from '../../src/schema/resource.ts';
import type { TravelUser } from '../../src/translator/traveler.ts';
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
const byHand: Partial<TravelUser> & { email: string } = {
  ...{ email: addressOf('Ada'), firstName: 'Ada', lastName: 'Smith', phoneNumber: '+41 443334455' },
  roles: ['organizer', 'guest'],
  customFields: [
    { customFieldId: 'cf-1', values: [{ data: 'Boss' }] },
    { customFieldId: 'cf-2', values: [{ data: '4711' }] },
    { customFieldId: 'cf-9', values: [{ data: 'mine' }] },
  ] as never,
  address: { streetAddress: 'Main 1', city: 'Bern', postalCode: '3000', countryCode: 'CH' },
};

/** A user that was imported from the travel service before any IdP wrote it. */
async function imported(fixture: ProvisioningFixture): Promise<{ id: string; travelId: string }> {
  const travelPolicies = ['Lax', 'Strict'].map((name) => ({ id: `tp-${name}`, name, archived: false }));
  const known = { customFields: fields as never, scimUserMappings: rules, travelPolicies };
  fixture.travel.lookupData = { ...fixture.travel.lookupData, ...known };
  const { id: travelId } = fixture.travel.addTraveler(byHand);
  await fixture.importTravelers();
  const [found] = await fixture.store.identities.find(users, { by: 'travelId', value: travelId });
  fixture.travel.calls.length = 0;
  return { id: found?.id ?? '', travelId };
}

const traveler = (fixture: ProvisioningFixture, travelId: string) => fixture.travel.travelers.get(travelId);
const owned = async (fixture: ProvisioningFixture, id: string) =>
  Object.keys((await fixture.identity(id)).applied).toSorted();
const desired = async (fixture: ProvisioningFixture, id: string) => (await fixture.identity(id)).desired;
const named = (givenName: string): ScimResource => ({ name: { givenName, familyName: 'Smith' } });

/** Changes the traveler by hand, and runs an import. */
async function edit(fixture: ProvisioningFixture, travelId: string, values: object): Promise<void> {
  const now = traveler(fixture, travelId);
  if (now) fixture.travel.travelers.set(travelId, { ...now, ...values });
  await fixture.importTravelers();
}

async function withImported(
  story: (fixture: ProvisioningFixture, one: { id: string; travelId: string }) => Promise<void>,
  options: Parameters<typeof withFixture>[1] = {},
): Promise<void> {
  await withFixture(async (fixture) => story(fixture, await imported(fixture)), options);
}

test('a PATCH of one attribute owns its field alone, and changes nothing else', () =>
  withImported(async (fixture, { id, travelId }) => {
    await fixture.patch(id, named('Anna'));
    expect(traveler(fixture, travelId)).toMatchObject({ ...byHand, firstName: 'Anna' });
    expect(await owned(fixture, id)).toEqual(['firstName']);
    await edit(fixture, travelId, { lastName: 'Jones', phoneNumber: '+41440000000', roles: ['guest'] });
    expect(await fixture.findings(id)).toEqual([]);
    await fixture.patch(id, named('Berta'));
    expect(traveler(fixture, travelId)).toMatchObject({
      ...{ firstName: 'Berta', lastName: 'Jones', phoneNumber: '+41440000000', roles: ['guest'] },
    });
    expect(await owned(fixture, id)).toEqual(['firstName']);
  }));

test('a PATCH that writes the current value changes nothing and owns nothing', () =>
  withImported(async (fixture, { id }) => {
    await fixture.patch(id, { displayName: 'Whoever' });
    expect(fixture.travel.writes()).toEqual([]);
    expect(await owned(fixture, id)).toEqual([]);
  }));

test('a later PATCH owns each element that it adds, changes or removes', () =>
  withImported(async (fixture, { id, travelId }) => {
    const { roles = [] } = (await desired(fixture, id))[urns.travel] as { roles?: { value: string }[] };
    await fixture.patch(id, { nickName: '4712' });
    expect(await owned(fixture, id)).toEqual(['customFields.cf-2']);
    const custom = (key: string) =>
      traveler(fixture, travelId)?.customFields?.find(({ customFieldId }) => customFieldId === key)?.values[0]
        ?.data;
    expect(['cf-1', 'cf-2', 'cf-9'].map(custom)).toEqual(['Boss', '4712', 'mine']);
    const extension = (await desired(fixture, id))[urns.travel] as ScimResource;
    const left = [...roles.filter(({ value }) => value !== 'guest'), { value: 'premium' }];
    await fixture.patch(id, { [urns.travel]: { ...extension, roles: left } });
    expect(traveler(fixture, travelId)?.roles?.toSorted()).toEqual(['organizer', 'premium']);
    expect(await owned(fixture, id)).toEqual(['customFields.cf-2', 'roles.premium']);
    await edit(fixture, travelId, { roles: ['premium', 'guest'] });
    expect(await fixture.findings(id)).toEqual([]);
    await fixture.patch(id, { title: undefined } as never);
    expect(['cf-1', 'cf-2', 'cf-9'].map(custom)).toEqual([undefined, '4712', 'mine']);
    expect(traveler(fixture, travelId)?.roles?.toSorted()).toEqual(['guest', 'premium']);
  }));

test('a value that a PATCH removes comes back when the IdP sets it again', () =>
  withImported(async (fixture, { id, travelId }) => {
    const { phoneNumbers = [] } = await desired(fixture, id);
    await fixture.patch(id, { phoneNumbers: [] });
    expect(traveler(fixture, travelId)?.phoneNumber).toBeUndefined();
    fixture.travel.calls.length = 0;
    await fixture.store.reconcileQueue.markDirty(users, [id], fixture.clock.now());
    await edit(fixture, travelId, { phoneNumber: '+41440000000' });
    expect(fixture.travel.writes()).toEqual([]);
    expect(traveler(fixture, travelId)?.phoneNumber).toBe('+41440000000');
    await fixture.patch(id, { phoneNumbers });
    expect(traveler(fixture, travelId)?.phoneNumber).toBe('+41 443334455');
  }));

test('a part of an address that a PATCH changes is owned, and the other parts are not', () =>
  withImported(async (fixture, { id, travelId }) => {
    const [home] = (await desired(fixture, id)).addresses as ScimResource[];
    await fixture.patch(id, { addresses: [{ ...home, locality: 'Basel' }] });
    expect(traveler(fixture, travelId)?.address).toMatchObject({ streetAddress: 'Main 1', city: 'Basel' });
    expect(await owned(fixture, id)).toEqual(['address.city']);
    await fixture.patch(id, { addresses: [] });
    const { address } = traveler(fixture, travelId) ?? {};
    expect(address).toBeUndefined();
  }));

test('a PUT owns the attributes that it has, and removes no field that the IdP never wrote', () =>
  withImported(async (fixture, { id, travelId }) => {
    const put = person('Ada', { title: 'Queen' });
    await fixture.bridge.users.change(users, id, () => put, 'replace');
    expect(traveler(fixture, travelId)).toMatchObject({
      phoneNumber: byHand.phoneNumber,
      roles: byHand.roles,
    });
    expect(await owned(fixture, id)).toEqual([
      'archived',
      'customFields.cf-1',
      'email',
      'firstName',
      'lastName',
    ]);
    await edit(fixture, travelId, { phoneNumber: '+41440000000', firstName: 'Adele' });
    expect(await fixture.findings(id)).toEqual(['firstName: drift']);
  }));

test('a PUT after a PATCH owns the attributes that it has, and removes only fields that the PATCH had sent', () =>
  withImported(async (fixture, { id, travelId }) => {
    await fixture.patch(id, { nickName: '4712' });
    await fixture.bridge.users.change(users, id, () => person('Ada'), 'replace');
    const ids = traveler(fixture, travelId)?.customFields?.map(({ customFieldId }) => customFieldId);
    expect(ids).toEqual(['cf-1', 'cf-9']);
    expect(traveler(fixture, travelId)).toMatchObject({
      phoneNumber: byHand.phoneNumber,
      roles: byHand.roles,
    });
    expect((await fixture.identity(id)).origin.baseline).toBeUndefined();
  }));

test('a POST of an imported user owns the attributes that it has', () =>
  withImported(async (fixture, { id, travelId }) => {
    const made = await fixture.bridge.users.create(users, person('Ada', { title: 'Queen' }));
    expect(made.id).toBe(id);
    expect(traveler(fixture, travelId)).toMatchObject({
      phoneNumber: byHand.phoneNumber,
      roles: byHand.roles,
    });
    expect(await owned(fixture, id)).toEqual([
      'archived',
      'customFields.cf-1',
      'email',
      'firstName',
      'lastName',
    ]);
  }));

test('a rule that is added, removed or changed does not change a field that the IdP never wrote', () =>
  withImported(async (fixture, { id, travelId }) => {
    await fixture.patch(id, named('Anna'));
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
    expect(traveler(fixture, travelId)).toMatchObject({ ...byHand, firstName: 'Anna' });
  }));

test('a default of the mapping fills no field of an imported user who is patched', () =>
  withImported(
    async (fixture, { id, travelId }) => {
      await fixture.patch(id, named('Anna'));
      expect(traveler(fixture, travelId)).toMatchObject({ ...byHand, firstName: 'Anna' });
      fixture.connection.mapping = mappingOf({
        scimUserMapping: [],
        defaults: { travelPolicy: { name: 'Strict' } },
      });
      await fixture.restart();
      await fixture.bridge.startBackground().stop();
      await fixture.bridge.reconcileDue();
      expect(traveler(fixture, travelId)).toMatchObject({ ...byHand, firstName: 'Anna' });
    },
    { mapping: { scimUserMapping: [], defaults: { travelPolicy: { name: 'Lax' } } } },
  ));

test.each(['lose', 'die', 'hang'] as const)(
  'the same is owned after a PATCH whose outcome is not known ("%s")',
  (end) =>
    withImported(async (fixture, { id, travelId }) => {
      const call = fixture.travel.holdCall('patch');
      const done = fixture.patch(id, { name: { givenName: 'Anna', familyName: 'Smith' }, phoneNumbers: [] });
      await call.reached;
      call.release(end);
      if (end === 'lose') await done;
      await fixture.restart();
      await fixture.reconcileAfter(120_000);
      expect(traveler(fixture, travelId)).toMatchObject({ firstName: 'Anna', lastName: 'Smith' });
      expect(traveler(fixture, travelId)?.phoneNumber).toBeUndefined();
      expect(await owned(fixture, id)).toEqual(['firstName']);
      await edit(fixture, travelId, { lastName: 'Jones' });
      expect(await fixture.findings(id)).toEqual([]);
    }),
);

test('an imported user who is patched inactive is archived, and only `archived` is owned', () =>
  withImported(async (fixture, { id, travelId }) => {
    await fixture.patch(id, { active: false });
    expect(traveler(fixture, travelId)).toMatchObject({ ...byHand, archived: true });
    expect(await owned(fixture, id)).toEqual(['archived']);
    await fixture.patch(id, { active: true });
    expect(traveler(fixture, travelId)).toMatchObject({ ...byHand, archived: false });
  }));
