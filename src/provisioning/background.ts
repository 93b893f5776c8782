import { type CircuitBreaker, GIVE_WAY_MS } from './circuit-breaker.ts';
import type { Connection } from './connection.ts';
import type { FeedFollower, FeedResult } from './event-feed.ts';
import type { Importer } from './import.ts';
import type { Reconciler } from './reconcile.ts';
import type { RulesChanges } from './rules-change.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { ReconcileQueue, Retention } from './store-ports.ts';

/** How many identities of a connection are under way at once, and how often the reconcileQueue is looked at unasked. */
const AT_ONCE = 8;
const BATCH = 64;
const IDLE_MS = 1_000;
/** Rules and lookups are read anew this often; who was translated with older ones follows in batches. */
const RULES_MS = 60_000;
/** Changes come in crowds: so long they gather after a reading, to be one more. */
const GATHER_MS = 250;
const STALE_BATCH = 500;
const IMPORT_MS = 60 * 60_000;
/** How often old tombstones are looked for, how many end at once, and the rest between two parts. */
const RETENTION_MS = 60 * 60_000;
/** After a look that failed; nothing is urgent about it. */
const RETENTION_AGAIN_MS = 60_000;
const EXPIRED_AT_ONCE = 200;
const BREATH_MS = 50;
const DAY_MS = 24 * 60 * 60_000;
/** After an import that failed. */
const IMPORT_AGAIN_MS = 60_000;
/** A travel API without a feed is asked for one again after this. */
const FEED_AGAIN_MS = 60 * 60_000;
/** While the travel API does not answer, its feed is asked for less and less often, down to this. */
const FEED_REST_MS = 60_000;
/** After a fault of our own, such as a database that cannot be written: the first wait, doubled up to the longest. */
const FAULT_MS = 1_000;
const LONGEST_FAULT_MS = 10_000;

/** What happens without anybody asking. */
export interface Background {
  /** Lets the rules and lookups of all connections be read anew, soon; who is concerned is translated again. */
  refreshRules(): void;
  /** Lets the travelers of all connections be read anew, soon, and whatever was left open be taken up, as at a start. */
  importAgain(): void;
  /** Ends all loops; resolves when what was under way is done. */
  stop(): Promise<void>;
}

/** What working off the reconcileQueue takes. */
export interface ReconcileDueDeps {
  reconcileQueue: ReconcileQueue;
  reconciler: Pick<Reconciler, 'reconcile' | 'releaseUnsaved'>;
  circuitBreakerOf(connection: Connection): CircuitBreaker;
  runtime: Runtime;
}

/** What the background loops work with. */
interface BackgroundDeps extends ReconcileDueDeps {
  rulesSnapshots: RulesSnapshots;
  rulesChanges: RulesChanges;
  connections: Connection[];
  importer: Importer;
  retention: Retention;
  reconcileSignalOf(connection: Connection): WakeSignal;
  /** Rung when everybody must be read before the hour is over. */
  importSignalOf(connection: Connection): WakeSignal;
  /** Rung when rules or lookups have changed. */
  rulesSignalOf(connection: Connection): WakeSignal;
  feedFollowerOf(connection: Connection, followRules: () => void): FeedFollower | undefined;
}

/** Starts, for each connection, the loops that reconcile what is due, follow the rules, import, and end old tombstones. */
export function background(deps: BackgroundDeps): Background {
  const stop = new AbortController();
  const loops = deps.connections.flatMap((connection) => {
    const follower = deps.feedFollowerOf(connection, () => deps.rulesSignalOf(connection).wake());
    return [
      repeat(deps, stop.signal, () => runOnce(deps, connection, stop.signal)),
      repeat(deps, stop.signal, () => rulesTurn(deps, connection, stop.signal)),
      repeat(deps, stop.signal, () => importTurn(deps, { connection, follower }, stop.signal)),
      repeat(deps, stop.signal, () => retentionTurn(deps, connection, stop.signal)),
      ...(follower ? [followOn(deps, { connection, follower }, stop.signal)] : []),
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

/** Runs the turn over and over; a fault is logged and waited out, never the end of the loop. */
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
      if (!(error instanceof Unkept))
        runtime.log.error({ err: error }, 'a background task failed; it is tried again');
      await runtime.wait(Math.min(LONGEST_FAULT_MS, FAULT_MS * 2 ** Math.min(faults, 10)), signal);
      faults += 1;
    }
  }
}

/** A turn of the loop: what is due, or else a rest until something is. */
async function runOnce(deps: BackgroundDeps, connection: Connection, signal: AbortSignal): Promise<void> {
  if ((await reconcileDue(deps, connection, signal)) > 0) return;
  const idle = new AbortController();
  const rest = deps.runtime.wait(IDLE_MS, AbortSignal.any([signal, idle.signal]));
  await Promise.race([deps.reconcileSignalOf(connection).wait(), rest]);
  idle.abort();
}

/** The store could not keep leases or outcomes. The reconciler has logged why. */
class Unkept extends Error {}

/** Attempts what is due at a connection now, several at once; answers how many. Rejects if the store keeps nothing. */
export async function reconcileDue(
  deps: ReconcileDueDeps,
  connection: Connection,
  signal?: AbortSignal,
): Promise<number> {
  if (!(await deps.reconciler.releaseUnsaved())) throw new Unkept('outcomes could not be kept');
  const { now } = deps.runtime;
  const heed = deps.circuitBreakerOf(connection);
  const due = heed.blocks(now()) ? [] : await deps.reconcileQueue.findDue(now(), BATCH, [connection.id]);
  const queue = due.map(({ id }) => id);
  let attempts = 0;
  let unkept = 0;
  const lane = async (): Promise<void> => {
    for (let id = queue.shift(); id !== undefined && !signal?.aborted; id = queue.shift()) {
      // A few may have troubles of their own, such as a broken row; the others get their turn.
      if (unkept >= AT_ONCE || !heed.admit(now())) return;
      attempts += 1;
      const isProbe = heed.pauseReason() !== undefined;
      if ((await deps.reconciler.reconcile(connection, id)) === 'unsaved') unkept += 1;
      if (isProbe) heed.endAttempt(now());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  if (unkept > 0) throw new Unkept('leases or outcomes could not be kept');
  return attempts;
}

/** Rules and lookups as they are now, and a rest until they change or a minute is over. */
async function rulesTurn(deps: BackgroundDeps, connection: Connection, signal: AbortSignal): Promise<void> {
  await followRules(deps, connection, signal);
  await deps.runtime.wait(GATHER_MS, signal);
  await restUntil(deps, { bell: deps.rulesSignalOf(connection), ms: RULES_MS - GATHER_MS }, signal);
}

async function followRules(deps: BackgroundDeps, connection: Connection, signal: AbortSignal): Promise<void> {
  const basis = await deps.rulesSnapshots.refresh(connection);
  if ('kind' in basis) return;
  if (!(await deps.rulesChanges.mayFollow(connection, basis, signal))) return;
  const now = deps.runtime.now();
  let touched = STALE_BATCH;
  while (touched === STALE_BATCH) {
    touched = await deps.reconcileQueue.markStaleDirty(connection.id, basis.version, STALE_BATCH, now);
    if (touched > 0) deps.reconcileSignalOf(connection).wake();
  }
}

interface Following {
  connection: Connection;
  follower: FeedFollower;
}

/** An import, and a rest until the next. What happens from its beginning on, the feed tells. */
async function importTurn(
  deps: BackgroundDeps,
  { connection, follower }: { connection: Connection; follower: FeedFollower | undefined },
  signal: AbortSignal,
): Promise<void> {
  await follower?.begin();
  const pause = await importAll(deps, connection);
  await restUntil(deps, { bell: deps.importSignalOf(connection), ms: pause }, signal);
}

/** Rests until the bell rings, or the time is over. */
async function restUntil(
  { runtime }: BackgroundDeps,
  { bell, ms }: { bell: WakeSignal; ms: number },
  signal: AbortSignal,
): Promise<void> {
  const end = new AbortController();
  const rest = runtime.wait(ms, AbortSignal.any([signal, end.signal]));
  void rest.then(() => end.abort());
  await bell.wait(end.signal);
  end.abort();
}

/** Looks into the feed again and again; how often, depends on what the last look came to. */
async function followOn(
  deps: BackgroundDeps,
  { connection, follower }: Following,
  signal: AbortSignal,
): Promise<void> {
  const everyMs = connection.feed?.everyMs ?? FEED_AGAIN_MS;
  let pause = everyMs;
  await repeat(deps, signal, async () => {
    await deps.runtime.wait(pause, signal);
    if (signal.aborted || deps.circuitBreakerOf(connection).blocks(deps.runtime.now(), GIVE_WAY_MS)) return;
    const followed = await follower.follow();
    pause = restAfter(followed, { pause, everyMs });
    if (followed === 'lost') deps.importSignalOf(connection).wake();
  });
}

function restAfter(followed: FeedResult, { pause, everyMs }: { pause: number; everyMs: number }): number {
  switch (followed) {
    case 'followed':
    case 'lost':
      return everyMs;
    case 'none':
      return FEED_AGAIN_MS;
    case 'unavailable':
      return Math.max(everyMs, Math.min(FEED_REST_MS, pause * 2));
  }
}

/** Answers how long to wait for the next. */
async function importAll(deps: BackgroundDeps, connection: Connection): Promise<number> {
  const { log } = deps.runtime;
  const imported = await deps.importer.run(connection);
  if ('kind' in imported) {
    log.warn(
      { connection: connection.id, failure: imported.kind },
      'the import failed; it is tried again in a minute',
    );
    return IMPORT_AGAIN_MS;
  }
  log.info({ connection: connection.id, read: imported.read }, 'imported the travelers');
  return IMPORT_MS;
}

/** Ends the tombstones that are older than the connection keeps them, in parts, and a rest until the next look. */
async function retentionTurn(
  deps: BackgroundDeps,
  connection: Connection,
  signal: AbortSignal,
): Promise<void> {
  const { wait, log } = deps.runtime;
  try {
    while ((await expireTombstones(deps, connection)) === EXPIRED_AT_ONCE && !signal.aborted)
      await wait(BREATH_MS, signal);
  } catch (error) {
    log.error({ err: error }, 'old tombstones could not be ended; it is tried again in a minute');
    await wait(RETENTION_AGAIN_MS, signal);
    return;
  }
  await wait(RETENTION_MS, signal);
}

async function expireTombstones(
  { retention, runtime }: BackgroundDeps,
  { id, tombstoneDays }: Connection,
): Promise<number> {
  const before = runtime.wallClock() - tombstoneDays * DAY_MS;
  const bounds = { before, now: runtime.now(), limit: EXPIRED_AT_ONCE };
  const expired = await retention.expireTombstones(id, bounds);
  if (expired > 0) runtime.log.info({ connection: id, tombstones: expired }, 'old tombstones ended');
  return expired;
}

/** Wakes a loop from its idle wait. */
export interface WakeSignal {
  wake(): void;
  /** Resolves at the next ring; at once when it rang since the last wait. Who gives up waiting hears no ring. */
  wait(giveUp?: AbortSignal): Promise<void>;
}

/** An alarm that remembers one ring. */
export function wakeSignal(): WakeSignal {
  let rang = false;
  let answer: (() => void) | undefined;
  const resolveWaiter = () => {
    const waiting = answer;
    if (!waiting) return;
    rang = false;
    answer = undefined;
    waiting();
  };
  return {
    wake: () => {
      rang = true;
      resolveWaiter();
    },
    wait: (giveUp) =>
      new Promise((resolve) => {
        answer = resolve;
        if (rang) resolveWaiter();
        giveUp?.addEventListener('abort', () => {
          if (answer === resolve) answer = undefined;
          resolve();
        });
      }),
  };
}
