import type { Kysely, Transaction } from 'kysely';
import type { RedeliveryRequest, WebhookRecords } from '../travel/webhooks/ports.ts';
import type { Database } from './database.ts';
import type { Encryption } from './encryption.ts';
import { addDelivery } from './outbox.ts';
import type { Tables } from './tables.ts';
import { expireSecrets, secretsOf } from './travel-secrets.ts';
import { Turns } from './travel-turns.ts';
import { countDeliveries, holdQueue } from './webhook-deliveries.ts';

/** What is kept for webhooks beside them. */
export function webhookRecords(database: Database, sealed: Encryption): WebhookRecords {
  const { db } = database;
  return {
    activeSecrets: (id, now) => secretsOf(db, sealed, { ref: { type: 'webhook', id }, now }),
    redeliver: (asked) => redeliver(database, asked),
    deleteEndedSecrets: (before, limit) => expireSecrets(db, before, limit),
    deleteOldDeliveries: (before, limit) => expireDeliveries(db, before, limit),
  };
}

/** It takes a number of the events, which none of them gets, and so its place among all deliveries. */
async function redeliver({ db }: Database, { id, webhookId, ...asked }: RedeliveryRequest): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const seq = await new Turns(tx).number('event');
    await addDelivery(tx, { ...asked, id, webhookId, seq, redelivery: 1 });
  });
}

/** Removes at most so many deliveries that are too old, or whose webhook is gone. */
export async function expireDeliveries(db: Kysely<Tables>, before: number, limit: number): Promise<number> {
  let removed = 0;
  for (const { webhook_id, gone } of await queues(db)) {
    if (removed >= limit) break;
    const some = { webhookId: webhook_id, before: gone ? undefined : before, limit: limit - removed };
    removed += await db.transaction().execute(async (tx) => {
      await holdQueue(tx, webhook_id);
      const count = await removeOldest(tx, some);
      if (gone && count < some.limit)
        await tx.deleteFrom('travel_delivery_queue').where('webhook_id', '=', webhook_id).execute();
      return count;
    });
  }
  return removed;
}

async function queues(db: Kysely<Tables>): Promise<{ webhook_id: string; gone: boolean }[]> {
  const rows = await db
    .selectFrom('travel_delivery_queue')
    .leftJoin('travel_resource', (join) =>
      join.onRef('travel_resource.id', '=', 'webhook_id').on('travel_resource.type', '=', 'webhook'),
    )
    .select(['webhook_id', 'travel_resource.id'])
    .execute();
  return rows.map(({ webhook_id, id }) => ({ webhook_id, gone: id === null }));
}

/** From the beginning of the list, which is the oldest: no index of its own is needed for the age. */
async function removeOldest(
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
