import type { JsonObject } from '../../src/travel/json.ts';
import { scimAttributes } from '../../src/travel/resources/scim-user-mapping.ts';
import { travelPolicy } from '../../src/travel/resources/travel-policy.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const textField: JsonObject = { dataType: 'text', name: 'Badge', resourceType: 'user' };
const optionField: JsonObject = { dataType: 'option', name: 'Team', resourceType: 'user' };

describe('a custom field', () => {
  test.each(['(', '[z-a]', '(?=x)', '(a)\\1', 'x{1001}', 'a'.repeat(1001)])(
    'refuses %j, which is no RE2 expression or too long',
    async (validationRegexp) => {
      const answer = await fixture.send('post', '/custom-fields', {
        data: { ...textField, validationRegexp },
      });
      expect([answer.status, answer.body.invalid]).toEqual([
        422,
        [expect.objectContaining({ field: 'validationRegexp', code: 'pattern' })],
      ]);
    },
  );

  test('cannot change its type while it is in use', async () => {
    const { id } = await fixture.make('/custom-fields', optionField);
    const field = `/custom-fields/${id}`;
    const free = await fixture.send('patch', field, { data: { dataType: 'optionsList' } });
    expect([free.status, free.body.data.dataType]).toEqual([200, 'optionsList']);
    const option = await fixture.make(`${field}/options`, { data: 'red' });
    for (const data of [{ dataType: 'text' }, { resourceType: 'tripProject' }]) {
      const answer = await fixture.send('patch', field, { data });
      expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
    }
    expect(
      (await fixture.send('patch', field, { data: { name: 'Squad', dataType: 'optionsList' } })).status,
    ).toBe(200);
    await fixture.send('delete', `${field}/options/${option.id}`);
    expect((await fixture.send('patch', field, { data: { dataType: 'text' } })).status).toBe(200);
  });

  test('with options cannot be deleted', async () => {
    const { id } = await fixture.make('/custom-fields', optionField);
    await fixture.make(`/custom-fields/${id}/options`, { data: 'red' });
    expect((await fixture.send('delete', `/custom-fields/${id}`)).status).toBe(409);
  });

  test.each([
    ['dataType', { ...textField, dataType: 'number' }],
    ['resourceType', { ...textField, resourceType: 'invoice' }],
  ])('has a %s from a closed list', async (field, data) => {
    const answer = await fixture.send('post', '/custom-fields', { data });
    expect(answer.body.invalid).toEqual([expect.objectContaining({ field, code: 'enum' })]);
  });
});

describe('an option', () => {
  test('cannot be created in a text field', async () => {
    const { id } = await fixture.make('/custom-fields', textField);
    const answer = await fixture.send('post', `/custom-fields/${id}/options`, { data: { data: 'x' } });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
  });

  test.each(['approverId', 'billingProfileId'])('can have %s in one custom field only', async (name) => {
    const profile = { email: 'b@example.com', lang: 'en', name: 'B' };
    const target =
      name === 'approverId' ? fixture.admin : (await fixture.make('/billing-profiles', profile)).id;
    const first = await fixture.make('/custom-fields', optionField);
    const second = await fixture.make('/custom-fields', optionField);
    const options = (id: string) => `/custom-fields/${id}/options`;
    const one = await fixture.make(options(first.id), { data: 'a', [name]: target });
    await fixture.make(options(first.id), { data: 'b', [name]: target });
    const plain = await fixture.make(options(second.id), { data: 'a' });
    const refused = [422, [expect.objectContaining({ field: name, code: 'exclusive' })]];
    const made = await fixture.send('post', options(second.id), { data: { data: 'b', [name]: target } });
    expect([made.status, made.body.invalid]).toEqual(refused);
    const item = `${options(second.id)}/${plain.id}`;
    const changed = await fixture.send('patch', item, { data: { [name]: target } });
    expect([changed.status, changed.body.invalid]).toEqual(refused);

    const { data } = (await fixture.send('get', options(first.id))).body;
    for (const { id } of data)
      await fixture.send('patch', `${options(first.id)}/${id}`, { data: { [name]: null } });
    expect((await fixture.send('patch', item, { data: { [name]: target } })).status).toBe(200);
    const late = await fixture.send('patch', `${options(first.id)}/${one.id}`, { data: { [name]: target } });
    expect(late.status).toBe(422);
  });

  test('has data that is unique within its field, ignoring case', async () => {
    const { id } = await fixture.make('/custom-fields', optionField);
    const options = `/custom-fields/${id}/options`;
    const red = await fixture.make(options, { data: 'Rouge' });
    const blue = await fixture.make(options, { data: 'blue' });
    for (const answer of [
      await fixture.send('post', options, { data: { data: 'Rouge' } }),
      await fixture.send('post', options, { data: { data: 'ROUGE', displayName: 'Red' } }),
      await fixture.send('patch', `${options}/${blue.id}`, { data: { data: 'rouge' } }),
      await fixture.send('put', `${options}/${blue.id}`, { data: { data: 'rougE' } }),
    ])
      expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
    // The option's own data in another case, the data of another field, and released data are all free.
    const renamed = await fixture.send('patch', `${options}/${red.id}`, { data: { data: 'ROUGE' } });
    expect([renamed.status, renamed.body.data.data]).toEqual([200, 'ROUGE']);
    const other = await fixture.make('/custom-fields', optionField);
    await fixture.make(`/custom-fields/${other.id}/options`, { data: 'rouge' });
    await fixture.send('delete', `${options}/${red.id}`);
    expect((await fixture.send('post', options, { data: { data: 'rouge' } })).status).toBe(201);
  });

  test('is created once if several with the same data are created concurrently', async () => {
    const { id } = await fixture.make('/custom-fields', optionField);
    const make = (data: string) => fixture.send('post', `/custom-fields/${id}/options`, { data: { data } });
    const answers = await Promise.all(['r42', 'R42', 'r42', 'R42'].map(make));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  test('is listed under its field in order of creation', async () => {
    const { id } = await fixture.make('/custom-fields', optionField);
    for (const data of ['c', 'a', 'b']) await fixture.make(`/custom-fields/${id}/options`, { data });
    const { data, meta } = (await fixture.send('get', `/custom-fields/${id}/options?limit=2`)).body;
    expect([data.map((option: JsonObject) => option['data']), meta.total]).toEqual([['c', 'a'], 3]);
    expect(data[0]).toMatchObject({ customFieldId: id, type: 'customFieldOption' });
  });
});

describe('a travel policy', () => {
  test('that becomes the default removes the mark from the previous default', async () => {
    const first = await fixture.make('/travel-policies', { ...travelPolicy.example, default: true });
    fixture.changes.length = 0;
    const second = await fixture.make('/travel-policies', { ...travelPolicy.example, default: true });
    expect(fixture.changes).toEqual([`travelPolicy ${first.id}`, `travelPolicy ${second.id}`]);
    const defaults = async () => {
      const { data } = (await fixture.send('get', '/travel-policies')).body;
      return data.filter((policy: JsonObject) => policy['default']).map(({ id }: JsonObject) => id);
    };
    expect(await defaults()).toEqual([second.id]);
    await fixture.send('patch', `/travel-policies/${first.id}`, { data: { default: true } });
    expect(await defaults()).toEqual([first.id]);
    await fixture.send('put', `/travel-policies/${first.id}`, { data: travelPolicy.example });
    expect(await defaults()).toEqual([]);
  });

  test('is the only default after two concurrent changes', async () => {
    const make = () => fixture.make('/travel-policies', { ...travelPolicy.example, default: true });
    await Promise.all([make(), make(), make(), make()]);
    const { data } = (await fixture.send('get', '/travel-policies')).body;
    expect(data.filter((policy: JsonObject) => policy['default'])).toHaveLength(1);
  });

  test('loses its custom budget when that is set to null', async () => {
    const { id } = await fixture.make('/travel-policies', travelPolicy.example);
    const data = { transportBudget: { flight: { custom: null, kind: 'strict' } } };
    const answer = await fixture.send('patch', `/travel-policies/${id}`, { data });
    expect(answer.body.data.transportBudget).toEqual({
      common: { flexibilityPercentage: 5 },
      flight: { kind: 'strict' },
      rail: { kind: 'strict' },
    });
  });

  const smart = {
    hotelIsNotCancellable: { action: 'deny' },
    maxCarRentalAcrissCategory: { action: 'deny', category: 'E' },
    maxTripFlightPrice: { action: 'deny', amount: 800.5, currency: 'EUR' },
    maxTripHotelPrice: { action: 'deny', amount: 800, currency: 'EUR' },
    maxTripPrice: { action: 'deny', amount: 800, currency: 'EUR' },
    maxTripRailPrice: { action: 'deny', amount: 800, currency: 'EUR' },
    minBookingLeadTime: { action: 'deny', days: 7 },
    tripDestination: { denyCountries: ['KP'], forceApprovalCountries: ['US'] },
    tripIsOutOfBudget: { action: 'deny' },
    tripIsWithinBudget: { action: 'deny' },
  };
  const transportBudget = {
    common: { flexibilityPercentage: 12.5 },
    flight: {
      kind: 'custom',
      skipWhenGreenerAlternative: true,
      custom: {
        longHaul: { cabinClass: 'business' },
        mediumHaul: { cabinClass: 'premiumEco', maxDuration: 360 },
        shortHaul: { cabinClass: 'economy', maxDuration: 120 },
        lowCostWhenPossible: false,
      },
    },
    rail: {
      kind: 'custom',
      custom: {
        fareType: 'semiFlex',
        longHaul: { cabinClass: 'first' },
        shortHaul: { cabinClass: 'second', maxDuration: 180 },
      },
    },
  };

  test('stores every setting of the specification', async () => {
    const policy = {
      ...travelPolicy.example,
      defaultApproverId: fixture.admin,
      smartSettings: smart,
      transportBudget,
    };
    expect(await fixture.make('/travel-policies', policy)).toMatchObject(policy);
  });

  test.each([
    ['control', 'enum', { control: 'strong' }],
    ['hotelBudget.kind', 'enum', { hotelBudget: { kind: 'cheap' } }],
    [
      'hotelBudget.custom.flexibilityPercentage',
      'type',
      { hotelBudget: { custom: { flexibilityPercentage: '5' } } },
    ],
    [
      'transportBudget.rail.custom.fareType',
      'enum',
      { transportBudget: { rail: { custom: { fareType: 'x' } } } },
    ],
    [
      'transportBudget.flight.custom.shortHaul.maxDuration',
      'type',
      { transportBudget: { flight: { custom: { shortHaul: { maxDuration: 1.5 } } } } },
    ],
    ['transportBudget.boat', 'unknown', { transportBudget: { boat: {} } }],
    ['smartSettings.maxTripPrice.amount', 'type', { smartSettings: { maxTripPrice: { amount: 'x' } } }],
    [
      'smartSettings.tripDestination.denyCountries.0',
      'type',
      { smartSettings: { tripDestination: { denyCountries: [1] } } },
    ],
    [
      'smartSettings.tripDestination.forceApprovalCountries.1',
      'country',
      { smartSettings: { tripDestination: { forceApprovalCountries: ['FR', 'XX'] } } },
    ],
    [
      'smartSettings.tripDestination.denyCountries.0',
      'country',
      { smartSettings: { tripDestination: { denyCountries: ['fr'] } } },
    ],
    [
      'smartSettings.minBookingLeadTime.days',
      'range',
      { smartSettings: { minBookingLeadTime: { days: -3 } } },
    ],
    ['smartSettings.maxTripPrice.amount', 'range', { smartSettings: { maxTripPrice: { amount: -0.01 } } }],
    [
      'smartSettings.maxTripRailPrice.currency',
      'pattern',
      { smartSettings: { maxTripRailPrice: { currency: 'ZZZ' } } },
    ],
    [
      'transportBudget.flight.custom.mediumHaul.maxDuration',
      'range',
      { transportBudget: { flight: { custom: { mediumHaul: { maxDuration: -1 } } } } },
    ],
  ])('refuses %s as %s', async (field, code, data) => {
    const answer = await fixture.send('post', '/travel-policies', {
      data: { ...travelPolicy.example, ...data },
    });
    expect([answer.status, answer.body.invalid]).toEqual([422, [expect.objectContaining({ field, code })]]);
  });
});

test('actions, cabin classes and car categories of a travel policy are open lists', async () => {
  const open = {
    smartSettings: { maxCarRentalAcrissCategory: { action: 'askTheBoard', category: 'Spacecraft' } },
    transportBudget: { flight: { custom: { longHaul: { cabinClass: 'cargo' } } } },
  };
  expect(await fixture.make('/travel-policies', { ...travelPolicy.example, ...open })).toMatchObject(open);
});

describe('a SCIM user mapping', () => {
  test.each(scimAttributes)('takes %s', async (scimAttribute) => {
    await fixture.make('/scim-user-mappings', { scimAttribute, userAttribute: 'lastName' });
  });

  test.each(['dateOfBirth', 'email', 'firstName', 'lastName', 'phoneNumber'])(
    'fills %s',
    async (userAttribute) => {
      await fixture.make('/scim-user-mappings', { scimAttribute: 'title', userAttribute });
    },
  );

  test('can map to a custom field of users, which then cannot be deleted', async () => {
    const { id } = await fixture.make('/custom-fields', textField);
    const mapping = await fixture.make('/scim-user-mappings', { scimAttribute: 'title', customFieldId: id });
    expect(mapping).toMatchObject({ scimAttribute: 'title', customFieldId: id });
    expect((await fixture.send('delete', `/custom-fields/${id}`)).status).toBe(409);
    await fixture.send('delete', `/scim-user-mappings/${mapping.id}`);
    expect((await fixture.send('delete', `/custom-fields/${id}`)).status).toBe(200);
  });

  test('must have exactly one target', async () => {
    const trip = await fixture.make('/custom-fields', { ...textField, resourceType: 'tripProject' });
    const badge = await fixture.make('/custom-fields', textField);
    const cases: [JsonObject, string, string][] = [
      [{}, 'customFieldId', 'required'],
      [{ customFieldId: badge.id, userAttribute: 'email' }, 'userAttribute', 'exclusive'],
      [{ customFieldId: trip.id }, 'customFieldId', 'reference'],
      [{ userAttribute: 'roles' }, 'userAttribute', 'enum'],
      [{ scimAttribute: 'userName', userAttribute: 'email' }, 'scimAttribute', 'enum'],
    ];
    for (const [data, field, code] of cases) {
      const answer = await fixture.send('post', '/scim-user-mappings', {
        data: { scimAttribute: 'title', ...data },
      });
      expect([answer.status, answer.body.invalid]).toEqual([422, [expect.objectContaining({ field, code })]]);
    }
  });

  test('changes its target in one PATCH', async () => {
    const { id } = await fixture.make('/custom-fields', textField);
    const mapping = await fixture.make('/scim-user-mappings', {
      scimAttribute: 'title',
      userAttribute: 'lastName',
    });
    const item = `/scim-user-mappings/${mapping.id}`;
    expect((await fixture.send('patch', item, { data: { customFieldId: id } })).status).toBe(422);
    const answer = await fixture.send('patch', item, { data: { customFieldId: id, userAttribute: null } });
    expect([answer.status, answer.body.data.customFieldId, answer.body.data.userAttribute]).toEqual([
      200,
      id,
      undefined,
    ]);
  });
});

describe('a billing profile', () => {
  const profile: JsonObject = { email: 'b@example.com', lang: 'en', name: 'B' };
  test.each([
    ['lang', 'lang', { lang: 'es' }],
    ['email', 'email', { email: 'b' }],
    ['address.country', 'country', { address: { country: 'fr' } }],
    ['address.street', 'unknown', { address: { street: 'x' } }],
    ['name', 'required', { name: '  ' }],
    ['name', 'pattern', { name: 'x'.repeat(256) }],
  ])('refuses %s as %s', async (field, code, data) => {
    const answer = await fixture.send('post', '/billing-profiles', { data: { ...profile, ...data } });
    expect([answer.status, answer.body.invalid]).toEqual([422, [expect.objectContaining({ field, code })]]);
  });

  test('can share its email with others, as only the emails of users are unique', async () => {
    await fixture.make('/billing-profiles', profile);
    await fixture.make('/billing-profiles', profile);
  });
});

test('project codes are unique, with case', async () => {
  await fixture.make('/project-codes', { code: 'Apollo' });
  await fixture.make('/project-codes', { code: 'APOLLO' });
});
