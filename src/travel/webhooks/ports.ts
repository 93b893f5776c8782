/** What becomes of a delivery. */
export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'canceled'] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One try to deliver an event. */
export interface Attempt {
  /** Epoch milliseconds. */
  at: number;
  latencyMs: number;
  /** Of the answer, if there was one. */
  status?: number;
  /** Why the event does not count as delivered. */
  error?: string;
}

/** An event on its way to a webhook. */
export interface Delivery {
  id: string;
  webhookId: string;
  eventId: string;
  attempts: Attempt[];
}

/** What an attempt made of a delivery. */
export interface DeliveryOutcome {
  status: 'pending' | 'succeeded' | 'failed';
  attempts: Attempt[];
  /** Only while it is pending. */
  nextAttemptAt?: number;
}

/** Which webhooks are looked for: `failing` are those whose last attempt failed. */
export interface DueQuery {
  now: number;
  failing: boolean;
  limit: number;
}

/** The right to work for a webhook. */
export interface DeliveryLease {
  webhookId: string;
  token: string;
  /** Epoch milliseconds; after that somebody else may take over. */
  until: number;
}

/**
 * What is to be delivered. For a webhook one works at a time, who holds its lease, so that its deliveries stay in the
 * order of their events. All state is here: who comes after a crash goes on where it was.
 */
export interface DeliveryQueue {
  /** The webhooks for which something is due and nobody works, those first that waited longest. */
  dueWebhooks(query: DueQuery): Promise<string[]>;
  /** False: somebody else holds the lease. */
  acquireLease(lease: DeliveryLease, now: number): Promise<boolean>;
  /** What is to be tried now: one that was asked for, or the first in order if its time has come. */
  nextDelivery(webhookId: string, now: number): Promise<Delivery | undefined>;
  /** Keeps an outcome and extends the lease; answers since when all attempts fail. 'lost': it was no longer ours, and nothing is kept. */
  saveOutcome(
    lease: DeliveryLease,
    id: string,
    outcome: DeliveryOutcome,
  ): Promise<{ failingSince: number | undefined } | 'lost'>;
  /** Gives leases back: this one, or all, when nobody else can hold one. */
  releaseLeases(lease: Pick<DeliveryLease, 'webhookId' | 'token'> | 'all', now: number): Promise<void>;
  /**
   * The webhook was changed. Enabled: what waits for its next attempt is due now, as it may be mended. Disabled or gone:
   * cancels at most so many that wait, and answers how many.
   */
  applyWebhookChange(webhookId: string, now: number, limit: number): Promise<number>;
}

/** A delivery that somebody asks for. */
export interface RedeliveryRequest {
  id: string;
  webhookId: string;
  eventId: string;
  kind: string;
  createdAt: number;
}

/** What else is kept for webhooks. */
export interface WebhookRecords {
  /** The secrets that sign today, the newest first; those that cannot be read any more are left out. */
  activeSecrets(webhookId: string, now: number): Promise<string[]>;
  redeliver(asked: RedeliveryRequest): Promise<void>;
  /** Removes at most so many secrets that ended before a time. */
  deleteEndedSecrets(before: number, limit: number): Promise<number>;
  /** Removes at most so many deliveries that were created before a time, or whose webhook is gone. */
  deleteOldDeliveries(before: number, limit: number): Promise<number>;
}
