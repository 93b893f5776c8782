import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import type { KyselyPlugin } from 'kysely';
import { countExchanges, eraseFromLog, findFormerNames } from '../../src/log/erasure.ts';
import type { ExchangeQuery, StoredExchange } from '../../src/log/exchange.ts';
import { exchangeStore, reencryptExchanges } from '../../src/log/exchange-store.ts';
import { type LogKeys, logKey } from '../../src/log/keys.ts';
import { exchangeReader } from '../../src/log/search.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { runs } from '../fixtures/runs.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { withPlugin } from '../fixtures/with-plugin.ts';

const NOW = 1_750_000_000_000;
const databases = temporaryDatabases('jetbridge-exchanges-');
const keys: LogKeys = [logKey(randomBytes(32))];

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
  const store = exchangeStore(database, keys[0]);
  const log = exchangeReader(database, keys);
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
  const log = exchangeReader(database, keys);
  const travel = { direction: 'travel', path: '/api/users', status: undefined, error: 'timeout' } as const;
  await exchangeStore(database, keys[0]).append([
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
  expect(await count({ pathPrefix: '/API/' })).toBe(1);
  expect(await count({ requestId: 'r2' })).toBe(1);
  expect(await count({ since: NOW + 10 })).toBe(2);
  expect(await count({ until: NOW + 10 })).toBe(2);
  expect(await count({ since: NOW + 10, until: NOW + 20 })).toBe(1);
});

test('requests to the travel service are searched by path, user and status', async () => {
  const database = await open();
  const log = exchangeReader(database, keys);
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
  await exchangeStore(database, keys[0]).append([
    ...paths.map((path) => api(path)),
    api('/api/webhooks', { userId: 'ada', status: 404 }),
    api('/api/webhooks', { credential: 'bridge' }),
  ]);
  const found = async (query: Partial<ExchangeQuery>) =>
    (await log.list({ limit: 20, direction: 'api', ...query })).exchanges.map(({ path }) => path).reverse();
  expect(await found({ pathBelow: '/api/users' })).toEqual(
    paths.filter((path) => /^\/api\/users([/?]|$)/i.test(path)),
  );
  expect(await found({ pathBelow: '/api/users/a' })).toEqual([
    '/API/Users/A',
    '/api/users/a/',
    '/api/users/a/b/c?token=1',
  ]);
  expect(await found({ pathBelow: '/api/users/a/b/' })).toEqual(['/api/users/a/b/c?token=1']);
  expect(await found({ pathBelow: '/' })).toHaveLength(10);
  expect(await found({ pathBelow: '/api/user%' })).toEqual([]);
  expect(await found({ userId: 'ada' })).toEqual(['/api/webhooks']);
  expect(await found({ status: { from: 404, to: 404 } })).toEqual(['/api/webhooks']);
  expect(await found({ hidesOwnCalls: true })).toHaveLength(9);
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
    const log = exchangeReader(database, keys);
    await exchangeStore(database, keys[0]).append([
      exchange(),
      searching,
      search('userName eq "ada@corp.example"'),
      exchange({ person: 'ada', requestBody: { text: '{"userName":"grace@corp.example"}', isCut: false } }),
    ]);
    const { exchanges } = await log.list({ limit: 9, person: grace });
    expect(exchanges.map(({ path }) => path)).toEqual([searching.path, '/scim/v2/Users']);
    const { rows } = await database.db.executeQuery<object>(
      database.db.selectFrom('exchange_name').selectAll().compile(),
    );
    expect(JSON.stringify(rows)).not.toContain('grace');
  });

  test('is found after a change of the key, too', async () => {
    const database = await open();
    await exchangeStore(database, keys[0]).append([search('userName eq "ghopper"'), exchange()]);
    const changed: LogKeys = [logKey(randomBytes(32)), ...keys];
    expect(
      (await exchangeReader(database, changed).list({ limit: 9, person: grace })).exchanges,
    ).toHaveLength(2);
    expect(await reencryptExchanges(database, changed, new AbortController().signal)).toBe(2);
    expect(await reencryptExchanges(database, changed, new AbortController().signal)).toBe(0);
    const log = exchangeReader(database, [changed[0]]);
    const { exchanges } = await log.list({ limit: 9, person: grace });
    expect(exchanges.map(({ path }) => path)).toEqual([
      '/scim/v2/Users',
      search('userName eq "ghopper"').path,
    ]);
  });
});

test('at most two searches run at once', async () => {
  const database = await open();
  await exchangeStore(database, keys[0]).append([exchange()]);
  let running = 0;
  let most = 0;
  const spy: KyselyPlugin = {
    transformQuery: ({ node }) => {
      running += 1;
      most = Math.max(most, running);
      return node;
    },
    transformResult: async ({ result }) => {
      await new Promise(setImmediate);
      running -= 1;
      return result;
    },
  };
  const log = exchangeReader(withPlugin(database, spy), keys);
  const pages = await Promise.all(Array.from({ length: 5 }, () => log.list({ limit: 1 })));
  expect(pages.map(({ exchanges }) => exchanges.length)).toEqual([1, 1, 1, 1, 1]);
  expect(most).toBe(2);
});

test('a page looks at a limited number of exchanges', async () => {
  const database = await open();
  await exchangeStore(database, keys[0]).append(Array.from({ length: 12_000 }, () => exchange()));
  const log = exchangeReader(database, keys);
  const first = await log.list({ limit: 9, method: 'DELETE' });
  expect(first).toMatchObject({ exchanges: [], next: '7001' });
  const second = await log.list({ limit: 9, method: 'DELETE', before: first.next });
  expect(second).toMatchObject({ exchanges: [], next: '2001' });
  const last = await log.list({ limit: 9, method: 'DELETE', before: second.next });
  expect(last).toMatchObject({ exchanges: [], next: undefined });
});

test('the newest exchanges since a position are read, however often, without one twice or none at all', async () => {
  const database = await open();
  const store = exchangeStore(database, keys[0]);
  const log = exchangeReader(database, keys);
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
  const store = exchangeStore(database, keys[0]);
  const log = exchangeReader(database, keys);
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
  const first = await log.read('okta', { from: { since: NOW - 1 }, limit: 2 });
  expect(first.exchanges.map(({ path }) => path)).toEqual(['/Users', '/Users/1']);
  expect(first.exchanges[0]).toMatchObject({ connection: 'okta', requestBody: '{}', status: 201 });
  expect(first.exchanges[0]).not.toHaveProperty('responseBody');
  await write('/scim/v2/Users/2');
  const second = await log.read('okta', { from: { after: first.position }, limit: 9 });
  expect(second.exchanges.map(({ path }) => path)).toEqual(['/Groups?count=1', '/Users/2']);
  // A recording that begins now has no exchanges yet, and does not read those from before later.
  const later = await log.read('okta', { from: { since: NOW + 1 }, limit: 9 });
  expect(later.exchanges).toEqual([]);
  expect((await log.read('okta', { from: { after: later.position }, limit: 9 })).exchanges).toEqual([]);
});

test('concurrent writers commit their positions in order, so that a reader skips nothing', async () => {
  const folder = databases.newFolder();
  const [one, other, reading] = [
    await databases.open(folder, false),
    await databases.open(folder, false),
    await databases.open(folder, false),
  ];
  await ensureConnection(one, { id: 'okta', account: 'acme' });
  const log = exchangeReader(reading, keys);
  const writers = [one, other].map(async (database, writer) => {
    const store = exchangeStore(database, keys[0]);
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
    const page = await log.read('okta', { from: { after: position }, limit: 3 });
    for (const { path } of page.exchanges) read.add(path);
    position = page.position;
    if (isLast && page.exchanges.length === 0) break;
    isLast = isDone;
    await new Promise(setImmediate);
  }
  await Promise.all(writers);
  expect(read.size).toBe(40);
});

test('old exchanges are deleted in batches, with the names in them', async () => {
  const database = await open();
  const store = exchangeStore(database, keys[0]);
  const log = exchangeReader(database, keys);
  const path = '/scim/v2/Users?filter=userName%20eq%20%22grace%22';
  for (const at of [NOW - 3, NOW - 2, NOW - 1, NOW]) await store.append([exchange({ at, path })]);
  const bounds = { before: NOW, maxEntries: 9 };
  expect(await store.deleteOld(bounds, 2)).toBe(2);
  expect(await store.deleteOld(bounds, 2)).toBe(1);
  expect((await log.list({ limit: 9 })).exchanges.map(({ at }) => at)).toEqual([NOW]);
  expect(await database.db.selectFrom('exchange_name').selectAll().execute()).toHaveLength(1);
});

test('beyond a number of exchanges the oldest are deleted earlier', async () => {
  const database = await open();
  const store = exchangeStore(database, keys[0]);
  await store.append(['/1', '/2', '/3', '/4'].map((path) => exchange({ path })));
  expect(await store.deleteOld({ before: 0, maxEntries: 3 }, 1_000)).toBe(1);
  const { exchanges } = await exchangeReader(database, keys).list({ limit: 9 });
  expect(exchanges.map(({ path }) => path)).toEqual(['/4', '/3', '/2']);
});

test('an exchange of another key is left out and reported, and one of the previous key is read', async () => {
  const database = await open();
  await exchangeStore(database, keys[0]).append([exchange()]);
  const next = logKey(randomBytes(32));
  const unreadable: number[] = [];
  const log = exchangeReader(database, [next], (position) => unreadable.push(position));
  expect((await log.list({ limit: 9 })).exchanges).toEqual([]);
  expect((await log.read('okta', { from: { since: 0 }, limit: 9 })).exchanges).toEqual([]);
  expect(await log.get('1')).toBeUndefined();
  expect(unreadable).toEqual([1, 1, 1]);
  expect((await exchangeReader(database, [next, ...keys]).list({ limit: 9 })).exchanges).toHaveLength(1);
});

test('the text of an exchange is bound to its row', async () => {
  const database = await open();
  await exchangeStore(database, keys[0]).append([exchange(), exchange()]);
  const { db } = database;
  const { content } = await db
    .selectFrom('exchange')
    .select('content')
    .where('position', '=', 1)
    .executeTakeFirstOrThrow();
  await db.updateTable('exchange').set({ content }).where('position', '=', 2).execute();
  const log = exchangeReader(database, keys);
  expect(await log.get('1')).toBeDefined();
  expect(await log.get('2')).toBeUndefined();
});

test('the request to keep the bodies of reads ends at the latest time that was given', async () => {
  const database = await open();
  const store = exchangeStore(database, keys[0]);
  const log = exchangeReader(database, keys);
  expect(await store.readBodyWindows(NOW)).toEqual(new Map());
  await log.keepReadBodies('okta', NOW + 20);
  await log.keepReadBodies('okta', NOW + 10);
  expect(await store.readBodyWindows(NOW)).toEqual(new Map([['okta', NOW + 20]]));
  expect(await store.readBodyWindows(NOW + 20)).toEqual(new Map());
});

describe('the erasure of a person', () => {
  const person = {
    ids: ['id-of-grace'],
    travelIds: ['t1'],
    addresses: ['grace@corp.example', 'hopper@corp.example'],
    userNames: ['grace'],
  };
  const list = (resource: object) => ({ text: JSON.stringify({ Resources: [resource] }), isCut: false });
  const search = (name: string) =>
    exchange({ person: undefined, path: `/scim/v2/Users?filter=userName%20eq%20%22${name}%22` });

  test('deletes the exchanges about the person and the searches for the person, and the bodies of others that name the person', async () => {
    const database = await open();
    const store = exchangeStore(database, keys[0]);
    const log = exchangeReader(database, keys);
    const listed = exchange({
      ...{ person: undefined, method: 'GET' },
      responseBody: list({ emails: [{ value: 'Grace@corp.example' }] }),
    });
    const member = exchange({
      ...{ person: undefined, path: '/scim/v2/Groups' },
      requestBody: list({ members: [{ value: 'id-of-grace' }] }),
    });
    const removal = exchange({
      ...{ person: undefined, path: '/scim/v2/Groups/1' },
      requestBody: list({ path: 'members[value eq "id-of-grace"]' }),
    });
    const escaped = exchange({
      person: 'ada',
      requestBody: { text: '{"manager":"gr\\u0061ce@corp.example"', isCut: true },
    });
    const called = exchange({
      ...{ direction: 'api', person: undefined, connection: undefined, path: '/api/whoami' },
      ...{ userId: 't1', credential: 'apiKey:k', requestBody: list({}) },
    });
    const unrelated = exchange({ person: 'ada', requestBody: list({ roles: [{ value: 'grace' }] }) });
    await store.append([
      ...[exchange(), listed, member, removal, escaped, called, unrelated],
      ...[search('grace'), search('hopper@corp.example'), search('ada')],
      exchange({ person: undefined, direction: 'api', path: '/api/users/t1' }),
    ]);
    expect(await countExchanges(database, keys, person)).toBe(9);
    await eraseFromLog(database, keys, person);
    const { exchanges } = await log.list({ limit: 20 });
    const noBodies = { requestBody: undefined, responseBody: undefined };
    expect(exchanges.reverse().map(({ position: _position, ...one }) => one)).toEqual([
      { ...listed, ...noBodies },
      { ...member, ...noBodies },
      { ...removal, ...noBodies },
      { ...escaped, ...noBodies },
      { ...called, ...noBodies, userId: undefined, credential: undefined },
      unrelated,
      search('ada'),
    ]);
    expect(await countExchanges(database, keys, person)).toBe(0);
  });

  test('deletes what no key decrypts, because it may be about the person', async () => {
    const database = await open();
    await exchangeStore(database, logKey(randomBytes(32))).append([exchange({ person: 'ada' })]);
    await eraseFromLog(database, keys, person);
    expect(await database.db.selectFrom('exchange').select('position').execute()).toEqual([]);
  });

  test('finds the userNames and addresses that the person had in the exchanges about the person', async () => {
    const database = await open();
    const body = (value: object) => ({ text: JSON.stringify(value), isCut: false });
    const operations = [
      { op: 'replace', path: 'emails[type eq "work"].value', value: 'second@corp.example' },
      {
        op: 'replace',
        value: { userName: 'third@corp.example', emails: [{ value: 'fourth@corp.example' }] },
      },
      { op: 'replace', path: 'manager', value: 'chief@corp.example' },
    ];
    await exchangeStore(database, keys[0]).append([
      exchange({
        requestBody: body({ userName: 'grace', emails: [{ value: 'first@corp.example' }], manager: 'm@x' }),
      }),
      exchange({ method: 'PATCH', requestBody: body({ Operations: operations }) }),
      exchange({ direction: 'travel', responseBody: body({ data: { email: 'fifth@corp.example' } }) }),
      exchange({ person: 'ada', requestBody: body({ userName: 'ada' }) }),
    ]);
    const names = await findFormerNames(database, keys, ['id-of-grace']);
    expect(names.sort()).toEqual([
      'fifth@corp.example',
      'first@corp.example',
      'fourth@corp.example',
      'grace',
      'second@corp.example',
      'third@corp.example',
    ]);
  });
});

test('two people who are erased at the same time both leave the log', async () => {
  const database = await open();
  const team = exchange({
    person: undefined,
    requestBody: { text: '{"members":[{"value":"ada"},{"value":"grace"}]}', isCut: false },
  });
  await exchangeStore(database, keys[0]).append([
    ...['ada', 'grace', 'mary'].map((name) => exchange({ person: name })),
    team,
  ]);
  const personOf = (name: string) => ({ ids: [name], travelIds: [], addresses: [], userNames: [] });
  let other: Promise<unknown> | undefined;
  const transaction: Database['transaction'] = async (work, options) => {
    // Grace is erased after the erasure of Ada has read the log, and before it writes.
    other ??= eraseFromLog(database, keys, personOf('grace'));
    await other;
    return database.transaction(work, options);
  };
  await eraseFromLog({ ...database, transaction }, keys, personOf('ada'));
  const left = [];
  for (const name of ['ada', 'grace', 'mary'])
    left.push(await countExchanges(database, keys, personOf(name)));
  expect(left).toEqual([0, 0, 1]);
});
