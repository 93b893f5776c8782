import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type Json, type JsonObject } from '../../src/schema/resource.ts';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';
import { idpQuirks, type QuirkExample } from '../idp/idp-quirks.ts';

const quirks = idpQuirks.map((quirk) => ({ ...quirk }));

describe('the example of a quirk has the outcome that its row states, over HTTP', () => {
  let scim: ScimFixture;
  beforeEach(async () => {
    scim = await scimFixture();
  });
  afterEach(() => scim.close());

  test.each(quirks)('$name', async ({ example }) => {
    const { request, response } = await withCreatedId(example);
    const answer = await scim.send(request.method, request.path, request.body);
    const body = answer.status === 204 ? (await scim.send('GET', request.path)).body : answer.body;
    expect([answer.status, partOf(body, response.body)]).toEqual([response.status, response.body]);
  });

  async function withCreatedId({ given, ...exchange }: QuirkExample): Promise<Omit<QuirkExample, 'given'>> {
    if (!given) return exchange;
    const created = await scim.send('POST', given.path, given.body);
    expect(created.status).toBe(201);
    return JSON.parse(JSON.stringify(exchange).replaceAll('{id}', created.body.id));
  }
});

test.each(quirks)('the recording of a quirk exists: $name', ({ recording }) => {
  expect(existsSync(join(__dirname, '../idp/scenarios', recording))).toBe(true);
});

test('every quirk has its own name', () => {
  const names = quirks.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

/** The members of `actual` that `expected` has; null for those that are missing. */
function partOf(actual: Json | undefined, expected: Json): Json {
  if (Array.isArray(expected) && Array.isArray(actual) && actual.length === expected.length) {
    return expected.map((element, index) => partOf(actual[index], element));
  }
  if (!isObject(expected) || !isObject(actual)) return actual ?? null;
  const members = Object.entries(expected).map(([name, value]) => [name, partOf(actual[name], value)]);
  return Object.fromEntries(members) as JsonObject;
}
