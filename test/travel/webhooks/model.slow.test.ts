import fc from 'fast-check';
import { sql } from 'kysely';
import { deliveryQueue } from '../../../src/store/travel/delivery-queue.ts';
import { withRecorder } from '../../../src/travel/changes.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { costCenter } from '../../../src/travel/resources/lookups.ts';
import { isOnPostgres } from '../../fixtures/data-folder.ts';
import { runs } from '../../fixtures/runs.ts';
import { NOON, openFixture } from '../../fixtures/travel.ts';
import { DAY, HOUR, MINUTE, SECOND } from './fixture.ts';
import { openReceiver, type Receiver, type ReceiverBehaviour } from './receiver.ts';

/** WEBHOOK_RUNS sets the number of runs. */
const RUNS = Number(process.env['WEBHOOK_RUNS'] ?? runs(30).numRuns);

const moods: ReceiverBehaviour[] = [
  200,
  204,
  500,
  503,
  404,
  301,
  'close',
  'noise',
  { status: 429, headers: { 'retry-after': '60' } },
];

/** A change of a webhook; `look` lets the dispatcher notice it at once. */
type Change = 'disable' | 'enable' | 'delete' | 'look';

type Step =
  | { do: 'happen'; count: number }
  | { do: 'feel'; receiver: number; mood: ReceiverBehaviour }
  | { do: 'pass'; ms: number }
  | { do: 'settle' }
  | { do: 'crash' }
  | { do: 'change'; receiver: number; during: boolean; changes: Change[] };

const receiver = fc.nat(1);
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Change>('disable', 'enable', 'look') },
  { weight: 1, arbitrary: fc.constant<Change>('delete') },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('happen' as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('feel' as const), receiver, mood: fc.constantFrom(...moods) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(SECOND, 5 * SECOND, MINUTE, HOUR, 7 * HOUR, 25 * HOUR),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ do: 'settle' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      receiver,
      during: fc.constantFrom(true, true, false),
      changes: fc.array(change, { minLength: 1, maxLength: 4 }),
    }),
  },
);

type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** A webhook with what the test knows about it. */
interface Line {
  id: string;
  receiver: Receiver;
  mood: ReceiverBehaviour;
  is: 'enabled' | 'disabled' | 'deleted';
  /** Changes made while the next request is in flight. */
  during: Change[];
  /** The numbers of the events that occurred while it was enabled. */
  selected: number[];
  /** The number of events when it was last disabled: some of these may be canceled. */
  before: number;
}

/** A fixture, two webhooks, and the number of events so far. */
interface Stage {
  fixture: Fixture;
  lines: Line[];
  made: number;
  /** The violations found. */
  faults: unknown[];
}

async function openLine(stage: Stage): Promise<void> {
  const { fixture, lines, faults } = stage;
  const receiver = await openReceiver();
  const { id } = await fixture.make('/webhooks', { url: receiver.url, events: ['costCenter.created'] });
  const line: Line = { id, receiver, mood: 204, is: 'enabled', during: [], selected: [], before: 0 };
  lines.push(line);
  receiver.behave(async () => {
    if (line.is !== 'enabled') faults.push(`sent to a webhook that is ${line.is}`);
    const during = { changes: line.during.splice(0), look: fixture.webhooks.dispatchDue };
    await changeLine(stage, line, during).catch((error: unknown) => faults.push(error));
    return line.mood;
  });
}

async function changeLine(
  { fixture, made }: Stage,
  line: Line,
  { changes, look }: { changes: Change[]; look(): Promise<unknown> },
): Promise<void> {
  const path = `/webhooks/${line.id}`;
  for (const one of changes) {
    if (one === 'look') await look();
    else if (line.is === 'deleted') continue;
    else if (one === 'delete') {
      expect((await fixture.send('delete', path)).status).toBe(200);
      line.is = 'deleted';
    } else {
      const disabled = one === 'disable';
      expect((await fixture.send('patch', path, { data: { disabled } })).status).toBe(200);
      line.is = disabled ? 'disabled' : 'enabled';
      if (disabled) line.before = made;
    }
    await checkQueues(fixture);
  }
}

/** The counters equal the rows, and every queue with waiting deliveries is found as due. */
async function checkQueues({ database, runtime }: Fixture): Promise<void> {
  await database.transaction(async (tx) => {
    // By default each statement of PostgreSQL sees what deliveries have committed since the one before it.
    if (isOnPostgres()) await sql`set transaction isolation level repeatable read`.execute(tx);
    const rows = await tx.selectFrom('travel_delivery').select(['webhook_id', 'status']).execute();
    const queues = await tx.selectFrom('travel_delivery_queue').selectAll().execute();
    const count = (id: string, status: string) =>
      rows.filter((row) => row.webhook_id === id && row.status === status).length;
    for (const { webhook_id: id, pending, succeeded, failed, canceled } of queues)
      expect({ pending, succeeded, failed, canceled }).toEqual({
        ...{ pending: count(id, 'pending'), succeeded: count(id, 'succeeded') },
        ...{ failed: count(id, 'failed'), canceled: count(id, 'canceled') },
      });
    const { dueWebhooks } = deliveryQueue({ ...database, db: tx });
    // Far enough in the future that every wait and lease has ended.
    const due = await dueWebhooks({ now: runtime.now() + 10 * DAY, healthy: 100, failing: 100 });
    const waiting = rows.filter(({ status }) => status === 'pending').map(({ webhook_id }) => webhook_id);
    expect(new Set([...due.healthy, ...due.failing])).toEqual(new Set(waiting));
  });
}

async function happen(stage: Stage): Promise<void> {
  const { now, newId } = stage.fixture.runtime;
  const runtime = { ...stage.fixture.runtime, onChange: () => {} };
  await withRecorder(runtime, ['costCenter'], (recorder) => {
    const doc = { archived: false, name: `center ${stage.made}` };
    return recorder.insert(costCenter, {
      ...{ type: 'costCenter', id: newId('A'), parentId: '', createdAt: now(), doc },
    });
  });
  for (const line of stage.lines) if (line.is === 'enabled') line.selected.push(stage.made);
  stage.made += 1;
}

async function take(stage: Stage, step: Step): Promise<void> {
  const { fixture, lines } = stage;
  const { now } = fixture.runtime;
  const line = 'receiver' in step ? lines[step.receiver] : undefined;
  if (step.do === 'happen') for (let count = 0; count < step.count; count++) await happen(stage);
  if (step.do === 'feel' && line) line.mood = step.mood;
  // Five days of failures would disable a webhook, which other tests cover.
  if (step.do === 'pass' && now() + step.ms < NOON + 4 * DAY) fixture.advanceClock(step.ms);
  if (step.do === 'settle') await fixture.webhooks.deliverAllDue();
  // Another process takes the leases and dies.
  if (step.do === 'crash')
    for (const { id } of lines)
      await fixture.queue.acquireLease({ webhookId: id, token: 'dead', ms: MINUTE }, now());
  if (step.do === 'change' && line) {
    if (step.during) line.during = [...step.changes];
    else {
      await changeLine(stage, line, {
        changes: [...step.changes, 'look'],
        look: fixture.webhooks.deliverAllDue,
      });
    }
  }
  await checkQueues(fixture);
}

/** Plays a history, delivers everything, and compares received with expected events. */
async function play(steps: Step[]): Promise<void> {
  const stage: Stage = { fixture: await openFixture(), lines: [], made: 0, faults: [] };
  const { fixture, lines, faults } = stage;
  try {
    for (let count = 0; count < 2; count++) await openLine(stage);
    for (const step of steps) await take(stage, step);
    for (const line of lines) Object.assign(line, { mood: 200, during: [] });
    await fixture.webhooks.deliverAllDue();
    for (const line of lines)
      if (line.is === 'disabled')
        await changeLine(stage, line, { changes: ['enable'], look: fixture.webhooks.dispatchDue });
    fixture.advanceClock(3 * HOUR);
    await fixture.webhooks.deliverAllDue();
    await checkQueues(fixture);
    expect(faults).toEqual([]);
    const events = (await wholeFeed(fixture)).filter(({ kind }) => kind === 'costCenter.created');
    expect(events).toHaveLength(stage.made);
    for (const line of lines) {
      checkOrder(line, events);
      if (line.is === 'deleted') await checkHidden(fixture, line);
      else checkHistory(line, { events, deliveries: await wholeHistory(fixture, line.id) });
    }
  } finally {
    for (const { receiver } of lines) await receiver.close();
    await fixture.close();
  }
}

/** The first arrivals of all events are in order; all others are repetitions. */
function checkOrder({ receiver, selected }: Line, events: JsonObject[]): void {
  const order = selected.map((at) => events[at]?.['id']);
  const came = receiver.received.map(({ event }) => order.indexOf(event.id));
  expect(came).toEqual(came.toSorted((one, other) => one - other));
  expect(receiver.received.map(({ event }) => event)).toEqual(came.map((at) => events[selected[at] ?? -1]));
}

/** Each selected event has one finished delivery, in order, with all its attempts. */
function checkHistory(
  { receiver, selected, before }: Line,
  { events, deliveries }: { events: JsonObject[]; deliveries: JsonObject[] },
): void {
  expect(deliveries.map(({ eventId }) => eventId)).toEqual(selected.map((at) => events[at]?.['id']));
  for (const [at, { attempts, eventId, status }] of deliveries.entries()) {
    const all = attempts as JsonObject[];
    expect(all.length).toBe(receiver.received.filter(({ event }) => event.id === eventId).length);
    const last = all.at(-1);
    if (last && !('error' in last)) expect(status).toBe('succeeded');
    else if ((selected[at] ?? 0) < before) expect(['failed', 'canceled']).toContain(status);
    else expect([status, last]).toEqual(['failed', expect.anything()]);
  }
}

/** A deleted webhook has no waiting and no visible deliveries. */
async function checkHidden({ database, send }: Fixture, { id }: Line): Promise<void> {
  const query = database.db.selectFrom('travel_delivery').select(['id', 'status']);
  const rows = await query.where('webhook_id', '=', id).execute();
  expect(rows.filter(({ status }) => status === 'pending')).toEqual([]);
  for (const path of ['', ...rows.slice(0, 1).map((row) => `/${row.id}`)])
    expect((await send('get', `/webhooks/${id}/deliveries${path}`)).status).toBe(404);
}

async function wholeFeed(fixture: Fixture): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for (let after = ''; ; ) {
    const { data, meta } = (await fixture.send('get', `/events?pageKind=cursor&limit=100${after}`)).body;
    all.push(...data);
    if (meta.nextAfter === undefined) return all;
    after = `&after=${encodeURIComponent(meta.nextAfter)}`;
  }
}

async function wholeHistory(fixture: Fixture, id: string): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for (let after = ''; ; ) {
    const list = `/webhooks/${id}/deliveries?pageKind=cursor&limit=100${after}`;
    const { data, meta } = (await fixture.send('get', list)).body;
    all.push(...data);
    if (meta.nextAfter === undefined) return all;
    after = `&after=${encodeURIComponent(meta.nextAfter)}`;
  }
}

test(
  'in any history of events, moods, waits, crashes and changes, each event arrives in order at least once, or is marked failed or canceled',
  async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), play), {
      numRuns: RUNS,
    });
  },
  30_000 + RUNS * 20_000,
);
