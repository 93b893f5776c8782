import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProvisioningError } from '../../src/model/provisioning-error.ts';
import { urns } from '../../src/schema/resource.ts';
import { type RawRequest, rawExchange, requestText } from '../fixtures/raw-http.ts';
import { patchOp, scimFixture } from '../fixtures/scim.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

/**
 * Compares responses byte for byte: status line, headers in their order, body. Parts that differ from run to run are replaced
 * by fixed text of the same length. `UPDATE_GOLDEN=1 npx jest test/scim/golden` writes the files; read the difference before
 * you commit it.
 */
const isUpdating = process.env['UPDATE_GOLDEN'] === '1';

const token = 'a-token-for-the-golden-files';
const common = { Authorization: `Bearer ${token}`, 'X-Request-Id': 'golden' };

const ada = {
  schemas: [urns.user, urns.enterprise],
  externalId: 'E-1',
  userName: 'Ada@corp.example',
  name: { givenName: 'Ada', familyName: 'Löwe' },
  emails: [{ value: 'Ada@corp.example', type: 'work', primary: true }],
  [urns.enterprise]: { employeeNumber: 7, department: 'R&D', manager: 'nobody' },
  password: 'never shown',
};

interface Seed {
  /** Creates the users Ada and Bob, and the group Crew with Ada as its member. */
  user: string;
  group: string;
}

interface Asked {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

const get = (path: string, headers?: Record<string, string>): Asked => ({
  method: 'GET',
  path,
  ...(headers ? { headers } : {}),
});
const patch = (path: string, ...operations: unknown[]): Asked => ({
  method: 'PATCH',
  path,
  body: patchOp(...operations),
});
const filtered = (filter: string): Asked => get(`/Users?filter=${encodeURIComponent(filter)}`);
const searchRequest = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

type Golden = [file: string, ask: (seed: Seed) => Asked];

/** Requests that change nothing. One service answers them all. */
const readings: Golden[] = [
  ['user-get-200', ({ user }) => get(`/Users/${user}`)],
  ['user-get-304', ({ user }) => get(`/Users/${user}`, { 'If-None-Match': 'W/"1"' })],
  ['user-head-200', ({ user }) => ({ method: 'HEAD', path: `/Users/${user}` })],
  ['user-get-attributes-200', ({ user }) => get(`/Users/${user}?attributes=userName,name.givenName`)],
  ['users-list-200', () => filtered('userName eq "ada@corp.example"')],
  ['users-list-empty-200', () => filtered('userName eq "nobody"')],
  ['users-list-count-0-200', () => get('/Users?startIndex=2&count=0')],
  ['users-list-cursor-200', () => get('/Users?cursor=&count=1&attributes=userName')],
  ['users-list-sorted-200', () => get('/Users?sortBy=userName&sortOrder=descending&attributes=userName')],
  ['group-get-200', ({ group }) => get(`/Groups/${group}`)],
  [
    'search-200',
    () => ({
      method: 'POST',
      path: '/.search',
      body: { schemas: [searchRequest], filter: 'meta.resourceType eq "Group"', attributes: ['displayName'] },
    }),
  ],
  ['service-provider-config-200', () => get('/ServiceProviderConfig')],
  ['resource-types-200', () => get('/ResourceTypes')],
  ['resource-type-200', () => get('/ResourceTypes/Group')],
  ['schemas-200', () => get('/Schemas')],
  ['schema-200', () => get(`/Schemas/${urns.group}`)],
  ['400-invalidCount', () => get('/Users?cursor=&count=0')],
  ['400-invalidCursor', () => get('/Users?cursor=x')],
  ['400-invalidFilter', () => filtered('userName eq')],
  ['400-invalidPath', ({ user }) => patch(`/Users/${user}`, { op: 'replace', path: 'name[', value: 'x' })],
  ['400-invalidSyntax', () => ({ method: 'POST', path: '/Users', body: '{"userName":' })],
  ['400-invalidValue', () => ({ method: 'POST', path: '/Users', body: { schemas: [urns.user] } })],
  ['400-mutability', ({ user }) => patch(`/Users/${user}`, { op: 'replace', path: 'id', value: 'x' })],
  ['400-noTarget', ({ user }) => patch(`/Users/${user}`, { op: 'remove' })],
  ['401-no-token', () => get('/Users', { Authorization: '' })],
  ['401-wrong-token', () => get('/Users', { Authorization: 'Bearer wrong' })],
  ['403-discovery-filter', () => get('/Schemas?filter=id+pr')],
  ['404-user', () => get('/Users/nobody')],
  ['404-endpoint', () => get('/Nothing')],
  ['405-method', () => ({ method: 'PUT', path: '/Users', body: ada })],
  ['409-uniqueness', () => ({ method: 'POST', path: '/Users', body: ada })],
  [
    '412-changed',
    ({ user }) => ({ method: 'PUT', path: `/Users/${user}`, body: ada, headers: { 'If-Match': 'W/"7"' } }),
  ],
  ['413-too-large', () => ({ method: 'POST', path: '/Users', body: { userName: 'x'.repeat(1_048_577) } })],
  [
    '415-type',
    () => ({ method: 'POST', path: '/Users', body: 'hello', headers: { 'Content-Type': 'text/plain' } }),
  ],
  ['501-bulk', () => ({ method: 'POST', path: '/Bulk', body: { Operations: [] } })],
];

const writes: Golden[] = [
  [
    'user-post-201',
    () => ({
      method: 'POST',
      path: '/Users',
      body: { ...ada, userName: 'Cleo@corp.example', emails: [{ value: 'cleo@corp.example', type: 'work' }] },
    }),
  ],
  [
    'user-put-200',
    ({ user }) => ({ method: 'PUT', path: `/Users/${user}`, body: { ...ada, title: 'Countess' } }),
  ],
  [
    'user-patch-200',
    ({ user }) => patch(`/Users/${user}`, { op: 'Replace', path: 'active', value: 'False' }),
  ],
  ['user-delete-204', ({ user }) => ({ method: 'DELETE', path: `/Users/${user}` })],
  [
    'group-post-201',
    ({ user }) => ({
      method: 'POST',
      path: '/Groups',
      body: { schemas: [urns.group], displayName: 'Desk', members: [{ value: user }] },
    }),
  ],
  [
    'group-put-200',
    ({ group }) => ({
      method: 'PUT',
      path: `/Groups/${group}`,
      body: { schemas: [urns.group], displayName: 'Crew', externalId: 'G-1' },
    }),
  ],
  [
    'group-patch-200',
    ({ group, user }) =>
      patch(`/Groups/${group}`, { op: 'Remove', path: 'members', value: [{ value: user }] }),
  ],
  [
    'group-patch-attributes-200',
    ({ group }) =>
      patch(`/Groups/${group}?attributes=displayName`, { op: 'replace', path: 'displayName', value: 'Desk' }),
  ],
];

describe('a request that changes nothing', () => {
  let seeded: SeededService;
  beforeAll(async () => {
    seeded = await startSeeded();
  });
  afterAll(() => seeded.close());

  test.each(readings)('%s', async (file, ask) => {
    check(file, await seeded.exchange(requestText(rawRequest(ask(seeded.seed)))));
  });

  test.each([
    ['400-no-http', 'hello\r\n\r\n'],
    ['431-headers', requestText({ method: 'GET', target: `/scim/v2/${'x'.repeat(40_000)}` })],
  ])('%s', async (file, text) => {
    check(file, await seeded.exchange(text));
  });
});

test.each(writes)('%s', async (file, ask) => {
  const seeded = await startSeeded();
  try {
    check(file, await seeded.exchange(requestText(rawRequest(ask(seeded.seed)))));
  } finally {
    await seeded.close();
  }
});

test.each([
  ['400-tooMany', new ProvisioningError('tooMany', 'The filter needs too many resources to be looked at.')],
  [
    '403-refused',
    new ProvisioningError('refused', 'The travel service refuses to take this person out of use.'),
  ],
  ['500-fault', new TypeError('secret')],
  [
    '503-unavailable',
    new ProvisioningError('unavailable', 'Too many writers change this user at once; try again.'),
  ],
])('%s', async (file, error) => {
  const fixture = await scimFixture();
  fixture.bridge.failWith(error);
  const request = rawRequest({
    method: 'DELETE',
    path: '/Users/u1',
    headers: { Authorization: 'Bearer good' },
  });
  check(file, await rawExchange(fixture.port, requestText(request)));
  await fixture.close();
});

type SeededService = Awaited<ReturnType<typeof startSeeded>>;

/** Starts a service with the users and the group of `Seed`. */
async function startSeeded() {
  const settings = writeSettingsFile({});
  const service = await startService(
    { SCIM_TOKEN: token, PUBLIC_URL: 'https://bridge.example', JETBRIDGE_CONFIG: settings.path },
    { background: false },
  );
  const scim = scimClient(service.url, token);
  const user: string = (await scim.send('POST', '/Users', ada)).body.id;
  await scim.send('POST', '/Users', { userName: 'bob' });
  const crew = { displayName: 'Crew', members: [{ value: user, display: 'Ada' }] };
  const group: string = (await scim.send('POST', '/Groups', crew)).body.id;
  const seed: Seed = { user, group };
  return {
    seed,
    exchange: (text: string) => rawExchange(Number(new URL(service.url).port), text),
    close: async () => {
      await service.close();
      settings.remove();
    },
  };
}

function rawRequest({ method, path, headers, body }: Asked): RawRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    method,
    target: `/scim/v2${path}`,
    headers: {
      ...common,
      ...(body === undefined ? {} : { 'Content-Type': 'application/scim+json' }),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
  };
}

function check(file: string, answer: string): void {
  const path = join(__dirname, 'golden', `${file}.http`);
  const fixed = withFixedText(answer);
  if (isUpdating) writeFileSync(path, fixed);
  expect(fixed).toBe(readFileSync(path, 'utf8'));
}

/** The replacement has the same length, so that Content-Length stays correct. */
function withFixedText(answer: string): string {
  const ids = new Map<string, string>();
  const fixedId = (id: string) => {
    const fixed = ids.get(id) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`;
    ids.set(id, fixed);
    return fixed;
  };
  return answer
    .replace(/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/g, fixedId)
    .replace(/(?<="nextCursor":")[^"]+/g, (cursor) => 'x'.repeat(cursor.length))
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-11-20T10:00:00.000Z')
    .replace(/^Date: .{29}\r$/m, 'Date: Fri, 20 Nov 2026 10:00:00 GMT\r');
}
