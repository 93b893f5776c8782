/**
 * The tables of the travel service. Each resource is one row with a JSON document; index values, unique values and
 * references have rows of their own.
 */
export interface TravelTables {
  travel_resource: TravelResourceTable;
  travel_index: TravelIndexTable;
  travel_unique: TravelUniqueTable;
  travel_reference: TravelReferenceTable;
  travel_turn: TravelTurnTable;
  travel_count: TravelCountTable;
  travel_api_key: TravelApiKeyTable;
}

/** A resource. `parent_id` is '' if the type has no parent; `seq` orders resources of the same creation time. */
interface TravelResourceTable {
  type: string;
  id: string;
  parent_id: string;
  created_at: number;
  seq: number;
  archived: number;
  doc: string;
}

/** The columns of a resource without its document, as index rows, counters and references need them. */
export type TravelRow = Omit<TravelResourceTable, 'doc'>;

/**
 * A value by which a resource is found or sorted. It repeats the columns that a page needs, so that a page is read from
 * one index.
 */
interface TravelIndexTable {
  type: string;
  id: string;
  name: string;
  value: string;
  archived: number;
  seq: number;
}

/** A value that is unique among the resources of a type. */
interface TravelUniqueTable {
  type: string;
  name: string;
  value: string;
  id: string;
}

/** A reference from one resource to another. */
interface TravelReferenceTable {
  from_type: string;
  from_id: string;
  to_type: string;
  to_id: string;
}

/** One row for each type that transactions lock. The row of a feed also numbers its entries. */
interface TravelTurnTable {
  type: string;
  /** The number of the last entry. */
  seq: number;
  /** The creation time of the last entry. */
  latest: number;
}

/**
 * Exact totals of lists, updated in the transaction of each write. `parent_id` is the parent of the collection, or
 * the name of a counted index. The total is the sum of all slots; a slot may be negative.
 */
interface TravelCountTable {
  type: string;
  parent_id: string;
  archived: number;
  slot: number;
  count: number;
}

/** An API key: its hash, and the user on whose behalf it acts. */
interface TravelApiKeyTable {
  hash: string;
  name: string;
  user_type: string;
  user_id: string;
  created_at: number;
  id: string;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** The tables of webhooks. The webhooks themselves are resources. Times are epoch milliseconds. */
export interface WebhookTables {
  travel_secret: TravelSecretTable;
  travel_delivery: TravelDeliveryTable;
  travel_delivery_queue: TravelDeliveryQueueTable;
}

/** An encrypted secret of a resource, deleted with it. */
interface TravelSecretTable {
  type: string;
  id: string;
  sealed: string;
  /** The time at which the secret expires, because a newer one replaced it; null for the current secret. */
  until: number | null;
}

/** An event to deliver to a webhook, with the state of the delivery. */
export interface TravelDeliveryTable {
  id: string;
  webhook_id: string;
  /** A number from the sequence of events, so that deliveries are in the order of events. */
  seq: number;
  event_id: string;
  kind: string;
  created_at: number;
  /** 1 for a redelivery requested by a user. Redeliveries are not ordered with other deliveries. */
  redelivery: number;
  status: string;
  /** The attempts as a JSON list, the oldest first. */
  attempts: string;
  /** The time of the next attempt; null if there will be none. */
  next_attempt_at: number | null;
}

/** The delivery queue of one webhook: the number of deliveries in each state, and the lease. */
export interface TravelDeliveryQueueTable {
  webhook_id: string;
  pending: number;
  succeeded: number;
  failed: number;
  canceled: number;
  /** The time of the first failure after the last success; null if the last attempt succeeded. */
  failing_since: number | null;
  lease_token: string | null;
  /** The end of the lease or, if there is no lease token, the time at which it was last released. */
  lease_until: number | null;
}
