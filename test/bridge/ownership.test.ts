import { type ScimResource, urns } from '../../src/schema/resource.ts';
import type { TravelUser } from '../../src/translator/travel-user.ts';
import { addressOf, type BridgeHouse, inHouse, person } from '../support/bridge-house.ts';
import { mappingOf } from '../translator/house.ts';

const users = 'default';
const fields = [
  { id: 'cf-1', name: 'Title', dataType: 'text', disabled: false, options: [] },
  { id: 'cf-2', name: 'Badge', dataType: 'text', disabled: false, options: [] },
];
const rules = [
  { scimAttribute: 'title', customFieldId: 'cf-1' },
  { scimAttribute: 'nickName', customFieldId: 'cf-2' },
];

/** A traveler with everything that somebody may have entered by hand. */
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

/** Somebody who was in the travel service before any IdP spoke of them. */
async function imported(house: BridgeHouse): Promise<{ id: string; travelId: string }> {
  const travelPolicies = ['Lax', 'Strict'].map((name) => ({ id: `tp-${name}`, name, archived: false }));
  const known = { customFields: fields as never, scimUserMappings: rules, travelPolicies };
  house.travel.known = { ...house.travel.known, ...known };
  const { id: travelId } = house.travel.add(byHand);
  await house.imported();
  const [found] = await house.store.identities.find(users, { by: 'travelId', value: travelId });
  house.travel.calls.length = 0;
  return { id: found?.id ?? '', travelId };
}

const traveler = (house: BridgeHouse, travelId: string) => house.travel.people.get(travelId);
const owned = async (house: BridgeHouse, id: string) =>
  Object.keys((await house.identity(id)).applied).toSorted();
const desired = async (house: BridgeHouse, id: string) => (await house.identity(id)).desired;
const named = (givenName: string): ScimResource => ({ name: { givenName, familyName: 'Smith' } });

/** Changes the traveler by hand, and lets an import see it. */
async function edit(house: BridgeHouse, travelId: string, values: object): Promise<void> {
  const now = traveler(house, travelId);
  if (now) house.travel.people.set(travelId, { ...now, ...values });
  await house.imported();
}

async function withImported(
  story: (house: BridgeHouse, one: { id: string; travelId: string }) => Promise<void>,
  options: Parameters<typeof inHouse>[1] = {},
): Promise<void> {
  await inHouse(async (house) => story(house, await imported(house)), options);
}

test('a PATCH of one attribute owns its field alone, and changes nothing else', () =>
  withImported(async (house, { id, travelId }) => {
    await house.patch(id, named('Anna'));
    expect(traveler(house, travelId)).toMatchObject({ ...byHand, firstName: 'Anna' });
    expect(await owned(house, id)).toEqual(['firstName']);
    await edit(house, travelId, { lastName: 'Jones', phoneNumber: '+41440000000', roles: ['guest'] });
    expect(await house.findings(id)).toEqual([]);
    await house.patch(id, named('Berta'));
    expect(traveler(house, travelId)).toMatchObject({
      ...{ firstName: 'Berta', lastName: 'Jones', phoneNumber: '+41440000000', roles: ['guest'] },
    });
    expect(await owned(house, id)).toEqual(['firstName']);
  }));

test('a PATCH that writes the value that is there already is no change, and owns nothing', () =>
  withImported(async (house, { id }) => {
    await house.patch(id, { displayName: 'Whoever' });
    expect(house.travel.writes()).toEqual([]);
    expect(await owned(house, id)).toEqual([]);
  }));

test('a later PATCH owns what it adds, changes or removes, one element at a time', () =>
  withImported(async (house, { id, travelId }) => {
    const { roles = [] } = (await desired(house, id))[urns.travel] as { roles?: { value: string }[] };
    await house.patch(id, { nickName: '4712' });
    expect(await owned(house, id)).toEqual(['customFields.cf-2']);
    const custom = (key: string) =>
      traveler(house, travelId)?.customFields?.find(({ customFieldId }) => customFieldId === key)?.values[0]
        ?.data;
    expect(['cf-1', 'cf-2', 'cf-9'].map(custom)).toEqual(['Boss', '4712', 'mine']);
    const extension = (await desired(house, id))[urns.travel] as ScimResource;
    const left = [...roles.filter(({ value }) => value !== 'guest'), { value: 'premium' }];
    await house.patch(id, { [urns.travel]: { ...extension, roles: left } });
    expect(traveler(house, travelId)?.roles?.toSorted()).toEqual(['organizer', 'premium']);
    expect(await owned(house, id)).toEqual(['customFields.cf-2', 'roles.premium']);
    await edit(house, travelId, { roles: ['premium', 'guest'] });
    expect(await house.findings(id)).toEqual([]);
    await house.patch(id, { title: undefined } as never);
    expect(['cf-1', 'cf-2', 'cf-9'].map(custom)).toEqual([undefined, '4712', 'mine']);
    expect(traveler(house, travelId)?.roles?.toSorted()).toEqual(['guest', 'premium']);
  }));

test('what a PATCH takes away was not there to stay, and comes back when the IdP gives it again', () =>
  withImported(async (house, { id, travelId }) => {
    const { phoneNumbers = [] } = await desired(house, id);
    await house.patch(id, { phoneNumbers: [] });
    expect(traveler(house, travelId)?.phoneNumber).toBeUndefined();
    house.travel.calls.length = 0;
    await house.store.agenda.touch(users, [id], house.clock.now());
    await edit(house, travelId, { phoneNumber: '+41440000000' });
    expect(house.travel.writes()).toEqual([]);
    expect(traveler(house, travelId)?.phoneNumber).toBe('+41440000000');
    await house.patch(id, { phoneNumbers });
    expect(traveler(house, travelId)?.phoneNumber).toBe('+41 443334455');
  }));

test('a part of an address that a PATCH changes is owned, and the other parts are not', () =>
  withImported(async (house, { id, travelId }) => {
    const [home] = (await desired(house, id)).addresses as ScimResource[];
    await house.patch(id, { addresses: [{ ...home, locality: 'Basel' }] });
    expect(traveler(house, travelId)?.address).toMatchObject({ streetAddress: 'Main 1', city: 'Basel' });
    expect(await owned(house, id)).toEqual(['address.city']);
    await house.patch(id, { addresses: [] });
    const { address } = traveler(house, travelId) ?? {};
    expect(address).toBeUndefined();
  }));

test('a PUT owns whatever it states, and takes nothing away that it never stated', () =>
  withImported(async (house, { id, travelId }) => {
    const put = person('Ada', { title: 'Queen' });
    await house.bridge.users.change(users, id, () => put, 'replace');
    expect(traveler(house, travelId)).toMatchObject({ phoneNumber: byHand.phoneNumber, roles: byHand.roles });
    expect(await owned(house, id)).toEqual([
      'archived',
      'customFields.cf-1',
      'email',
      'firstName',
      'lastName',
    ]);
    await edit(house, travelId, { phoneNumber: '+41440000000', firstName: 'Adele' });
    expect(await house.findings(id)).toEqual(['firstName: drift']);
  }));

test('a PUT after a PATCH owns what it states, and takes away only what the PATCH had sent', () =>
  withImported(async (house, { id, travelId }) => {
    await house.patch(id, { nickName: '4712' });
    await house.bridge.users.change(users, id, () => person('Ada'), 'replace');
    const ids = traveler(house, travelId)?.customFields?.map(({ customFieldId }) => customFieldId);
    expect(ids).toEqual(['cf-1', 'cf-9']);
    expect(traveler(house, travelId)).toMatchObject({ phoneNumber: byHand.phoneNumber, roles: byHand.roles });
    expect((await house.identity(id)).origin.baseline).toBeUndefined();
  }));

test('a POST of somebody imported owns what it states', () =>
  withImported(async (house, { id, travelId }) => {
    const made = await house.bridge.users.create(users, person('Ada', { title: 'Queen' }));
    expect(made.id).toBe(id);
    expect(traveler(house, travelId)).toMatchObject({ phoneNumber: byHand.phoneNumber, roles: byHand.roles });
    expect(await owned(house, id)).toEqual([
      'archived',
      'customFields.cf-1',
      'email',
      'firstName',
      'lastName',
    ]);
  }));

test('a rule that comes, goes or changes touches no field that the IdP never wrote', () =>
  withImported(async (house, { id, travelId }) => {
    await house.patch(id, named('Anna'));
    house.travel.calls.length = 0;
    for (const scimUserMappings of [
      [],
      rules.slice(0, 1),
      [{ scimAttribute: 'nickName', customFieldId: 'cf-1' }],
      rules,
    ]) {
      house.travel.known = { ...house.travel.known, scimUserMappings };
      await house.bridge.run().stop();
      await house.bridge.settleDue();
    }
    expect(house.travel.writes()).toEqual([]);
    expect(traveler(house, travelId)).toMatchObject({ ...byHand, firstName: 'Anna' });
  }));

test('a default of the mapping is no value of the IdP, and fills no field of somebody imported who is patched', () =>
  withImported(
    async (house, { id, travelId }) => {
      await house.patch(id, named('Anna'));
      expect(traveler(house, travelId)).toMatchObject({ ...byHand, firstName: 'Anna' });
      house.connection.mapping = mappingOf({
        scimUserMapping: [],
        defaults: { travelPolicy: { name: 'Strict' } },
      });
      await house.restart();
      await house.bridge.run().stop();
      await house.bridge.settleDue();
      expect(traveler(house, travelId)).toMatchObject({ ...byHand, firstName: 'Anna' });
    },
    { mapping: { scimUserMapping: [], defaults: { travelPolicy: { name: 'Lax' } } } },
  ));

test.each(['lose', 'die', 'hang'] as const)(
  'the same is owned after a PATCH whose outcome is not known ("%s")',
  (end) =>
    withImported(async (house, { id, travelId }) => {
      const call = house.travel.hold('patch');
      const done = house.patch(id, { name: { givenName: 'Anna', familyName: 'Smith' }, phoneNumbers: [] });
      await call.reached;
      call.release(end);
      if (end === 'lose') await done;
      await house.restart();
      await house.pass(120_000);
      expect(traveler(house, travelId)).toMatchObject({ firstName: 'Anna', lastName: 'Smith' });
      expect(traveler(house, travelId)?.phoneNumber).toBeUndefined();
      expect(await owned(house, id)).toEqual(['firstName']);
      await edit(house, travelId, { lastName: 'Jones' });
      expect(await house.findings(id)).toEqual([]);
    }),
);

test('an imported person who is patched inactive is archived, and owns that alone', () =>
  withImported(async (house, { id, travelId }) => {
    await house.patch(id, { active: false });
    expect(traveler(house, travelId)).toMatchObject({ ...byHand, archived: true });
    expect(await owned(house, id)).toEqual(['archived']);
    await house.patch(id, { active: true });
    expect(traveler(house, travelId)).toMatchObject({ ...byHand, archived: false });
  }));
