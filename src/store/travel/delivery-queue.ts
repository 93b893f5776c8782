import { type Expression, type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely';
import {
  type Delivery,
  type DeliveryLease,
  type DeliveryOutcome,
  type DeliveryQueue,
  type DeliveryStatus,
  type DueQuery,
  MAX_WAIT_MS,
} from '../../travel/webhooks/ports.ts';
import type { Database } from '../sql/database.ts';
import { type Dialect, isDue, timeAfter } from '../sql/dialect.ts';
import { compiledQuery, parseJson, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/**
 * Returns the delivery queues of webhooks. Leases and outcomes are not synced to disk at once: if a power failure
 * loses an outcome, the event is delivered again.
 */
export function deliveryQueue({ db, dialect, transaction }: Database): DeliveryQueue {
  const clock = (now: number) => dialect.now(now);
  const selectDue = dueQuery(dialect);
  return {
    dueWebhooks: async (query) => {
      const { rows } = await selectDue(db, query);
      const idsOf = (isFailing: boolean) =>
        rows.flatMap((row) => ((row.failing_since !== null) === isFailing ? [row.webhook_id] : []));
      return { healthy: idsOf(false), failing: idsOf(true) };
    },
    acquireLease: (lease, now) =>
      transaction((tx) => takeQueueLease(tx, lease, clock(now)), { durable: false }),
    extendLease: (lease, now) =>
      transaction(async (tx) => (await extendQueueLease(tx, lease, clock(now))) !== undefined, {
        durable: false,
      }),
    nextDelivery: (webhookId, now) => readNextDelivery(db, webhookId, now),
    saveOutcome: (lease, delivery, now) =>
      transaction((tx) => saveDeliveryOutcome(tx, lease, delivery, clock(now)), { durable: false }),
    releaseLeases: (lease, now) => releaseQueueLease(db, lease, clock(now)),
    applyWebhookChange: (webhookId, now, limit) =>
      transaction(async (tx) => {
        await lockQueue(tx, webhookId);
        if (!(await isEnabled(tx, webhookId))) return cancelPending(tx, webhookId, limit);
        await makeDueNow(tx, webhookId, now);
        return 0;
      }),
  };
}

/** The maximum number of redeliveries that become due at once when a webhook is changed. */
const MAX_REDELIVERIES_MADE_DUE = 100;

type QueueExpression = ExpressionBuilder<Tables, 'travel_delivery_queue'>;

/** Selects both kinds in one statement, because each process looks every second. */
function dueQuery({ now: clockOf }: Dialect) {
  return compiledQuery((db, query: DueQuery) => {
    const queues = db
      .selectFrom('travel_delivery_queue')
      // Webhooks that were never served come first; then the least recently served.
      .orderBy((queue) => queue.fn.coalesce('lease_until', sql.lit(0)));
    const due = queues
      .select('webhook_id')
      .where('pending', '>', sql.lit(0))
      .where((queue) => isUnleased(queue, clockOf(query.now)))
      .where((queue) => queue.or([isFirstDue(queue, query.now), isRedeliveryDue(queue, query.now)]));
    const healthy = due.where('failing_since', 'is', null).limit(query.healthy);
    const failing = due.where('failing_since', 'is not', null).limit(query.failing);
    return queues
      .select(['webhook_id', 'failing_since'])
      .where((queue) => queue.or([queue('webhook_id', 'in', healthy), queue('webhook_id', 'in', failing)]));
  });
}

function isFirstDue(queue: QueueExpression, now: number) {
  return isDueDelivery(
    selectPending(queue, 0).select('next_attempt_at').orderBy('seq').limit(sql.lit(1)),
    now,
  );
}

function isRedeliveryDue(queue: QueueExpression, now: number) {
  const due = selectPending(queue, 1).where((row) => isDueDelivery(row.ref('next_attempt_at'), now));
  return queue.exists(due.select('id'));
}

/** Without a lease, `lease_until` is the time when the queue was last served. */
function isUnleased(queue: QueueExpression, now: Expression<number>) {
  return queue.or([queue('lease_token', 'is', null), queue('lease_until', '<=', now)]);
}

function isDueDelivery(nextAttemptAt: Expression<unknown>, now: number) {
  return isDue(nextAttemptAt, sql.val(now), MAX_WAIT_MS);
}

function selectPending(queue: QueueExpression, redelivery: 0 | 1) {
  return queue
    .selectFrom('travel_delivery')
    .whereRef('travel_delivery.webhook_id', '=', 'travel_delivery_queue.webhook_id')
    .where('status', '=', sql.lit('pending'))
    .where('redelivery', '=', redelivery);
}

async function takeQueueLease(
  db: Kysely<Tables>,
  lease: DeliveryLease,
  now: Expression<number>,
): Promise<boolean> {
  const taken = await db
    .updateTable('travel_delivery_queue')
    .set({ lease_token: lease.token, lease_until: timeAfter(now, lease.ms) })
    .where('webhook_id', '=', lease.webhookId)
    .where((queue) => isUnleased(queue, now))
    .returning('webhook_id')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Extends a lease that is still held. Returns since when all attempts at the webhook fail; undefined if it is lost. */
async function extendQueueLease(
  tx: Kysely<Tables>,
  lease: DeliveryLease,
  now: Expression<number>,
): Promise<{ failing_since: number | null } | undefined> {
  return tx
    .updateTable('travel_delivery_queue')
    .set({ lease_until: timeAfter(now, lease.ms) })
    .where('webhook_id', '=', lease.webhookId)
    .where('lease_token', '=', lease.token)
    .returning('failing_since')
    .executeTakeFirst();
}

async function readNextDelivery(
  db: Kysely<Tables>,
  webhookId: string,
  now: number,
): Promise<Delivery | undefined> {
  const selectFirst = (redelivery: 0 | 1) =>
    db
      .selectFrom('travel_delivery')
      .selectAll()
      .where('webhook_id', '=', webhookId)
      .where('status', '=', sql.lit('pending'))
      .where('redelivery', '=', redelivery)
      .orderBy('seq')
      .limit(1);
  const redelivery = await selectFirst(1)
    .where((row) => isDueDelivery(row.ref('next_attempt_at'), now))
    .executeTakeFirst();
  const row = redelivery ?? (await selectFirst(0).executeTakeFirst());
  if (!row) return undefined;
  const waitMs = (row.next_attempt_at ?? now) - now;
  return waitMs <= 0 || waitMs > MAX_WAIT_MS ? toDelivery(row) : undefined;
}

function toDelivery(row: Selectable<Tables['travel_delivery']>): Delivery {
  const { id, webhook_id, event_id, attempts } = row;
  return { id, webhookId: webhook_id, eventId: event_id, attempts: parseJson(attempts) };
}

async function releaseQueueLease(
  db: Kysely<Tables>,
  lease: Pick<DeliveryLease, 'webhookId' | 'token'> | 'all',
  now: Expression<number>,
): Promise<void> {
  const released = db.updateTable('travel_delivery_queue').set({ lease_token: null, lease_until: now });
  const matching =
    lease === 'all'
      ? released.where('lease_token', 'is not', null)
      : released.where('webhook_id', '=', lease.webhookId).where('lease_token', '=', lease.token);
  await matching.execute();
}

/**
 * An enabled webhook has index rows for the event kinds that it selects. Must run in the transaction that cancels,
 * or deliveries of a webhook enabled in between would be lost.
 */
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

/**
 * Makes the waiting deliveries of a webhook due now. Only the first delivery in order and the redeliveries have a due
 * time; all other deliveries wait for the first.
 */
async function makeDueNow(tx: Kysely<Tables>, webhookId: string, now: number): Promise<void> {
  for (const redelivery of [0, 1]) {
    await tx
      .updateTable('travel_delivery')
      .set({ next_attempt_at: now })
      .where('id', 'in', (pending) =>
        pending
          .selectFrom('travel_delivery')
          .select('id')
          .where('webhook_id', '=', webhookId)
          .where('status', '=', sql.lit('pending'))
          .where('redelivery', '=', redelivery)
          .orderBy('seq')
          .limit(redelivery === 0 ? 1 : MAX_REDELIVERIES_MADE_DUE),
      )
      .where('next_attempt_at', '>', now)
      .execute();
  }
}

async function cancelPending(tx: Kysely<Tables>, webhookId: string, limit: number): Promise<number> {
  const rows = await tx
    .updateTable('travel_delivery')
    .set({ status: 'canceled', next_attempt_at: null })
    .where('id', 'in', (pending) =>
      pending
        .selectFrom('travel_delivery')
        .select('id')
        .where('webhook_id', '=', webhookId)
        .where('status', '=', sql.lit('pending'))
        .limit(limit),
    )
    .returning('id')
    .execute();
  await countDeliveries(tx, webhookId, { pending: -rows.length, canceled: rows.length });
  await setFailingSince(tx, webhookId, null);
  return rows.length;
}

/**
 * Saves the outcome of a delivery attempt if the lease is still held. Returns since when all attempts at the webhook
 * fail, or `lost`.
 */
export async function saveDeliveryOutcome(
  tx: Kysely<Tables>,
  lease: DeliveryLease,
  { id, outcome }: { id: string; outcome: DeliveryOutcome },
  now: Expression<number>,
): Promise<{ failingSince: number | undefined } | 'lost'> {
  const { webhookId } = lease;
  // This also locks the queue, before any of its deliveries changes.
  const queue = await extendQueueLease(tx, lease, now);
  if (!queue) return 'lost';
  const found = await tx
    .selectFrom('travel_delivery')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirst();
  const status = statusAfter(found?.status, outcome);
  // There is no delivery any more if it expired during the attempt.
  if (found) await updateDelivery(tx, { webhookId, id, from: found.status, to: status }, outcome);
  const failingSince =
    status === outcome.status ? failingAfter(queue.failing_since, outcome) : queue.failing_since;
  if (failingSince !== queue.failing_since) await setFailingSince(tx, webhookId, failingSince);
  return { failingSince: failingSince ?? undefined };
}

/** A delivery that was canceled during the attempt stays canceled, unless the attempt succeeded. */
function statusAfter(found: string | undefined, { status }: DeliveryOutcome): string {
  return found === undefined || found === 'pending' || status === 'succeeded' ? status : found;
}

async function updateDelivery(
  tx: Kysely<Tables>,
  { webhookId, id, from, to }: { webhookId: string; id: string; from: string; to: string },
  { attempts, nextAttemptAt }: DeliveryOutcome,
): Promise<void> {
  await tx
    .updateTable('travel_delivery')
    .set({
      status: to,
      attempts: toJson(attempts),
      next_attempt_at: to === 'pending' ? (nextAttemptAt ?? null) : null,
    })
    .where('id', '=', id)
    .execute();
  if (from !== to) await countDeliveries(tx, webhookId, { [from]: -1, [to]: 1 });
}

function failingAfter(since: number | null, { status, attempts }: DeliveryOutcome): number | null {
  return status === 'succeeded' ? null : (since ?? attempts.at(-1)?.at ?? null);
}

/**
 * Sets the time since when all attempts have failed; null if the last attempt succeeded or the webhook has been changed
 * since.
 */
export async function setFailingSince(
  tx: Kysely<Tables>,
  webhookId: string,
  since: number | null,
): Promise<void> {
  await tx
    .updateTable('travel_delivery_queue')
    .set({ failing_since: since })
    .where('webhook_id', '=', webhookId)
    .execute();
}

/** Adds to the counters of a webhook's queue, by status. Creates the queue with the first delivery. */
export async function countDeliveries(
  tx: Kysely<Tables>,
  webhookId: string,
  { pending = 0, succeeded = 0, failed = 0, canceled = 0 }: Partial<Record<DeliveryStatus, number>>,
): Promise<void> {
  await tx
    .insertInto('travel_delivery_queue')
    .values({ webhook_id: webhookId, pending, succeeded, failed, canceled })
    .onConflict((same) =>
      same.column('webhook_id').doUpdateSet((row) => ({
        pending: sql<number>`${row.ref('travel_delivery_queue.pending')} + ${pending}`,
        succeeded: sql<number>`${row.ref('travel_delivery_queue.succeeded')} + ${succeeded}`,
        failed: sql<number>`${row.ref('travel_delivery_queue.failed')} + ${failed}`,
        canceled: sql<number>`${row.ref('travel_delivery_queue.canceled')} + ${canceled}`,
      })),
    )
    .execute();
}

/**
 * Locks the row of a queue until the end of the transaction. Must run before any change to the queue's deliveries,
 * so that two transactions never count the same delivery.
 */
export async function lockQueue(tx: Kysely<Tables>, webhookId: string): Promise<void> {
  await tx
    .updateTable('travel_delivery_queue')
    .set(({ ref }) => ({ pending: ref('pending') }))
    .where('webhook_id', '=', webhookId)
    .execute();
}
