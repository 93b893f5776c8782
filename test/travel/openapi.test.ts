import { join } from 'node:path';
import express from 'express';
import request from 'supertest';
import { catalog } from '../../src/travel/catalog.ts';
import type { Resource } from '../../src/travel/declaration/resource.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/travel/json.ts';
import { contractRoutes } from '../../src/travel/openapi/routes.ts';
import { expectOutline, validateOpenApi } from '../fixtures/openapi.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';
import { bodyPointer, openApi, operations, partAt, schemaFaults } from './contract.ts';
import { storeExample } from './examples.ts';
import { collectionOf, hasNull } from './samples.ts';

test('the OpenAPI document equals the golden file', () => {
  expectOutline(openApi, join(__dirname, 'golden/openapi.txt'));
});

test('a public validator accepts it as OpenAPI 3.1', () => {
  expect(validateOpenApi(openApi)).toEqual({ valid: true });
  expect(openApi['openapi']).toBe('3.1.0');
});

test('every operation has a unique id, a summary, a described tag and its failures', () => {
  const ids = operations.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const tags = (openApi['tags'] as JsonObject[]).map(({ name }) => name);
  for (const { pointer, statuses, hasBody, id } of operations) {
    expect(id).toMatch(/^[a-z][A-Za-z]+$/);
    const { summary, tags: own } = partAt(pointer);
    expect(summary).toMatch(/^[A-Z]/);
    for (const tag of own as Json[]) expect(tags).toContain(tag);
    expect(statuses).toEqual(
      expect.arrayContaining(['401', '500', ...(hasBody ? ['400', '413', '415', '422'] : [])]),
    );
  }
});

test('every path declares its parameters, and every reference has a target', () => {
  for (const { path, parameters } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const given = parameters.filter((one) => one['in'] === 'path').map(({ name }) => name);
    expect(given).toEqual(named);
  }
  const references = [...JSON.stringify(openApi).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, reference]) => reference,
  );
  expect(references.length).toBeGreaterThan(100);
  for (const reference of references)
    expect([reference, Object.keys(partAt(reference ?? ''))]).not.toEqual([reference, []]);
});

test('every property has a description, no schema has a default or contains itself, and patterns need no flag', () => {
  const bare: string[] = [];
  const visit = (part: Json, place: string, above: string[]): void => {
    if (Array.isArray(part)) for (const one of part) visit(one, place, above);
    if (!isJsonObject(part)) return;
    for (const [name, property] of Object.entries(isJsonObject(part['properties']) ? part['properties'] : {}))
      if (!isJsonObject(property) || !property['description']) bare.push(`${place}.${name}`);
    if ('default' in part && typeof part['type'] === 'string' && place.startsWith('#/components'))
      bare.push(`${place} has a default`);
    const { $ref: target } = part;
    if (typeof target === 'string') {
      expect(above).not.toContain(target);
      visit(partAt(target), target, [...above, target]);
    }
    for (const [name, one] of Object.entries(part))
      if (!['example', 'examples'].includes(name)) visit(one, `${place}/${name}`, above);
  };
  for (const name of Object.keys(partAt('#/components/schemas')))
    visit({ $ref: `#/components/schemas/${name}` }, name, []);
  for (const { pointer } of operations) visit(partAt(pointer), pointer, []);
  expect(bare).toEqual([]);
  for (const [, pattern = ''] of JSON.stringify(openApi).matchAll(/"pattern":("(?:[^"\\\\]|\\\\.)*")/g))
    expect(JSON.parse(pattern)).not.toMatch(/\\[pP]\{/);
});

test('every operation has a description, and an example of each body', () => {
  for (const { pointer } of operations) {
    const { description, requestBody, responses } = partAt(pointer);
    expect(description).toMatch(/\.$/);
    const contents = [requestBody, ...Object.values(responses as JsonObject)].flatMap((one) =>
      isJsonObject(one ?? null) && isJsonObject(Object(one).content) ? [Object(one).content] : [],
    );
    for (const content of contents)
      expect(Object.keys(content['application/json'])).toEqual(['schema', 'example']);
  }
});

describe('its examples', () => {
  const schemas = Object.entries(partAt('#/components/schemas') as Record<string, JsonObject>);
  const named = schemas.flatMap(([name, { examples }]) =>
    Array.isArray(examples) ? [[name, examples] as const] : [],
  );

  test('exist for each body of a request, and for each resource and failure of a response', () => {
    const names = named.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['ErrorBody', 'WebhookWithSecret']));
    for (const operation of operations.filter(({ hasBody }) => hasBody))
      expect(names).toContain(schemaNameAt(`${bodyPointer(operation)}/properties/data`));
    for (const { type } of catalog) expect(names).toContain(schemaNameOf(type));
  });

  test.each(named)('are valid: %s', (name, examples) => {
    for (const example of examples)
      expect(schemaFaults(`#/components/schemas/${name}`, example, { closed: true })).toEqual([]);
    // A patch removes a member by null.
    expect(hasNull(examples)).toBe(hasNull(examples) && name.endsWith('Patch'));
  });
});

describe('the service', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await openFixture();
  });
  afterEach(() => fixture.close());

  const isWritable = ({ operations: own }: Resource) => own.includes('create');
  const named = (resources: Resource[]) => resources.map((resource) => [resource.type, resource] as const);

  test.each(named(catalog.filter(isWritable)))(
    'accepts the examples of a %s, and answers them',
    async (type, resource) => {
      const path = await collectionOf(fixture, resource);
      const made = await fixture.send('post', path, exampleOf('create', type, 'request'));
      expect([made.status, like(made.body)]).toEqual([201, like(exampleOf('create', type, '201'))]);
      const item = `${path}/${made.body.data.id}`;
      const read = await fixture.send('get', item);
      expect([read.status, like(read.body)]).toEqual([200, like(exampleOf('retrieve', type, '200'))]);
      for (const [verb, method] of [
        ['update', 'patch'],
        ['replace', 'put'],
      ] as const) {
        const answer = await fixture.send(method, item, exampleOf(verb, type, 'request'));
        expect([answer.status, like(answer.body)]).toEqual([200, like(exampleOf(verb, type, '200'))]);
      }
      const gone = await fixture.send('delete', item);
      expect([gone.status, like(gone.body)]).toEqual([200, like(exampleOf('delete', type, '200'))]);
    },
  );

  const readable = catalog.filter((resource) => !isWritable(resource));
  test.each(named(readable))('answers a %s as in its example', async (type, resource) => {
    const { path, id } = await storeExample(fixture, resource);
    const answer = await fixture.send('get', `${path}/${id}`);
    expect([answer.status, like(answer.body)]).toEqual([200, like(exampleOf('retrieve', type, '200'))]);
    const list = await fixture.send('get', path);
    expect(list.body.data).toContainEqual(answer.body.data);
  });

  test('publishes the document without a credential, as JSON', async () => {
    const answer = await request(fixture.app).get('/api/openapi.json');
    expect([answer.status, answer.type, answer.body]).toEqual([200, 'application/json', openApi]);
    expect(answer.get('X-Content-Type-Options')).toBe('nosniff');
    const plain = await request(fixture.app).get('/api/openapi.json').set('Accept-Encoding', 'identity');
    expect([answer, plain].map((one) => one.get('Content-Encoding'))).toEqual(['gzip', undefined]);
    expect(plain.body).toEqual(openApi);
  });
});

test('contains the public URL of the service', async () => {
  expect(openApi['servers']).toEqual([{ url: '/' }]);
  const app = express().use('/api', contractRoutes('https://travel.example/prefix/'));
  const { body } = await request(app).get('/api/openapi.json');
  expect(body).toEqual({ ...openApi, servers: [{ url: 'https://travel.example/prefix' }] });
});

/** The body of a request or response with the documented example of its data. */
function exampleOf(verb: string, type: string, part: string): Json {
  const operation = operations.find(({ id }) => id.toLowerCase() === `${verb}${type}`.toLowerCase());
  if (!operation) throw new Error(`there is no operation to ${verb} a ${type}`);
  const schema = bodyPointer(operation, part === 'request' ? undefined : part);
  const { examples } = partAt(`#/components/schemas/${schemaNameAt(`${schema}/properties/data`)}`);
  return { data: (examples as Json[])[0] ?? null };
}

/** The name of the schema that the document refers to at this pointer. */
function schemaNameAt(pointer: string): string {
  return String(partAt(pointer)['$ref']).replace('#/components/schemas/', '');
}

function schemaNameOf(type: string): string {
  return type.charAt(0).toUpperCase() + type.slice(1);
}

/** A body without generated values and ids, which differ from run to run. */
function like(body: Json): Json {
  const { data } = body as { data: JsonObject };
  const differing = ['id', 'createdAt', 'secret', 'customFieldId', 'webhookId', 'eventId'];
  const own = Object.keys(data).filter((name) => differing.includes(name));
  return {
    ...(body as JsonObject),
    data: { ...data, ...Object.fromEntries(own.map((name) => [name, name])) },
  };
}
