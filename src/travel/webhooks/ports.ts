/** The statuses of a delivery. */
export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'canceled'] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One attempt to deliver an event. */
export interface Attempt {
  /** Epoch milliseconds. */
  at: number;
  latencyMs: number;
  /** The status of the response; absent if there was none. */
  status?: number;
  /** The reason why the attempt failed; absent on success. */
  error?: string;
}

/** A queued delivery of an event to a webhook. */
export interface Delivery {
  id: string;
  webhookId: string;
  eventId: string;
  attempts: Attempt[];
}

/** No attempt waits longer than this, in milliseconds. */
export const MAX_WAIT_MS = 3 * 60 * 60_000;

/** The state of a delivery after an attempt. */
export interface DeliveryOutcome {
  status: 'pending' | 'succeeded' | 'failed';
  attempts: Attempt[];
  /** The time of the next attempt in epoch milliseconds; set only in the status `pending`. */
  nextAttemptAt?: number;
}

/** Limits the numbers of due webhooks: of those whose last attempt failed, and of the others. */
export interface DueQuery {
  now: number;
  healthy: number;
  failing: number;
}

/** The exclusive right to deliver to a webhook. */
export interface DeliveryLease {
  webhookId: string;
  token: string;
  /** The duration of the lease from the moment that it is acquired or extended, in milliseconds. */
  ms: number;
}

/**
 * The queue of deliveries. Only the holder of a webhook's lease delivers to it, so that events arrive in order. All
 * state is stored, so delivery continues after a crash. Where several processes use the database, leases are measured by
 * its clock instead of the given `now`.
 */
export interface DeliveryQueue {
  /** Webhooks with due deliveries and without a lease; the longest waiting first. */
  dueWebhooks(query: DueQuery): Promise<{ healthy: string[]; failing: string[] }>;
  /** Acquires the lease. Returns false if another holder has it. */
  acquireLease(lease: DeliveryLease, now: number): Promise<boolean>;
  /** Extends the lease. Returns false if it belongs to another holder. */
  extendLease(lease: DeliveryLease, now: number): Promise<boolean>;
  /** The next delivery to attempt: a requested redelivery, or the first in order if it is due. */
  nextDelivery(webhookId: string, now: number): Promise<Delivery | undefined>;
  /**
   * Stores the outcome and extends the lease. Returns the time since which all attempts have failed, or 'lost', with
   * nothing stored, if the lease belongs to another holder.
   */
  saveOutcome(
    lease: DeliveryLease,
    delivery: { id: string; outcome: DeliveryOutcome },
    now: number,
  ): Promise<{ failingSince: number | undefined } | 'lost'>;
  /** Releases one lease, or all leases at the start of the only process. */
  releaseLeases(lease: Pick<DeliveryLease, 'webhookId' | 'token'> | 'all', now: number): Promise<void>;
  /**
   * Adapts the queue to a changed webhook. If it is enabled, its waiting deliveries become due now. If it is disabled
   * or deleted, cancels up to `limit` of them and returns their number.
   */
  applyWebhookChange(webhookId: string, now: number, limit: number): Promise<number>;
}

/** A delivery that an admin requests. */
export interface RedeliveryRequest {
  id: string;
  webhookId: string;
  eventId: string;
  kind: string;
  createdAt: number;
}

/** Stores the secrets and the delivery history of webhooks. */
export interface WebhookRecords {
  /** The secrets that sign now, newest first. Secrets that cannot be decrypted are left out. */
  activeSecrets(webhookId: string, now: number): Promise<string[]>;
  redeliver(asked: RedeliveryRequest): Promise<void>;
  /** Deletes up to `limit` secrets that ended before `before`, and returns their number. */
  deleteEndedSecrets(before: number, limit: number): Promise<number>;
  /** Deletes up to `limit` deliveries that are older than `before` or whose webhook is deleted, and returns their number. */
  deleteOldDeliveries(before: number, limit: number): Promise<number>;
}
