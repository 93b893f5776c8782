import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely';
import type { Delivery, DeliveryLease, DeliveryQueue, DueQuery } from '../travel/webhooks/ports.ts';
import type { Database } from './database.ts';
import { countDeliveries, holdQueue } from './delivery-count.ts';
import { keepOutcome, setFailing } from './delivery-outcome.ts';
import { fromText } from './json.ts';
import type { Tables } from './tables.ts';

/** The queues in a database. What an attempt made is a note: if a failure of power takes it, the event is sent again. */
export function deliveryQueue({ db, lightly }: Database): DeliveryQueue {
  return {
    due: (query) => due(db, query),
    take: (lease, now) => lightly(db, (light) => take(light, lease, now)),
    next: (webhookId, now) => next(db, webhookId, now),
    finish: (lease, id, outcome) =>
      lightly(db, (light) => light.transaction().execute((tx) => keepOutcome(tx, lease, { id, outcome }))),
    release: (lease, now) => release(db, lease, now),
    follow: (webhookId, now, limit) =>
      db.transaction().execute(async (tx) => {
        await holdQueue(tx, webhookId);
        if (!(await isEnabled(tx, webhookId))) return cancel(tx, webhookId, limit);
        await hurry(tx, webhookId, now);
        return 0;
      }),
  };
}

/** The most that were asked for and are tried at once when a webhook was mended. */
const HURRIED = 100;

type Queues = ExpressionBuilder<Tables, 'travel_delivery_queue'>;

async function due(db: Kysely<Tables>, { now, failing, limit }: DueQuery): Promise<string[]> {
  const rows = await db
    .selectFrom('travel_delivery_queue')
    .select('webhook_id')
    .where('pending', '>', 0)
    .where((queue) => isFree(queue, now))
    .where('failing_since', failing ? 'is not' : 'is', null)
    .where((queue) =>
      queue.or([
        queue(first(queue).select('next_attempt_at').orderBy('seq').limit(1), '<=', now),
        queue.exists(asked(queue, now).select('id')),
      ]),
    )
    // Who was served last comes last, and who never was comes first.
    .orderBy((queue) => queue.fn.coalesce('lease_until', sql.lit(0)))
    .limit(limit)
    .execute();
  return rows.map(({ webhook_id }) => webhook_id);
}

function isFree(queue: Queues, now: number) {
  return queue.or([queue('lease_until', 'is', null), queue('lease_until', '<=', now)]);
}

function waiting(queue: Queues, redelivery: 0 | 1) {
  return queue
    .selectFrom('travel_delivery')
    .whereRef('travel_delivery.webhook_id', '=', 'travel_delivery_queue.webhook_id')
    .where('status', '=', sql.lit('pending'))
    .where('redelivery', '=', redelivery);
}

function first(queue: Queues) {
  return waiting(queue, 0);
}

function asked(queue: Queues, now: number) {
  return waiting(queue, 1).where('next_attempt_at', '<=', now);
}

async function take(db: Kysely<Tables>, lease: DeliveryLease, now: number): Promise<boolean> {
  const taken = await db
    .updateTable('travel_delivery_queue')
    .set({ lease_token: lease.token, lease_until: lease.until })
    .where('webhook_id', '=', lease.webhookId)
    .where((queue) => isFree(queue, now))
    .returning('webhook_id')
    .executeTakeFirst();
  return taken !== undefined;
}

async function next(db: Kysely<Tables>, webhookId: string, now: number): Promise<Delivery | undefined> {
  const one = (redelivery: 0 | 1) =>
    db
      .selectFrom('travel_delivery')
      .selectAll()
      .where('webhook_id', '=', webhookId)
      .where('status', '=', sql.lit('pending'))
      .where('redelivery', '=', redelivery)
      .orderBy('seq')
      .limit(1);
  const askedFor = await one(1).where('next_attempt_at', '<=', now).executeTakeFirst();
  const row = askedFor ?? (await one(0).executeTakeFirst());
  return row && (row.next_attempt_at ?? now) <= now ? toDelivery(row) : undefined;
}

function toDelivery(row: Selectable<Tables['travel_delivery']>): Delivery {
  const { id, webhook_id, event_id, attempts } = row;
  return { id, webhookId: webhook_id, eventId: event_id, attempts: fromText(attempts) };
}

async function release(
  db: Kysely<Tables>,
  lease: Pick<DeliveryLease, 'webhookId' | 'token'> | 'all',
  now: number,
): Promise<void> {
  const given = db.updateTable('travel_delivery_queue').set({ lease_token: null, lease_until: now });
  const held =
    lease === 'all'
      ? given.where('lease_token', 'is not', null)
      : given.where('webhook_id', '=', lease.webhookId).where('lease_token', '=', lease.token);
  await held.execute();
}

/** A webhook that is enabled is found by what it selects: asked in the transaction, so that nothing of a new beginning is lost. */
async function isEnabled(tx: Kysely<Tables>, webhookId: string): Promise<boolean> {
  const found = await tx
    .selectFrom('travel_index')
    .select('id')
    .where('type', '=', 'webhook')
    .where('id', '=', webhookId)
    .where('name', '=', 'kind')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Only the first in order waits for its time, and what was asked for. */
async function hurry(tx: Kysely<Tables>, webhookId: string, now: number): Promise<void> {
  for (const redelivery of [0, 1]) {
    await tx
      .updateTable('travel_delivery')
      .set({ next_attempt_at: now })
      .where('id', 'in', (some) =>
        some
          .selectFrom('travel_delivery')
          .select('id')
          .where('webhook_id', '=', webhookId)
          .where('status', '=', sql.lit('pending'))
          .where('redelivery', '=', redelivery)
          .orderBy('seq')
          .limit(redelivery === 0 ? 1 : HURRIED),
      )
      .where('next_attempt_at', '>', now)
      .execute();
  }
}

async function cancel(tx: Kysely<Tables>, webhookId: string, limit: number): Promise<number> {
  const rows = await tx
    .updateTable('travel_delivery')
    .set({ status: 'canceled', next_attempt_at: null })
    .where('id', 'in', (some) =>
      some
        .selectFrom('travel_delivery')
        .select('id')
        .where('webhook_id', '=', webhookId)
        .where('status', '=', sql.lit('pending'))
        .limit(limit),
    )
    .returning('id')
    .execute();
  await countDeliveries(tx, webhookId, { pending: -rows.length, canceled: rows.length });
  await setFailing(tx, webhookId, null);
  return rows.length;
}
