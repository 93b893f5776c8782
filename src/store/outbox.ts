import type { Kysely } from 'kysely';
import type { Topic } from '../travel/ports.ts';
import { compiledQuery } from './statements.ts';
import type { Tables } from './tables.ts';
import { countDeliveries } from './webhook-deliveries.ts';

/** What is to be delivered. */
export interface Posted {
  seq: number;
  eventId: string;
  createdAt: number;
}

/** Puts a delivery on its way for each webhook that is found by the topic; where there is none, that is a look at an index. */
export async function post(tx: Kysely<Tables>, posted: Posted, { kind, newId }: Topic): Promise<void> {
  const { rows } = await subscribers(tx, { kind });
  for (const { id } of rows) {
    await addDelivery(tx, { ...posted, id: newId(), webhookId: id, kind, redelivery: 0 });
  }
}

/** An enabled webhook is found by each kind that it selects, or by "*". */
const subscribers = compiledQuery<{ kind: string }, { id: string }>((db, { kind }) =>
  db
    .selectFrom('travel_index')
    .select('id')
    .where('type', '=', 'webhook')
    .where('name', '=', 'kind')
    .where('value', 'in', [kind, '*']),
);

/** Adds a delivery to the queue of its webhook. */
export async function addDelivery(
  tx: Kysely<Tables>,
  delivery: Posted & { id: string; webhookId: string; kind: string; redelivery: 0 | 1 },
): Promise<void> {
  await insertDelivery(tx, delivery);
  await countDeliveries(tx, delivery.webhookId, { pending: 1 });
}

/** Not when the event was: a clock that is ahead, if only once, would keep all that comes after it waiting. */
const AT_ONCE = 0;

const insertDelivery = compiledQuery<
  Posted & { id: string; webhookId: string; kind: string; redelivery: number },
  unknown
>((db, { id, webhookId, seq, eventId, kind, createdAt, redelivery }) =>
  db.insertInto('travel_delivery').values({
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
  }),
);
