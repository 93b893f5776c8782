import type { ExchangeStore, LogBounds } from '../../src/log/exchange-store.ts';
import { exchangeRecorder } from '../../src/log/recorder.ts';
import type { NewExchange, StoredExchange } from '../../src/model/exchange.ts';
import { StoreUnavailable } from '../../src/model/unavailable.ts';
import { type Clock, clock } from '../fixtures/clock.ts';

const DAY_MS = 24 * 60 * 60_000;

/** A store in memory. Its database is away while `fault` is set. */
function fakeStore() {
  const written: StoredExchange[] = [];
  const batches: number[] = [];
  const deletions: (LogBounds & { limit: number })[] = [];
  const state: { fault: Error | undefined } = { fault: undefined };
  const store: ExchangeStore = {
    append: async (exchanges) => {
      batches.push(exchanges.length);
      if (state.fault) throw state.fault;
      written.push(...exchanges);
    },
    deleteOld: async (bounds, limit) => {
      deletions.push({ ...bounds, limit });
      return deletions.length < 3 ? limit : 0;
    },
    readBodyWindows: async () => new Map(),
  };
  return { store, written, batches, deletions, state };
}

function open(time: Clock, store: ExchangeStore, keepEntries = 2_000_000) {
  const errors: object[] = [];
  const lost: number[] = [];
  const recorder = exchangeRecorder({
    store,
    clock: time,
    log: { info: () => {}, warn: () => {}, error: (fields) => errors.push(fields) },
    keep: { keepDays: 14, keepEntries },
    onLoss: (count) => lost.push(count),
  });
  return { recorder, errors, lost };
}

function read(differences: Partial<NewExchange> = {}): NewExchange {
  return {
    direction: 'scim',
    ms: 1,
    connection: 'okta',
    person: undefined,
    requestId: 'r',
    method: 'GET',
    path: '/scim/v2/Users',
    status: 200,
    error: undefined,
    requestHeaders: {},
    responseHeaders: {},
    ...differences,
  };
}

/** Lets all pending work finish. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

/** The paths that were written, in order. */
function pathsOf(written: StoredExchange[]): string[] {
  return written.map(({ path }) => path);
}

test('exchanges within half a second are written together', async () => {
  const { store, written, batches } = fakeStore();
  const time = clock();
  const { recorder } = open(time, store);
  recorder.record(read());
  recorder.record(read({ connection: 'entra' }));
  recorder.record(read({ path: '/scim/v2/Groups' }));
  await settle();
  expect(written).toEqual([]);
  time.advance(500);
  await settle();
  expect(batches).toEqual([3]);
});

test('a thousand exchanges, or long bodies, are written at once', async () => {
  const { store, written } = fakeStore();
  const { recorder } = open(clock(), store);
  for (let number = 0; number < 1_000; number += 1) recorder.record(read());
  await settle();
  expect(pathsOf(written)).toHaveLength(1_000);
  recorder.record(read({ requestBody: 'x'.repeat(300_000) }));
  await settle();
  expect(pathsOf(written)).toHaveLength(1_001);
});

test('what waits is written when the service stops', async () => {
  const { store, written } = fakeStore();
  const { recorder } = open(clock(), store);
  recorder.record(read());
  await recorder.close();
  expect(pathsOf(written)).toEqual(['/scim/v2/Users']);
});

test('while the database is away, exchanges wait; beyond 20,000 the oldest are lost, and that is counted', async () => {
  const { store, written, state } = fakeStore();
  const time = clock();
  const { recorder, errors, lost } = open(time, store);
  state.fault = new StoreUnavailable('the disk is full', { cause: new Error('SQLITE_FULL') });
  for (let number = 0; number < 20_500; number += 1) recorder.record(read({ path: `/${number}` }));
  await settle();
  expect(lost.reduce((sum, count) => sum + count, 0)).toBe(2_000);
  expect(errors).toEqual([expect.objectContaining({ exchanges: 2_000 })]);
  state.fault = undefined;
  time.advance(10_000);
  await settle();
  // The last batch is not full.
  time.advance(500);
  await settle();
  expect(pathsOf(written)).toEqual(Array.from({ length: 18_500 }, (_, number) => `/${number + 2_000}`));
});

test('bodies that wait are limited as well', async () => {
  const { store, state } = fakeStore();
  const { recorder, lost } = open(clock(), store);
  state.fault = new StoreUnavailable('the disk is full', { cause: new Error('SQLITE_FULL') });
  const requestBody = 'x'.repeat(1_000_000);
  for (let number = 0; number < 40; number += 1) recorder.record(read({ requestBody }));
  await settle();
  expect(lost.length).toBeGreaterThan(0);
});

test('while the database is away, it is tried again every five seconds', async () => {
  const { store, written, batches, state } = fakeStore();
  const time = clock();
  const { recorder, errors } = open(time, store);
  state.fault = new StoreUnavailable('the disk is full', { cause: new Error('SQLITE_FULL') });
  for (let number = 0; number < 1_000; number += 1) recorder.record(read());
  await settle();
  for (const wait of [5_000, 5_000, 5_000]) {
    const tries = batches.length;
    time.advance(wait - 1);
    await settle();
    expect(batches).toHaveLength(tries);
    time.advance(1);
    await settle();
    expect(batches).toHaveLength(tries + 1);
  }
  state.fault = undefined;
  time.advance(10_000);
  await settle();
  expect(written).toHaveLength(1_000);
  expect(errors).toEqual([]);
});

test('a failed write is logged, and the next one is attempted', async () => {
  const { store, written, state } = fakeStore();
  const { recorder, errors, lost } = open(clock(), store);
  const fault = new Error('the table is missing');
  state.fault = fault;
  for (let number = 0; number < 1_000; number += 1) recorder.record(read());
  await settle();
  expect([lost, errors]).toEqual([[1_000], [{ err: fault, exchanges: 1_000 }]]);
  state.fault = undefined;
  for (let number = 0; number < 1_000; number += 1) recorder.record(read());
  await settle();
  expect(written).toHaveLength(1_000);
  expect(errors).toHaveLength(1);
});

describe('requests without a valid credential', () => {
  const stranger = read({ connection: undefined, status: 401 });

  test('are kept up to 200 a minute and address, and the others are one entry for each status', async () => {
    const { store, written } = fakeStore();
    const time = clock();
    const { recorder } = open(time, store);
    for (let number = 0; number < 700; number += 1) recorder.record({ ...stranger, address: '10.0.0.1' });
    recorder.record({ ...stranger, address: '10.0.0.1', status: 429 });
    recorder.record({ ...stranger, address: '10.0.0.2' });
    time.advance(60_000);
    await settle();
    recorder.record({ ...stranger, address: '10.0.0.1' });
    time.advance(500);
    await settle();
    const paths = pathsOf(written);
    expect(paths).toHaveLength(200 + 1 + 2 + 1);
    expect(paths).toContain('(500 more requests without a valid token)');
    expect(paths).toContain('(1 more request without a valid token)');
  });

  test('are kept up to 400 a minute from all addresses together', async () => {
    const { store, written } = fakeStore();
    const { recorder } = open(clock(), store);
    for (let number = 0; number < 100_000; number += 1)
      recorder.record({ ...stranger, direction: 'api', address: `10.0.${number >> 8}.${number & 255}` });
    recorder.record(read());
    await recorder.close();
    const paths = pathsOf(written);
    expect(paths).toHaveLength(400 + 2);
    expect(paths).toContain('(99600 more requests without a credential)');
  });
});

test('requests without a valid credential fill a tenth of the kept entries, and push out no others', async () => {
  const time = clock();
  const { store, written } = fakeStore();
  const { recorder } = open(time, store, 14_000);
  const stranger = read({ connection: undefined, status: 401 });
  for (let minute = 0; minute < 20; minute += 1) {
    for (let number = 0; number < 30; number += 1)
      recorder.record({ ...stranger, address: `10.0.${minute}.${number}` });
    recorder.record(read());
    time.advance(60_000);
    await settle();
  }
  const ofStrangers = () => written.filter(({ connection }) => connection === undefined);
  expect(ofStrangers()).toHaveLength(100);
  expect(written.length - ofStrangers().length).toBe(20);
  time.advance(DAY_MS);
  await settle();
  time.advance(500);
  await settle();
  expect(
    ofStrangers()
      .map(({ path }) => path)
      .at(-1),
  ).toBe('(500 more requests without a valid token)');
  recorder.record({ ...stranger, address: '10.0.0.1' });
  await recorder.close();
  expect(ofStrangers()).toHaveLength(102);
});

test('of a request without a valid token, each text is cut to 200 characters', async () => {
  const { store, written } = fakeStore();
  const { recorder } = open(clock(), store);
  const texts = {
    path: `/scim/v2/${'x'.repeat(5_000)}`,
    requestHeaders: { 'user-agent': 'u'.repeat(5_000) },
  };
  recorder.record(read({ ...texts, connection: undefined, status: 401 }));
  recorder.record(read(texts));
  await recorder.close();
  const lengths = written.map(({ connection, path, requestHeaders }) => [
    connection,
    path.length,
    requestHeaders['user-agent']?.length,
  ]);
  expect(lengths).toEqual([
    [undefined, 200, 200],
    ['okta', 5_009, 5_000],
  ]);
});

test('what is older than the settings allow is deleted', async () => {
  const { store, deletions } = fakeStore();
  const time = clock();
  open(time, store);
  await settle();
  expect(deletions).toEqual([{ before: time.now() - 14 * DAY_MS, maxEntries: 2_000_000, limit: 1_000 }]);
});

test('old exchanges are deleted in batches with pauses', async () => {
  const { store, deletions } = fakeStore();
  const time = clock();
  open(time, store);
  await settle();
  for (const count of [2, 3, 3]) {
    time.advance(20);
    await settle();
    expect(deletions).toHaveLength(count);
  }
});

test.each([
  ['a member', { password: 'hush' }],
  ['an operation of a PATCH', { Operations: [{ op: 'replace', path: 'password', value: 'hush' }] }],
  ['a text that is no JSON', '{"password": "hush"'],
])('a secret in %s is not written', async (_title, body) => {
  const { store, written } = fakeStore();
  const { recorder } = open(clock(), store);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  recorder.record(
    read({ method: 'POST', requestBody: Buffer.from(text), path: '/scim/v2/Users?token=hush' }),
  );
  await recorder.close();
  expect(JSON.stringify(written)).not.toContain('hush');
  expect(pathsOf(written)).toEqual(['/scim/v2/Users?token=*']);
});
