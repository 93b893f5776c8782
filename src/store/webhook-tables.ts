/** The tables of webhooks; the webhooks themselves are resources. Times are epoch milliseconds. */
export interface WebhookTables {
  travel_secret: TravelSecretTable;
  travel_delivery: TravelDeliveryTable;
  travel_delivery_queue: TravelDeliveryQueueTable;
}

/** A secret of a resource, encrypted. It goes with its resource. */
interface TravelSecretTable {
  type: string;
  id: string;
  sealed: string;
  /** When it ends, as another has replaced it; null: it is the one of today. */
  until: number | null;
}

/** An event on its way to a webhook, and what became of it. */
export interface TravelDeliveryTable {
  id: string;
  webhook_id: string;
  /** From the sequence of the events, so that it tells their order. */
  seq: number;
  event_id: string;
  kind: string;
  created_at: number;
  /** 1: asked for by somebody, and in no order with the others. */
  redelivery: number;
  status: string;
  /** JSON, the oldest first. */
  attempts: string;
  /** Null: it is not tried any more. */
  next_attempt_at: number | null;
}

/** The deliveries of one webhook as a whole: how many are in each state, and who works on them. */
export interface TravelDeliveryQueueTable {
  webhook_id: string;
  pending: number;
  succeeded: number;
  failed: number;
  canceled: number;
  /** The first failure since the last success. */
  failing_since: number | null;
  lease_token: string | null;
  /** Once nobody holds the lease: when it was given back. */
  lease_until: number | null;
}
