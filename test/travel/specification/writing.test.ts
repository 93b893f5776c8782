import type { JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

/** Checks that a body is accepted and that the responses of POST and GET contain it. */
async function isCreated(path: string, data: JsonObject): Promise<JsonObject> {
  const created = await fixture.send('post', path, { data });
  expect([created.status, created.body.data]).toEqual([201, expect.objectContaining(data)]);
  expect((await fixture.send('get', `${path}/${created.body.data.id}`)).body).toEqual(created.body);
  return created.body.data;
}

test('a billing profile is created with `address` (`line1`, `postalCode`, `city`, `country`), `companyName`, `email`, `lang`, `name` and `taxId`', async () => {
  await isCreated('/billing-profiles', {
    address: { city: 'Paris', country: 'FR', line1: '1 rue de la Paix', postalCode: '75002' },
    companyName: 'Example SAS',
    email: 'billing@example.com',
    lang: 'fr',
    name: 'Headquarters',
    taxId: 'FR40303265045',
  });
});

test('a cost center is created with `name`', async () => {
  await isCreated('/cost-centers', { name: 'Research' });
});

test('a custom field is created with `dataType`, `description`, `disabled`, `name` and `resourceType`', async () => {
  await isCreated('/custom-fields', {
    dataType: 'text',
    description: 'As on the payroll',
    disabled: false,
    name: 'Employee number',
    resourceType: 'user',
  });
});

test('a custom field option is created with `data`', async () => {
  const field = { dataType: 'option', name: 'Team', resourceType: 'user' };
  const { id } = await fixture.make('/custom-fields', field);
  const option = await isCreated(`/custom-fields/${id}/options`, { data: 'red' });
  expect(option['customFieldId']).toBe(id);
});

test('a project code is created with `code`, `confidential` and `name`', async () => {
  await isCreated('/project-codes', { code: 'APOLLO', confidential: true, name: 'Project Apollo' });
});

test('a SCIM user mapping is created with `customFieldId` and `scimAttribute`', async () => {
  const field = { dataType: 'text', name: 'Badge', resourceType: 'user' };
  const { id } = await fixture.make('/custom-fields', field);
  await isCreated('/scim-user-mappings', { customFieldId: id, scimAttribute: 'title' });
});

test('a travel policy is created with `control`, `hotelBudget`, `name` and `transportBudget`', async () => {
  await isCreated('/travel-policies', {
    control: 'full',
    hotelBudget: { kind: 'comfort' },
    name: 'Everyone',
    transportBudget: { flight: { kind: 'strict' }, rail: { kind: 'comfort' } },
  });
});

test('a user is created with `costCenterId`, `email`, `firstName`, `lastName` and `billingProfileId`', async () => {
  const center = await fixture.make('/cost-centers', { name: 'Research' });
  const profile = await fixture.make('/billing-profiles', { email: 'b@example.com', lang: 'en', name: 'HQ' });
  await isCreated('/users', {
    billingProfileId: profile.id,
    costCenterId: center.id,
    email: 'ada@example.com',
    firstName: 'Ada',
    lastName: 'Lovelace',
  });
});

test('a validation error tells that `email` must be a valid address and `lang` an allowed value', async () => {
  const data = { email: 'nobody', lang: 'de', name: 'HQ' };
  const answer = await fixture.send('post', '/billing-profiles', { data });
  expect([answer.status, answer.body]).toEqual([
    422,
    {
      code: 'validationFailed',
      message: expect.any(String),
      invalid: [
        { field: 'email', value: 'nobody', code: 'email', message: expect.any(String) },
        { field: 'lang', value: 'de', code: 'lang', message: expect.any(String) },
      ],
    },
  ]);
});

test('a validation error tells that a `name` is mandatory', async () => {
  const answer = await fixture.send('post', '/cost-centers', { data: {} });
  expect([answer.status, answer.body]).toEqual([
    422,
    {
      code: 'validationFailed',
      message: expect.any(String),
      invalid: [{ field: 'name', code: 'required', message: expect.stringContaining('mandatory') }],
    },
  ]);
});

const policy = { control: 'none', hotelBudget: {}, transportBudget: {} };

test('one travel policy is the default: another that becomes it takes the mark away', async () => {
  const first = await fixture.make('/travel-policies', { ...policy, name: 'One', default: true });
  const second = await fixture.make('/travel-policies', { ...policy, name: 'Two', default: true });
  const marks = async () =>
    (await fixture.send('get', '/travel-policies')).body.data.map((one: JsonObject) => one['default']);
  expect(await marks()).toEqual([false, true]);
  await fixture.send('patch', `/travel-policies/${first.id}`, { data: { default: true } });
  expect(await marks()).toEqual([true, false]);
  expect(second['default']).toBe(true);
});

test('a PATCH that sets custom to null removes it, and kind may become strict', async () => {
  const { id } = await fixture.make('/travel-policies', {
    control: 'full',
    hotelBudget: { kind: 'custom', custom: { flexibilityPercentage: 10 } },
    name: 'Everyone',
    transportBudget: {
      common: { flexibilityPercentage: 5 },
      flight: { kind: 'custom', custom: { lowCostWhenPossible: true } },
      rail: { kind: 'custom', custom: { fareType: 'flex' } },
    },
  });
  const strict = { kind: 'strict', custom: null };
  const data = { hotelBudget: strict, transportBudget: { flight: strict, rail: strict } };
  const answer = await fixture.send('patch', `/travel-policies/${id}`, { data });
  expect([answer.status, answer.body.data]).toMatchObject([200, { name: 'Everyone', control: 'full' }]);
  expect(answer.body.data.hotelBudget).toEqual({ kind: 'strict' });
  expect(answer.body.data.transportBudget).toEqual({
    common: { flexibilityPercentage: 5 },
    flight: { kind: 'strict' },
    rail: { kind: 'strict' },
  });
});
