import fc from 'fast-check';
import { deleteExchanges, findExchanges, findFormerNames } from '../../src/log/erasure.ts';
import { exchangeStore } from '../../src/log/exchange-store.ts';
import { exchangeReader } from '../../src/log/search.ts';
import type { ExchangeQuery, StoredExchange } from '../../src/model/exchange.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { nameMatcher } from '../../src/store/erasure/names.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { runs } from '../fixtures/runs.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const NOW = 1_750_000_000_000;
const databases = temporaryDatabases('jetbridge-exchanges-');

async function open(): Promise<Database> {
  const database = await databases.open();
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  await ensureConnection(database, { id: 'entra', account: 'acme' });
  return database;
}

/** A successful POST of a user, with differences. */
function exchange(differences: Partial<StoredExchange> = {}): StoredExchange {
  return {
    direction: 'scim',
    at: NOW,
    ms: 1.5,
    connection: 'okta',
    person: 'id-of-grace',
    requestId: 'request-1',
    method: 'POST',
    path: '/scim/v2/Users',
    status: 201,
    error: undefined,
    requestHeaders: {},
    responseHeaders: {},
    ...differences,
  };
}

const body = fc.option(fc.record({ text: fc.string(), isCut: fc.boolean() }), { nil: undefined });
const headers = fc.dictionary(fc.constantFrom('content-type', 'user-agent', 'location', 'etag'), fc.string());
const anyExchangeButLocation: fc.Arbitrary<StoredExchange> = fc.record({
  direction: fc.constantFrom('scim', 'travel'),
  at: fc.integer({ min: NOW - 1_000, max: NOW + 1_000 }),
  ms: fc.nat(),
  connection: fc.constantFrom('okta', 'entra', undefined),
  person: fc.option(fc.constantFrom('grace', 'ada'), { nil: undefined }),
  requestId: fc.option(fc.uuid(), { nil: undefined }),
  method: fc.constantFrom('GET', 'POST', 'PATCH'),
  path: fc.oneof(fc.constantFrom('/scim/v2/Users/grace', '/scim/v2/Users/ada?a=b'), fc.webPath()),
  status: fc.option(fc.integer({ min: 200, max: 599 }), { nil: undefined }),
  error: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  requestHeaders: headers,
  responseHeaders: headers,
  requestBody: body,
  responseBody: body,
});
/** In half of them the `Location` is the URL of the path. */
const anyExchange = fc.tuple(anyExchangeButLocation, fc.boolean()).map(([one, isAtPath]) => {
  if (!isAtPath) return one;
  const location = `https://bridge.example${one.path}`;
  return { ...one, responseHeaders: { ...one.responseHeaders, location } };
});

test('what is written is what is read, newest first, in pages of any length', async () => {
  const database = await open();
  const store = exchangeStore(database);
  const log = exchangeReader(database);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyExchange, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 5 }),
      async (batches, limit) => {
        await database.db.deleteFrom('exchange').execute();
        for (const exchanges of batches) await store.append(exchanges);
        const read = [];
        let before: string | undefined;
        do {
          const page = await log.list({ limit, before });
          expect(page.exchanges.length).toBeLessThanOrEqual(limit);
          for (const { position } of page.exchanges) read.push(await log.get(position));
          before = page.next;
        } while (before !== undefined);
        expect(read.reverse().map((one) => ({ ...one, position: undefined }))).toEqual(batches.flat());
        const positions = read.map((one) => Number(one?.position));
        expect(positions).toEqual([...positions].sort((one, other) => one - other));
      },
    ),
    runs(30),
  );
});

test('each condition selects what it describes', async () => {
  const database = await open();
  const log = exchangeReader(database);
  const travel = { direction: 'travel', path: '/api/users', status: undefined, error: 'timeout' } as const;
  await exchangeStore(database).append([
    exchange(),
    exchange({ ...travel, at: NOW + 10 }),
    exchange({ connection: 'entra', person: 'ada', requestId: 'r2', at: NOW + 20 }),
    exchange({ connection: undefined, person: undefined, status: 401, method: 'GET' }),
  ]);
  const count = async (query: Partial<ExchangeQuery>) =>
    (await log.list({ limit: 10, ...query })).exchanges.length;
  expect(await count({})).toBe(4);
  expect(await count({ connection: 'okta' })).toBe(2);
  expect(await count({ connection: '' })).toBe(1);
  expect(await count({ person: { id: 'id-of-grace', names: [] } })).toBe(2);
  expect(await count({ person: { id: 'nobody', names: [] } })).toBe(0);
  expect(await count({ direction: 'travel' })).toBe(1);
  expect(await count({ method: 'post' })).toBe(3);
  expect(await count({ status: { from: 400, to: 499 } })).toBe(1);
  expect(await count({ isFailed: true })).toBe(2);
  expect(await count({ isFailed: true, direction: 'travel' })).toBe(1);
  expect(await count({ path: '/API/' })).toBe(1);
  expect(await count({ requestId: 'r2' })).toBe(1);
  expect(await count({ since: NOW + 10 })).toBe(2);
  expect(await count({ until: NOW + 10 })).toBe(2);
  expect(await count({ since: NOW + 10, until: NOW + 20 })).toBe(1);
});

test('requests to the travel service are searched by path, user and status', async () => {
  const database = await open();
  const log = exchangeReader(database);
  const api = (path: string, differences: Partial<StoredExchange> = {}) =>
    exchange({
      ...{ direction: 'api', connection: undefined, person: undefined, path, status: 200 },
      ...{ userId: 'admin', credential: 'apiKey:k1', ...differences },
    });
  const paths = [
    '/api/users',
    '/api/users?limit=1',
    '/API/Users/A',
    '/api/users/a/',
    '/api/users/ab',
    '/api/users-x',
    '/api/users/a/b/c?token=1',
    '/api/webhooks/api/users',
  ];
  await exchangeStore(database).append([
    ...paths.map((path) => api(path)),
    api('/api/webhooks', { userId: 'ada', status: 404 }),
    api('/api/webhooks', { credential: 'bridge' }),
  ]);
  const found = async (query: Partial<ExchangeQuery>) =>
    (await log.list({ limit: 20, direction: 'api', ...query })).exchanges.map(({ path }) => path).reverse();
  expect(await found({ path: '/api/Users' })).toEqual(paths.filter((path) => /^\/api\/users/i.test(path)));
  expect(await found({ path: '/api/users/a' })).toEqual([
    '/API/Users/A',
    '/api/users/a/',
    '/api/users/ab',
    '/api/users/a/b/c?token=1',
  ]);
  expect(await found({ path: '/api/users/a/b/' })).toEqual(['/api/users/a/b/c?token=1']);
  expect(await found({ path: '/' })).toHaveLength(10);
  expect(await found({ path: '/api/user%' })).toEqual([]);
  expect(await found({ userId: 'ada' })).toEqual(['/api/webhooks']);
  expect(await found({ status: { from: 404, to: 404 } })).toEqual(['/api/webhooks']);
});

describe('a search for a person', () => {
  const search = (filter: string, differences: Partial<StoredExchange> = {}) =>
    exchange({
      ...{ method: 'GET', person: undefined, status: 200 },
      path: `/scim/v2/Users?filter=${encodeURIComponent(filter)}`,
      ...differences,
    });
  const grace = { id: 'id-of-grace', names: ['grace@corp.example', 'ghopper'] };

  test.each([
    ['the userName', search('userName eq "Grace@corp.example"')],
    ['a userName that is no address', search('userName Eq "ghopper"')],
    ['an address', search('active eq true and emails[type eq "work"].value eq "grace@corp.example"')],
    ['the id', search('id eq "id-of-grace"')],
    ['an address of the travel API', search('', { path: '/api/users?limit=2&emails=grace@corp.example' })],
    ['an address in the path', search('', { path: '/scim/v2/Users/grace%40corp.example', status: 404 })],
  ])('by %s is found with the exchanges about the person', async (_by, searching) => {
    const database = await open();
    const log = exchangeReader(database);
    await exchangeStore(database).append([
      exchange(),
      searching,
      search('userName eq "ada@corp.example"'),
      exchange({ person: 'ada', requestBody: { text: '{"userName":"grace@corp.example"}', isCut: false } }),
    ]);
    const { exchanges } = await log.list({ limit: 9, person: grace });
    expect(exchanges.map(({ path }) => path)).toEqual([searching.path, '/scim/v2/Users']);
  });
});

test('a page looks at a limited number of exchanges', async () => {
  const database = await open();
  await exchangeStore(database).append(Array.from({ length: 12_000 }, () => exchange()));
  const log = exchangeReader(database);
  const first = await log.list({ limit: 9, method: 'DELETE' });
  expect(first).toMatchObject({ exchanges: [], next: '7001' });
  const second = await log.list({ limit: 9, method: 'DELETE', before: first.next });
  expect(second).toMatchObject({ exchanges: [], next: '2001' });
  const last = await log.list({ limit: 9, method: 'DELETE', before: second.next });
  expect(last).toMatchObject({ exchanges: [], next: undefined });
});

test('the newest exchanges since a position are read, however often, without one twice or none at all', async () => {
  const database = await open();
  const store = exchangeStore(database);
  const log = exchangeReader(database);
  const write = (...paths: string[]) => store.append(paths.map((path) => exchange({ path })));
  expect(await log.list({ limit: 9 })).toEqual({ exchanges: [], next: undefined, head: '0' });
  await write('/1', '/2', '/3');
  const first = await log.list({ limit: 2 });
  expect(first.exchanges.map(({ path }) => path)).toEqual(['/3', '/2']);
  expect((await log.list({ limit: 9, after: first.head })).exchanges).toEqual([]);
  const inside = await log.list({ limit: 9, after: first.exchanges[1]?.position });
  expect(inside.exchanges.map(({ path }) => path)).toEqual(['/3']);
  await write('/4', '/5');
  const later = await log.list({ limit: 9, after: first.head });
  expect(later.exchanges.map(({ path }) => path)).toEqual(['/5', '/4']);
  expect(later.next).toBeUndefined();
  // The head moves on although nothing matches, so that nothing is looked at twice.
  const none = await log.list({ limit: 9, after: first.head, method: 'DELETE' });
  expect(none).toEqual({ exchanges: [], next: undefined, head: later.head });
  const short = await log.list({ limit: 1, after: first.head });
  expect(short.exchanges.map(({ path }) => path)).toEqual(['/5']);
  const rest = await log.list({ limit: 9, after: first.head, before: short.next });
  expect(rest.exchanges.map(({ path }) => path)).toEqual(['/4']);
});

test('a recording reads the SCIM requests of a connection in order, and goes on where it stopped', async () => {
  const database = await open();
  const store = exchangeStore(database);
  const log = exchangeReader(database);
  const write = (...paths: string[]) =>
    store.append([
      exchange({ connection: 'entra' }),
      exchange({ direction: 'travel' }),
      ...paths.map((path) =>
        exchange({
          path,
          requestBody: { text: '{}', isCut: false },
          responseBody: { text: '', isCut: true },
        }),
      ),
    ]);
  await write('/scim/v2/Users', '/scim/v2/Users/1', '/scim/v2/Groups?count=1');
  const first = await log.read('okta', { since: NOW - 1 });
  expect(first.exchanges.map(({ path }) => path)).toEqual(['/Users', '/Users/1', '/Groups?count=1']);
  expect(first.exchanges[0]).toMatchObject({ connection: 'okta', requestBody: '{}', status: 201 });
  expect(first.exchanges[0]).not.toHaveProperty('responseBody');
  await write('/scim/v2/Users/2');
  const second = await log.read('okta', { after: first.position });
  expect(second.exchanges.map(({ path }) => path)).toEqual(['/Users/2']);
  // A recording that begins now has no exchanges yet, and does not read those from before later.
  const later = await log.read('okta', { since: NOW + 1 });
  expect(later.exchanges).toEqual([]);
  expect((await log.read('okta', { after: later.position })).exchanges).toEqual([]);
});

test('concurrent writers commit their positions in order, so that a reader skips nothing', async () => {
  const folder = databases.newFolder();
  const [one, other, reading] = [
    await databases.open(folder, false),
    await databases.open(folder, false),
    await databases.open(folder, false),
  ];
  await ensureConnection(one, { id: 'okta', account: 'acme' });
  const log = exchangeReader(reading);
  const writers = [one, other].map(async (database, writer) => {
    const store = exchangeStore(database);
    for (let number = 0; number < 20; number += 1)
      await store.append([exchange({ path: `/${writer}-${number}` })]);
  });
  const read = new Set<string>();
  let position = '0';
  let isDone = false;
  void Promise.all(writers).finally(() => {
    isDone = true;
  });
  for (let isLast = false; ; ) {
    const page = await log.read('okta', { after: position });
    for (const { path } of page.exchanges) read.add(path);
    position = page.position;
    if (isLast && page.exchanges.length === 0) break;
    isLast = isDone;
    await new Promise(setImmediate);
  }
  await Promise.all(writers);
  expect(read.size).toBe(40);
});

test('old exchanges are deleted in batches', async () => {
  const database = await open();
  const store = exchangeStore(database);
  const log = exchangeReader(database);
  for (const at of [NOW - 3, NOW - 2, NOW - 1, NOW]) await store.append([exchange({ at })]);
  const bounds = { before: NOW, maxEntries: 9 };
  expect(await store.deleteOld(bounds, 2)).toBe(2);
  expect(await store.deleteOld(bounds, 2)).toBe(1);
  expect((await log.list({ limit: 9 })).exchanges.map(({ at }) => at)).toEqual([NOW]);
});

test('beyond a number of exchanges the oldest are deleted earlier', async () => {
  const database = await open();
  const store = exchangeStore(database);
  await store.append(['/1', '/2', '/3', '/4'].map((path) => exchange({ path })));
  expect(await store.deleteOld({ before: 0, maxEntries: 3 }, 1_000)).toBe(1);
  const { exchanges } = await exchangeReader(database).list({ limit: 9 });
  expect(exchanges.map(({ path }) => path)).toEqual(['/4', '/3', '/2']);
});

test('the request to keep the bodies of reads ends at the latest time that was given', async () => {
  const database = await open();
  const store = exchangeStore(database);
  const log = exchangeReader(database);
  expect(await store.readBodyWindows(NOW)).toEqual(new Map());
  await log.keepReadBodies('okta', NOW + 20);
  await log.keepReadBodies('okta', NOW + 10);
  expect(await store.readBodyWindows(NOW)).toEqual(new Map([['okta', NOW + 20]]));
  expect(await store.readBodyWindows(NOW + 20)).toEqual(new Map());
});

describe('the erasure of a person', () => {
  const names = nameMatcher({
    unique: ['id-of-grace', 't1', 'grace@corp.example'],
    whole: ['grace', '4711'],
  });
  const person = { ids: ['id-of-grace', 't1'], connections: ['okta'], isNamed: names.matchesText };
  const body = (resource: object) => ({ text: JSON.stringify(resource), isCut: false });
  const other = { person: 'ada', responseBody: body({ userName: 'ada', title: 'gracefully', count: 4711 }) };
  const search = (name: string) =>
    exchange({ person: undefined, path: `/scim/v2/Users?filter=userName%20eq%20%22${name}%22` });

  test.each([
    ['that is about the person', exchange()],
    [
      'that the person has made',
      exchange({ ...other, direction: 'api', userId: 't1', credential: 'apiKey:k' }),
    ],
    ['that searches for the userName', search('Grace')],
    ['that searches for an address', search('grace%40corp.example')],
    ['with an id in its path', exchange({ ...other, path: '/api/users/t1' })],
    ['with a name as a segment of its path', exchange({ ...other, path: '/scim/v2/Users/grace?count=1' })],
    [
      'with an address in a body',
      exchange({ ...other, responseBody: body({ emails: [{ value: 'Grace@corp.example' }] }) }),
    ],
    [
      'with an id in a filter in a body',
      exchange({ ...other, requestBody: body({ path: 'members[value eq "id-of-grace"]' }) }),
    ],
    [
      'with the employee number in a body',
      exchange({ ...other, requestBody: body({ manager: { value: '4711' } }) }),
    ],
    [
      'with an address in escape sequences in a body that is truncated',
      exchange({ ...other, requestBody: { text: '{"manager":"gr\\u0061ce@corp.example"', isCut: true } }),
    ],
  ])('deletes an exchange %s', async (_which, meant) => {
    const database = await open();
    await exchangeStore(database).append([exchange(other), meant, search('ada')]);
    const found = await findExchanges(database, person);
    expect(found).toEqual([2]);
    await deleteExchanges(database, found);
    const { exchanges } = await exchangeReader(database).list({ limit: 9 });
    expect(exchanges.map(({ position }) => position)).toEqual(['3', '1']);
  });

  test.each([
    ['a longer name', exchange({ ...other, requestBody: body({ value: 'joanne-grace@corp.example' }) })],
    ['a number of a page', exchange({ ...other, path: '/scim/v2/Users?startIndex=4711' })],
    [
      'a name in a connection of another account',
      exchange({ ...other, connection: 'entra', path: '/scim/v2/Users/grace' }),
    ],
  ])('leaves %s', async (_which, kept) => {
    const database = await open();
    await exchangeStore(database).append([kept]);
    expect(await findExchanges(database, person)).toEqual([]);
  });

  test('finds the userNames and addresses that the person had in the exchanges about the person', async () => {
    const database = await open();
    await exchangeStore(database).append([
      exchange({
        requestBody: body({ userName: 'grace', manager: { value: 'm@x' } }),
        responseBody: body({ userName: 'grace.h' }),
      }),
      exchange({ direction: 'travel', responseBody: body({ data: { email: 'fifth@corp.example' } }) }),
      exchange({ person: 'ada', requestBody: body({ userName: 'ada' }) }),
    ]);
    const found = await findFormerNames(database, ['id-of-grace']);
    expect(found.sort()).toEqual(['fifth@corp.example', 'grace', 'grace.h']);
  });
});
