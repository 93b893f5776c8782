import { readSettings } from '../../../src/config/settings.ts';
import { ProvisioningError } from '../../../src/model/provisioning-error.ts';
import { urns } from '../../../src/schema/resource.ts';
import { temporaryFolder } from '../../fixtures/jetbridge.ts';
import { patchOp, scimFixture } from '../../fixtures/scim.ts';
import type { ScimAnswer } from '../../fixtures/scim-client.ts';
import { type ScimService, scimService } from '../../fixtures/scim-service.ts';

let scim: ScimService;
beforeEach(async () => {
  scim = await scimService();
});
afterEach(() => scim.close());

const ada = { schemas: [urns.user], userName: 'ada' };
const errorUrn = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Expects a SCIM error and no other members. */
function expectError({ status, headers, body }: ScimAnswer, expected: number, scimType?: string): void {
  expect({ status, body }).toEqual({
    status: expected,
    body: {
      schemas: [errorUrn],
      status: String(expected),
      detail: expect.stringMatching(/\w/),
      ...(scimType ? { scimType } : {}),
    },
  });
  expect(headers.get('content-type')).toBe('application/scim+json');
}

test('1. responses with a body use application/scim+json, UTF-8', async () => {
  const created = await scim.send('POST', '/Users', { ...ada, displayName: 'Ådä 旅 🧭' });
  const path = `/Users/${created.body.id}`;
  const answers = [
    created,
    await scim.send('GET', path),
    await scim.send('GET', '/Users'),
    await scim.send('PUT', path, { ...ada, displayName: 'Ådä 旅 🧭' }),
    await scim.send('PATCH', path, patchOp({ op: 'add', path: 'title', value: 'T' })),
    await scim.send('GET', '/Schemas'),
    await scim.send('GET', '/Users/nobody'),
  ];
  for (const { headers } of answers) expect(headers.get('content-type')).toBe('application/scim+json');
  for (const { body } of [created, ...answers.slice(3, 5)]) expect(body.displayName).toBe('Ådä 旅 🧭');
});

test('2. requests with application/scim+json or application/json are accepted', async () => {
  for (const type of ['application/scim+json', 'application/json', 'application/scim+json; charset=utf-8']) {
    const answer = await scim.send('POST', '/Users', { userName: type }, { 'Content-Type': type });
    expect({ type, status: answer.status }).toEqual({ type, status: 201 });
  }
});

test('3. other request media types are 415', async () => {
  for (const type of [
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    '',
  ]) {
    const body = JSON.stringify(ada);
    expectError(await scim.send('POST', '/Users', body, { 'Content-Type': type }), 415);
  }
});

test('4. malformed JSON is 400 invalidSyntax', async () => {
  for (const body of [
    '{',
    '{"userName":"ada",}',
    "{'userName':'ada'}",
    '[]',
    '"ada"',
    'null',
    '{"userName":"\u0001"}',
  ]) {
    for (const [method, path] of [
      ['POST', '/Users'],
      ['PUT', '/Users/x'],
      ['PATCH', '/Groups/x'],
      ['POST', '/.search'],
    ] as const)
      expectError(await scim.send(method, path, body), 400, 'invalidSyntax');
  }
});

test('5. every error body has schemas, a status as text equal to the HTTP code, detail, and scimType where defined', async () => {
  const { id } = (await scim.send('POST', '/Users', ada)).body;
  const path = `/Users/${id}`;
  const remove = patchOp({ op: 'remove', path: 'userName' });
  expectError(await scim.send('GET', '/Users?filter=x'), 400, 'invalidFilter');
  expectError(await scim.send('POST', '/Users', {}), 400, 'invalidValue');
  expectError(await scim.send('PATCH', path, remove), 400, 'mutability');
  expectError(await scim.send('PATCH', path, patchOp({ op: 'remove' })), 400, 'noTarget');
  expectError(
    await scim.send('PATCH', path, patchOp({ op: 'add', path: '[', value: 1 })),
    400,
    'invalidPath',
  );
  expectError(await scim.send('GET', '/Users', undefined, { Authorization: 'Bearer no' }), 401);
  expectError(await scim.send('GET', '/Schemas?filter=id+pr'), 403);
  expectError(await scim.send('GET', '/Users/nobody'), 404);
  expectError(await scim.send('DELETE', '/Users'), 405);
  expectError(await scim.send('POST', '/Users', ada), 409, 'uniqueness');
  expectError(await scim.send('DELETE', path, undefined, { 'If-Match': '"x"' }), 412);
  expectError(await scim.send('POST', '/Users', 'x', { 'Content-Type': 'text/plain' }), 415);
  expectError(await scim.send('POST', '/Bulk', {}), 501);
});

test('6. missing or invalid credentials are 401 with WWW-Authenticate', async () => {
  for (const [authorization, challenge] of [
    ['', 'Bearer realm="scim"'],
    ['Basic YWRhOmFkYQ==', 'Bearer realm="scim"'],
    ['Bearer wrong', 'Bearer realm="scim", error="invalid_token"'],
    [`Bearer ${scim.service.scimToken}x`, 'Bearer realm="scim", error="invalid_token"'],
  ] as const) {
    for (const path of ['/Users', '/Users/x', '/Schemas', '/nothing', '/']) {
      const answer = await scim.send('GET', path, undefined, { Authorization: authorization });
      expectError(answer, 401);
      expect(answer.headers.get('www-authenticate')).toBe(challenge);
    }
  }
});

test('7. authenticated but not allowed is 403', async () => {
  // The bridge uses the credential of this traveler, so the travel service refuses to archive it.
  const { body } = await scim.send('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'admin@jetbridge.local',
  });
  const path = `/Users/${body.id}`;
  expectError(await scim.send('DELETE', path), 403);
  expectError(await scim.send('PATCH', path, patchOp({ op: 'replace', path: 'active', value: false })), 403);
  const read = await scim.send('GET', path);
  expect(read).toMatchObject({ status: 200, body: { active: true } });
});

test('8. an unknown resource or endpoint is 404; an unsupported method 405, an unsupported feature 501', async () => {
  for (const path of [
    '/Users/nobody',
    '/Groups/nobody',
    '/Schemas/urn:x',
    '/ResourceTypes/X',
    '/Nothing',
    '/Users/a/b',
  ])
    expectError(await scim.send('GET', path), 404);
  for (const [method, path, allow] of [
    ['PATCH', '/Users', 'GET, HEAD, POST'],
    ['POST', '/Groups/x', 'GET, HEAD, PUT, PATCH, DELETE'],
    ['DELETE', '/Schemas', 'GET, HEAD'],
    ['GET', '/.search', 'POST'],
  ] as const) {
    const answer = await scim.send(method, path, method === 'GET' || method === 'DELETE' ? undefined : {});
    expectError(answer, 405);
    expect(answer.headers.get('allow')).toBe(allow);
  }
  for (const path of ['/Bulk', '/Me']) expectError(await scim.send('POST', path, {}), 501);
});

test('9. TLS is required for bearer tokens, and tokens are never accepted from the query string', async () => {
  const { scimToken, url } = scim.service;
  for (const name of ['access_token', 'token', 'bearer', 'Authorization']) {
    for (const path of ['/Users', '/Schemas', '/ServiceProviderConfig']) {
      const response = await fetch(`${url}/scim/v2${path}?${name}=${scimToken}`);
      expect({ name, path, status: response.status }).toEqual({ name, path, status: 401 });
    }
  }
  // This process serves plain HTTP, and by default only on the loopback address: a proxy terminates TLS.
  const home = `${__dirname}/../../..`;
  const data = temporaryFolder();
  expect(readSettings({ JETBRIDGE_DATA: data.path }, home).host).toBe('127.0.0.1');
  expect(() => readSettings({ JETBRIDGE_DATA: data.path, TLS_CERT: 'x', TLS_KEY: 'y' }, home)).toThrow();
  data.remove();
});

test('10. no credentials, passwords or secrets in any response', async () => {
  const password = 'correct horse battery staple';
  const created = await scim.send('POST', '/Users', { ...ada, password });
  const path = `/Users/${created.body.id}`;
  const answers = [
    created,
    await scim.send('GET', `${path}?attributes=password,userName`),
    await scim.send('PUT', path, { ...ada, password, [`${urns.user}:password`]: password }),
    await scim.send('PATCH', path, patchOp({ op: 'replace', path: 'password', value: password })),
    await scim.send('PATCH', path, patchOp({ op: 'replace', value: { password } })),
    await scim.send('GET', '/Users'),
    await scim.send('GET', `/Users?filter=password+eq+%22${encodeURIComponent(password)}%22`),
    await scim.send('GET', `/Users?filter=${encodeURIComponent(`nope eq "${scim.service.scimToken}"`)}`),
    await scim.send('POST', '/Users', { ...ada, password }),
    await scim.send('GET', '/Users', undefined, { Authorization: `Bearer ${password}` }),
  ];
  const text = JSON.stringify(answers.map(({ body, headers }) => [body, ...headers]));
  expect(text).not.toContain(password);
  expect(text).not.toContain(scim.service.scimToken);
  expect(text).not.toContain(scim.service.travelApiKey);
});

test('66. a large body is 413, no request is 429, and 500 and 503 have an error body', async () => {
  const large = { ...ada, title: 'x'.repeat(1_048_576) };
  expectError(await scim.send('POST', '/Users', large), 413);
  const burst = await Promise.all(Array.from({ length: 200 }, () => scim.send('GET', '/Users?count=1')));
  expect(burst.every(({ status }) => status === 200)).toBe(true);
  const fixture = await scimFixture();
  fixture.bridge.failWith(new Error('a secret of ours'));
  expectError(await fixture.send('GET', '/Users/u1'), 500);
  fixture.bridge.failWith(new ProvisioningError('unavailable', 'Busy.'));
  const busy = await fixture.send('GET', '/Users/u1');
  expectError(busy, 503);
  expect(busy.headers.get('retry-after')).toMatch(/^\d+$/);
  await fixture.close();
});
