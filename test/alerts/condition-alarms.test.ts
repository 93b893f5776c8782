import type { Alert } from '../../src/alerts/channel.ts';
import { conditionAlarms } from '../../src/alerts/condition-alarms.ts';
import type { LocalFact } from '../../src/model/conditions.ts';
import type { AlarmCount } from '../../src/model/holds.ts';
import { findConditions } from '../../src/provisioning/conditions/conditions.ts';
import type { StoredFacts } from '../../src/store/condition-facts.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { reportedConditions } from '../../src/store/queues/reported-conditions.ts';
import { weeklyMails } from '../../src/store/queues/weekly-mails.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { type Clock, clock } from '../fixtures/clock.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { connectionState, soundFacts, summaryOf } from '../provisioning/conditions/facts.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

const summaries = [summaryOf('default'), summaryOf('second')];
const databases = temporaryDatabases('jetbridge-alarms-');
let database: Database;
let time: Clock;
let counts: AlarmCount[];
let more: Partial<StoredFacts>;
let storeFault: string | undefined;
let alerts: Alert[];
let logged: { level: string; fields: object; message: string }[];
let failure: Error | undefined;
let running: Replica[];
/** The loops that wait, each until a time. */
let waiting: { until: number }[];
beforeEach(async () => {
  database = await databases.open();
  for (const id of ['default', 'second']) await ensureConnection(database, { id, account: 'travel' });
  time = clock();
  counts = [];
  more = {};
  storeFault = undefined;
  alerts = [];
  logged = [];
  failure = undefined;
  running = [];
  waiting = [];
  await startAlarms();
});
afterEach(stopAlarms);

/** The alarms of one replica, and what it sees by itself. */
interface Replica {
  local: LocalFact[];
  stop(): Promise<void>;
}

/** Starts the alarms of one replica. */
async function startAlarms(): Promise<Replica> {
  const reported = reportedConditions(database);
  const replica: Replica = { local: [], stop: async () => {} };
  const log = (level: string) => (fields: object, message: string) =>
    void logged.push({ level, fields, message });
  const wait: Clock['wait'] = (ms, signal) => {
    waiting.push({ until: time.now() + ms });
    return time.wait(ms, signal);
  };
  const read = async () => {
    if (failure) throw failure;
    const own = { now: time.now(), local: replica.local, storeFault };
    const listed = await reported.list();
    const shared = listed.flatMap(({ seen }) => (seen ? [seen] : []));
    const facts = { ...soundFacts, summaries, counts, ...more, reported: listed, shared, ...own };
    return { conditions: findConditions(facts), facts };
  };
  const alarms = conditionAlarms({
    conditions: { read },
    reported,
    alerts: { send: (alert) => void alerts.push(alert) },
    afterMs: 5 * MINUTE_MS,
    runtime: { ...time, wait, log: { info: log('info'), warn: log('warn'), error: log('error') } },
  });
  replica.stop = alarms.stop;
  running.push(replica);
  await allWait();
  return replica;
}

async function stopAlarms(): Promise<void> {
  for (const alarms of running.splice(0)) await alarms.stop();
  waiting = [];
}

/** Resolves when each replica has ended its check. */
async function allWait(): Promise<void> {
  while (waiting.length < running.length) await new Promise(setImmediate);
}

async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SECOND_MS) {
    time.advance(SECOND_MS);
    waiting = waiting.filter(({ until }) => until > time.now());
    await allWait();
  }
}

function holdCount(count: number, extra: Partial<AlarmCount> = {}): AlarmCount {
  return { connection: 'default', cause: 'safetyValve', count, since: 5, ...extra };
}

const outage = (since: number): LocalFact => ({
  ...{ kind: 'travelOutage', connection: 'default', since, status: 503, pause: 'throttled' },
});

const sentAlerts = () =>
  alerts.map(({ type, data }) => {
    const { connection, cause, count } = { connection: '', cause: '', count: '', ...data };
    return `${type} ${connection} ${cause} ${count}`;
  });
const sentTypes = () => alerts.map(({ type }) => type);

test('the first hold of each cause and connection is logged and alerted within a second', async () => {
  counts = [holdCount(3), holdCount(1, { cause: 'guarded' }), holdCount(2, { connection: 'second' })];
  await advance(SECOND_MS);
  expect(sentAlerts()).toEqual([
    'hold.opened default safetyValve 3',
    'hold.opened default guarded 1',
    'hold.opened second safetyValve 2',
  ]);
  expect(logged[0]).toEqual({
    level: 'error',
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
  expect(sentAlerts().toSorted()).toEqual([
    'notArchived.cleared default notArchived 0',
    'notArchived.opened default notArchived 1',
    'unclearAnswer.cleared default unclearAnswer 0',
    'unclearAnswer.opened default unclearAnswer 2',
  ]);
  expect(logged.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^a gateway may answer in place of the travel API .*jetbridge doctor/),
  );
});

test('an import that has ended at its maximum has an alert of its own', async () => {
  const state = { isIncomplete: false, at: 5, read: 100_000, maximum: 100_000 };
  more = { connections: [connectionState('default', { importState: state })] };
  await advance(SECOND_MS);
  expect(sentAlerts()).toEqual(['importMaximum.opened default importMaximum 100000']);
  more = {};
  await advance(MINUTE_MS);
  expect(sentTypes()).toEqual(['importMaximum.opened', 'importMaximum.cleared']);
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
  expect(logged.at(-1)).toMatchObject({ level: 'info', fields: { count: 0 } });
  counts = [holdCount(1)];
  await advance(SECOND_MS);
  expect(sentAlerts().at(-1)).toBe('hold.opened default safetyValve 1');
});

test('a condition that comes and goes is one, which ends after a minute of calm', async () => {
  for (let round = 0; round < 8; round += 1) {
    storeFault = 'the disk is full';
    await advance(3 * SECOND_MS);
    storeFault = undefined;
    counts = [holdCount(1)];
    await advance(10 * SECOND_MS);
    counts = [];
    await advance(10 * SECOND_MS);
  }
  expect(sentTypes()).toEqual(['databaseUnwritable.opened', 'hold.opened']);
  await advance(MINUTE_MS);
  expect(sentTypes().slice(2).toSorted()).toEqual(['databaseUnwritable.cleared', 'hold.cleared']);
});

test('the alert of an end says what has ended, of which connection, and since when', async () => {
  counts = [holdCount(3)];
  await advance(SECOND_MS);
  counts = [];
  storeFault = 'the disk is full';
  await advance(SECOND_MS);
  storeFault = undefined;
  await advance(2 * MINUTE_MS);
  const began = new Date(time.now() - 2 * MINUTE_MS).toISOString().slice(0, 16);
  expect(alerts.slice(2).map(({ text }) => text)).toEqual([
    `The database can be written again (since ${began}Z).`,
    'No changes are held for this cause any more (safetyValve, connection default, since 1970-01-01T00:00Z).',
  ]);
});

test('an import that fails is told after five minutes, as most such failures end by themselves', async () => {
  more = { connections: [connectionState('default', { importState: { failedSince: time.now() } })] };
  await advance(4 * MINUTE_MS);
  expect(alerts).toEqual([]);
  await advance(2 * MINUTE_MS);
  expect(sentTypes()).toEqual(['importFailed.opened']);
});

test('a failing store is logged once, and the alarms continue when it recovers', async () => {
  failure = new Error('the disk is gone');
  await advance(MINUTE_MS);
  expect(logged.map(({ message }) => message)).toEqual(['the conditions could not be read; retrying']);
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
  await advance(MINUTE_MS);
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
  await advance(MINUTE_MS);
  expect(sentAlerts()).toEqual(['hold.opened default safetyValve 3', 'hold.cleared default safetyValve 0']);
});

/** Acknowledges the hold of `default`, or with `*` all holds, for a number of minutes. */
async function acknowledge(connection: string, minutes: number): Promise<void> {
  const key = { connection, kind: 'hold', subject: connection === '*' ? '' : 'safetyValve' } as const;
  const until = { by: 'ada', until: time.now() + minutes * MINUTE_MS };
  await reportedConditions(database).acknowledge({ ...key, people: 0, since: 0 }, until);
}

describe('an acknowledged condition', () => {
  test('is not told when it grows, and once more when it is open at the end of the acknowledgement', async () => {
    await startAlarms();
    counts = [holdCount(1)];
    await advance(SECOND_MS);
    await acknowledge('default', 12);
    counts = [holdCount(50)];
    await advance(11 * MINUTE_MS);
    expect(sentTypes()).toEqual(['hold.opened']);
    await advance(2 * MINUTE_MS);
    expect(sentAlerts()).toEqual(['hold.opened default safetyValve 1', 'hold.opened default safetyValve 50']);
  });

  test('is told when it ends, and its acknowledgement ends with it', async () => {
    counts = [holdCount(1)];
    await advance(SECOND_MS);
    await acknowledge('default', 60);
    counts = [];
    await advance(MINUTE_MS);
    counts = [holdCount(1)];
    await advance(SECOND_MS);
    expect(sentTypes()).toEqual(['hold.opened', 'hold.cleared', 'hold.opened']);
  });

  test('that was not told before is told at the end of the acknowledgement, and its end is not told before', async () => {
    await acknowledge('default', 10);
    counts = [holdCount(1)];
    await advance(9 * MINUTE_MS);
    counts = [];
    await advance(30 * SECOND_MS);
    expect(alerts).toEqual([]);
    counts = [holdCount(2)];
    await advance(MINUTE_MS);
    expect(sentAlerts()).toEqual(['hold.opened default safetyValve 2']);
  });

  test('leaves the others of its kind as they are', async () => {
    counts = [holdCount(1), holdCount(1, { connection: 'second' })];
    await acknowledge('default', 60);
    await advance(SECOND_MS);
    expect(sentAlerts()).toEqual(['hold.opened second safetyValve 1']);
  });
});

test('while a kind is quiet no condition of it is told to open or grow, and afterwards those that are open', async () => {
  counts = [holdCount(1)];
  await advance(SECOND_MS);
  await acknowledge('*', 12);
  counts = [holdCount(5), holdCount(1, { connection: 'second' })];
  const left = { connection: 'default', cause: 'unclearAnswer', count: 1, since: 5 } as const;
  counts.push(left);
  await advance(11 * MINUTE_MS);
  expect(sentAlerts()).toEqual([
    'hold.opened default safetyValve 1',
    'unclearAnswer.opened default unclearAnswer 1',
  ]);
  await advance(2 * MINUTE_MS);
  expect(sentAlerts().slice(2).toSorted()).toEqual([
    'hold.grew default safetyValve 5',
    'hold.opened second safetyValve 1',
  ]);
  await advance(MINUTE_MS);
  expect((await reportedConditions(database).list()).map(({ connection }) => connection)).not.toContain('*');
});

test('a database that cannot be written is not told while its kind is quiet', async () => {
  const key = { connection: '*', kind: 'databaseUnwritable', subject: '', people: 0, since: 0 } as const;
  await reportedConditions(database).acknowledge(key, { by: 'ada', until: time.now() + MINUTE_MS });
  storeFault = 'the disk is full';
  await advance(MINUTE_MS - SECOND_MS);
  expect(alerts).toEqual([]);
  await advance(2 * SECOND_MS);
  expect(sentTypes()).toEqual(['databaseUnwritable.opened']);
});

test('the alerts of one condition are of one incident, which the last one ends', async () => {
  counts = [holdCount(1), holdCount(1, { connection: 'second' })];
  await advance(SECOND_MS);
  counts = [];
  await advance(MINUTE_MS);
  const incidents = alerts.map(({ incident }) => incident);
  expect(incidents.map((incident) => incident?.isOver)).toEqual([false, false, true, true]);
  expect(incidents.map((incident) => incident?.key)).toEqual([
    ...[incidents[0]?.key, incidents[1]?.key, incidents[0]?.key, incidents[1]?.key],
  ]);
  expect(incidents[0]?.key).not.toBe(incidents[1]?.key);
});

test('an alert has a sentence, the place on the page, and the severity', async () => {
  counts = [holdCount(3)];
  await advance(SECOND_MS);
  counts = [];
  await advance(MINUTE_MS);
  expect(alerts).toMatchObject([
    {
      ...{ type: 'hold.opened', severity: 'warning', path: '/decisions/default/safetyValve' },
      text: 'Changes of 3 people of default are held: the safety valve has stopped these departures.',
      data: { connection: 'default', cause: 'safetyValve', count: 3, since: '1970-01-01T00:00:00.005Z' },
    },
    {
      type: 'hold.cleared',
      severity: 'info',
      text: expect.stringMatching(/^No changes are held for this cause any more/),
    },
  ]);
});

describe('an outage', () => {
  test('is told after five minutes by one of two replicas, and its end once', async () => {
    const [one] = running;
    const other = await startAlarms();
    const since = time.now();
    if (one) one.local = [outage(since)];
    await advance(4 * MINUTE_MS);
    other.local = [outage(time.now())];
    await advance(59 * SECOND_MS);
    expect(alerts).toEqual([]);
    await advance(2 * SECOND_MS);
    expect(alerts).toMatchObject([
      {
        ...{ type: 'travelOutage.opened', severity: 'failing' },
        text: expect.stringMatching(
          /^The travel API of default answers 503 since .*no change waits for it\.$/,
        ),
        data: { connection: 'default', people: 0, since: new Date(since).toISOString() },
      },
    ]);
    for (const replica of running) replica.local = [];
    await advance(3 * MINUTE_MS);
    expect(sentTypes()).toEqual(['travelOutage.opened', 'travelOutage.cleared']);
  });

  test('that ends before is not told, nor is one that only one of two replicas sees told as ended', async () => {
    await startAlarms();
    const [one] = running;
    if (one) one.local = [outage(time.now())];
    await advance(4 * MINUTE_MS);
    if (one) one.local = [];
    await advance(5 * MINUTE_MS);
    expect(alerts).toEqual([]);
    if (one) one.local = [outage(time.now())];
    await advance(20 * MINUTE_MS);
    expect(sentTypes()).toEqual(['travelOutage.opened']);
  });

  test('is recorded with the time that it has lasted, also a short one that is not told', async () => {
    const [one] = running;
    const from = time.now();
    if (one) one.local = [outage(from)];
    await advance(4 * MINUTE_MS);
    if (one) one.local = [];
    await advance(3 * MINUTE_MS);
    const week = { from: from - MINUTE_MS, to: from + 60 * MINUTE_MS };
    const [known] = await weeklyMails(database).read(week, time.now());
    expect(known?.connection).toBe('default');
    expect(Math.abs((known?.outageMs ?? 0) - 4 * MINUTE_MS)).toBeLessThan(5 * SECOND_MS);
    expect(alerts).toEqual([]);
  });

  test('is not told again after a restart', async () => {
    const [one] = running;
    if (one) one.local = [outage(time.now())];
    await advance(6 * MINUTE_MS);
    await stopAlarms();
    await advance(MINUTE_MS);
    const next = await startAlarms();
    await advance(30 * SECOND_MS);
    next.local = [outage(time.now())];
    await advance(10 * MINUTE_MS);
    expect(sentTypes()).toEqual(['travelOutage.opened']);
  });
});

test('a database that cannot be written is told without being asked, and its end', async () => {
  storeFault = 'the disk is full';
  counts = [holdCount(1)];
  await advance(MINUTE_MS);
  expect(alerts).toMatchObject([
    { type: 'databaseUnwritable.opened', text: 'The database cannot be written: the disk is full.' },
  ]);
  storeFault = undefined;
  await advance(MINUTE_MS);
  expect(sentTypes()).toEqual(['databaseUnwritable.opened', 'hold.opened', 'databaseUnwritable.cleared']);
  // What notices the fault logs it.
  expect(logged.map(({ fields }) => fields)).toEqual([expect.objectContaining({ cause: 'safetyValve' })]);
});

test('a burst of refused sign-ins, which is told by itself, is told as ended', async () => {
  const [one] = running;
  if (one) one.local = [{ kind: 'signIns', connection: '', since: time.now(), count: 57 }];
  await advance(SECOND_MS);
  expect(alerts).toEqual([]);
  if (one) one.local = [];
  await advance(3 * MINUTE_MS);
  expect(sentTypes()).toEqual(['signIns.cleared']);
});

test('a finding that concerns many is told again when they have doubled', async () => {
  const find = (people: number) => {
    const [states, findings] = [{ synced: 100 }, new Map([['phoneUnreadable', people]])];
    more = { summaries: [summaryOf('default', { states, findings })] };
  };
  find(20);
  await advance(SECOND_MS);
  find(39);
  await advance(11 * MINUTE_MS);
  expect(sentTypes()).toEqual(['findings.opened']);
  find(40);
  await advance(SECOND_MS);
  expect(sentTypes()).toEqual(['findings.opened', 'findings.grew']);
  expect(logged[0]).toMatchObject({
    ...{ level: 'warn', message: 'a condition needs attention' },
    fields: { kind: 'findings', subject: 'phoneUnreadable', people: 20 },
  });
});
