import type { Kysely } from 'kysely';
import type { DeliveryLease, DeliveryOutcome } from '../travel/webhooks/ports.ts';
import { countDeliveries } from './delivery-count.ts';
import { toText } from './json.ts';
import type { Tables } from './tables.ts';

/** Keeps what an attempt made of a delivery, as far as the lease is still held. */
export async function keepOutcome(
  tx: Kysely<Tables>,
  { webhookId, token, until }: DeliveryLease,
  { id, outcome }: { id: string; outcome: DeliveryOutcome },
): Promise<{ failingSince: number | undefined } | 'lost'> {
  const queue = await tx
    .updateTable('travel_delivery_queue')
    .set({ lease_until: until })
    .where('webhook_id', '=', webhookId)
    .where('lease_token', '=', token)
    .returning('failing_since')
    .executeTakeFirst();
  if (!queue) return 'lost';
  const found = await tx
    .selectFrom('travel_delivery')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirst();
  const status = statusAfter(found?.status, outcome);
  // Gone: it became too old while it was under way.
  if (found) await change(tx, { webhookId, id, from: found.status, to: status }, outcome);
  const failingSince =
    status === outcome.status ? failingAfter(queue.failing_since, outcome) : queue.failing_since;
  if (failingSince !== queue.failing_since) await setFailing(tx, webhookId, failingSince);
  return { failingSince: failingSince ?? undefined };
}

/** What was canceled while it was under way is not tried again, but if it arrived, it arrived. */
function statusAfter(found: string | undefined, { status }: DeliveryOutcome): string {
  return found === undefined || found === 'pending' || status === 'succeeded' ? status : found;
}

async function change(
  tx: Kysely<Tables>,
  { webhookId, id, from, to }: { webhookId: string; id: string; from: string; to: string },
  { attempts, nextAttemptAt }: DeliveryOutcome,
): Promise<void> {
  await tx
    .updateTable('travel_delivery')
    .set({
      status: to,
      attempts: toText(attempts),
      next_attempt_at: to === 'pending' ? (nextAttemptAt ?? null) : null,
    })
    .where('id', '=', id)
    .execute();
  if (from !== to) await countDeliveries(tx, webhookId, { [from]: -1, [to]: 1 });
}

function failingAfter(since: number | null, { status, attempts }: DeliveryOutcome): number | null {
  return status === 'succeeded' ? null : (since ?? attempts.at(-1)?.at ?? null);
}

/** Since when all attempts fail; null: the last one did not, or none was made since. */
export async function setFailing(tx: Kysely<Tables>, webhookId: string, since: number | null): Promise<void> {
  await tx
    .updateTable('travel_delivery_queue')
    .set({ failing_since: since })
    .where('webhook_id', '=', webhookId)
    .execute();
}
