import type { TableDeclarations } from './columns.ts';

const ofResource = 'foreign key (type, id) references travel_resource (type, id) on delete cascade';

/**
 * The resources of the travel service, with their index values, unique values, references and totals, and the secrets and deliveries of
 * webhooks, which are resources themselves.
 */
export const travelTables = {
  /** A resource. `parent_id` is '' if the type has no parent; `seq` orders resources of the same creation time. */
  travel_resource: {
    columns: {
      type: 'ordered text',
      id: 'ordered text',
      parent_id: 'ordered text',
      created_at: 'bigint',
      seq: 'bigint',
      archived: 'integer',
      doc: 'text',
      // What lists are filtered by: null in types without such a filter.
      kind: 'ordered text?',
      status: 'ordered text?',
      billing_profile_id: 'ordered text?',
      cost_center_id: 'ordered text?',
      date: 'ordered text?',
    },
    constraints: ['primary key (type, id)'],
    indexes: {
      kind: { columns: 'type, kind, created_at, seq', where: 'kind is not null' },
      status: { columns: 'type, status, created_at, seq', where: 'status is not null' },
      billing_profile: {
        columns: 'type, billing_profile_id, created_at, seq',
        where: 'billing_profile_id is not null',
      },
      cost_center: { columns: 'type, cost_center_id, created_at, seq', where: 'cost_center_id is not null' },
      date: { columns: 'type, date, seq', where: 'date is not null' },
      // Lists in the order of creation, with and without archived resources. Unique, so that the order is total.
      page: { columns: 'type, parent_id, created_at, seq', unique: true },
      archived: 'type, parent_id, archived, created_at, seq',
    },
  },
  /**
   * A value by which a resource is found or sorted. It repeats the columns that a page needs, so that a page is read from
   * one index.
   */
  travel_index: {
    columns: {
      type: 'ordered text',
      id: 'ordered text',
      name: 'ordered text',
      value: 'ordered text',
      archived: 'integer',
      seq: 'bigint',
    },
    constraints: ['primary key (type, name, value, seq)', ofResource],
    indexes: {
      archived: 'type, name, archived, value, seq',
      // Not (type, id, value): SQLite would read all of such an index in a search for a value.
      id: 'type, id',
    },
  },
  /** A value that is unique among the resources of a type. */
  travel_unique: {
    columns: {
      type: 'ordered text',
      name: 'ordered text',
      value: 'ordered text',
      id: 'ordered text',
    },
    constraints: ['primary key (type, name, value)', ofResource],
    indexes: {
      id: 'type, id',
    },
  },
  /** A reference from one resource to another. */
  travel_reference: {
    columns: {
      from_type: 'ordered text',
      from_id: 'ordered text',
      to_type: 'ordered text',
      to_id: 'ordered text',
    },
    constraints: [
      'primary key (from_type, from_id, to_type, to_id)',
      'foreign key (from_type, from_id) references travel_resource (type, id) on delete cascade',
      'foreign key (to_type, to_id) references travel_resource (type, id)',
    ],
    indexes: {
      target: 'to_type, to_id',
    },
  },
  /** One row for each type that transactions lock. The row of a feed also numbers its entries. */
  travel_turn: {
    columns: {
      type: 'ordered text',
      /** The number of the last entry. */
      seq: 'bigint',
      /** The creation time of the last entry. */
      latest: 'bigint',
    },
    constraints: ['primary key (type)'],
  },
  /**
   * Exact totals of lists, updated in the transaction of each write. `parent_id` is the parent of the collection, or
   * the name of a counted index. The total is the sum of all slots; a slot may be negative.
   */
  travel_count: {
    columns: {
      type: 'ordered text',
      parent_id: 'ordered text',
      archived: 'integer',
      slot: 'integer',
      count: 'integer',
    },
    constraints: ['primary key (type, parent_id, archived, slot)'],
  },
  /** An encrypted secret of a resource, deleted with it. */
  travel_secret: {
    columns: {
      type: 'ordered text',
      id: 'ordered text',
      sealed: 'ordered text',
      /** The time at which the secret expires, because a newer one replaced it; null for the current secret. */
      until: 'bigint?',
    },
    constraints: ['primary key (type, id, sealed)', ofResource],
    indexes: {
      until: 'until',
    },
  },
  /** The answer to a request with an `Idempotency-Key`, which a repeated request gets. */
  travel_answer: {
    columns: {
      /** The id of the user on whose behalf the request was made. */
      owner: 'ordered text',
      key: 'ordered text',
      /** A hash of the request. */
      request: 'text',
      /** The data of the answer as JSON, encrypted if it has a secret. */
      data: 'text',
      created_at: 'bigint',
    },
    constraints: ['primary key (owner, key)'],
    indexes: {
      created: 'created_at',
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
