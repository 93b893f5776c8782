import { once } from 'node:events';
import { Agent, METHODS, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc, { type Arbitrary } from 'fast-check';
import { catalog } from '../../src/travel/catalog.ts';
import { mergePatch } from '../../src/travel/changes.ts';
import type { Resource } from '../../src/travel/declaration/resource.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/travel/json.ts';
import { toWords } from '../../src/travel/openapi/bodies.ts';
import { runs } from '../fixtures/runs.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';
import { type Ids, mutatedValues, unexpectedJson, valuesOf } from './arbitrary.ts';
import { bodyPointer, checkAnswer, type Operation, operations, partAt, schemaFaults } from './contract.ts';
import { type StoredExample, storeExample } from './examples.ts';
import { collectionOf, SAMPLE_COUNT, sample, without } from './samples.ts';

/** Runs for each operation and kind of input; `FUZZ_RUNS=1000 npx jest test/travel/fuzz` runs longer. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? runs(15).numRuns);
jest.setTimeout(30_000 + RUNS * 8_000);

let fixture: Fixture;
let server: Server;
const agent = new Agent({ keepAlive: true });
/** Ids of existing resources by the path template of their collection. */
const known = new Map<string, string[]>();
/** The declarations by the same paths. */
const resources = new Map<string, Resource>();
const made: { type: string; id: string }[] = [];

/** Usually ids of the wanted type, sometimes ids of other types or unknown ids. */
const ids: Ids = (description) => {
  const wanted = made.filter(({ type }) => description.endsWith(` ${toWords(type)}`)).map(({ id }) => id);
  return [
    ...wanted,
    ...wanted,
    ...wanted,
    'nobody',
    'abcdefabcdefabcdefabcdef',
    ...made.map(({ id }) => id).slice(0, 2),
  ];
};

beforeAll(async () => {
  // No name resolves, so no webhook is delivered.
  fixture = await openFixture({ resolve: async () => [] });
  for (const resource of catalog) {
    const { path, parent } = resource;
    const place = parent ? `/api/${parent.path}/{id}/${path}` : `/api/${path}`;
    const { path: collection, id } = resource.operations.includes('create')
      ? await madeSample(resource)
      : await storeExample(fixture, resource);
    made.push({ type: resource.type, id });
    resources.set(place, resource);
    // The parent's id comes first.
    known.set(place, [...(parent ? [String(collection.split('/')[2])] : []), id]);
  }
  server = fixture.app.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  agent.destroy();
  server.close();
  await fixture.close();
});

describe.each(operations.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  test('returns only documented responses, and stores nothing when it refuses', async () => {
    const calls = fc.record({ path: pathsTo(operation), query: queries(operation), sent: credentials });
    const body = operation.hasBody ? { body: '{"data":{}}' } : {};
    await tried(calls, (call) => answered(operation, { ...call, ...body }));
  });

  if (operation.id.startsWith('list')) {
    test('accepts every documented query', async () => {
      await tried(allowedQueries(operation), async (query) => {
        expect((await answered(operation, { path: knownPath(operation), query })).status).toBe(200);
      });
    });
  }

  if (!operation.hasBody) return;

  test('accepts exactly the bodies that its schema allows', async () => {
    await tried(mutatedValues(bodies(operation)), async (body) => {
      const call = { path: knownPath(operation), body: JSON.stringify(body) };
      agreesWithSchema(operation, body, await answered(operation, call));
    });
  });

  test('handles malformed bodies', async () => {
    const calls = fc.record({ body: texts(bodies(operation)), sent: contentHeaders });
    await tried(calls, (call) => answered(operation, { path: knownPath(operation), ...call }));
  });
});

test('any method on any path is documented or refused', async () => {
  const paths = fc.oneof(
    fc.constantFrom(...operations.map(knownPath)),
    fc.array(segments, { maxLength: 5 }).map((words) => `/api/${words.join('/')}`),
  );
  // CONNECT has no response like other methods.
  const methods = fc.constantFrom(...METHODS.filter((method) => !['CONNECT', 'DELETE'].includes(method)));
  await tried(fc.record({ method: methods, path: paths }), async ({ method, path }) => {
    const before = await fixture.dump();
    const answer = await asked({ method, path });
    expect(answer.status).toBeLessThan(500);
    if (method !== 'HEAD') checkAnswer(method.toLowerCase(), path.replace(/^\/api/, ''), answer);
    // One POST needs no body: that of a new secret for a webhook.
    const isNewSecret = method === 'POST' && answer.status === 200 && path.endsWith('/secret');
    if (!isNewSecret) expect(await fixture.dump()).toBe(before);
  });
});

interface Call {
  path: string;
  query?: string;
  body?: string;
  sent?: Record<string, string>;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Runs the work for many inputs; the service must log no internal failure. */
async function tried<T>(inputs: Arbitrary<T>, work: (input: T) => Promise<unknown>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(inputs, async (input) => {
      await work(input);
    }),
    { numRuns: RUNS },
  );
  expect(fixture.logged).toEqual([]);
}

/** Checks a response: it must conform to the document, a refusal must change nothing, and accepted data must be stored. */
async function answered(operation: Operation, { path, query = '', ...call }: Call): Promise<Answer> {
  const { method } = operation;
  const place = path === FRESH ? await freshItem(operation) : path;
  const before = await fixture.dump();
  const answer = await asked({ ...call, method, path: place + query });
  checkAnswer(method, (place + query).replace(/^\/api/, ''), answer);
  if (answer.status >= 400 || method === 'get') expect(await fixture.dump()).toBe(before);
  else if (method !== 'post' || known.has(operation.path)) await isKept(method, place, answer);
  if (path === FRESH && answer.status >= 400) await asked({ method: 'delete', path: place });
  return answer;
}

/** Created and changed resources can be read, temporary ones are deleted again, and deleted ones are gone. */
async function isKept(method: string, path: string, { status, text }: Answer): Promise<void> {
  const item = status === 201 ? `${path}/${JSON.parse(text).data.id}` : path;
  const read = await asked({ method: 'get', path: item });
  if (method === 'delete') return expect(read.status).toBe(404);
  // Later responses do not contain the secret.
  expect(JSON.parse(read.text).data).toEqual(without(JSON.parse(text).data, 'secret'));
  if (status === 201) expect((await asked({ method: 'delete', path: item })).status).toBe(200);
}

/** The fault codes for violations of the schema. */
const schemaCodes = ['unknown', 'readOnly', 'type', 'enum', 'lang'];

/** A body that violates the schema is refused; a valid one can be refused only for other reasons. */
function agreesWithSchema(operation: Operation, body: Json, { status, text }: Answer): void {
  const faults = schemaFaults(bodyPointer(operation), meantBy(body, operation));
  if (faults.length > 0) expect([400, 403, 409, 422]).toContain(status);
  const { invalid = [] } = status === 422 && faults.length === 0 ? JSON.parse(text) : {};
  for (const { code } of invalid) expect(schemaCodes).not.toContain(code);
}

/** Normalizes a body: null equals absence, except in a patch and for unknown fields. */
function meantBy(body: Json, operation: Operation): Json {
  const data = isJsonObject(body) ? body['data'] : undefined;
  if (!isJsonObject(body) || !isJsonObject(data)) return body;
  const { properties } = partAt(String(partAt(`${bodyPointer(operation)}/properties/data`)['$ref']));
  const isMeant = ([name, value]: [string, Json]) =>
    value !== null || operation.method === 'patch' || !(isJsonObject(properties) && name in properties);
  const members = Object.entries(data).filter(isMeant);
  return {
    ...body,
    data: Object.fromEntries(
      members.map(([name, value]) => [name, isJsonObject(value) ? mergePatch({}, value) : value]),
    ),
  };
}

/** Placeholder for an item that is created on demand. */
const FRESH = 'fresh';

/** A path of existing resources. */
function knownPath({ path }: Operation): string {
  const values = known.get(path.replace(/\/\{\w+\}$/, '')) ?? known.get(path.split('/{')[0] ?? '') ?? [];
  return filled(path, values);
}

function filled(path: string, values: string[]): string {
  const rest = [...values];
  return path.replace(/\{\w+\}/g, () => rest.shift() ?? 'nobody');
}

async function madeSample(resource: Resource): Promise<StoredExample> {
  const path = await collectionOf(fixture, resource);
  return { path, id: (await fixture.make(path, sample(resource, 0))).id };
}

/** Creates an item in the collection of a DELETE operation. */
async function freshItem(operation: Operation): Promise<string> {
  const collection = knownPath(operation).replace(/\/[^/]+$/, '');
  const resource = resources.get(operation.path.replace(/\/\{\w+\}$/, ''));
  if (!resource) throw new Error(`nothing is made at ${collection}`);
  // Earlier calls may have taken the unique values of the first samples.
  for (let number = 1; number < SAMPLE_COUNT; number++) {
    const data = sample(resource, number);
    const { status, body } = await fixture.send('post', collection.replace(/^\/api/, ''), { data });
    if (status === 201) return `${collection}/${body.data.id}`;
    if (status !== 409) throw new Error(`${collection}: ${status} ${JSON.stringify(body)}`);
  }
  throw new Error(`every sample for ${collection} is taken`);
}

/** Paths to existing, missing and impossible resources. Existing ones are deleted only if they were created for it. */
function pathsTo(operation: Operation): Arbitrary<string> {
  const names = operation.path.match(/\{\w+\}/g) ?? [];
  const others = fc.array(segments, { minLength: names.length, maxLength: names.length });
  const elsewhere = others.map((words) => filled(operation.path, words));
  const there = fc.constant(operation.method === 'delete' ? FRESH : knownPath(operation));
  return names.length === 0
    ? there
    : fc.oneof({ arbitrary: there, weight: 2 }, { arbitrary: elsewhere, weight: 1 });
}

/** Path segments: ids of all types and arbitrary text. */
const segments = fc.oneof(
  fc.constantFrom(
    'nobody',
    'abcdefabcdefabcdefabcdef',
    '%',
    '%zz',
    '%00',
    '%C0%80',
    '%2F',
    '..',
    '%2e%2e',
    '.',
  ),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'x'.repeat(60),
    'users',
    'whoami',
    'options',
    'a%20b',
    '%F0%9F%9A%80',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 10 }).map(encodeURIComponent),
);

/** Queries with declared and undeclared parameters and with valid and invalid values. */
function queries({ parameters }: Operation): Arbitrary<string> {
  const own = parameters.filter((one) => one['in'] === 'query');
  const right = own.map((one) => fc.tuple(fc.constant(String(one['name'])), valuesOf(schemaOf(one), ids)));
  const names = fc.constantFrom(
    ...own.map(({ name }) => String(name)),
    'x',
    '__proto__',
    'limit[]',
    'sortBy[a]',
  );
  const values = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.integer().map(String),
    fc.constantFrom('createdAt', ''),
  );
  const pair = fc.oneof(fc.tuple(names, values), ...right);
  return fc.array(pair, { maxLength: 4 }).map(queryOf);
}

/** Valid queries, without cursors, which only the service can issue. */
function allowedQueries({ parameters }: Operation): Arbitrary<string> {
  const own = parameters.filter((one) => one['in'] === 'query' && !/after|before/.test(String(one['name'])));
  const model = Object.fromEntries(own.map((one) => [String(one['name']), valuesOf(schemaOf(one), ids)]));
  return fc.record(model, { requiredKeys: [] }).map((query) => queryOf(Object.entries(query)));
}

function queryOf(pairs: [string, Json | undefined][]): string {
  return `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}

function schemaOf({ schema }: JsonObject): JsonObject {
  return isJsonObject(schema) ? schema : {};
}

function bodies(operation: Operation): Arbitrary<Json> {
  return valuesOf(partAt(bodyPointer(operation)), ids);
}

/** Malformed JSON and valid JSON of other shapes. */
function texts(right: Arbitrary<Json>): Arbitrary<string> {
  const json = right.map((body) => JSON.stringify(body));
  return fc.oneof(
    json,
    json.map((text) => text.slice(0, -1)),
    json.map((text) => `\ufeff${text}`),
    unexpectedJson.map((value) => JSON.stringify(value)),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '',
      '[',
      '{"data":',
      `{"data":${'['.repeat(5000)}${']'.repeat(5000)}}`,
      '{"data":{"a":1e999}}',
    ),
    fc.constantFrom(
      `{"data":{"name":"${'x'.repeat(1_048_576)}"}}`,
      '{"data":{},"data":[]}',
      '{"data":{"__proto__":1}}',
    ),
  );
}

const types = fc.constantFrom(
  'application/json',
  'APPLICATION/JSON; Charset=UTF-8',
  'application/merge-patch+json',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'application/json; charset="',
  'application/x-www-form-urlencoded',
  'text/plain',
  'x',
  '',
);
const contentHeaders: Arbitrary<Record<string, string>> = fc.record(
  {
    'Content-Type': types,
    'Content-Encoding': fc.constantFrom('identity', 'gzip', 'br', 'deflate', 'x', 'gzip, gzip'),
  },
  { requiredKeys: ['Content-Type'] },
);
const credentials: Arbitrary<Record<string, string>> = fc.oneof(
  { arbitrary: fc.constant({}), weight: 8 },
  {
    arbitrary: fc.constantFrom(
      { Authorization: '' },
      { Authorization: 'Bearer nobody' },
      { Authorization: 'Basic YTpi' },
    ),
    weight: 1,
  },
);

/** Sends a raw request over a socket and returns the response. */
function asked({ method, path, body, sent }: Call & { method: string }): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  const ours = {
    Authorization: `Bearer ${fixture.key}`,
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const options = {
      agent,
      port,
      host: '127.0.0.1',
      method: method.toUpperCase(),
      path,
      headers: { ...ours, ...sent },
    };
    const outgoing = request(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const { statusCode = 0, headers } = answer;
        resolve({
          status: statusCode,
          headers: headers as Answer['headers'],
          text: Buffer.concat(chunks).toString(),
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
