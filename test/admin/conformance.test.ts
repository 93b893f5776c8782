import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { adminOperations } from '../../src/admin/catalog.ts';
import { errorCodes } from '../../src/admin/openapi.ts';
import { operationErrors } from '../../src/operations/errors.ts';
import type { Declaration } from '../../src/operations/operation.ts';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { expectOutline, validateOpenApi } from '../fixtures/openapi.ts';
import { runs } from '../fixtures/runs.ts';

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin();
});
afterAll(() => fixture.close());

const operations: [string, Declaration][] = Object.entries(adminOperations);
const restricted = operations.filter(([, { access }]) => access !== 'anyone');
const forAdmins = operations.filter(([, { access }]) => access === 'admin');
const withBody = operations.filter(([, { body }]) => body !== undefined);

/** The path with an id that no object has. */
function pathOf({ path }: Declaration): string {
  return path.replace(/\{\w+\}/g, 'nobody');
}

function send(client: AdminFixture['admin'], operation: Declaration, body: unknown = {}) {
  return client(operation.method.toUpperCase(), pathOf(operation), operation.body ? { body } : {});
}

/** All changes so far. */
async function changes(): Promise<number> {
  return (await fixture.admin('GET', '/audit?limit=1')).body.entries[0].position;
}

test.each(restricted)('%s without a credential is answered 401', async (_name, operation) => {
  const { status, body, headers } = await send(fixture.anonymous, operation);
  expect([status, body.code]).toEqual([401, 'notSignedIn']);
  expect(headers.get('www-authenticate')).toMatch(/^Bearer /);
});

test.each(forAdmins)('%s by a viewer is answered 403 and changes nothing', async (_name, operation) => {
  const before = await changes();
  const { status, body } = await send(fixture.viewer, operation);
  expect([status, body.code]).toEqual([403, 'forbidden']);
  expect(await changes()).toBe(before);
});

test('each operation that changes something is for admins, or concerns the own session only', () => {
  const open = operations.filter(
    ([, { method, access, changesNothing }]) => method !== 'get' && access !== 'admin' && !changesNothing,
  );
  expect(open.map(([name]) => name)).toEqual(['signIn', 'signOut', 'endSession']);
});

/** Browsers come with parameters of other sites, and see no JSON. */
const calls = operations.filter(([, { isNavigation }]) => !isNavigation);

test.each(calls)('%s refuses a parameter that it does not have', async (_name, operation) => {
  const { status, body } = await fixture.admin(
    operation.method.toUpperCase(),
    `${pathOf(operation)}?nosuch=1`,
    operation.body ? { body: {} } : {},
  );
  expect([status, body.code]).toEqual([422, 'invalid']);
  expect(body.faults[0].field).toBe('nosuch');
});

test.each(withBody)('%s answers any body with a documented status', async (_name, operation) => {
  const documented = ['', ...errorCodes(operation).map((code) => operationErrors[code].status)].map(String);
  await fc.assert(
    fc.asyncProperty(fc.json(), async (body) => {
      const { status } = await fixture.anonymous(operation.method.toUpperCase(), pathOf(operation), {
        body,
        headers: { Authorization: 'Bearer nosuch' },
      });
      expect(documented).toContain(String(status));
    }),
    runs(20),
  );
  const before = await changes();
  for (const body of ['{', '[]', '"text"', '{"nosuch": 1}', 'null']) {
    const { status } = await fixture.admin(operation.method.toUpperCase(), pathOf(operation), { body });
    expect([400, 422]).toContain(status);
  }
  expect(await changes()).toBe(before);
});

test('the character NUL, which PostgreSQL cannot store, is refused wherever it stands', async () => {
  const { admin } = fixture;
  const created = await admin('POST', '/admin-tokens', { body: { name: 'Eve\0', role: 'viewer' } });
  expect([created.status, created.body.faults[0].field]).toEqual([422, 'name']);
  expect((await admin('GET', '/audit?limit=1&actor=a%00b')).status).toBe(422);
  expect((await admin('DELETE', '/admin-tokens/a%00b')).status).toBe(404);
});

test('a path without an operation is answered 404, and a method without one 405 with Allow', async () => {
  const { admin } = fixture;
  const nowhere = await admin('GET', '/nosuch');
  expect([nowhere.status, nowhere.body.code]).toEqual([404, 'notFound']);
  const method = await admin('PUT', '/admin-tokens');
  expect([method.status, method.headers.get('allow')]).toEqual([405, 'GET, POST']);
});

test('a body that is not JSON is answered 415', async () => {
  const sent = await fixture.admin('POST', '/admin-tokens', {
    body: 'name=Eve',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  expect([sent.status, sent.body.code]).toEqual([415, 'unsupportedMediaType']);
});

test('the OpenAPI document is valid and names every operation', async () => {
  const { body } = await fixture.anonymous('GET', '/openapi.json');
  expect(validateOpenApi(body)).toEqual({ valid: true });
  const ids = Object.values<object>(body.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(ids.sort()).toEqual(Object.keys(adminOperations).sort());
});

test('every example in the OpenAPI document fits its schema', async () => {
  const { body } = await fixture.anonymous('GET', '/openapi.json');
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(body, 'document');
  const contents: { schema: object; example?: unknown }[] = Object.values<object>(body.paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ requestBody, responses }) => [requestBody ?? {}, ...Object.values<object>(responses)])
    .flatMap(({ content = {} }) => Object.values(content));
  const misfits = contents.filter(({ schema, example }) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    return example !== undefined && !ajv.validate(JSON.parse(text), example);
  });
  expect(misfits.map(({ example }) => example)).toEqual([]);
});

test('the OpenAPI document has the operations, fields and statuses of the golden file', async () => {
  const { body } = await fixture.anonymous('GET', '/openapi.json');
  expectOutline(body, join(__dirname, 'golden/openapi.txt'));
});
