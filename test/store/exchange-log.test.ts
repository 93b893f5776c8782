import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { ensureConnection } from '../../src/store/connections.ts';
import type { Database } from '../../src/store/database.ts';
import { encryption } from '../../src/store/encryption.ts';
import { countExchanges, redactExchanges } from '../../src/store/erasure/exchanges.ts';
import { nameMatcher } from '../../src/store/erasure/matchers.ts';
import { type ExchangeKeys, exchangeStore } from '../../src/store/exchange-log.ts';
import { exchangeReader, type UnreadableSegment } from '../../src/store/exchange-reader.ts';
import type { StoredExchange } from '../../src/store/exchange-segments.ts';
import { runs } from '../fixtures/runs.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const NOW = 1_750_000_000_000;
const databases = temporaryDatabases('jetbridge-exchanges-');
const keys: ExchangeKeys = [encryption(randomBytes(32))];

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
      async (segments, limit) => {
        await database.db.deleteFrom('exchange_segment').execute();
        for (const exchanges of segments) await store.append([{ connection: 'okta', exchanges }]);
        const read = [];
        let before: string | undefined;
        do {
          const page = await log.list({ limit, before });
          expect(page.exchanges.length).toBeLessThanOrEqual(limit);
          for (const { position } of page.exchanges) read.push(await log.get(position));
          before = page.next;
        } while (before !== undefined);
        const written = segments.flat().map((one) => ({ ...one, connection: 'okta' }));
        expect(read.reverse().map((one) => ({ ...one, position: undefined }))).toEqual(
          written.map((one) => ({ ...one, position: undefined })),
        );
        const positions = read.map((one) => Number(one?.position));
        expect(positions).toEqual([...positions].sort((one, other) => one - other));
      },
    ),
    runs(30),
  );
});

test('a segment of exchanges that have nothing in common is read as it was written', async () => {
  const database = await open();
  const kinds = Array.from({ length: 100 }, (_, index) =>
    exchange({
      path: `/scim/v2/Users/${index}`,
      requestHeaders: { 'user-agent': `client ${index % 50}` },
      responseHeaders: {
        etag: `W/"${index % 40}"`,
        location: `https://${index % 30}.example/scim/v2/Users/${index}`,
      },
    }),
  );
  await exchangeStore(database, keys[0]).append([{ connection: 'okta', exchanges: kinds }]);
  const { exchanges } = await exchangeReader(database, keys).list({ limit: 100 });
  const stored = { connection: 'okta', position: expect.any(String) };
  expect(exchanges.reverse()).toEqual(kinds.map((one) => ({ ...one, ...stored })));
});

test('each condition selects what it describes', async () => {
  const database = await open();
  const log = exchangeReader(database, keys);
  const travel = { direction: 'travel', path: '/api/users', status: undefined, error: 'timeout' } as const;
  await exchangeStore(database, keys[0]).append([
    { connection: 'okta', exchanges: [exchange(), exchange({ ...travel, at: NOW + 10 })] },
    { connection: 'entra', exchanges: [exchange({ person: 'ada', requestId: 'r2', at: NOW + 20 })] },
    { connection: undefined, exchanges: [exchange({ person: undefined, status: 401, method: 'GET' })] },
  ]);
  const count = async (query: object) => (await log.list({ limit: 10, ...query })).exchanges.length;
  expect(await count({})).toBe(4);
  expect(await count({ connection: 'okta' })).toBe(2);
  expect(await count({ person: 'id-of-grace' })).toBe(2);
  expect(await count({ person: 'nobody' })).toBe(0);
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

test('a page looks at a limited number of exchanges, also if the segments are long', async () => {
  const database = await open();
  const exchanges = Array.from({ length: 1_000 }, () => exchange());
  await exchangeStore(database, keys[0]).append(
    Array.from({ length: 12 }, () => ({ connection: 'okta', exchanges })),
  );
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
  const write = (...paths: string[]) =>
    store.append([{ connection: 'okta', exchanges: paths.map((path) => exchange({ path })) }]);
  expect(await log.list({ limit: 9 })).toEqual({ exchanges: [], next: undefined, head: '0' });
  await write('/1', '/2', '/3');
  const first = await log.list({ limit: 2 });
  expect(first.exchanges.map(({ path }) => path)).toEqual(['/3', '/2']);
  expect((await log.list({ limit: 9, after: first.head })).exchanges).toEqual([]);
  // A position within a segment: the exchanges after it are a part of the segment.
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
      { connection: 'entra', exchanges: [exchange()] },
      {
        connection: 'okta',
        exchanges: paths.map((path) =>
          exchange({
            path,
            requestBody: { text: '{}', isCut: false },
            responseBody: { text: '', isCut: true },
          }),
        ),
      },
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
      await store.append([{ connection: 'okta', exchanges: [exchange({ path: `/${writer}-${number}` })] }]);
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

test('old segments are deleted in batches, with their rows by person', async () => {
  const database = await open();
  const store = exchangeStore(database, keys[0]);
  for (const at of [NOW - 3, NOW - 2, NOW - 1, NOW])
    await store.append([{ connection: 'okta', exchanges: [exchange({ at })] }]);
  expect(await store.deleteOlderThan(NOW, 2)).toBe(2);
  expect(await store.deleteOlderThan(NOW, 2)).toBe(1);
  const { exchanges } = await exchangeReader(database, keys).list({ limit: 9 });
  expect(exchanges.map(({ at }) => at)).toEqual([NOW]);
  expect(await database.db.selectFrom('exchange_person').select('person').execute()).toHaveLength(1);
});

test('a segment of another key is left out and reported, and one of the previous key is read', async () => {
  const database = await open();
  await exchangeStore(database, keys[0]).append([{ connection: 'okta', exchanges: [exchange()] }]);
  const next = encryption(randomBytes(32));
  const unreadable: UnreadableSegment[] = [];
  const log = exchangeReader(database, [next], ({ last, count }) => unreadable.push({ last, count }));
  expect((await log.list({ limit: 9 })).exchanges).toEqual([]);
  expect((await log.read('okta', { from: { since: 0 }, limit: 9 })).exchanges).toEqual([]);
  expect(await log.get('1')).toBeUndefined();
  expect(unreadable).toEqual(Array(3).fill({ last: 1, count: 1 }));
  expect((await exchangeReader(database, [next, ...keys]).list({ limit: 9 })).exchanges).toHaveLength(1);
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
  const matcher = nameMatcher({ unique: ['grace@corp.example', 'id-of-grace'], whole: ['Grace Hopper'] });
  const person = { ids: ['id-of-grace'], matcherFor: () => matcher };
  const list = (resource: object) => ({ text: JSON.stringify({ Resources: [resource] }), isCut: false });

  test('removes the exchanges about the person, and the person from those of others', async () => {
    const database = await open();
    const store = exchangeStore(database, keys[0]);
    const log = exchangeReader(database, keys);
    const others = {
      listed: exchange({
        person: undefined,
        method: 'GET',
        responseBody: list({ displayName: 'Grace Hopper' }),
      }),
      member: exchange({
        person: undefined,
        path: '/scim/v2/Groups',
        requestBody: list({ value: 'id-of-grace' }),
      }),
      sought: exchange({
        person: undefined,
        path: '/scim/v2/Users?filter=userName%20eq%20%22grace@corp.example%22',
      }),
      unrelated: exchange({ person: 'ada', requestBody: list({ displayName: 'Ada' }) }),
    };
    const { listed, member, sought, unrelated } = others;
    await store.append([
      { connection: 'okta', exchanges: [exchange(), listed, member, sought, unrelated] },
      { connection: 'okta', exchanges: [unrelated] },
    ]);
    expect(await countExchanges(database, keys, person)).toBe(4);
    const { last } = await redactExchanges(database, keys, { person });
    expect(await countExchanges(database, keys, person)).toBe(0);
    const left = (await log.list({ limit: 9 })).exchanges.reverse();
    const kept = await Promise.all(left.map(({ position }) => log.get(position)));
    const noBodies = { requestBody: undefined, responseBody: undefined };
    expect(kept).toEqual([
      expect.objectContaining({ ...listed, ...noBodies }),
      expect.objectContaining({ ...member, ...noBodies }),
      expect.objectContaining({ ...sought, path: '/scim/v2/Users' }),
      expect.objectContaining(unrelated),
      expect.objectContaining(unrelated),
    ]);
    expect((await log.list({ limit: 9, person: 'id-of-grace' })).exchanges).toEqual([]);
    // With `after`, only exchanges that were written later are searched.
    await store.append([{ connection: 'okta', exchanges: [exchange()] }]);
    await redactExchanges(database, keys, { person, after: last });
    expect(await countExchanges(database, keys, person)).toBe(0);
  });

  test('tells how many exchanges it has looked at', async () => {
    const database = await open();
    await exchangeStore(database, keys[0]).append([
      { connection: 'okta', exchanges: [exchange(), exchange({ person: 'ada' })] },
      { connection: 'entra', exchanges: [exchange({ person: 'ada' })] },
    ]);
    const counts: number[] = [];
    const observed = { ...person, onRead: (count: number) => counts.push(count) };
    await countExchanges(database, keys, observed);
    await redactExchanges(database, keys, { person: observed });
    expect(counts).toEqual([2, 1, 2, 1]);
  });

  test('deletes what no key decrypts, because it may be about the person', async () => {
    const database = await open();
    await exchangeStore(database, encryption(randomBytes(32))).append([
      { connection: 'okta', exchanges: [exchange()] },
    ]);
    await redactExchanges(database, keys, { person });
    expect(await database.db.selectFrom('exchange_segment').select('last').execute()).toEqual([]);
    expect(await database.db.selectFrom('exchange_person').select('last').execute()).toEqual([]);
  });
});

test('two people who are erased at the same time both leave the log', async () => {
  const database = await open();
  const postOf = (name: string) =>
    exchange({
      person: name,
      requestBody: { text: JSON.stringify({ userName: `${name}@corp.example` }), isCut: false },
    });
  const exchanges = ['ada', 'grace', 'mary'].map(postOf);
  await exchangeStore(database, keys[0]).append([{ connection: 'okta', exchanges }]);
  const personOf = (name: string) => {
    const matcher = nameMatcher({ unique: [`${name}@corp.example`, name], whole: [] });
    return { ids: [name], matcherFor: () => matcher };
  };
  let other: Promise<unknown> | undefined;
  const transaction: Database['transaction'] = async (work, options) => {
    // Grace is erased after the erasure of Ada has read the log, and before it writes.
    other ??= redactExchanges(database, keys, { person: personOf('grace') });
    await other;
    return database.transaction(work, options);
  };
  await redactExchanges({ ...database, transaction }, keys, { person: personOf('ada') });
  const left = [];
  for (const name of ['ada', 'grace', 'mary'])
    left.push(await countExchanges(database, keys, personOf(name)));
  expect(left).toEqual([0, 0, 1]);
});
