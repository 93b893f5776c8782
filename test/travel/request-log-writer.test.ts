import { StoreUnavailable } from '../../src/store/unavailable.ts';
import type { LoggedRequest, RequestLog } from '../../src/travel/ports.ts';
import { createRequestLogWriter } from '../../src/travel/request-log-writer.ts';
import { type Clock, clock } from '../fixtures/clock.ts';

const DAY_MS = 24 * 60 * 60_000;

/** A request log that records its calls and completes them on demand. */
function notes() {
  const told: { batches: number[]; paths: string[]; sweeps: { before: number; limit: number }[] } = {
    batches: [],
    paths: [],
    sweeps: [],
  };
  let gate: Promise<void> = Promise.resolve();
  const requests: RequestLog = {
    append: async (batch) => {
      told.batches.push(batch.length);
      told.paths.push(...batch.map(({ path }) => path));
      await gate;
    },
    list: async () => ({ requests: [], next: undefined }),
    deleteOlderThan: async (before, limit) => {
      told.sweeps.push({ before, limit });
      return told.sweeps.length < 3 ? limit : 0;
    },
  };
  return {
    ...told,
    requests,
    block: (until: Promise<void>) => {
      gate = until;
    },
  };
}

const row: LoggedRequest = {
  time: 0,
  ms: 1,
  method: 'GET',
  path: '/api/users',
  status: 200,
  userId: 'u1',
  credential: 'apiKey:k1',
  requestId: 'r',
  requestBody: undefined,
  responseBody: undefined,
};

/** Lets all pending work finish. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

function open(log: ReturnType<typeof notes>, time: Clock) {
  const errors: object[] = [];
  const keeping = createRequestLogWriter({
    requests: log.requests,
    clock: time,
    log: { error: (fields) => errors.push(fields) },
  });
  const tell = (count: number) => {
    for (let n = 0; n < count; n += 1) keeping.write(row);
  };
  return { keeping, tell, errors };
}

test('requests within 100 ms are written together', async () => {
  const log = notes();
  const time = clock();
  const { keeping, tell } = open(log, time);
  tell(3);
  time.advance(99);
  tell(4);
  await settle();
  expect(log.batches).toEqual([]);
  time.advance(1);
  await settle();
  expect(log.batches).toEqual([7]);
  tell(1);
  await settle();
  time.advance(100);
  await settle();
  expect(log.batches).toEqual([7, 1]);
  await keeping.close();
});

test('200 requests are written at once without waiting', async () => {
  const log = notes();
  const { keeping, tell } = open(log, clock());
  tell(450);
  await settle();
  expect(log.batches).toEqual([200, 200]);
  await keeping.close();
  expect(log.batches).toEqual([200, 200, 50]);
});

test('waiting requests are written when the writer is closed', async () => {
  const log = notes();
  const { keeping, tell } = open(log, clock());
  tell(5);
  await keeping.close();
  expect(log.batches).toEqual([5]);
});

test('while the database does not answer, at most 2,000 requests wait; the others are counted and logged once a minute', async () => {
  const log = notes();
  const time = clock();
  const { keeping, tell, errors } = open(log, time);
  let goOn = () => {};
  log.block(
    new Promise((resolve) => {
      goOn = resolve;
    }),
  );
  tell(200);
  await settle();
  expect(log.batches).toEqual([200]);
  tell(2_000);
  expect(errors).toEqual([]);
  tell(10);
  expect(errors).toEqual([{ err: undefined, requests: 1 }]);
  time.advance(60_000);
  tell(1);
  expect(errors).toEqual([
    { err: undefined, requests: 1 },
    { err: undefined, requests: 10 },
  ]);
  goOn();
  await keeping.close();
  expect(log.batches.reduce((sum, size) => sum + size)).toBe(2_200);
});

test('a failed write is logged, and the next one is attempted', async () => {
  const log = notes();
  const time = clock();
  const { keeping, tell, errors } = open(log, time);
  const full = new Error('database or disk is full');
  log.block(Promise.reject(full));
  tell(200);
  await settle();
  expect(errors).toEqual([{ err: full, requests: 200 }]);
  log.block(Promise.resolve());
  tell(200);
  await settle();
  expect(log.batches).toEqual([200, 200]);
  expect(errors).toHaveLength(1);
  await keeping.close();
});

test('while the disk is full, requests wait with increasing delays, and none is lost', async () => {
  const log = notes();
  const time = clock();
  const { keeping, tell, errors } = open(log, time);
  const full = new StoreUnavailable('the disk is full', { cause: new Error('database or disk is full') });
  log.block(Promise.reject(full));
  tell(200);
  await settle();
  for (const wait of [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
    const tries = log.batches.length;
    time.advance(wait - 1);
    await settle();
    expect(log.batches).toHaveLength(tries);
    time.advance(1);
    await settle();
    expect(log.batches).toHaveLength(tries + 1);
  }
  tell(100);
  log.block(Promise.resolve());
  const failed = log.batches.length;
  time.advance(10_000);
  await settle();
  time.advance(100);
  await settle();
  expect(log.batches.slice(failed)).toEqual([200, 100]);
  expect(errors).toEqual([]);
  await keeping.close();
});

test('when the writer is closed, requests that cannot be written are attempted once more and counted', async () => {
  const log = notes();
  const { keeping, tell, errors } = open(log, clock());
  const full = new StoreUnavailable('the disk is full', { cause: new Error('database or disk is full') });
  log.block(Promise.reject(full));
  tell(200);
  await settle();
  await keeping.close();
  expect(log.batches).toEqual([200, 200]);
  expect(errors).toEqual([{ err: full, requests: 200 }]);
});

test('requests older than 30 days are deleted in batches', async () => {
  const log = notes();
  const time = clock();
  const { keeping } = open(log, time);
  await settle();
  expect(log.sweeps).toEqual([]);
  time.advance(60_000);
  const before = time.now() - 30 * DAY_MS;
  await settle();
  expect(log.sweeps).toEqual([{ before, limit: 500 }]);
  for (let part = 0; part < 5; part += 1) {
    time.advance(20);
    await settle();
  }
  expect(log.sweeps.map(({ limit }) => limit)).toEqual([500, 500, 500]);
  await keeping.close();
});

describe('unauthenticated requests', () => {
  const stranger = { ...row, path: '/api/x', status: 401, userId: undefined, credential: undefined };
  /** The number of writes of each path. */
  const sums = (paths: string[]) => {
    const counts = new Map<string, number>();
    for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + 1);
    return Object.fromEntries(counts);
  };

  test('from one address are recorded up to a hundred each minute; the others become one summary for each status', async () => {
    const log = notes();
    const time = clock();
    const { keeping, tell } = open(log, time);
    const from = (address: string, count: number, status = 401) => {
      for (let n = 0; n < count; n += 1) keeping.write({ ...stranger, status }, address);
    };
    from('10.0.0.1', 150);
    from('10.0.0.2', 3);
    from('10.0.0.1', 1, 499);
    tell(5);
    time.advance(60_000);
    await settle();
    from('10.0.0.1', 101);
    await keeping.close();
    expect(sums(log.paths)).toEqual({
      '/api/x': 203,
      '/api/users': 5,
      '(50 more requests without a credential)': 1,
      '(1 more requests without a credential)': 2,
    });
  });

  test('from all addresses together are recorded up to two hundred each minute', async () => {
    const log = notes();
    const { keeping, tell } = open(log, clock());
    for (let n = 0; n < 100_000; n += 1) keeping.write(stranger, `10.0.${n >> 8}.${n & 255}`);
    tell(3);
    await keeping.close();
    expect(sums(log.paths)).toEqual({
      '/api/x': 200,
      '/api/users': 3,
      '(99800 more requests without a credential)': 1,
    });
  });
});
