import type { TableDeclarations } from './columns.ts';

/** The tables of webhooks. The webhooks themselves are resources. */
export const webhookTables = {
  /** An encrypted secret of a resource, deleted with it. */
  travel_secret: {
    columns: {
      type: 'ordered text',
      id: 'ordered text',
      sealed: 'ordered text',
      /** The time at which the secret expires, because a newer one replaced it; null for the current secret. */
      until: 'bigint?',
    },
    constraints: [
      'primary key (type, id, sealed)',
      'foreign key (type, id) references travel_resource (type, id) on delete cascade',
    ],
    indexes: {
      until: 'until',
    },
  },
  /** An event to deliver to a webhook, with the state of the delivery. */
  // No foreign key to the webhook: deleting a webhook with a long history must not block other writers. Its
  // deliveries are deleted later, in batches.
  travel_delivery: {
    columns: {
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
    },
    constraints: ['primary key (id)'],
    indexes: {
      // The list of deliveries, all or by status, and the next ones to deliver.
      list: 'webhook_id, seq',
      status: 'webhook_id, status, seq',
      next: { columns: 'webhook_id, redelivery, seq', where: "status = 'pending'" },
    },
  },
  /** The delivery queue of one webhook: the number of deliveries in each state, and the lease. */
  travel_delivery_queue: {
    columns: {
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
    },
    constraints: ['primary key (webhook_id)'],
  },
} as const satisfies TableDeclarations;
