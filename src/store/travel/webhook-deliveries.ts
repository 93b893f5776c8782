import type { Kysely, Selectable, Transaction } from 'kysely';
import type {
  CursorPage,
  Edge,
  EventTopic,
  ListQuery,
  PageQuery,
  StoredResource,
} from '../../travel/ports.ts';
import type { RedeliveryRequest, WebhookRecords } from '../../travel/webhooks/ports.ts';
import type { Encryption } from '../credentials/encryption.ts';
import { comparisonSign, pageAround } from '../sql/cursor-pages.ts';
import type { Database } from '../sql/database.ts';
import { batches, insertInBatches, parseJson } from '../sql/queries.ts';
import { takeFeedNumbers } from '../sql/sequences.ts';
import type { Tables } from '../sql/tables.ts';
import { countDeliveries, lockQueue } from './delivery-queue.ts';
import { deleteExpiredSecrets, readSecrets } from './travel-secrets.ts';

/** Returns the store operations on secrets and deliveries of webhooks, except for the delivery queue. */
export function webhookRecords(database: Database, encryption: Encryption): WebhookRecords {
  const { db } = database;
  return {
    activeSecrets: (id, now) => readSecrets(db, encryption, { ref: { type: 'webhook', id }, now }),
    redeliver: (request) => redeliver(database, request),
    deleteEndedSecrets: (before, limit) => deleteExpiredSecrets(db, before, limit),
    deleteOldDeliveries: (before, limit) => deleteExpiredDeliveries(database, before, limit),
  };
}

/** A redelivery takes its number from the sequence of events, so that it has a position among all deliveries. */
async function redeliver(
  { transaction }: Database,
  { id, webhookId, ...event }: RedeliveryRequest,
): Promise<void> {
  await transaction(async (tx) => {
    const seq = await takeFeedNumbers(tx, 'event', 1);
    await addDeliveries(tx, [{ ...event, id, webhookId, seq, redelivery: 1 }]);
  });
}

/**
 * Deletes at most `limit` deliveries that were created before a time or whose webhook no longer exists. Returns their
 * number.
 */
export async function deleteExpiredDeliveries(
  { db, transaction }: Database,
  before: number,
  limit: number,
): Promise<number> {
  let removed = 0;
  for (const { webhook_id, gone } of await readQueues(db)) {
    if (removed >= limit) break;
    const some = { webhookId: webhook_id, before: gone ? undefined : before, limit: limit - removed };
    removed += await transaction(async (tx) => {
      await lockQueue(tx, webhook_id);
      const count = await deleteOldest(tx, some);
      if (gone && count < some.limit)
        await tx.deleteFrom('travel_delivery_queue').where('webhook_id', '=', webhook_id).execute();
      return count;
    });
  }
  return removed;
}

async function readQueues(db: Kysely<Tables>): Promise<{ webhook_id: string; gone: boolean }[]> {
  const rows = await db
    .selectFrom('travel_delivery_queue')
    .leftJoin('travel_resource', (join) =>
      join.onRef('travel_resource.id', '=', 'webhook_id').on('travel_resource.type', '=', 'webhook'),
    )
    .select(['webhook_id', 'travel_resource.id'])
    .execute();
  return rows.map(({ webhook_id, id }) => ({ webhook_id, gone: id === null }));
}

/** Deletes deliveries from the oldest end of the list, so that their age needs no index. */
async function deleteOldest(
  tx: Transaction<Tables>,
  { webhookId, before, limit }: { webhookId: string; before: number | undefined; limit: number },
): Promise<number> {
  const oldest = await tx
    .selectFrom('travel_delivery')
    .select(['id', 'status', 'created_at'])
    .where('webhook_id', '=', webhookId)
    .orderBy('seq')
    .limit(limit)
    .execute();
  const old = oldest.filter(({ created_at }) => before === undefined || created_at < before);
  if (old.length === 0) return 0;
  await tx
    .deleteFrom('travel_delivery')
    .where(
      'id',
      'in',
      old.map(({ id }) => id),
    )
    .execute();
  const counted = (status: string) => -old.filter((one) => one.status === status).length;
  await countDeliveries(tx, webhookId, {
    pending: counted('pending'),
    succeeded: counted('succeeded'),
    failed: counted('failed'),
    canceled: counted('canceled'),
  });
  return old.length;
}

/** An event that webhooks may subscribe to. */
export interface DeliverableEvent {
  seq: number;
  eventId: string;
  createdAt: number;
  topic: EventTopic;
}

/**
 * Adds deliveries to the queue of each webhook that subscribes to the events. Without subscribers this costs one index
 * lookup for each kind of event.
 */
export async function enqueueDeliveries(tx: Kysely<Tables>, events: DeliverableEvent[]): Promise<void> {
  const subscribers = new Map<string, { id: string }[]>();
  const deliveries: NewDelivery[] = [];
  for (const { topic, ...event } of events) {
    const { kind, newId } = topic;
    const webhooks = subscribers.get(kind) ?? (await findSubscribers(tx, kind));
    subscribers.set(kind, webhooks);
    for (const { id } of webhooks)
      deliveries.push({ ...event, id: newId(), webhookId: id, kind, redelivery: 0 });
  }
  if (deliveries.length > 0) await addDeliveries(tx, deliveries);
}

/** An enabled webhook has an index row for each kind that it selects, or one for "*". */
function findSubscribers(tx: Kysely<Tables>, kind: string): Promise<{ id: string }[]> {
  return tx
    .selectFrom('travel_index')
    .select('id')
    .where('type', '=', 'webhook')
    .where('name', '=', 'kind')
    .where('value', 'in', [kind, '*'])
    .execute();
}

interface NewDelivery extends Omit<DeliverableEvent, 'topic'> {
  id: string;
  webhookId: string;
  kind: string;
  redelivery: 0 | 1;
}

/** Adds deliveries to the queues of their webhooks. */
async function addDeliveries(tx: Kysely<Tables>, deliveries: NewDelivery[]): Promise<void> {
  const rows = deliveries.map(toDeliveryRow);
  await insertInBatches(rows, (some) => tx.insertInto('travel_delivery').values(some));
  // Only the transaction that holds the lock of the feed adds deliveries, so that queues may be locked in any order.
  for (const webhookId of new Set(deliveries.map((one) => one.webhookId))) {
    const pending = deliveries.filter((one) => one.webhookId === webhookId).length;
    await countDeliveries(tx, webhookId, { pending });
  }
}

/**
 * New deliveries are due at once. The time of the event is not used: if the clock was ahead once, that event would
 * delay all later ones.
 */
const AT_ONCE = 0;

function toDeliveryRow({
  id,
  webhookId,
  seq,
  eventId,
  kind,
  createdAt,
  redelivery,
}: NewDelivery): DeliveryRow {
  return {
    id,
    webhook_id: webhookId,
    seq,
    event_id: eventId,
    kind,
    created_at: createdAt,
    redelivery,
    status: 'pending',
    attempts: '[]',
    next_attempt_at: AT_ONCE,
  };
}

/** The resource type of deliveries in the travel API. Their parent is the webhook. */
export const DELIVERY_TYPE = 'webhookDelivery';

/** Returns a page of the deliveries of a webhook, and the total. */
export async function readDeliveryPage(
  db: Kysely<Tables>,
  query: PageQuery,
): Promise<{ total: number; resources: StoredResource[] }> {
  const { order, limit, offset } = query;
  const rows = await selectDeliveries(db, query).orderBy('seq', order).limit(limit).offset(offset).execute();
  return { total: await countListedDeliveries(db, query), resources: rows.map(toDeliveryResource) };
}

/** Returns the page that begins or ends at a position, and the positions of the neighboring pages. */
export async function readDeliveryPageFrom(
  db: Kysely<Tables>,
  query: ListQuery,
  edge: Edge | undefined,
): Promise<CursorPage> {
  const { rows, next, previous } = await pageAround<DeliveryRow>(query, edge, (direction, limit, from) =>
    selectDeliveries(db, query)
      .$if(from !== undefined, (all) =>
        all.where('seq', comparisonSign(direction, from?.inclusive), from?.place.seq ?? 0),
      )
      .orderBy('seq', direction)
      .limit(limit)
      .execute(),
  );
  const placeOf = (row: DeliveryRow | undefined) => row && { value: row.created_at, seq: row.seq };
  return { resources: rows.map(toDeliveryResource), next: placeOf(next), previous: placeOf(previous) };
}

/** Reads deliveries by id. Ids that do not exist are left out. */
export async function readDeliveries(db: Kysely<Tables>, ids: string[]): Promise<StoredResource[]> {
  const found: StoredResource[] = [];
  for (const some of batches(ids)) {
    const rows = await db.selectFrom('travel_delivery').selectAll().where('id', 'in', some).execute();
    found.push(...rows.map(toDeliveryResource));
  }
  return found;
}

function selectDeliveries(db: Kysely<Tables>, { parentId, status }: ListQuery) {
  return db
    .selectFrom('travel_delivery')
    .selectAll()
    .where('webhook_id', '=', parentId)
    .$if(status !== undefined, (all) => all.where('status', '=', status ?? ''));
}

async function countListedDeliveries(db: Kysely<Tables>, { parentId, status }: ListQuery): Promise<number> {
  const queue = await db
    .selectFrom('travel_delivery_queue')
    .selectAll()
    .where('webhook_id', '=', parentId)
    .executeTakeFirst();
  const counts = Object.entries(statusCounts(queue));
  return counts.reduce(
    (sum, [name, count]) => (status === undefined || status === name ? sum + count : sum),
    0,
  );
}

function statusCounts(queue: Selectable<Tables['travel_delivery_queue']> | undefined) {
  if (!queue) return {};
  const { pending, succeeded, failed, canceled } = queue;
  return { pending, succeeded, failed, canceled };
}

type DeliveryRow = Selectable<Tables['travel_delivery']>;

function toDeliveryResource(row: DeliveryRow): StoredResource {
  return {
    type: DELIVERY_TYPE,
    id: row.id,
    parentId: row.webhook_id,
    createdAt: row.created_at,
    doc: {
      attempts: parseJson(row.attempts),
      eventId: row.event_id,
      kind: row.kind,
      ...(row.next_attempt_at === null
        ? {}
        : { nextAttemptAt: Math.max(row.next_attempt_at, row.created_at) }),
      status: row.status,
    },
  };
}
