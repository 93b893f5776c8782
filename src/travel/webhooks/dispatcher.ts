import { setMaxListeners } from 'node:events';
import { withRecorder } from '../changes.ts';
import { stringMember } from '../json.ts';
import { readResource } from '../ports.ts';
import { event } from '../resources/event.ts';
import { webhook } from '../resources/webhook.ts';
import {
  type AttemptResult,
  attemptDelivery,
  DISABLE_AFTER_MS,
  nextOutcome,
  openConnections,
  type Receiver,
  TIMEOUT_MS,
  type WebhookDeps,
} from './attempt.ts';
import type { Delivery, DeliveryLease, DeliveryOutcome } from './ports.ts';

/** The number of webhooks served concurrently. Workers mostly wait, and each costs little more than a socket. */
const SLOT_COUNTS = { healthy: 256, failing: 64 };
/** The interval at which the queue is polled without notifications, in milliseconds. */
const IDLE_MS = 1_000;
/** Notifications that arrive within this time, in milliseconds, are handled together. */
const BATCHING_MS = 20;
/** Delay after an internal failure, e.g. of the database, in milliseconds. */
const RETRY_MS = 5_000;
/** Grace period for deliveries in flight at shutdown, in milliseconds. */
const GRACE_MS = 3_000;

interface DispatcherState {
  deps: WebhookDeps;
  slots: DeliverySlots;
  /** The webhooks that changed after the last dispatch. */
  changed: Set<string>;
  /** Wakes the loop from its current wait. */
  wakeSignal: { signal: AbortSignal; wake(): void };
  /** Aborted at shutdown: no delivery starts and no wait continues. */
  stopping: AbortController;
  /** Aborts the deliveries in flight. */
  abort: AbortController;
}

/** Creates an idle dispatcher, which delivers due events to all webhooks concurrently. */
export function createDispatcher(deps: WebhookDeps) {
  const state: DispatcherState = {
    deps,
    slots: new DeliverySlots(deps.slots ?? SLOT_COUNTS),
    changed: new Set(),
    wakeSignal: createWakeSignal(),
    stopping: new AbortController(),
    abort: new AbortController(),
  };
  // Every worker listens to both signals; without this, Node warns about a leak.
  setMaxListeners(0, state.abort.signal, state.stopping.signal);
  return {
    /** Reports a change that may have queued a delivery. */
    notify: (type: string, id: string): void => {
      if (type === 'webhook') state.changed.add(id);
      state.wakeSignal.wake();
    },
    /** Starts as many due deliveries as there are free slots, and returns the number of busy slots. */
    dispatchDue: async (): Promise<number> => {
      await dispatchDue(state);
      return state.slots.work.length;
    },
    /** Delivers until no delivery is due. */
    deliverAllDue: async (): Promise<void> => {
      for (;;) {
        const started = await dispatchDue(state);
        const { work } = state.slots;
        // A delivery that was started may have ended while further ones were looked for.
        if (started === 0 && work.length === 0) return;
        if (work.length > 0) await Promise.race(work);
      }
    },
    /** Dispatches on notifications and periodically until it is stopped. */
    run: (): { stop(): Promise<void> } => {
      const looping = runLoop(state);
      return { stop: () => stopGracefully(state, looping) };
    },
  };
}

/** The signal aborts only once: aborting repeatedly would create an error with a stack trace at every write. */
function createWakeSignal(): DispatcherState['wakeSignal'] {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    wake: () => {
      if (!controller.signal.aborted) controller.abort();
    },
  };
}

async function runLoop(state: DispatcherState): Promise<void> {
  const { clock } = state.deps;
  const { signal } = state.stopping;
  while (!signal.aborted) {
    state.wakeSignal = createWakeSignal();
    await dispatchDue(state).catch((error: unknown) => logAndWait(state, error));
    if (!signal.aborted) await clock.wait(IDLE_MS, state.wakeSignal.signal);
    if (!signal.aborted) await clock.wait(BATCHING_MS, signal);
  }
}

/** Starts as many due deliveries as there are free slots, and returns how many it has started. */
async function dispatchDue(state: DispatcherState): Promise<number> {
  const { deps, slots, changed } = state;
  let started = 0;
  for (const id of [...changed]) {
    changed.delete(id);
    try {
      await applyWebhookChange(deps, id);
    } catch (error) {
      changed.add(id);
      throw error;
    }
  }
  // Webhooks in busy slots may not have their lease yet, so the query can return them again.
  const limitOf = (kind: SlotKind) => (slots.free(kind) > 0 ? slots.free(kind) + slots.work.length : 0);
  const limits = { healthy: limitOf('healthy'), failing: limitOf('failing') };
  if (state.stopping.signal.aborted) return started;
  const due = await deps.queue.dueWebhooks({ now: deps.clock.now(), ...limits });
  for (const kind of ['healthy', 'failing'] as const) {
    const waiting = due[kind].filter((id) => !slots.has(id));
    for (const id of waiting.slice(0, Math.max(0, slots.free(kind)))) {
      slots.take(kind, id, () => serveWebhook(state, id));
      started += 1;
    }
  }
  return started;
}

async function serveWebhook(state: DispatcherState, webhookId: string): Promise<void> {
  try {
    await deliverToWebhook(state, webhookId);
  } catch (error) {
    await logAndWait(state, error);
  }
  state.wakeSignal.wake();
}

/** Waits after logging, so that a persistent failure does not cause a busy loop. */
async function logAndWait({ deps, stopping }: DispatcherState, error: unknown): Promise<void> {
  deps.log.error({ err: error }, 'delivering webhooks failed; retrying');
  await deps.clock.wait(RETRY_MS, stopping.signal);
}

async function stopGracefully(state: DispatcherState, looping: Promise<void>): Promise<void> {
  state.stopping.abort();
  state.wakeSignal.wake();
  const finished = new AbortController();
  const aborting = state.deps.clock.wait(GRACE_MS, finished.signal).then(() => state.abort.abort());
  await Promise.all([looping, ...state.slots.work]);
  finished.abort();
  await aborting;
}

/** The duration of a lease: another process continues this long after the holder has died. */
export const LEASE_MS = 20_000;
/** A lease is extended before an attempt, which may take `TIMEOUT_MS`, if less than this time is left. */
const MIN_LEFT_MS = TIMEOUT_MS + 5_000;
/** A webhook keeps its slot for this many deliveries or this many milliseconds; then another webhook gets the slot. */
const MAX_DELIVERIES_PER_LEASE = 100;
const MAX_LEASE_USE_MS = 2_000;
/** "410 Gone: … the sender should disable the endpoint" (Standard Webhooks, "Disabling endpoints") */
const GONE = 410;

interface DeliveryWorker extends Omit<Receiver, 'url'> {
  lease: DeliveryLease;
  /** The time before which the lease certainly has not ended. */
  leaseEnd: number;
}

/** Delivers what is due to one webhook, in order and one at a time, if its lease is free. */
async function deliverToWebhook(
  { deps, stopping, abort }: DispatcherState,
  webhookId: string,
): Promise<void> {
  const { queue, travel, clock } = deps;
  const { now } = clock;
  const lease = { webhookId, token: travel.newId('B'), ms: LEASE_MS };
  const start = now();
  if (!(await queue.acquireLease(lease, start))) return;
  const leaseEnd = start + LEASE_MS;
  const worker = { webhookId, lease, leaseEnd, connections: openConnections(), signal: abort.signal };
  const end = now() + MAX_LEASE_USE_MS;
  try {
    for (
      let served = 0;
      served < MAX_DELIVERIES_PER_LEASE && now() <= end && !stopping.signal.aborted;
      served++
    ) {
      const delivery = await queue.nextDelivery(webhookId, now());
      if (!delivery || !(await deliver(deps, worker, delivery))) return;
    }
  } finally {
    worker.connections.close();
    await queue.releaseLeases(lease, now());
  }
}

/** Makes one delivery. Returns false if the worker has to stop. */
async function deliver(deps: WebhookDeps, worker: DeliveryWorker, delivery: Delivery): Promise<boolean> {
  const { queue, travel, clock } = deps;
  const { webhookId } = worker;
  const stored = await readResource(travel.store, webhook.type, webhookId);
  const url = stored && stored.doc['disabled'] !== true ? stringMember(stored.doc, 'url') : undefined;
  if (url === undefined) {
    await applyWebhookChange(deps, webhookId);
    return false;
  }
  if (!(await holdLease(deps, worker))) return false;
  // The event may have been deleted after its retention.
  const sent = await readResource(travel.store, event.type, delivery.eventId);
  const result = sent && (await attemptDelivery(deps, { ...worker, url }, sent));
  // The result of an aborted attempt is unknown, so the event is sent again.
  if (worker.signal.aborted) return false;
  const outcome = toOutcome(deps, delivery, result);
  const now = clock.now();
  const saved = await queue.saveOutcome(worker.lease, { id: delivery.id, outcome }, now);
  if (saved === 'lost') return false;
  worker.leaseEnd = now + LEASE_MS;
  const { failingSince = Number.POSITIVE_INFINITY } = saved;
  if (result?.attempt.status === GONE || travel.now() - failingSince >= DISABLE_AFTER_MS) {
    await disableWebhook(deps, webhookId, url);
    await applyWebhookChange(deps, webhookId);
    return false;
  }
  return true;
}

/** Extends the lease if it might end during an attempt. Returns false if another process has it. */
async function holdLease({ queue, clock }: WebhookDeps, worker: DeliveryWorker): Promise<boolean> {
  const now = clock.now();
  if (worker.leaseEnd - now >= MIN_LEFT_MS) return true;
  worker.leaseEnd = now + LEASE_MS;
  return queue.extendLease(worker.lease, now);
}

function toOutcome(
  { random, clock }: WebhookDeps,
  { attempts }: Delivery,
  result: AttemptResult | undefined,
): DeliveryOutcome {
  if (!result) {
    const gone = { at: clock.wallClock(), latencyMs: 0, error: 'the event is not kept any more' };
    return { status: 'failed', attempts: [...attempts, gone] };
  }
  const { attempt, retryAfter } = result;
  const all = [...attempts, attempt];
  if (attempt.status === GONE) return { status: 'failed', attempts: all };
  const outcome = nextOutcome(all, { retryAfter, random: random() });
  if (outcome.nextAttemptAt === undefined) return outcome;
  // The times of attempts are those of the wall clock; waits are measured by a clock that does not jump.
  const ahead = clock.now() - clock.wallClock();
  return { ...outcome, nextAttemptAt: outcome.nextAttemptAt + ahead };
}

/** Failing webhooks have slots of their own, so that they cannot occupy those of working ones. */
type SlotKind = keyof typeof SLOT_COUNTS;

/** The busy slots: at most one per webhook, and a maximum for each kind. */
class DeliverySlots {
  readonly #sizes: Record<SlotKind, number>;
  readonly #served = new Map<string, { kind: SlotKind; work: Promise<void> }>();

  constructor(sizes: Record<SlotKind, number>) {
    this.#sizes = sizes;
  }

  /** Returns the promises of all busy slots. */
  get work(): Promise<void>[] {
    return [...this.#served.values()].map(({ work }) => work);
  }

  free(kind: SlotKind): number {
    const taken = [...this.#served.values()].filter((slot) => slot.kind === kind).length;
    return this.#sizes[kind] - taken;
  }

  has(webhookId: string): boolean {
    return this.#served.has(webhookId);
  }

  /** Occupies a slot until the work ends. The work must not reject. */
  take(kind: SlotKind, webhookId: string, begin: () => Promise<void>): void {
    const work = begin().finally(() => this.#served.delete(webhookId));
    this.#served.set(webhookId, { kind, work });
  }
}

const CANCEL_BATCH = 500;

/** Disables a webhook, with its update event, unless its URL has changed since. */
async function disableWebhook({ travel }: WebhookDeps, id: string, url: string): Promise<void> {
  await withRecorder(travel, [], async (recorder) => {
    const [stored] = await recorder.transaction.lock([{ type: webhook.type, id }]);
    if (stored?.doc['url'] === url)
      await recorder.replace(webhook, stored, { ...stored.doc, disabled: true });
  });
}

/** Adapts waiting deliveries to a changed webhook, in batches, so that other writes are not blocked. */
async function applyWebhookChange({ queue, clock }: WebhookDeps, id: string): Promise<void> {
  let canceled = CANCEL_BATCH;
  while (canceled === CANCEL_BATCH) canceled = await queue.applyWebhookChange(id, clock.now(), CANCEL_BATCH);
}
