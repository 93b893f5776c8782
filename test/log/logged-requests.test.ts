import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchangeReader } from '../../src/log/search.ts';
import { bridgeDirections, type ExchangeQuery, type LoggedExchange } from '../../src/model/exchange.ts';
import { openDatabase } from '../../src/store/sql/open-database.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { describeOnSqlite } from '../fixtures/test-database.ts';

let service: RunningService;

beforeEach(async () => {
  service = await startService();
});

afterEach(() => service.close());

/** Sends a SCIM request. */
async function scim(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}/scim/v2${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${service.scimToken}`,
      'Content-Type': 'application/scim+json',
      'User-Agent': 'Okta SCIM Client 1.0.0',
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

/** Opens the log as a command beside the running service does. */
async function withLog<T>(use: (log: ReturnType<typeof exchangeReader>) => Promise<T>): Promise<T> {
  const database = await openDatabase(service.settings, { exclusive: false });
  try {
    return await use(exchangeReader(database));
  } finally {
    await database.close();
  }
}

/** Waits until the log has the wanted number of matching exchanges, and returns them, the oldest first. */
function logged(count: number, query: Partial<ExchangeQuery> = {}): Promise<LoggedExchange[]> {
  return withLog((log) =>
    eventually(async () => {
      const { exchanges } = await log.list({ limit: 50, direction: bridgeDirections, ...query });
      expect(exchanges).toHaveLength(count);
      return exchanges.reverse();
    }),
  );
}

function withBodies({ position }: LoggedExchange) {
  return withLog((log) => log.get(position));
}

const grace = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: 'grace.hopper@corp.example',
  name: { givenName: 'Grace', familyName: 'Hopper' },
  emails: [{ value: 'grace.hopper@corp.example', type: 'work', primary: true }],
  password: 'hush-hush-1906',
};

test('the embedded travel service logs the calls of a SCIM request with the id of that request', async () => {
  await scim('POST', '/Users', grace, { 'X-Request-Id': 'okta-1' });
  expect(await logged(1, { direction: 'api', path: '/api/users', requestId: 'okta-1' })).toEqual([
    expect.objectContaining({ method: 'POST', path: '/api/users', credential: 'bridge' }),
  ]);
});

test('a POST and the travel calls that it causes are logged with one request id, the person, and their bodies', async () => {
  const created = await scim('POST', '/Users', grace, { 'X-Request-Id': 'okta-1' });
  expect(created.status).toBe(201);
  const exchanges = await logged(2, { requestId: 'okta-1' });
  const [travel, request] = exchanges;
  expect(request).toMatchObject({
    direction: 'scim',
    connection: 'default',
    person: created.body.id,
    method: 'POST',
    path: '/scim/v2/Users',
    status: 201,
    error: undefined,
    requestHeaders: { 'content-type': 'application/scim+json', 'user-agent': 'Okta SCIM Client 1.0.0' },
    responseHeaders: { 'content-type': 'application/scim+json', location: created.body.meta.location },
  });
  expect(travel).toMatchObject({
    direction: 'travel',
    connection: 'default',
    person: created.body.id,
    method: 'POST',
    path: '/api/users',
    status: 201,
  });
  for (const { at, ms } of exchanges) {
    expect(Math.abs(at - Date.now())).toBeLessThan(60_000);
    expect(ms).toBeGreaterThanOrEqual(0);
  }
  const [inTravel, inScim] = await Promise.all(exchanges.map(withBodies));
  expect(JSON.parse(inScim?.requestBody?.text ?? '')).toEqual({ ...grace, password: '*' });
  expect(JSON.parse(inScim?.responseBody?.text ?? '')).toEqual(created.body);
  expect(JSON.parse(inTravel?.requestBody?.text ?? '').data).toMatchObject({ firstName: 'Grace' });
  expect(JSON.parse(inTravel?.responseBody?.text ?? '').data).toMatchObject({ lastName: 'Hopper' });
});

test('requests without a valid token are logged without a connection, and without their token', async () => {
  const { status } = await scim('GET', '/Users?filter=userName%20eq%20%22x%22', undefined, {
    Authorization: 'Bearer guessed-token',
  });
  expect(status).toBe(401);
  const [refused] = await logged(1, { direction: 'scim' });
  expect(refused).toMatchObject({
    connection: undefined,
    person: undefined,
    status: 401,
    path: '/scim/v2/Users?filter=userName%20eq%20%22x%22',
  });
  expect(JSON.stringify(refused && (await withBodies(refused)))).not.toContain('guessed-token');
});

test('an error is logged with its scimType and both bodies', async () => {
  await scim('POST', '/Users', { ...grace, userName: '' });
  await scim('POST', '/Users', '{"userName": "grace", ');
  await scim('GET', '/Users?filter=userName%20is%20grace');
  const exchanges = await logged(3, { direction: 'scim', status: { from: 400, to: 499 } });
  expect(exchanges.map(({ error }) => error)).toEqual(['invalidValue', 'invalidSyntax', 'invalidFilter']);
  const [, malformed, filter] = await Promise.all(exchanges.map(withBodies));
  expect(malformed?.requestBody).toEqual({ text: '{"userName": "grace", ', isCut: false });
  expect(JSON.parse(filter?.responseBody?.text ?? '')).toMatchObject({ status: '400' });
});

test('bodies of reads are kept only while they are asked for', async () => {
  await scim('GET', '/Users');
  const [read] = await logged(1, { method: 'get', direction: 'scim' });
  expect(read && (await withBodies(read))).toMatchObject({ requestBody: undefined, responseBody: undefined });
  await withLog((log) => log.keepReadBodies('default', Date.now() + 60_000));
  await eventually(async () => {
    const { body } = await scim('GET', '/Users');
    const [next] = (await withLog((log) => log.list({ limit: 1, direction: 'scim' }))).exchanges;
    expect((next && (await withBodies(next)))?.responseBody?.text).toBe(JSON.stringify(body));
  });
});

test('a long body is cut, and the entry says so', async () => {
  const members = Array.from({ length: 2_000 }, (_, number) => ({ value: `person-${number}`, display: 'n' }));
  await scim('POST', '/Groups', { displayName: 'All', members });
  const [posted] = await logged(1, { method: 'POST' });
  const { requestBody } = (posted && (await withBodies(posted))) ?? {};
  expect(requestBody?.isCut).toBe(true);
  expect(JSON.stringify({ displayName: 'All', members }).startsWith(requestBody?.text ?? '?')).toBe(true);
});

test('a person is found by the exchanges that concern them, in both directions, and by the searches for them', async () => {
  const { body } = await scim('POST', '/Users', grace);
  await scim('POST', '/Users', { ...grace, userName: 'ada', emails: [{ value: 'ada@corp.example' }] });
  await scim('GET', `/Users/${body.id}`);
  await scim('GET', `/Users?filter=${encodeURIComponent(`userName eq "${grace.userName}"`)}`);
  await scim('GET', '/Users?filter=userName%20eq%20%22ada%22');
  await scim('PATCH', `/Users/${body.id}`, {
    Operations: [{ op: 'replace', path: 'name.familyName', value: 'Murray' }],
  });
  const person = { id: body.id, names: [grace.userName] };
  const exchanges = await logged(6, { person });
  expect(exchanges.map(({ direction, method }) => `${direction} ${method}`)).toEqual([
    'travel POST',
    'scim POST',
    'scim GET',
    'scim GET',
    'travel PATCH',
    'scim PATCH',
  ]);
  const [read] = await logged(2, { person, method: 'GET' });
  expect(read).toMatchObject({ path: `/scim/v2/Users/${body.id}`, status: 200 });
});

test('the polls of the event feed are not logged', async () => {
  await scim('POST', '/Users', grace);
  await logged(1, { method: 'POST', direction: 'scim' });
  expect(await logged(0, { path: '/api/events' })).toEqual([]);
});

describeOnSqlite('the files of the database', () => {
  test('contain no secrets of what is logged', async () => {
    await scim('GET', '/Users?filter=displayName%20eq%20%22Jean%20Bartik%22&token=hush-hush-1906');
    await scim('POST', '/Users', { nickName: 'Jean Bartik', password: 'hush-hush-1906' });
    await logged(2, { direction: 'scim' });
    for (const file of ['jetbridge.db', 'jetbridge.db-wal'])
      expect(readFileSync(join(service.data, file)).includes('hush-hush')).toBe(false);
  });
});
