import type { JsonObject } from '../../src/travel/json.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const makeField = (data: JsonObject) =>
  fixture.make('/custom-fields', { dataType: 'text', name: 'Field', resourceType: 'user', ...data });
const makeOption = (fieldId: string, data: JsonObject) =>
  fixture.make(`/custom-fields/${fieldId}/options`, data);

/** A custom field value as a client sends it; a string stands for data. */
const value = (customFieldId: string, ...values: (string | JsonObject)[]): JsonObject => ({
  customFieldId,
  values: values.map((one) => (typeof one === 'string' ? { data: one } : one)),
});
const create = (...customFields: JsonObject[]) =>
  fixture.send('post', '/users', { data: { email: 'a@example.com', customFields } });
const faultsOf = (answer: { status: number; body: { invalid: JsonObject[] } }) => {
  expect(answer.status).toBe(422);
  return answer.body.invalid.map(({ field, code }) => `${field} ${code}`);
};

describe('a text', () => {
  test('is returned with the current name of its field', async () => {
    const { id } = await makeField({ name: 'Badge' });
    const made = await create(value(id, 'B-17'));
    expect(made.body.data.customFields).toEqual([
      { customFieldId: id, name: 'Badge', values: [{ data: 'B-17' }] },
    ]);
    await fixture.send('patch', `/custom-fields/${id}`, { data: { name: 'Badge number' } });
    const { data } = (await fixture.send('get', '/users?emails=a@example.com')).body;
    expect(data[0].customFields[0].name).toBe('Badge number');
  });

  test.each([
    ['[A-Z]\\d+', 'B17', true],
    ['[A-Z]\\d+', 'xB17', false],
    ['[A-Z]\\d+', 'B17\n', false],
    ['a|ab', 'ab', true],
    ['^\\d{4}$', '2026', true],
    ['(a+)+$', `${'a'.repeat(999)}!`, false],
  ])('matches %s as a whole: %j is %s', async (validationRegexp, data, matches) => {
    const { id } = await makeField({ validationRegexp });
    const answer = await create(value(id, data));
    if (matches) expect(answer.status).toBe(201);
    else expect(faultsOf(answer)).toEqual(['customFields.0.values.0.data pattern']);
  });

  test('with too many values is refused before any of them is matched', async () => {
    const { id } = await makeField({ validationRegexp: '\\d+' });
    const many = Array.from({ length: 500 }, (_none, number) => `no digits ${number}`);
    expect(faultsOf(await create(value(id, ...many)))).toEqual(['customFields.0.values tooMany']);
  });

  test('has exactly one non-empty value, and no option', async () => {
    const { id } = await makeField({});
    expect(faultsOf(await create(value(id, 'one', 'two')))).toEqual(['customFields.0.values tooMany']);
    expect(faultsOf(await create(value(id, '')))).toEqual(['customFields.0.values.0.data required']);
    expect(faultsOf(await create(value(id, {})))).toEqual(['customFields.0.values.0.data required']);
    expect(faultsOf(await create(value(id, 'x'.repeat(1001))))).toEqual([
      'customFields.0.values.0.data pattern',
    ]);
    expect(faultsOf(await create(value(id, { customFieldOptionId: 'abc' })))).toEqual([
      'customFields.0.values.0.customFieldOptionId reference',
    ]);
  });
});

describe('an option', () => {
  test('is chosen by its id or data, and returned with its current id, data and displayName', async () => {
    const { id } = await makeField({ dataType: 'option', name: 'Team' });
    const red = await makeOption(id, { data: 'red', displayName: 'Red team' });
    const blue = await makeOption(id, { data: 'blue' });
    const made = await create(value(id, 'red'));
    const redValue = { customFieldOptionId: red.id, data: 'red', displayName: 'Red team' };
    expect(made.body.data.customFields).toEqual([{ customFieldId: id, name: 'Team', values: [redValue] }]);

    const user = `/users/${made.body.data.id}`;
    const byId = value(id, { customFieldOptionId: blue.id });
    const changed = await fixture.send('patch', user, { data: { customFields: [byId] } });
    expect(changed.body.data.customFields[0].values).toEqual([
      { customFieldOptionId: blue.id, data: 'blue' },
    ]);

    await fixture.send('patch', `/custom-fields/${id}/options/${blue.id}`, { data: { data: 'navy' } });
    const { data } = (await fixture.send('get', user)).body;
    expect(data.customFields[0].values).toEqual([{ customFieldOptionId: blue.id, data: 'navy' }]);
  });

  test('can be sent back as it was returned', async () => {
    const { id } = await makeField({ dataType: 'option' });
    await makeOption(id, { data: 'red', displayName: 'Red' });
    const { data } = (await create(value(id, 'red'))).body;
    fixture.changes.length = 0;
    const again = await fixture.send('patch', `/users/${data.id}`, {
      data: { customFields: data.customFields },
    });
    expect([again.status, again.body.data]).toEqual([200, data]);
    expect(fixture.changes).toEqual([]);
  });

  test('must belong to its field, and only one is allowed', async () => {
    const field = await makeField({ dataType: 'option' });
    const other = await makeField({ dataType: 'option' });
    await makeOption(field.id, { data: 'red' });
    await makeOption(field.id, { data: 'blue' });
    const foreign = await makeOption(other.id, { data: 'green' });
    expect(faultsOf(await create(value(field.id, 'green')))).toEqual([
      'customFields.0.values.0.data reference',
    ]);
    expect(faultsOf(await create(value(field.id, { customFieldOptionId: foreign.id })))).toEqual([
      'customFields.0.values.0.customFieldOptionId reference',
    ]);
    expect(faultsOf(await create(value(field.id, 'red', 'blue')))).toEqual(['customFields.0.values tooMany']);
    expect(faultsOf(await create(value(field.id, {})))).toEqual(['customFields.0.values.0.data required']);
  });

  test('of an optionsList can be combined with others, each once', async () => {
    const { id } = await makeField({ dataType: 'optionsList' });
    for (const data of ['red', 'blue', 'green']) await makeOption(id, { data });
    const made = await create(value(id, 'green', 'red', 'green'));
    const data = made.body.data.customFields[0].values.map((one: JsonObject) => one['data']);
    expect(data).toEqual(['green', 'red']);
  });

  test('cannot be deleted while a user has it, and neither can its field', async () => {
    const { id } = await makeField({ dataType: 'option' });
    const red = await makeOption(id, { data: 'red' });
    const user = (await create(value(id, 'red'))).body.data;
    const option = `/custom-fields/${id}/options/${red.id}`;
    expect((await fixture.send('delete', option)).status).toBe(409);
    expect((await fixture.send('delete', `/custom-fields/${id}`)).status).toBe(409);
    await fixture.send('patch', `/users/${user.id}`, { data: { customFields: null } });
    expect((await fixture.send('delete', option)).status).toBe(200);
    expect((await fixture.send('delete', `/custom-fields/${id}`)).status).toBe(200);
  });
});

describe('a disabled field or option', () => {
  test('cannot be assigned', async () => {
    const field = await makeField({ disabled: true });
    expect(faultsOf(await create(value(field.id, 'x')))).toEqual(['customFields.0.customFieldId disabled']);
    const list = await makeField({ dataType: 'optionsList' });
    const red = await makeOption(list.id, { data: 'red', disabled: true });
    await makeOption(list.id, { data: 'blue' });
    expect(faultsOf(await create(value(list.id, 'blue', 'red')))).toEqual([
      'customFields.0.values.1.data disabled',
    ]);
    expect(faultsOf(await create(value(list.id, { customFieldOptionId: red.id })))).toEqual([
      'customFields.0.values.0.customFieldOptionId disabled',
    ]);
  });

  test('stays assigned where it was, through any other change', async () => {
    const text = await makeField({ validationRegexp: 'x+' });
    const list = await makeField({ dataType: 'optionsList' });
    const red = await makeOption(list.id, { data: 'red' });
    await makeOption(list.id, { data: 'blue' });
    const { data } = (await create(value(text.id, 'xx'), value(list.id, 'red', 'blue'))).body;
    await fixture.send('patch', `/custom-fields/${text.id}`, {
      data: { disabled: true, validationRegexp: 'y+' },
    });
    await fixture.send('patch', `/custom-fields/${list.id}/options/${red.id}`, { data: { disabled: true } });

    const user = `/users/${data.id}`;
    const renamed = await fixture.send('patch', user, { data: { firstName: 'Ada' } });
    expect([renamed.status, renamed.body.data.customFields]).toEqual([200, data.customFields]);
    const put = await fixture.send('put', user, {
      data: { email: data.email, customFields: data.customFields },
    });
    expect([put.status, put.body.data.customFields]).toEqual([200, data.customFields]);
    const fewer = await fixture.send('patch', user, { data: { customFields: [value(list.id, 'red')] } });
    expect(fewer.status).toBe(200);
    const again = await fixture.send('patch', user, { data: { customFields: [value(text.id, 'xx')] } });
    expect(faultsOf(again).sort()).toEqual([
      'customFields.0.customFieldId disabled',
      'customFields.0.values.0.data pattern',
    ]);
  });
});

test('a field that does not exist, belongs to trip projects, or is given twice is refused', async () => {
  const trip = await makeField({ resourceType: 'tripProject' });
  const badge = await makeField({});
  const answer = await create(
    value(trip.id, 'x'),
    value(badge.id, 'x'),
    value('abcdefabcdefabcdefabcdef', 'x'),
    value(badge.id, 'y'),
  );
  expect(faultsOf(answer)).toEqual([
    'customFields.0.customFieldId reference',
    'customFields.2.customFieldId reference',
    'customFields.3.customFieldId duplicate',
  ]);
});

test('a field without values is no value', async () => {
  const { id } = await makeField({});
  const made = await create(value(id));
  expect([made.status, made.body.data.customFields]).toEqual([201, undefined]);
});

test('many values are validated in little time', async () => {
  const { id } = await makeField({ dataType: 'optionsList' });
  await makeOption(id, { data: 'red' });
  const many = Array.from({ length: 5000 }, (_, number) => `red ${number}`);
  const answer = await create(value(id, ...many));
  expect(answer.status).toBe(422);
  expect(answer.body.invalid).toHaveLength(100);
});

describe('a mandatory field', () => {
  test('is required by POST and PUT, not by PATCH', async () => {
    const { data } = (await create()).body;
    const field = await makeField({ mandatory: true, name: 'Badge' });
    await makeField({ mandatory: true, disabled: true });
    await makeField({ mandatory: true, resourceType: 'tripProject' });
    const missing = [`customFields.${field.id} required`];
    expect(faultsOf(await fixture.send('post', '/users', { data: { email: 'b@example.com' } }))).toEqual(
      missing,
    );
    const user = `/users/${data.id}`;
    expect(faultsOf(await fixture.send('put', user, { data: { email: 'a@example.com' } }))).toEqual(missing);
    expect((await fixture.send('patch', user, { data: { firstName: 'Ada' } })).status).toBe(200);
    const customFields = [value(field.id, 'B-17')];
    expect((await fixture.send('put', user, { data: { email: 'a@example.com', customFields } })).status).toBe(
      200,
    );
  });

  test('keeps its value when a PATCH touches the custom fields', async () => {
    const badge = await makeField({ name: 'Badge' });
    const team = await makeField({ dataType: 'option', name: 'Team' });
    await makeOption(team.id, { data: 'red' });
    const other = await makeField({ name: 'Other' });
    const { data } = (await create(value(badge.id, 'B-17'), value(team.id, 'red'))).body;
    const user = `/users/${data.id}`;
    for (const { id } of [badge, team])
      await fixture.send('patch', `/custom-fields/${id}`, { data: { mandatory: true } });
    const patch = (change: JsonObject) => fixture.send('patch', user, { data: change });
    const both = [`customFields.${badge.id} required`, `customFields.${team.id} required`];
    expect(faultsOf(await patch({ customFields: null }))).toEqual(both);
    expect(faultsOf(await patch({ customFields: [] }))).toEqual(both);
    expect(faultsOf(await patch({ customFields: [value(other.id, 'x')], archived: true }))).toEqual(both);
    const emptied = [value(badge.id), value(team.id, 'red')];
    expect(faultsOf(await patch({ customFields: emptied }))).toEqual([both[0]]);
    const kept = [value(team.id, 'red'), value(badge.id, 'B-18'), value(other.id, 'x')];
    const changed = await patch({ customFields: kept });
    expect([changed.status, changed.body.data.customFields.length]).toEqual([200, 3]);
    await fixture.send('patch', `/custom-fields/${badge.id}`, { data: { mandatory: false } });
    await fixture.send('patch', `/custom-fields/${team.id}`, { data: { disabled: true } });
    const cleared = await patch({ customFields: null });
    expect([cleared.status, cleared.body.data.customFields]).toEqual([200, undefined]);
  });

  test('without a value does not prevent a PATCH of other fields', async () => {
    const { data } = (await create()).body;
    const other = await makeField({ name: 'Other' });
    await makeField({ mandatory: true, name: 'Badge' });
    const change = { customFields: [value(other.id, 'x')] };
    expect((await fixture.send('patch', `/users/${data.id}`, { data: change })).status).toBe(200);
  });

  test.each<[string, JsonObject]>([
    ['mandatory', { mandatory: true }],
    ['disabled', { mandatory: true, disabled: true }],
    ['of another expression', { mandatory: true, validationRegexp: 'X' }],
  ])('that became %s never prevents archiving a user', async (_what, change) => {
    const badge = await makeField({ name: 'Badge' });
    const withValue = (await create(value(badge.id, 'B-17'))).body.data;
    const without = await fixture.make('/users', { email: 'b@example.com' });
    await fixture.send('patch', `/custom-fields/${badge.id}`, { data: change });
    await makeField({ mandatory: true, name: 'New' });
    for (const { id } of [withValue, without]) {
      const answer = await fixture.send('patch', `/users/${id}`, { data: { archived: true } });
      expect([answer.status, answer.body.data.archived]).toEqual([200, true]);
    }
  });

  test('is not required any more once it is not mandatory', async () => {
    const field = await makeField({ mandatory: true });
    expect((await create()).status).toBe(422);
    await fixture.send('patch', `/custom-fields/${field.id}`, { data: { mandatory: false } });
    expect((await create()).status).toBe(201);
  });
});
