import type { TravelUser } from '../../src/model/traveler.ts';
import { type ScimResource, urns } from '../../src/schema/resource.ts';
import {
  addressOf,
  emailsOf,
  type ProvisioningFixture,
  person,
  withFixture,
} from '../fixtures/provisioning.ts';

const customField = { id: 'cf-1', name: 'Badge', dataType: 'text', disabled: false, options: [] };

function withCustomField(fixture: ProvisioningFixture): void {
  fixture.travel.lookupData = { ...fixture.travel.lookupData, customFields: [customField] };
}

/** The fields of the leaver's traveler that were changed by hand. */
const manualFields = {
  address: { city: 'Vienna', streetAddress: 'Ring 1' },
  currency: 'EUR',
  dateOfBirth: '1980-01-01',
  phoneNumber: '+4312345',
  roles: ['premium'],
  customFields: [{ customFieldId: 'cf-1', name: 'Badge', values: [{ data: 'secret' }] }],
};

/** The attributes that the IdP sent for the leaver, besides names and address. */
const leaverAttributes: ScimResource = {
  preferredLanguage: 'fr',
  phoneNumbers: [{ value: '+43111111', type: 'work' }],
  [urns.travel]: { roles: [{ value: 'organizer' }], gender: 'F', currency: 'USD' },
};

/** The attributes by which the successor is another person. */
const otherPerson: ScimResource = {
  externalId: 'new',
  name: { givenName: 'Eve', familyName: 'Smith' },
};

/** Another person with userName and address of the leaver. */
function successor(extra: ScimResource = {}): ScimResource {
  return person('Ada', { ...otherPerson, ...extra });
}

/** The ways in which another person with the same userName and address takes the place of a leaver. Each returns the SCIM id. */
const ways: Record<string, (fixture: ProvisioningFixture, prepare?: () => void) => Promise<string>> = {
  'a POST after a DELETE': async (fixture, prepare) => {
    const { users } = fixture.bridge;
    const ada = await users.create('default', person('Ada', { externalId: 'old', ...leaverAttributes }));
    await users.remove('default', ada.id);
    editByHand(fixture);
    prepare?.();
    return (await users.create('default', successor())).id;
  },
  'a PUT that reactivates': async (fixture, prepare) => {
    const ada = await createLeaver(fixture);
    prepare?.();
    await put(fixture, ada, successor({ active: true }));
    return ada;
  },
  'a PATCH that reactivates': async (fixture, prepare) => {
    const ada = await createLeaver(fixture);
    prepare?.();
    await fixture.patch(ada, { ...clearedAttributes, ...otherPerson, active: true });
    return ada;
  },
  'a PATCH that reactivates after one that changed name and externalId': async (fixture, prepare) => {
    const ada = await createLeaver(fixture);
    prepare?.();
    await fixture.patch(ada, otherPerson);
    await fixture.patch(ada, { ...clearedAttributes, active: true });
    return ada;
  },
  'a PATCH that reactivates after a PUT with another externalId': async (fixture, prepare) => {
    const ada = await createLeaver(fixture);
    prepare?.();
    await put(fixture, ada, successor({ active: false }));
    await fixture.patch(ada, { active: true });
    return ada;
  },
};

async function put({ bridge }: ProvisioningFixture, id: string, user: ScimResource): Promise<void> {
  await bridge.users.change('default', id, () => user, 'replace');
}

/** The attributes that a PATCH clears, so that the user has only names and address. */
const clearedAttributes = {
  preferredLanguage: null,
  phoneNumbers: [],
  [urns.travel]: null,
} as unknown as ScimResource;

async function createLeaver(fixture: ProvisioningFixture): Promise<string> {
  const leaver = person('Ada', { externalId: 'old', ...leaverAttributes });
  const ada = await fixture.bridge.users.create('default', leaver);
  await fixture.patch(ada.id, { active: false });
  editByHand(fixture);
  return ada.id;
}

function editByHand(fixture: ProvisioningFixture): void {
  withCustomField(fixture);
  for (const [id, traveler] of fixture.travel.travelers)
    if (id !== 't-1' && traveler.email === addressOf('Ada'))
      fixture.travel.travelers.set(id, {
        ...traveler,
        ...manualFields,
        roles: [...(traveler.roles ?? []), 'premium'],
      });
}

function travelers({ travel }: ProvisioningFixture) {
  return [...travel.travelers.values()].slice(1);
}

/** A traveler without empty arrays and objects, which mean the same as no value. */
function withoutEmptyValues(traveler: object | undefined) {
  return Object.fromEntries(
    Object.entries(traveler ?? {}).filter(
      ([name, value]) =>
        name !== 'createdAt' && JSON.stringify(value) !== '[]' && JSON.stringify(value) !== '{}',
    ),
  );
}

/** The traveler of the successor: without any value of the leaver, or that was entered by hand for the leaver. */
const ofSuccessor = (id: string | undefined) => ({
  ...{ id, archived: false, email: addressOf('Ada') },
  ...{ firstName: 'Eve', lastName: 'Smith' },
});

/** Expects that the user is in step with this traveler, which is that of the successor. */
async function expectOfSuccessor(
  fixture: ProvisioningFixture,
  id: string,
  traveler: TravelUser | undefined,
): Promise<void> {
  expect(withoutEmptyValues(traveler)).toEqual(ofSuccessor(traveler?.id));
  expect(await fixture.identity(id)).toMatchObject({
    state: 'synced',
    travelId: traveler?.id,
    findings: [{ code: 'otherPerson' }],
  });
}

async function settle(fixture: ProvisioningFixture): Promise<void> {
  for (let round = 0; round < 4; round += 1) await fixture.reconcileAfter(60_000);
}

describe.each(Object.keys(ways))('%s as another person', (way) => {
  const replaceLeaver = ways[way];
  if (!replaceLeaver) throw new Error('this way does not exist');

  test('creates a new traveler', () =>
    withFixture(async (fixture) => {
      const id = await replaceLeaver(fixture);
      await settle(fixture);
      const [old, other, ...others] = travelers(fixture);
      expect(others).toEqual([]);
      expect(old).toMatchObject({
        archived: true,
        address: manualFields.address,
        email: expect.stringMatching(/^parked-.*@jetbridge\.invalid$/),
      });
      await expectOfSuccessor(fixture, id, other);
    }));

  test.each(['admin', 'authAdmin'])(
    'waits for the address of a traveler that has the role %s and keeps it',
    (role) =>
      withFixture(async (fixture) => {
        const id = await replaceLeaver(fixture, () => {
          for (const [key, traveler] of fixture.travel.travelers)
            if (key !== 't-1')
              fixture.travel.travelers.set(key, { ...traveler, archived: true, roles: [role] });
        });
        await settle(fixture);
        expect(travelers(fixture)).toEqual([
          expect.objectContaining({ archived: true, roles: [role], email: addressOf('Ada') }),
        ]);
        expect(await fixture.identity(id)).toMatchObject({ state: 'pending', travelId: undefined });
        expect(await fixture.findings(id)).toEqual(['*: otherPerson', 'email: emailTaken']);
      }),
  );
});

test.each([
  [
    'has left',
    async ({ bridge, patch }: ProvisioningFixture) => {
      const { id } = await bridge.users.create('default', person('Ada', { externalId: 'old' }));
      await patch(id, { active: false });
      return id;
    },
  ],
  [
    'was inactive from the beginning',
    async ({ bridge, travel, reconcileAfter }: ProvisioningFixture) => {
      travel.addTraveler({ email: addressOf('Ada'), firstName: 'Ada', lastName: 'Smith' });
      const leaver = person('Ada', { externalId: 'old', active: false });
      const { id } = await bridge.users.create('default', leaver);
      await reconcileAfter(0);
      return id;
    },
  ],
])(
  'the traveler of a user who %s is read before it gives its address up, and archived again if it is active',
  (_, createInactive) =>
    withFixture(async (fixture) => {
      const id = await createInactive(fixture);
      const [leaver] = travelers(fixture);
      expect(leaver).toMatchObject({ archived: true });
      if (leaver) fixture.travel.travelers.set(leaver.id, { ...leaver, archived: false });
      await fixture.patch(id, { ...otherPerson, active: true });
      await fixture.bridge.reconcileDue();
      expect((await fixture.identity(id)).travelId).not.toBe(leaver?.id);
      expect(fixture.travel.travelers.get(leaver?.id ?? '')).toMatchObject({ archived: true });
    }),
);

test.each([
  ['neither has', {}, {}],
  ['only the leaver has', { externalId: 'one' }, {}],
  ['only the new user has', {}, { externalId: 'one' }],
  ['both have the same', { externalId: 'one' }, { externalId: 'one' }],
])(
  'the returning user counts as the same person and keeps values entered by hand if %s an externalId',
  async (_, old, now) => {
    for (const isDelete of [true, false])
      await withFixture(async (fixture) => {
        const { bridge } = fixture;
        const ada = await bridge.users.create('default', person('Ada', { ...old, ...leaverAttributes }));
        if (isDelete) await bridge.users.remove('default', ada.id);
        else await fixture.patch(ada.id, { active: false });
        editByHand(fixture);
        const put = () => person('Ada', { ...now, active: true });
        if (isDelete) await bridge.users.create('default', put());
        else await bridge.users.change('default', ada.id, put, 'replace');
        await fixture.reconcileAfter(60_000);
        const [only, ...others] = travelers(fixture);
        expect(others).toEqual([]);
        expect(only).toMatchObject({
          archived: false,
          roles: ['premium'],
          customFields: manualFields.customFields,
        });
        expect(only).toMatchObject({ address: manualFields.address });
        expect(only).not.toHaveProperty('lang');
      });
  },
);

describe.each([false, true])('two active users with one address (wall clock set back: %s)', (isSetBack) => {
  const two = async (fixture: ProvisioningFixture, ids: [ScimResource, ScimResource] = [{}, {}]) => {
    const { bridge } = fixture;
    const leaver = person('Ada', { userName: 'one', ...leaverAttributes, ...ids[0] });
    const first = await bridge.users.create('default', leaver);
    editByHand(fixture);
    const other = person('Eve', { userName: 'two', ...emailsOf(addressOf('Ada')), ...ids[1] });
    const second = await bridge.users.create('default', other);
    expect(second.travelUserId).toBeUndefined();
    if (isSetBack) fixture.clock.setWallClock(-3_600_000);
    await bridge.users.remove('default', first.id);
    await settle(fixture);
    await fixture.importTravelers();
    return { first, second };
  };

  test('the second one gets a new traveler', () =>
    withFixture(async (fixture) => {
      const { second } = await two(fixture);
      const [old, own, ...others] = travelers(fixture);
      expect(others).toEqual([]);
      expect(old).toMatchObject({ archived: true, email: expect.stringMatching(/^parked-/) });
      expect(withoutEmptyValues(own)).toEqual(ofSuccessor(own?.id));
      expect((await fixture.identity(second.id)).travelId).toBe(own?.id);
    }));
});

test.each([true, false])(
  'a newcomer with the userName of one leaver and the address of another gets a traveler (the latter after a DELETE: %s)',
  (isDeleted) =>
    withFixture(async (fixture) => {
      const { users } = fixture.bridge;
      const former = await users.create('default', person('Lou', { userName: 'pat', externalId: 'lou' }));
      await users.remove('default', former.id);
      const other = await users.create('default', person('Ada', { userName: 'ada', externalId: 'ada' }));
      if (isDeleted) await users.remove('default', other.id);
      else await fixture.patch(other.id, { active: false });
      const { id } = await users.create('default', successor({ userName: 'pat' }));
      await fixture.reconcileAfter(61_000);
      const { travelId } = await fixture.identity(id);
      expect(travelers(fixture).map((traveler) => [traveler.archived, traveler.email])).toEqual([
        [true, addressOf('Lou')],
        [true, expect.stringMatching(/^parked-/)],
        [false, addressOf('Ada')],
      ]);
      expect(travelers(fixture)[2]?.id).toBe(travelId);
    }),
);
