import { type HoldAlarms, type HoldAlert, holdAlarms } from '../../src/provisioning/holds/hold-alarms.ts';
import type { AlarmCount } from '../../src/provisioning/holds/holds.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { reportedHolds } from '../../src/store/queues/hold-alarms.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { type Clock, clock } from '../fixtures/clock.ts';
import { waitUntilIdle } from '../fixtures/idle.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

const databases = temporaryDatabases('jetbridge-alarms-');
let database: Database;
let time: Clock;
let counts: AlarmCount[];
let alerts: HoldAlert[];
let logged: { fields: object; message: string }[];
let failure: Error | undefined;
let running: HoldAlarms[];
beforeEach(async () => {
  database = await databases.open();
  for (const id of ['default', 'second']) await ensureConnection(database, { id, account: 'travel' });
  time = clock();
  counts = [];
  alerts = [];
  logged = [];
  failure = undefined;
  running = [];
  await startAlarms();
});
afterEach(stopAlarms);

/** Starts the alarms of one replica. */
async function startAlarms(): Promise<void> {
  const keep = (fields: object, message: string) => void logged.push({ fields, message });
  running.push(
    holdAlarms({
      holds: {
        countHolds: async () => {
          if (failure) throw failure;
          return counts;
        },
      },
      reportedHolds: reportedHolds(database),
      alerts: { send: (alert) => void alerts.push(alert) },
      runtime: { ...time, log: { info: keep, warn: () => {}, error: keep } },
    }),
  );
  await waitUntilIdle(20);
}

async function stopAlarms(): Promise<void> {
  for (const alarms of running.splice(0)) await alarms.stop();
}

async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SECOND_MS) {
    time.advance(SECOND_MS);
    await waitUntilIdle(20);
  }
}

function holdCount(count: number, extra: Partial<AlarmCount> = {}): AlarmCount {
  return { connection: 'default', cause: 'safetyValve', count, since: 5, ...extra };
}

const sentAlerts = () =>
  alerts.map(({ type, hold }) => `${type} ${hold.connection} ${hold.cause} ${hold.count}`);

test('the first hold of each cause and connection is logged and alerted within a second', async () => {
  counts = [holdCount(3), holdCount(1, { cause: 'guarded' }), holdCount(2, { connection: 'second' })];
  await advance(SECOND_MS);
  expect(sentAlerts()).toEqual([
    'hold.opened default safetyValve 3',
    'hold.opened default guarded 1',
    'hold.opened second safetyValve 2',
  ]);
  expect(logged[0]).toEqual({
    fields: { connection: 'default', cause: 'safetyValve', count: 3, since: '1970-01-01T00:00:00.005Z' },
    message: 'changes are held until an admin decides: see "npx jetbridge holds list"',
  });
  expect(logged).toHaveLength(3);
});

test('people about whom the answers of the travel API are doubtful have alerts of their own', async () => {
  counts = [holdCount(2, { cause: 'unclearAnswer' }), holdCount(1, { cause: 'notArchived' })];
  await advance(SECOND_MS);
  counts = [];
  await advance(MINUTE_MS);
  expect(alerts.map(({ type, hold }) => `${type} ${hold.count}`)).toEqual([
    ...['unclearAnswer.opened 2', 'notArchived.opened 1'],
    ...['unclearAnswer.cleared 0', 'notArchived.cleared 0'],
  ]);
  expect(logged[0]?.message).toMatch(/^a gateway may answer in place of the travel API .*jetbridge doctor/);
});

test('an import that has ended at its maximum has an alert of its own', async () => {
  counts = [holdCount(100_000, { cause: 'importMaximum' })];
  await advance(SECOND_MS);
  counts = [];
  await advance(MINUTE_MS);
  expect(alerts.map(({ type }) => type)).toEqual(['importMaximum.opened', 'importMaximum.cleared']);
  expect(logged[0]?.message).toMatch(/import\.maximum in the settings$/);
});

test('a growing count is reported at most every ten minutes', async () => {
  counts = [holdCount(1)];
  await advance(SECOND_MS);
  for (let count = 2; count <= 300; count += 1) {
    counts = [holdCount(count)];
    await advance(SECOND_MS);
  }
  expect(sentAlerts()).toEqual(['hold.opened default safetyValve 1']);
  await advance(10 * MINUTE_MS - 299 * SECOND_MS);
  expect(sentAlerts()).toEqual(['hold.opened default safetyValve 1', 'hold.grew default safetyValve 300']);
  await advance(60 * MINUTE_MS);
  expect(sentAlerts()).toHaveLength(2);
});

test('a count that shrank and grows again is reported', async () => {
  counts = [holdCount(100)];
  await advance(SECOND_MS);
  counts = [holdCount(10)];
  await advance(10 * MINUTE_MS);
  counts = [holdCount(50)];
  await advance(SECOND_MS);
  expect(sentAlerts()).toEqual(['hold.opened default safetyValve 100', 'hold.grew default safetyValve 50']);
});

test('the end of a hold is reported once, and not during a reconciliation of a held person', async () => {
  counts = [holdCount(4)];
  await advance(SECOND_MS);
  counts = [];
  await advance(2 * SECOND_MS);
  counts = [holdCount(4)];
  await advance(SECOND_MS);
  expect(sentAlerts()).toHaveLength(1);
  counts = [];
  await advance(MINUTE_MS);
  expect(sentAlerts().slice(1)).toEqual(['hold.cleared default safetyValve 0']);
  expect(logged.at(-1)?.fields).toMatchObject({ count: 0 });
  counts = [holdCount(1)];
  await advance(SECOND_MS);
  expect(sentAlerts().at(-1)).toBe('hold.opened default safetyValve 1');
});

test('a failing store is logged once, and the alarms continue when it recovers', async () => {
  failure = new Error('the disk is gone');
  await advance(MINUTE_MS);
  expect(logged.map(({ message }) => message)).toEqual(['the held changes could not be counted; retrying']);
  failure = undefined;
  counts = [holdCount(1)];
  await advance(5 * SECOND_MS);
  expect(sentAlerts()).toEqual(['hold.opened default safetyValve 1']);
});

test('several replicas report each change once', async () => {
  await startAlarms();
  await startAlarms();
  counts = [holdCount(1)];
  await advance(SECOND_MS);
  counts = [holdCount(7)];
  await advance(10 * MINUTE_MS);
  counts = [];
  await advance(10 * SECOND_MS);
  counts = [holdCount(2)];
  await advance(SECOND_MS);
  expect(sentAlerts()).toEqual([
    'hold.opened default safetyValve 1',
    'hold.grew default safetyValve 7',
    'hold.cleared default safetyValve 0',
    'hold.opened default safetyValve 2',
  ]);
  expect(logged).toHaveLength(4);
});

test('a restart reports nothing again, and the end of what was held before', async () => {
  counts = [holdCount(3)];
  await advance(SECOND_MS);
  await stopAlarms();
  await startAlarms();
  await advance(5 * SECOND_MS);
  expect(sentAlerts()).toEqual(['hold.opened default safetyValve 3']);
  await stopAlarms();
  counts = [];
  await startAlarms();
  await advance(5 * SECOND_MS);
  expect(sentAlerts()).toEqual(['hold.opened default safetyValve 3', 'hold.cleared default safetyValve 0']);
});
