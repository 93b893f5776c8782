import { type Kysely, sql } from 'kysely';
import type { DeliveryStatus } from '../travel/webhooks/ports.ts';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

/** Counts deliveries of a webhook up or down; the first of all makes its queue. */
export async function countDeliveries(
  tx: Kysely<Tables>,
  webhookId: string,
  { pending = 0, succeeded = 0, failed = 0, canceled = 0 }: Partial<Record<DeliveryStatus, number>>,
): Promise<void> {
  await addToCounts(tx, { webhookId, pending, succeeded, failed, canceled });
}

/** Taken before anything of a queue is changed: whoever else changes it waits here, and nobody counts what another has counted. */
export async function holdQueue(tx: Kysely<Tables>, webhookId: string): Promise<void> {
  await tx
    .updateTable('travel_delivery_queue')
    .set(({ ref }) => ({ pending: ref('pending') }))
    .where('webhook_id', '=', webhookId)
    .execute();
}

const addToCounts = prepared<Record<DeliveryStatus, number> & { webhookId: string }, unknown>(
  (db, { webhookId, pending, succeeded, failed, canceled }) => {
    return db
      .insertInto('travel_delivery_queue')
      .values({ webhook_id: webhookId, pending, succeeded, failed, canceled })
      .onConflict((same) =>
        same.column('webhook_id').doUpdateSet((row) => ({
          pending: sql<number>`${row.ref('travel_delivery_queue.pending')} + ${pending}`,
          succeeded: sql<number>`${row.ref('travel_delivery_queue.succeeded')} + ${succeeded}`,
          failed: sql<number>`${row.ref('travel_delivery_queue.failed')} + ${failed}`,
          canceled: sql<number>`${row.ref('travel_delivery_queue.canceled')} + ${canceled}`,
        })),
      );
  },
);
