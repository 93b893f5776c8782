import fc from 'fast-check';
import type { JsonObject } from '../../../src/travel/json.ts';
import { recorded } from '../../../src/travel/record.ts';
import { costCenter } from '../../../src/travel/resources/cost-center.ts';
import { NOON, openHouse } from '../house.ts';
import { DAY, HOUR, MINUTE, SECOND } from './desk.ts';
import { type Mood, openReceiver } from './receiver.ts';

/** More of them on demand: WEBHOOK_RUNS. */
const RUNS = Number(process.env['WEBHOOK_RUNS'] ?? 12);

const moods: Mood[] = [
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

type Step =
  | { do: 'happen'; count: number }
  | { do: 'feel'; receiver: number; mood: Mood }
  | { do: 'pass'; ms: number }
  | { do: 'settle' }
  | { do: 'crash' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('happen' as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('feel' as const),
      receiver: fc.nat(1),
      mood: fc.constantFrom(...moods),
    }),
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
);

/** Plays a history, then lets everything arrive, and compares what came with what was to come. */
async function play(steps: Step[]): Promise<void> {
  const house = await openHouse();
  const receivers = [await openReceiver(), await openReceiver()];
  try {
    const ids: string[] = [];
    for (const { url } of receivers)
      ids.push((await house.make('/webhooks', { url, events: ['costCenter.created'] })).id);
    let made = 0;
    const happen = async () => {
      const { now, newId } = house.surroundings;
      await recorded({ ...house.surroundings, onChange: () => {} }, ['costCenter'], (recorder) => {
        const doc = { archived: false, name: `center ${made++}` };
        return recorder.insert(costCenter, {
          ...{ type: 'costCenter', id: newId('A'), parentId: '', createdAt: now(), doc },
        });
      });
    };
    for (const one of steps) {
      if (one.do === 'happen') for (let count = 0; count < one.count; count++) await happen();
      if (one.do === 'feel') receivers[one.receiver]?.feel(one.mood);
      // After five days of failures a webhook is disabled, which is another story.
      if (one.do === 'pass' && house.surroundings.now() + one.ms < NOON + 4 * DAY) house.pass(one.ms);
      if (one.do === 'settle') await house.webhooks.settle();
      // Somebody else takes leases and dies with them.
      if (one.do === 'crash')
        for (const webhookId of ids)
          await house.queue.take(
            { webhookId, token: 'dead', until: house.surroundings.now() + MINUTE },
            house.surroundings.now(),
          );
    }
    for (const receiver of receivers) receiver.feel(200);
    house.pass(3 * HOUR);
    await house.webhooks.settle();
    const events = (await wholeFeed(house)).filter(({ kind }) => kind === 'costCenter.created');
    expect(events).toHaveLength(made);
    for (const [at, receiver] of receivers.entries()) {
      const deliveries = await wholeHistory(house, ids[at] ?? '');
      // Each event has one delivery, in order, and each came to an end.
      expect(deliveries.map(({ eventId }) => eventId)).toEqual(events.map(({ id }) => id));
      expect(deliveries.filter(({ status }) => status === 'pending' || status === 'canceled')).toEqual([]);
      // What came first of each event came in order; the rest are repetitions of the one that was to come.
      const came = receiver.received.map(({ event }) => event.id);
      const firsts = [...new Set(came)];
      expect(firsts).toEqual(events.map(({ id }) => id));
      expect(
        came.filter(
          (id, position) => position > 0 && firsts.indexOf(id) < firsts.indexOf(came[position - 1] ?? ''),
        ),
      ).toEqual([]);
      expect(receiver.received.map(({ event }) => event)).toEqual(
        came.map((id) => events.find((event) => event['id'] === id)),
      );
      for (const delivery of deliveries) {
        const attempts = delivery['attempts'] as JsonObject[];
        expect(attempts.length).toBe(came.filter((id) => id === delivery['eventId']).length);
        const last = attempts.at(-1) ?? {};
        expect(delivery['status']).toBe('error' in last ? 'failed' : 'succeeded');
      }
    }
  } finally {
    for (const receiver of receivers) await receiver.close();
    await house.close();
  }
}

type House = Awaited<ReturnType<typeof openHouse>>;

async function wholeFeed(house: House): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for (let after = ''; ; ) {
    const { data, meta } = (await house.send('get', `/events?pageKind=cursor&limit=100${after}`)).body;
    all.push(...data);
    if (meta.nextAfter === undefined) return all;
    after = `&after=${encodeURIComponent(meta.nextAfter)}`;
  }
}

async function wholeHistory(house: House, id: string): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for (let after = ''; ; ) {
    const list = `/webhooks/${id}/deliveries?pageKind=cursor&limit=100${after}`;
    const { data, meta } = (await house.send('get', list)).body;
    all.push(...data);
    if (meta.nextAfter === undefined) return all;
    after = `&after=${encodeURIComponent(meta.nextAfter)}`;
  }
}

test(
  'in any history of events, moods, waits and crashes, each event arrives in order at least once, or is marked failed',
  async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), play), {
      numRuns: RUNS,
    });
  },
  30_000 + RUNS * 5_000,
);
