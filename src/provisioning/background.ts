import type { Connection } from '../model/connection.ts';
import type { Memberships } from '../model/group-ports.ts';
import type { Runtime } from '../model/runtime-ports.ts';
import type { ReconcileQueue, Retention } from '../model/store-ports.ts';
import type { TravelFailure } from '../model/travel-ports.ts';
import type { BackgroundTasks } from '../store/queues/background-tasks.ts';
import { type Tracing, traceWork } from '../tracing/tracing.ts';
import { type LeasedTask, runTask, type TaskResult } from './calls/background-lease.ts';
import { type CircuitBreaker, GIVE_WAY_MS } from './calls/circuit-breaker.ts';
import { FEED_RECHECK_MS, type FeedTaskDeps, followFeed, takeFeedPosition } from './import/feed-task.ts';
import { type Importer, type ImportResult, withFailedImport } from './import/import.ts';
import { type DecisionDeps, decideProposal } from './mapping-changes/decide-proposal.ts';
import type { Attempt, Reconciler } from './reconcile/run/reconciler.ts';
import type { RulesSnapshots } from './rules/rules-snapshots.ts';
import type { WakeSignal } from './wake-signal.ts';

/** Identities of one connection that are reconciled at the same time. */
const CONCURRENCY = 8;
const BATCH = 64;
/** Interval of looking for due identities while none is known, in milliseconds. */
export const IDLE_MS = 1_000;
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
/** The longest interval between two searches for changed groups whose replica died before it could wake this work. */
const MEMBERSHIPS_MS = 60_000;
/** Delay after a failed import. */
const IMPORT_RETRY_MS = 60_000;
/**
 * First and longest delay after an internal error, such as a database that cannot be written. The delay doubles with
 * each error.
 */
const FAULT_MS = 1_000;
const MAX_FAULT_MS = 10_000;

export interface ReconcileDueDeps {
  reconcileQueue: ReconcileQueue;
  reconciler: Pick<Reconciler, 'reconcile' | 'releaseUnsaved'>;
  circuitBreakerOf(connection: Connection): CircuitBreaker;
  runtime: Runtime;
  tracing?: Tracing | undefined;
}

interface BackgroundDeps
  extends ReconcileDueDeps,
    Omit<DecisionDeps, 'runtime'>,
    Pick<FeedTaskDeps, 'feedFollowerOf'> {
  rulesSnapshots: RulesSnapshots;
  connections: Connection[];
  /** Imports with the connection as given, whose calls are guarded by a lease. */
  runImport: Importer['run'];
  retention: Retention;
  tasks: BackgroundTasks;
  reconcileSignalOf(connection: Connection): WakeSignal;
  /** Woken when an import must run before its interval is over. */
  importSignalOf(connection: Connection): WakeSignal;
  memberships: DecisionDeps['memberships'] & Pick<Memberships, 'markSome'>;
  /** Woken when members of groups must be marked in batches. */
  membershipsSignalOf(connection: Connection): WakeSignal;
  /** Woken when rules or lookups have changed. */
  rulesSignalOf(connection: Connection): WakeSignal;
}

/** The running loops, to which connections can be added. */
export type BackgroundLoops = ReturnType<typeof background>;

export type Background = Omit<BackgroundLoops, 'add' | 'remove'>;

/**
 * Starts the loops of each connection: reconcile due identities, apply changed rules, follow changed groups, import, delete expired
 * tombstones, poll the feed.
 */
export function background(deps: BackgroundDeps) {
  const running = new Map<string, ConnectionLoops>();
  const add = (connection: Connection) => void running.set(connection.id, startLoops(deps, connection));
  for (const connection of deps.connections) add(connection);
  const connections = () => [...running.values()].map(({ connection }) => connection);
  return {
    add,
    /** Ends the loops of a connection; resolves when their work in progress is done. */
    remove: async (id: string): Promise<void> => {
      const loops = running.get(id);
      running.delete(id);
      await loops?.stop();
    },
    /** Makes all connections read their rules and lookups again soon. Identities that these change are reconciled. */
    refreshRules: (): void => {
      for (const connection of connections()) deps.rulesSignalOf(connection).wake();
    },
    /** Makes all connections import their travelers soon, and retry unresolved references, as at a start. */
    importAgain: (): void => {
      for (const connection of connections()) deps.importSignalOf(connection).wake();
    },
    /**
     * Makes identities dirty that wait for an address or for a reference: a replica that died may have resolved what they
     * wait for without marking them.
     */
    retryUnresolved: async (): Promise<void> => {
      for (const connection of connections()) {
        await deps.reconcileQueue.markUnresolvedDirty(connection.id, deps.runtime.now());
        deps.reconcileSignalOf(connection).wake();
      }
    },
    /** Ends all loops; resolves when the work in progress is done. */
    stop: async (): Promise<void> => {
      await Promise.all([...running.values()].map((loops) => loops.stop()));
    },
  };
}

/** The running loops of one connection. */
interface ConnectionLoops {
  connection: Connection;
  stop(): Promise<void>;
}

function startLoops(deps: BackgroundDeps, connection: Connection): ConnectionLoops {
  const stop = new AbortController();
  const turns = [reconcileTurn, rulesTurn, membershipsTurn, retentionTurn, importTurn];
  const loops = turns.map((turn) => repeat(deps, stop.signal, () => turn(deps, connection, stop.signal)));
  if (connection.feed) loops.push(pollFeed(deps, connection, stop.signal));
  return {
    connection,
    stop: async () => {
      stop.abort();
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
  await waitForSignal(deps, { wakeSignal: deps.reconcileSignalOf(connection), ms: IDLE_MS }, signal);
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
  const span = { name: 'reconcile', attributes: connectionAttribute(connection), resultOf: attemptResult };
  const worker = async (): Promise<void> => {
    for (let id = queue.shift(); id !== undefined && !signal?.aborted; id = queue.shift()) {
      // A few identities may fail for reasons of their own, such as a broken row. Stop only after as many failures as
      // there are workers.
      if (unsaved >= CONCURRENCY || !breaker.admit(now())) return;
      attempts += 1;
      const isProbe = breaker.pauseReason() !== undefined;
      const attempt = await traceWork(deps.tracing, span, () => deps.reconciler.reconcile(connection, id));
      if (attempt.result === 'unsaved') unsaved += 1;
      if (isProbe) breaker.endAttempt(now());
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  if (unsaved > 0) throw new StoreUnwritable('leases or outcomes could not be saved');
  return attempts;
}

function attemptResult({ result }: Attempt) {
  return { result, isFailed: result === 'failed' || result === 'unsaved' };
}

function connectionAttribute({ id }: Connection) {
  return { 'jetbridge.connection': id };
}

/** Reads and applies rules and lookups, and decides about proposed ones, then waits until they change or the interval is over. */
async function rulesTurn(deps: BackgroundDeps, connection: Connection, signal: AbortSignal): Promise<void> {
  await applyRules(deps, connection);
  if ((await decideProposal(deps, connection, signal)) === 'inForce') await applyRules(deps, connection);
  await deps.runtime.wait(RULES_DELAY_MS, signal);
  await waitForSignal(
    deps,
    { wakeSignal: deps.rulesSignalOf(connection), ms: RULES_MS - RULES_DELAY_MS },
    signal,
  );
}

async function applyRules(deps: BackgroundDeps, connection: Connection): Promise<void> {
  const snapshot = await deps.rulesSnapshots.refresh(connection);
  if ('kind' in snapshot) return;
  const now = deps.runtime.now();
  let marked = STALE_BATCH;
  while (marked === STALE_BATCH) {
    marked = await deps.reconcileQueue.markStaleDirty(connection.id, snapshot.generation, STALE_BATCH, now);
    if (marked > 0) deps.reconcileSignalOf(connection).wake();
  }
}

/** Makes the members of changed groups dirty if no other replica does so, then waits for the next change. */
async function membershipsTurn(
  deps: BackgroundDeps,
  connection: Connection,
  signal: AbortSignal,
): Promise<void> {
  const work = () => markMembers(deps, connection, signal);
  const { retryMs } = await runTask(deps, connection, { kind: 'memberships', work });
  const wakeSignal = deps.membershipsSignalOf(connection);
  if (await waitForSignal(deps, { wakeSignal, ms: retryMs }, signal))
    await deps.tasks.request(connection.id, 'memberships');
}

/** Another replica that takes over when the lease has ended meanwhile marks the same members again, which does no harm. */
async function markMembers(
  { memberships, runtime: { now }, reconcileSignalOf }: BackgroundDeps,
  connection: Connection,
  signal: AbortSignal,
): Promise<TaskResult> {
  while (await memberships.markSome(connection.id, now())) {
    reconcileSignalOf(connection).wake();
    if (signal.aborted) return { state: undefined, dueMs: 0 };
  }
  return { state: undefined, dueMs: MEMBERSHIPS_MS };
}

/** Imports if no other replica has done so within the interval, then waits for the next time. */
async function importTurn(deps: BackgroundDeps, connection: Connection, signal: AbortSignal): Promise<void> {
  const work = (task: LeasedTask) => importTravelers(deps, task, signal);
  const { retryMs } = await runTask(deps, connection, { kind: 'import', work });
  const wakeSignal = deps.importSignalOf(connection);
  if (await waitForSignal(deps, { wakeSignal, ms: retryMs }, signal))
    await deps.tasks.request(connection.id, 'import');
}

/** Waits until the signal wakes, or the time is over. Returns true if the signal has woken. */
async function waitForSignal(
  { runtime }: BackgroundDeps,
  { wakeSignal, ms }: { wakeSignal: WakeSignal; ms: number },
  signal: AbortSignal,
): Promise<boolean> {
  const end = new AbortController();
  const timeout = runtime.wait(ms, AbortSignal.any([signal, end.signal]));
  void timeout.then(() => end.abort('over'));
  await wakeSignal.wait(end.signal);
  const isWoken = !end.signal.aborted;
  end.abort('woken');
  return isWoken;
}

/** Polls the feed if it is due and no other replica polls it. */
async function pollFeed(deps: BackgroundDeps, connection: Connection, signal: AbortSignal): Promise<void> {
  let pause = connection.feed?.everyMs ?? FEED_RECHECK_MS;
  await repeat(deps, signal, async () => {
    await deps.runtime.wait(pause, signal);
    if (signal.aborted || deps.circuitBreakerOf(connection).blocks(deps.runtime.now(), GIVE_WAY_MS)) return;
    pause = await followFeed(deps, connection);
  });
}

async function importTravelers(
  deps: BackgroundDeps,
  { connection, state }: LeasedTask,
  signal: AbortSignal,
): Promise<TaskResult> {
  const { log, wallClock } = deps.runtime;
  await takeFeedPosition(deps, connection, signal);
  const span = { name: 'import', attributes: connectionAttribute(connection), resultOf: importResult };
  const imported = await traceWork(deps.tracing, span, () => deps.runImport(connection));
  if ('kind' in imported) {
    log.warn(
      { connection: connection.id, failure: imported.kind },
      'the import failed; retrying in a minute',
    );
    return { state: withFailedImport(state, wallClock()), dueMs: IMPORT_RETRY_MS };
  }
  log.info({ connection: connection.id, read: imported.read }, 'imported the travelers');
  return { state: undefined, dueMs: IMPORT_MS };
}

function importResult(imported: ImportResult | TravelFailure) {
  return 'kind' in imported
    ? { result: imported.kind, isFailed: true }
    : { result: 'imported', isFailed: false };
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
