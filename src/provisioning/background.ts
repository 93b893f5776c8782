import { type CircuitBreaker, GIVE_WAY_MS } from './circuit-breaker.ts';
import type { Connection } from './connection.ts';
import type { FeedFollower, FeedResult } from './event-feed.ts';
import type { Importer } from './import.ts';
import type { Reconciler } from './reconcile.ts';
import type { RulesChanges } from './rules-change.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { ReconcileQueue, Retention } from './store-ports.ts';

/** Identities of one connection that are reconciled at the same time. */
const CONCURRENCY = 8;
const BATCH = 64;
const IDLE_MS = 1_000;
/** Interval of reading rules and lookups; identities translated with older ones are marked dirty in batches. */
const RULES_MS = 60_000;
/**
 * Delay after rules and lookups were read, in milliseconds: changes that arrive within it are covered by one further
 * reading.
 */
const RULES_DELAY_MS = 250;
const STALE_BATCH = 500;
const IMPORT_MS = 60 * 60_000;
/** Interval of deleting expired tombstones; they are deleted in batches with a pause between two. */
const RETENTION_MS = 60 * 60_000;
/** Delay after a failure to delete tombstones. */
const RETENTION_RETRY_MS = 60_000;
const EXPIRE_BATCH = 200;
const RETENTION_PAUSE_MS = 50;
const DAY_MS = 24 * 60 * 60_000;
/** Delay after a failed import. */
const IMPORT_RETRY_MS = 60_000;
/** Interval at which a travel API that has no event feed is asked whether it has one by now. */
const FEED_RECHECK_MS = 60 * 60_000;
/** The longest interval between two feed requests while the travel API does not answer. */
const MAX_FEED_DELAY_MS = 60_000;
/**
 * First and longest delay after an internal error, such as a database that cannot be written. The delay doubles with
 * each error.
 */
const FAULT_MS = 1_000;
const MAX_FAULT_MS = 10_000;

/** The running background loops. */
export interface Background {
  /** Makes all connections read their rules and lookups again soon. Identities that these change are reconciled. */
  refreshRules(): void;
  /** Makes all connections import their travelers soon, and retry unresolved references, as at a start. */
  importAgain(): void;
  /** Ends all loops; resolves when the work in progress is done. */
  stop(): Promise<void>;
}

export interface ReconcileDueDeps {
  reconcileQueue: ReconcileQueue;
  reconciler: Pick<Reconciler, 'reconcile' | 'releaseUnsaved'>;
  circuitBreakerOf(connection: Connection): CircuitBreaker;
  runtime: Runtime;
}

interface BackgroundDeps extends ReconcileDueDeps {
  rulesSnapshots: RulesSnapshots;
  rulesChanges: RulesChanges;
  connections: Connection[];
  importer: Importer;
  retention: Retention;
  reconcileSignalOf(connection: Connection): WakeSignal;
  /** Woken when an import must run before its interval is over. */
  importSignalOf(connection: Connection): WakeSignal;
  /** Woken when rules or lookups have changed. */
  rulesSignalOf(connection: Connection): WakeSignal;
  feedFollowerOf(connection: Connection, applyRules: () => void): FeedFollower | undefined;
}

/**
 * Starts the loops of each connection: reconcile due identities, apply changed rules, import, delete expired tombstones,
 * poll the feed.
 */
export function background(deps: BackgroundDeps): Background {
  const stop = new AbortController();
  const loops = deps.connections.flatMap((connection) => {
    const follower = deps.feedFollowerOf(connection, () => deps.rulesSignalOf(connection).wake());
    return [
      repeat(deps, stop.signal, () => reconcileTurn(deps, connection, stop.signal)),
      repeat(deps, stop.signal, () => rulesTurn(deps, connection, stop.signal)),
      repeat(deps, stop.signal, () => importTurn(deps, { connection, follower }, stop.signal)),
      repeat(deps, stop.signal, () => retentionTurn(deps, connection, stop.signal)),
      ...(follower ? [pollFeed(deps, { connection, follower }, stop.signal)] : []),
    ];
  });
  return {
    refreshRules: () => {
      for (const connection of deps.connections) deps.rulesSignalOf(connection).wake();
    },
    importAgain: () => {
      for (const connection of deps.connections) deps.importSignalOf(connection).wake();
    },
    stop: async () => {
      stop.abort();
      for (const connection of deps.connections) deps.reconcileSignalOf(connection).wake();
      await Promise.all(loops);
    },
  };
}

/** Runs the task again and again until the signal is aborted; an error is logged and delays the next run. */
async function repeat(
  { runtime }: BackgroundDeps,
  signal: AbortSignal,
  task: () => Promise<void>,
): Promise<void> {
  let faults = 0;
  while (!signal.aborted) {
    try {
      await task();
      faults = 0;
    } catch (error) {
      if (!(error instanceof StoreUnwritable))
        runtime.log.error({ err: error }, 'a background task failed; retrying');
      await runtime.wait(Math.min(MAX_FAULT_MS, FAULT_MS * 2 ** Math.min(faults, 10)), signal);
      faults += 1;
    }
  }
}

/**
 * Reconciles all due identities. If none is due, waits until the connection is woken or the idle interval has passed.
 */
async function reconcileTurn(
  deps: BackgroundDeps,
  connection: Connection,
  signal: AbortSignal,
): Promise<void> {
  if ((await reconcileDue(deps, connection, signal)) > 0) return;
  const idle = new AbortController();
  const timeout = deps.runtime.wait(IDLE_MS, AbortSignal.any([signal, idle.signal]));
  await Promise.race([deps.reconcileSignalOf(connection).wait(), timeout]);
  idle.abort();
}

/** Thrown when the store cannot save leases or outcomes. The reconciler has already logged the cause. */
class StoreUnwritable extends Error {}

/**
 * Reconciles the due identities of a connection, several at a time, and returns the number of attempts. Rejects if the
 * store cannot be written.
 */
export async function reconcileDue(
  deps: ReconcileDueDeps,
  connection: Connection,
  signal?: AbortSignal,
): Promise<number> {
  if (!(await deps.reconciler.releaseUnsaved())) throw new StoreUnwritable('outcomes could not be saved');
  const { now } = deps.runtime;
  const breaker = deps.circuitBreakerOf(connection);
  const due = breaker.blocks(now()) ? [] : await deps.reconcileQueue.findDue(now(), BATCH, [connection.id]);
  const queue = due.map(({ id }) => id);
  let attempts = 0;
  let unsaved = 0;
  const worker = async (): Promise<void> => {
    for (let id = queue.shift(); id !== undefined && !signal?.aborted; id = queue.shift()) {
      // A few identities may fail for reasons of their own, such as a broken row. Stop only after as many failures as
      // there are workers.
      if (unsaved >= CONCURRENCY || !breaker.admit(now())) return;
      attempts += 1;
      const isProbe = breaker.pauseReason() !== undefined;
      if ((await deps.reconciler.reconcile(connection, id)) === 'unsaved') unsaved += 1;
      if (isProbe) breaker.endAttempt(now());
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  if (unsaved > 0) throw new StoreUnwritable('leases or outcomes could not be saved');
  return attempts;
}

/** Reads and applies rules and lookups, then waits until they change or the interval is over. */
async function rulesTurn(deps: BackgroundDeps, connection: Connection, signal: AbortSignal): Promise<void> {
  await applyRules(deps, connection, signal);
  await deps.runtime.wait(RULES_DELAY_MS, signal);
  await waitForSignal(
    deps,
    { wakeSignal: deps.rulesSignalOf(connection), ms: RULES_MS - RULES_DELAY_MS },
    signal,
  );
}

async function applyRules(deps: BackgroundDeps, connection: Connection, signal: AbortSignal): Promise<void> {
  const snapshot = await deps.rulesSnapshots.refresh(connection);
  if ('kind' in snapshot) return;
  if (!(await deps.rulesChanges.mayFollow(connection, snapshot, signal))) return;
  const now = deps.runtime.now();
  let marked = STALE_BATCH;
  while (marked === STALE_BATCH) {
    marked = await deps.reconcileQueue.markStaleDirty(connection.id, snapshot.version, STALE_BATCH, now);
    if (marked > 0) deps.reconcileSignalOf(connection).wake();
  }
}

interface PolledFeed {
  connection: Connection;
  follower: FeedFollower;
}

/**
 * Imports, then waits for the next import. The feed position is read before the import, so that no change during the
 * import is missed.
 */
async function importTurn(
  deps: BackgroundDeps,
  { connection, follower }: { connection: Connection; follower: FeedFollower | undefined },
  signal: AbortSignal,
): Promise<void> {
  await follower?.begin();
  const pause = await importTravelers(deps, connection);
  await waitForSignal(deps, { wakeSignal: deps.importSignalOf(connection), ms: pause }, signal);
}

/** Waits until the signal wakes, or the time is over. */
async function waitForSignal(
  { runtime }: BackgroundDeps,
  { wakeSignal, ms }: { wakeSignal: WakeSignal; ms: number },
  signal: AbortSignal,
): Promise<void> {
  const end = new AbortController();
  const timeout = runtime.wait(ms, AbortSignal.any([signal, end.signal]));
  void timeout.then(() => end.abort());
  await wakeSignal.wait(end.signal);
  end.abort();
}

/** Polls the feed; the interval depends on the last result. */
async function pollFeed(
  deps: BackgroundDeps,
  { connection, follower }: PolledFeed,
  signal: AbortSignal,
): Promise<void> {
  const everyMs = connection.feed?.everyMs ?? FEED_RECHECK_MS;
  let pause = everyMs;
  await repeat(deps, signal, async () => {
    await deps.runtime.wait(pause, signal);
    if (signal.aborted || deps.circuitBreakerOf(connection).blocks(deps.runtime.now(), GIVE_WAY_MS)) return;
    const result = await follower.follow();
    pause = nextPollDelay(result, { pause, everyMs });
    if (result === 'lost') deps.importSignalOf(connection).wake();
  });
}

function nextPollDelay(result: FeedResult, { pause, everyMs }: { pause: number; everyMs: number }): number {
  switch (result) {
    case 'followed':
    case 'lost':
      return everyMs;
    case 'none':
      return FEED_RECHECK_MS;
    case 'unavailable':
      return Math.max(everyMs, Math.min(MAX_FEED_DELAY_MS, pause * 2));
  }
}

/** Returns the delay before the next import, in milliseconds. */
async function importTravelers(deps: BackgroundDeps, connection: Connection): Promise<number> {
  const { log } = deps.runtime;
  const imported = await deps.importer.run(connection);
  if ('kind' in imported) {
    log.warn(
      { connection: connection.id, failure: imported.kind },
      'the import failed; retrying in a minute',
    );
    return IMPORT_RETRY_MS;
  }
  log.info({ connection: connection.id, read: imported.read }, 'imported the travelers');
  return IMPORT_MS;
}

/** Deletes the tombstones that are older than `tombstoneDays`, in batches, then waits for the next time. */
async function retentionTurn(
  deps: BackgroundDeps,
  connection: Connection,
  signal: AbortSignal,
): Promise<void> {
  const { wait, log } = deps.runtime;
  try {
    while ((await expireTombstones(deps, connection)) === EXPIRE_BATCH && !signal.aborted)
      await wait(RETENTION_PAUSE_MS, signal);
  } catch (error) {
    log.error({ err: error }, 'expired tombstones could not be deleted; retrying in a minute');
    await wait(RETENTION_RETRY_MS, signal);
    return;
  }
  await wait(RETENTION_MS, signal);
}

async function expireTombstones(
  { retention, runtime }: BackgroundDeps,
  { id, tombstoneDays }: Connection,
): Promise<number> {
  const before = runtime.wallClock() - tombstoneDays * DAY_MS;
  const bounds = { before, now: runtime.now(), limit: EXPIRE_BATCH };
  const expired = await retention.expireTombstones(id, bounds);
  if (expired > 0)
    runtime.log.info({ connection: id, tombstones: expired }, 'expired tombstones were deleted');
  return expired;
}

/** A signal that ends the idle wait of a loop. */
export interface WakeSignal {
  wake(): void;
  /** Resolves at the next `wake`, or at once if one came since the last wait. Resolves early if `stop` is aborted. */
  wait(stop?: AbortSignal): Promise<void>;
}

/** Creates a signal. A `wake` while the loop does not wait ends the next wait at once. */
export function wakeSignal(): WakeSignal {
  let isSignalled = false;
  let resume: (() => void) | undefined;
  const resolveWaiter = () => {
    const waiting = resume;
    if (!waiting) return;
    isSignalled = false;
    resume = undefined;
    waiting();
  };
  return {
    wake: () => {
      isSignalled = true;
      resolveWaiter();
    },
    wait: (stop) =>
      new Promise((resolve) => {
        resume = resolve;
        if (isSignalled) resolveWaiter();
        stop?.addEventListener('abort', () => {
          if (resume === resolve) resume = undefined;
          resolve();
        });
      }),
  };
}
