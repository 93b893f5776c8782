import { sql } from 'kysely';
import type { DeliveryStatus } from '../../travel/webhooks/ports.ts';
import type { Database } from '../sql/database.ts';

/** The deliveries of all webhooks in numbers. */
export interface DeliveryCounts {
  byStatus: Record<DeliveryStatus, number>;
  /** The time of the oldest event that waits, in epoch milliseconds. */
  oldestPendingAt: number | undefined;
  /** The webhooks whose attempts have all failed since the last success. */
  failingWebhooks: number;
}

/** Counts the deliveries from the counters of their queues, of which there are few. */
export async function countAllDeliveries({ db }: Pick<Database, 'db'>): Promise<DeliveryCounts> {
  const { rows } = await sql<Record<DeliveryStatus | 'oldest' | 'failing', number | null>>`
    select sum(pending) as pending, sum(succeeded) as succeeded, sum(failed) as failed, sum(canceled) as canceled,
      count(failing_since) as failing, min(case when pending > 0 then (
        select created_at from travel_delivery
        where webhook_id = travel_delivery_queue.webhook_id and status = 'pending' and redelivery = 0
        order by seq limit 1) end) as oldest
    from travel_delivery_queue`.execute(db);
  const { oldest, failing, pending, succeeded, failed, canceled } = rows[0] ?? {};
  return {
    byStatus: {
      pending: Number(pending ?? 0),
      succeeded: Number(succeeded ?? 0),
      failed: Number(failed ?? 0),
      canceled: Number(canceled ?? 0),
    },
    oldestPendingAt: oldest === null || oldest === undefined ? undefined : Number(oldest),
    failingWebhooks: Number(failing ?? 0),
  };
}
