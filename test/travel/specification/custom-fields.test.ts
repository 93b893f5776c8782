import type { JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const text = { dataType: 'text', name: 'Badge', resourceType: 'user' };
const option = { dataType: 'option', name: 'Team', resourceType: 'user' };
const many = { dataType: 'optionsList', name: 'Skills', resourceType: 'user' };

/** A user with one custom field value. */
function holder(customFieldId: string, ...values: JsonObject[]): JsonObject {
  return { email: 'ada@example.com', customFields: [{ customFieldId, values }] };
}

async function post(data: JsonObject) {
  return fixture.send('post', '/users', { data });
}

async function expectRefused(data: JsonObject, field: string, code: string): Promise<void> {
  const answer = await post(data);
  expect([answer.status, answer.body.code]).toEqual([422, 'validationFailed']);
  expect(answer.body.invalid).toEqual([expect.objectContaining({ field, code })]);
}

describe('custom field value', () => {
  test('customFields: array of custom field values, optional on users', async () => {
    const { id } = await fixture.make('/custom-fields', text);
    expect(await fixture.make('/users', { email: 'bob@example.com' })).not.toHaveProperty('customFields');
    const user = await fixture.make('/users', holder(id, { data: 'B 12' }));
    expect(user['customFields']).toEqual([{ customFieldId: id, name: 'Badge', values: [{ data: 'B 12' }] }]);
    const removed = await fixture.send('patch', `/users/${user.id}`, { data: { customFields: null } });
    expect(removed.body.data).not.toHaveProperty('customFields');
    await expectRefused({ email: 'eve@example.com', customFields: 'x' }, 'customFields', 'type');
  });

  test('customFieldId: string of id form A, names a custom field; anything else is 422', async () => {
    const { id } = await fixture.make('/custom-fields', text);
    expect(id).toMatch(/^[0-9a-f]{24}$/);
    const field = 'customFields.0.customFieldId';
    await expectRefused(holder('abcdefabcdefabcdefabcdef', { data: 'x' }), field, 'reference');
    const lacking = { email: 'ada@example.com', customFields: [{ values: [{ data: 'x' }] }] };
    await expectRefused(lacking, field, 'required');
    const ofTrips = await fixture.make('/custom-fields', { ...text, resourceType: 'tripProject' });
    await expectRefused(holder(ofTrips.id, { data: 'x' }), field, 'reference');
  });

  test('name: string, the name of the custom field', async () => {
    const { id } = await fixture.make('/custom-fields', text);
    const user = await fixture.make('/users', holder(id, { data: 'x' }));
    await fixture.send('patch', `/custom-fields/${id}`, { data: { name: 'Badge number' } });
    const { data } = (await fixture.send('get', `/users/${user.id}`)).body;
    expect(data.customFields).toMatchObject([{ customFieldId: id, name: 'Badge number' }]);
  });

  test('values: array of object; one value for text and option fields, many for optionsList', async () => {
    const two = [{ data: 'red' }, { data: 'blue' }];
    for (const field of [text, option]) {
      const { id } = await fixture.make('/custom-fields', field);
      if (field === option) {
        for (const one of two) await fixture.make(`/custom-fields/${id}/options`, one);
      }
      await expectRefused(holder(id, ...two), 'customFields.0.values', 'tooMany');
    }
    const { id } = await fixture.make('/custom-fields', many);
    for (const one of two) await fixture.make(`/custom-fields/${id}/options`, one);
    const user = await fixture.make('/users', holder(id, ...two));
    expect(user['customFields']).toMatchObject([{ name: 'Skills', values: two }]);
  });

  test('customFieldOptionId: form A, only for option-type fields', async () => {
    const team = await fixture.make('/custom-fields', option);
    const red = await fixture.make(`/custom-fields/${team.id}/options`, { data: 'red' });
    const badge = await fixture.make('/custom-fields', text);
    expect(red.id).toMatch(/^[0-9a-f]{24}$/);
    const user = await fixture.make('/users', holder(team.id, { data: 'red' }));
    expect(user['customFields']).toMatchObject([{ values: [{ customFieldOptionId: red.id }] }]);
    const place = 'customFields.0.values.0.customFieldOptionId';
    await expectRefused(holder(badge.id, { customFieldOptionId: red.id }), place, 'reference');
    const plain = await fixture.make('/users', {
      ...holder(badge.id, { data: 'x' }),
      email: 'b@example.com',
    });
    expect(JSON.stringify(plain)).not.toContain('customFieldOptionId');
  });

  test('data: string, the text or the data of the option', async () => {
    const team = await fixture.make('/custom-fields', option);
    const red = await fixture.make(`/custom-fields/${team.id}/options`, { data: 'red' });
    const byId = await fixture.make('/users', holder(team.id, { customFieldOptionId: red.id }));
    expect(byId['customFields']).toMatchObject([{ values: [{ data: 'red' }] }]);
    await expectRefused(holder(team.id, { data: 'green' }), 'customFields.0.values.0.data', 'reference');
    const badge = await fixture.make('/custom-fields', text);
    await expectRefused(holder(badge.id, { data: 1 }), 'customFields.0.values.0.data', 'type');
    await expectRefused(holder(badge.id, {}), 'customFields.0.values.0.data', 'required');
  });

  test('displayName: string, that of the option', async () => {
    const team = await fixture.make('/custom-fields', option);
    await fixture.make(`/custom-fields/${team.id}/options`, { data: 'red', displayName: 'Red team' });
    await fixture.make(`/custom-fields/${team.id}/options`, { data: 'blue' });
    const red = await fixture.make('/users', holder(team.id, { data: 'red' }));
    expect(red['customFields']).toMatchObject([{ values: [{ data: 'red', displayName: 'Red team' }] }]);
    const blue = await fixture.send('patch', `/users/${red.id}`, { data: holder(team.id, { data: 'blue' }) });
    expect(blue.body.data.customFields[0].values[0]).not.toHaveProperty('displayName');
  });
});

test('a disabled custom field can no longer be assigned, and what was assigned stays', async () => {
  const { id } = await fixture.make('/custom-fields', text);
  const user = await fixture.make('/users', holder(id, { data: 'old' }));
  await fixture.send('patch', `/custom-fields/${id}`, { data: { disabled: true } });
  const late = { ...holder(id, { data: 'new' }), email: 'b@example.com' };
  await expectRefused(late, 'customFields.0.customFieldId', 'disabled');
  const renamed = await fixture.send('patch', `/users/${user.id}`, { data: { lastName: 'King' } });
  expect([renamed.status, renamed.body.data.customFields]).toEqual([200, user['customFields']]);
});

test('a mandatory custom field must be given: POST and PUT without it are 422 required', async () => {
  const user = await fixture.make('/users', { email: 'ada@example.com' });
  const { id } = await fixture.make('/custom-fields', { ...text, mandatory: true });
  await expectRefused({ email: 'b@example.com' }, `customFields.${id}`, 'required');
  const put = await fixture.send('put', `/users/${user.id}`, { data: { email: 'ada@example.com' } });
  expect([put.status, put.body.invalid[0].code]).toEqual([422, 'required']);
  expect((await fixture.send('patch', `/users/${user.id}`, { data: { lastName: 'King' } })).status).toBe(200);
  expect((await post({ ...holder(id, { data: 'x' }), email: 'b@example.com' })).status).toBe(201);
});

test('a value must match the validationRegexp of its custom field, else 422', async () => {
  const { id } = await fixture.make('/custom-fields', { ...text, validationRegexp: '[A-Z]\\d{3}' });
  for (const data of ['A12', 'a123', 'xA123', 'A1234']) {
    await expectRefused(holder(id, { data }), 'customFields.0.values.0.data', 'pattern');
  }
  expect((await post(holder(id, { data: 'A123' }))).status).toBe(201);
});

test('a disabled option can no longer be assigned, and what was assigned stays', async () => {
  const team = await fixture.make('/custom-fields', option);
  const red = await fixture.make(`/custom-fields/${team.id}/options`, { data: 'red' });
  const user = await fixture.make('/users', holder(team.id, { data: 'red' }));
  await fixture.send('patch', `/custom-fields/${team.id}/options/${red.id}`, { data: { disabled: true } });
  const late = { ...holder(team.id, { data: 'red' }), email: 'b@example.com' };
  await expectRefused(late, 'customFields.0.values.0.data', 'disabled');
  const renamed = await fixture.send('patch', `/users/${user.id}`, { data: { lastName: 'King' } });
  expect([renamed.status, renamed.body.data.customFields]).toEqual([200, user['customFields']]);
});

test.each(['approverId', 'billingProfileId'])(
  'only one custom field can have options with %s',
  async (name) => {
    const profile = { email: 'b@example.com', lang: 'en', name: 'HQ' };
    const made =
      name === 'approverId' ? fixture.admin : (await fixture.make('/billing-profiles', profile)).id;
    const first = await fixture.make('/custom-fields', option);
    const second = await fixture.make('/custom-fields', { ...option, name: 'Squad' });
    const options = (field: { id: string }) => `/custom-fields/${field.id}/options`;
    const red = await fixture.make(options(first), { data: 'red', [name]: made });
    await fixture.make(options(first), { data: 'blue', [name]: made });
    const clash = await fixture.send('post', options(second), { data: { data: 'x', [name]: made } });
    expect([clash.status, clash.body.invalid]).toEqual([
      422,
      [expect.objectContaining({ field: name, code: 'exclusive' })],
    ]);
    expect((await fixture.send('get', `${options(first)}/${red.id}`)).body.data[name]).toBe(made);
  },
);

test('a SCIM user mapping maps to a custom field or to a user attribute, to exactly one', async () => {
  const { id } = await fixture.make('/custom-fields', text);
  const mapping = (data: JsonObject) => fixture.send('post', '/scim-user-mappings', { data });
  const toField = await mapping({ scimAttribute: 'title', customFieldId: id });
  expect([toField.status, toField.body.data.customFieldId]).toEqual([201, id]);
  expect(toField.body.data).not.toHaveProperty('userAttribute');
  const toUser = await mapping({ scimAttribute: 'nickName', userAttribute: 'firstName' });
  expect(toUser.body.data).not.toHaveProperty('customFieldId');
  for (const [data, field, code] of [
    [{ scimAttribute: 'userType', customFieldId: id, userAttribute: 'email' }, 'userAttribute', 'exclusive'],
    [{ scimAttribute: 'userType' }, 'customFieldId', 'required'],
    [{ scimAttribute: 'userType', customFieldId: 'abcdefabcdefabcdefabcdef' }, 'customFieldId', 'reference'],
    [{ scimAttribute: 'userType', customFieldId: 7 }, 'customFieldId', 'type'],
  ] as const) {
    const { status, body } = await mapping(data);
    expect([status, body.invalid[0]]).toMatchObject([422, { field, code }]);
  }
});
