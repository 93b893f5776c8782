import { RE2JS } from 're2js';
import type { Resource } from '../../src/travel/declaration/resource.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import { travelPolicy } from '../../src/travel/resources/travel-policy.ts';
import { user } from '../../src/travel/resources/user.ts';
import { webhook } from '../../src/travel/resources/webhook.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => {
  jest.restoreAllMocks();
  return fixture.close();
});

const expensive = '[a-z]{900}.*';
const text = 'a'.repeat(900);
const makeField = (data: JsonObject = {}) =>
  fixture.make('/custom-fields', {
    ...{ dataType: 'text', name: 'Badge', resourceType: 'user', validationRegexp: expensive },
    ...data,
  });
const send = (customFields: JsonObject[]) =>
  fixture.send('post', '/users', { data: { email: 'ada@example.com', customFields } });

/** Counts the work of the expressions from now on. */
function countedWork() {
  const compiled = jest.spyOn(RE2JS, 'compile');
  const matched = jest.spyOn(RE2JS.prototype, 'matches');
  return () => ({ compiled: compiled.mock.calls.length, matched: matched.mock.calls.length });
}

describe('custom fields with a costly expression', () => {
  test('that are one field 500 times are refused as duplicates, and the field is matched once', async () => {
    const { id } = await makeField();
    const work = countedWork();
    const answer = await send(
      Array.from({ length: 500 }, () => ({ customFieldId: id, values: [{ data: text }] })),
    );
    expect([answer.status, answer.body.invalid.length]).toEqual([422, 100]);
    expect(answer.body.invalid[0]).toMatchObject({
      field: 'customFields.1.customFieldId',
      code: 'duplicate',
    });
    expect(work()).toEqual({ compiled: 1, matched: 1 });
  });

  test('that have one value many times are matched once', async () => {
    const { id } = await makeField();
    const work = countedWork();
    const values = Array.from({ length: 1000 }, () => ({ data: text }));
    const answer = await send([{ customFieldId: id, values }]);
    expect([answer.status, answer.body.data.customFields[0].values]).toEqual([201, [{ data: text }]]);
    expect(work()).toEqual({ compiled: 1, matched: 1 });
  });

  test('that share their expression compile it once', async () => {
    const ids = [];
    for (let number = 0; number < 4; number++) ids.push((await makeField()).id);
    const work = countedWork();
    const given = ids.map((id, number) => ({ customFieldId: id, values: [{ data: `${text}${number}` }] }));
    expect((await send(given)).status).toBe(201);
    expect(work()).toEqual({ compiled: 1, matched: 4 });
  });

  test('that exceed the work allowed for a request are not matched to the end', async () => {
    const ids = [];
    for (let number = 0; number < 30; number++) {
      ids.push((await makeField({ validationRegexp: `[a-z]{${900 + number}}` })).id);
    }
    const work = countedWork();
    const given = ids.map((id) => ({ customFieldId: id, values: [{ data: 'b'.repeat(950) }] }));
    const answer = await send(given);
    expect([answer.status, answer.body.invalid[0]]).toMatchObject([422, { code: 'pattern' }]);
    expect(work().matched).toBeLessThan(5);
  });

  test('are refused where repetitions multiply to a program that is too large', async () => {
    const data = { dataType: 'text', name: 'Badge', resourceType: 'user' };
    for (const validationRegexp of [`(?:${'a?'.repeat(20)}){1000}`, '((a?){100}){10}b{1000}']) {
      const answer = await fixture.send('post', '/custom-fields', { data: { ...data, validationRegexp } });
      expect(answer.body.invalid).toMatchObject([{ field: 'validationRegexp', code: 'pattern' }]);
    }
  });
});

describe('a body with too many values', () => {
  const many = <T>(value: T) => Array.from({ length: 100_000 }, () => value);
  const field = 'abcdefabcdefabcdefabcdef';
  test.each<[string, Resource, string, JsonObject]>([
    ['numbers', user, 'roles', { roles: many(1) }],
    ['roles', user, 'roles', { roles: many('guest') }],
    ['nulls', user, 'roles', { roles: many(null) }],
    ['custom fields', user, 'customFields', { customFields: many(0) }],
    [
      'custom field values',
      user,
      'customFields',
      { customFields: [{ customFieldId: field, values: many({}) }] },
    ],
    [
      'members of an address',
      user,
      'address',
      { address: Object.fromEntries(many(1).map((_, at) => [at, 1])) },
    ],
    ['preferences', user, 'travelerPrefs', { travelerPrefs: { seats: { window: many(null) } } }],
    ['kinds of events', webhook, 'events', { events: many('x') }],
    [
      'countries',
      travelPolicy,
      'smartSettings',
      { smartSettings: { tripDestination: { denyCountries: many('FR') } } },
    ],
  ])('of %s is refused before its schema is applied', async (_what, resource, name, data) => {
    const { id } = await fixture.make(`/${resource.path}`, resource.example);
    const validate = jest.spyOn(resource.schema, 'safeParse');
    for (const answer of [
      await fixture.send('post', `/${resource.path}`, { data: { ...resource.example, ...data } }),
      await fixture.send('patch', `/${resource.path}/${id}`, { data }),
      await fixture.send('put', `/${resource.path}/${id}`, { data }),
    ]) {
      const message = `"${name}" makes the resource too large: it can hold 20000 values.`;
      expect([answer.status, answer.body.invalid]).toEqual([
        422,
        [{ field: name, code: 'tooMany', message }],
      ]);
    }
    expect(validate).not.toHaveBeenCalled();
  });

  test('with 400,000 roles is refused with one fault', async () => {
    const { status, body } = await fixture.send('post', '/users', {
      data: { email: 'ada@example.com', roles: Array.from({ length: 400_000 }, () => 1) },
    });
    expect([status, body.invalid.length]).toEqual([422, 1]);
  });

  test('is refused too when merge patches make the resource large step by step', async () => {
    const { id } = await fixture.make('/users', { email: 'ada@example.com' });
    const prefs = (from: number) =>
      Object.fromEntries(Array.from({ length: 11_000 }, (_none, number) => [`p${from + number}`, 1]));
    const patch = (travelerPrefs: JsonObject) =>
      fixture.send('patch', `/users/${id}`, { data: { travelerPrefs } });
    expect((await patch(prefs(0))).status).toBe(200);
    const refused = await patch(prefs(11_000));
    expect([refused.status, refused.body.invalid]).toMatchObject([
      422,
      [{ field: 'travelerPrefs', code: 'tooMany' }],
    ]);
    expect((await patch(prefs(0))).status).toBe(200);
  });
});

test('collecting faults stops at a hundred', async () => {
  const names = Object.fromEntries(Array.from({ length: 5000 }, (_none, number) => [`x${number}`, 1]));
  const { id: unknown } = await makeField({ dataType: 'option' });
  for (const data of [
    names,
    { email: 'ada@example.com', address: names },
    { email: 'ada@example.com', roles: Array.from({ length: 5000 }, () => 1) },
    { email: 'ada@example.com', customFields: Array.from({ length: 1000 }, () => ({})) },
    { email: 'ada@example.com', customFields: [{ customFieldId: unknown, values: Array(3000).fill({}) }] },
  ]) {
    const { status, body } = await fixture.send('post', '/users', { data });
    expect([status, body.invalid.length]).toEqual([422, 100]);
  }
});
