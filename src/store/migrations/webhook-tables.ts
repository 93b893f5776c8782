import type { ColumnTypes } from './column-types.ts';
import { type Columns, createTable } from './columns.ts';

/** An encrypted secret of a resource, deleted with it. */
export const travelSecretColumns = {
  type: 'ordered text',
  id: 'ordered text',
  sealed: 'ordered text',
  /** The time at which the secret expires, because a newer one replaced it; null for the current secret. */
  until: 'bigint?',
} as const satisfies Columns;

/** An event to deliver to a webhook, with the state of the delivery. */
export const travelDeliveryColumns = {
  id: 'ordered text',
  webhook_id: 'ordered text',
  /** A number from the sequence of events, so that deliveries are in the order of events. */
  seq: 'bigint',
  event_id: 'ordered text',
  kind: 'text',
  created_at: 'bigint',
  /** 1 for a redelivery requested by a user. Redeliveries are not ordered with other deliveries. */
  redelivery: 'integer',
  status: 'ordered text',
  /** The attempts as a JSON list, the oldest first. */
  attempts: 'text',
  /** The time of the next attempt; null if there will be none. */
  next_attempt_at: 'bigint?',
} as const satisfies Columns;

/** The delivery queue of one webhook: the number of deliveries in each state, and the lease. */
export const travelDeliveryQueueColumns = {
  webhook_id: 'ordered text',
  pending: 'integer',
  succeeded: 'integer',
  failed: 'integer',
  canceled: 'integer',
  /** The time of the first failure after the last success; null if the last attempt succeeded. */
  failing_since: 'bigint?',
  lease_token: 'text?',
  /** The end of the lease or, if there is no lease token, the time at which it was last released. */
  lease_until: 'bigint?',
} as const satisfies Columns;

/** The tables of webhooks. The webhooks themselves are resources. */
export function webhookTables(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'travel_secret',
      columns: travelSecretColumns,
      constraints: [
        'primary key (type, id, sealed)',
        'foreign key (type, id) references travel_resource (type, id) on delete cascade',
      ],
    }),
    'create index travel_secret_until on travel_secret (until)',
    // No foreign key to the webhook: deleting a webhook with a long history must not block other writers. Its
    // deliveries are deleted later, in batches.
    createTable(types, {
      table: 'travel_delivery',
      columns: travelDeliveryColumns,
      constraints: ['primary key (id)'],
    }),
    // The list of deliveries, all or by status, and the next ones to deliver.
    'create index travel_delivery_list on travel_delivery (webhook_id, seq)',
    'create index travel_delivery_status on travel_delivery (webhook_id, status, seq)',
    "create index travel_delivery_next on travel_delivery (webhook_id, redelivery, seq) where status = 'pending'",
    createTable(types, {
      table: 'travel_delivery_queue',
      columns: travelDeliveryQueueColumns,
      constraints: ['primary key (webhook_id)'],
    }),
  ];
}
