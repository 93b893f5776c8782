import type { ColumnTypes } from './column-types.ts';

/** Secrets of webhooks, deliveries, and the delivery queue of each webhook. */
export function webhookTables({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table travel_secret (
      type ${orderedText} not null,
      id ${orderedText} not null,
      sealed ${orderedText} not null,
      until ${bigint},
      primary key (type, id, sealed),
      foreign key (type, id) references travel_resource (type, id) on delete cascade
    )`,
    'create index travel_secret_until on travel_secret (until)',
    // No foreign key to the webhook: deleting a webhook with a long history must not block other writers. Its
    // deliveries are deleted later, in batches.
    `create table travel_delivery (
      id ${orderedText} primary key,
      webhook_id ${orderedText} not null,
      seq ${bigint} not null,
      event_id ${orderedText} not null,
      kind text not null,
      created_at ${bigint} not null,
      redelivery integer not null,
      status ${orderedText} not null,
      attempts text not null,
      next_attempt_at ${bigint}
    )`,
    // The list of deliveries, all or by status, and the next ones to deliver.
    'create index travel_delivery_list on travel_delivery (webhook_id, seq)',
    'create index travel_delivery_status on travel_delivery (webhook_id, status, seq)',
    "create index travel_delivery_next on travel_delivery (webhook_id, redelivery, seq) where status = 'pending'",
    `create table travel_delivery_queue (
      webhook_id ${orderedText} primary key,
      pending integer not null,
      succeeded integer not null,
      failed integer not null,
      canceled integer not null,
      failing_since ${bigint},
      lease_token text,
      lease_until ${bigint}
    )`,
  ];
}
