import type { Connection } from '../../model/connection.ts';
import type { Outcome } from '../../model/identity.ts';
import { ProvisioningError } from '../../model/provisioning-error.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { Identities, ReconcileQueue } from '../../model/store-ports.ts';
import type { CircuitBreaker } from '../calls/circuit-breaker.ts';
import { commitWrite, type PendingWrite } from '../reconcile/run/commit.ts';
import { markDirty } from '../reconcile/run/notify-dependents.ts';
import type { Attempt, AttemptResult, PlannedAttempt, Reconciler } from '../reconcile/run/reconciler.ts';

/** The attempt after a write; `later` if the budget is used up first or the attempt is left to the background loop. */
export interface BudgetedAttempt {
  result: AttemptResult | 'later';
  outcome?: Outcome;
}

interface WriterDeps {
  reconciler: Pick<Reconciler, 'reconcile' | 'plan'>;
  identities: Pick<Identities, 'commit'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  /** In milliseconds. An attempt that takes longer continues in the background. */
  budgetMs: number;
  circuitBreakerOf(connection: Connection): CircuitBreaker;
  wake(): void;
  runtime: Pick<Runtime, 'now' | 'wait' | 'checkpoint'>;
}

export type Writer = ReturnType<typeof writer>;

/**
 * Creates the functions with which writes reconcile their user, for as long as the IdP may wait for its answer. If the attempt does
 * not finish in time, the background loop completes it.
 */
export function writer(deps: WriterDeps) {
  return {
    /**
     * Reconciles identities of a connection one after the other, all within what is left of the budget of a request that began at `since`.
     * Returns false if one of them did not come to rest.
     */
    reconcileInOrder: async (
      connection: Connection,
      ids: string[],
      { since, requestId }: { since: number; requestId?: string | undefined },
    ): Promise<boolean> => {
      for (const id of ids) {
        // More than the whole budget is left if the clock was set back.
        const budgetMs = Math.min(deps.budgetMs, since + deps.budgetMs - deps.runtime.now());
        if (budgetMs <= 0 || isBreakerOpen(deps, connection)) return false;
        const budget = startBudget(deps, budgetMs);
        const { result } = await withinBudget(deps, { connection, id, requestId }, budget);
        if (result !== 'reconciled' && result !== 'moved') return false;
      }
      return true;
    },
    /**
     * Makes another attempt for an identity that no queue contains. If it has not ended when the request is answered, or has not begun,
     * the identity becomes dirty, so that the attempt is made also after a pause and by another replica.
     */
    retry: async (
      connection: Connection,
      id: string,
      requestId: string | undefined,
    ): Promise<BudgetedAttempt['result']> => {
      // A write never sends the probe of an open breaker. Probes come from the queue, which begins with people who must lose access.
      const { result } = isBreakerOpen(deps, connection)
        ? later
        : await withinBudget(deps, { connection, id, requestId }, startBudget(deps));
      if (result === 'later' || result === 'busy' || result === 'unsaved')
        await markDirty(deps, connection.id, [id]);
      return result;
    },
    /**
     * Carries out a write of an IdP, within the budget of a request that begins now. Computes it again if an identity has changed since it was
     * read. Throws `conflict` if another user has the userName.
     */
    write: async <T>(connection: Connection, compute: Compute<T>): Promise<T> => {
      const budget = startBudget(deps);
      try {
        return await repeatWhileStale((earlierTries) =>
          tryWrite(deps, connection, { compute: () => compute(earlierTries), budget }),
        );
      } finally {
        budget.over.abort('over');
      }
    },
  };
}

/** A write of an IdP, computed from the stored user and the request. */
export interface ComputedWrite<T> {
  write: PendingWrite;
  /** Tells others of what was committed. */
  afterCommit(): Promise<void>;
  answer(attempt: BudgetedAttempt): Promise<T>;
}

/** Reads the matches, and applies the change of the request. Returns the answer to a request that changes nothing. */
export type Compute<T> = (earlierTries: number) => Promise<ComputedWrite<T> | { unchanged: T }>;

/**
 * Carries out a write of an IdP. If the process ends before the commit, nothing is stored, and the IdP sends the write again; if it ends
 * later, the identity is dirty, and any process goes on with it (`reconciler`).
 */
async function tryWrite<T>(
  deps: WriterDeps,
  connection: Connection,
  { compute, budget }: { compute: () => ReturnType<Compute<T>>; budget: Budget },
): Promise<T | 'stale'> {
  // Read the matches, and apply the change.
  const computed = await compute();
  if ('unchanged' in computed) return computed.unchanged;
  const { write, afterCommit, answer } = computed;
  // Compute the first call, with reads of the store only.
  const planned = isLeftToLoop(deps, connection, write)
    ? undefined
    : await deps.reconciler.plan(connection, write);
  // Commit the desired state, the lease and the records of the call; or the outcome, if there is no call to be sent.
  const committed = await commit(deps, write, planned);
  if (committed === 'stale') return 'stale';
  // Send the call, and commit the outcome. This goes on after the answer if the budget is used up first.
  const cause = { connection, id: write.identity.id, requestId: write.requestId };
  const attempt = planned && withinBudget(deps, cause, budget, planned.goOn(committed));
  await afterCommit();
  if (!attempt) deps.wake();
  return answer((await attempt) ?? later);
}

/** True if the write is committed alone: while the connection pauses, and for a returning leaver, whose call may still be in flight. */
function isLeftToLoop(deps: WriterDeps, connection: Connection, { identity }: PendingWrite): boolean {
  // Any other write clears a scheduled attempt.
  return identity.nextAttemptAt !== undefined || isBreakerOpen(deps, connection);
}

/** Commits a write with what its attempt has planned. Throws `conflict` if another user has the userName. */
async function commit(
  deps: WriterDeps,
  write: PendingWrite,
  planned: PlannedAttempt | undefined,
): Promise<'done' | 'unleased' | 'stale'> {
  let isCommitted = false;
  try {
    const committed = await commitWrite(deps, planned?.commit ?? write);
    if (committed === 'duplicate') throw new ProvisioningError('conflict', 'Another user has this userName.');
    isCommitted = committed !== 'stale';
    return committed;
  } finally {
    if (!isCommitted) planned?.drop();
  }
}

/** The number of attempts at a write when other writers keep committing first. */
const MAX_TRIES = 20;

/** Computes and commits a write of a user again while it is stale. Throws `unavailable` if other writers keep committing first. */
export async function repeatWhileStale<T>(
  tryWrite: (earlierTries: number) => Promise<T | 'stale'>,
): Promise<T> {
  for (let earlierTries = 0; earlierTries < MAX_TRIES; earlierTries += 1) {
    const result = await tryWrite(earlierTries);
    if (result !== 'stale') return result;
  }
  throw new ProvisioningError('unavailable', 'Too many writers change this user at once; try again.');
}

function isBreakerOpen({ circuitBreakerOf }: WriterDeps, connection: Connection): boolean {
  return circuitBreakerOf(connection).pauseReason() !== undefined;
}

/** The identity to reconcile, and the SCIM request that causes it. */
interface Cause {
  connection: Connection;
  id: string;
  requestId: string | undefined;
}

/** The time that the IdP waits for its answer. */
interface Budget {
  /** Resolves when the budget is used up. */
  late: Promise<BudgetedAttempt>;
  over: AbortController;
}

function startBudget({ runtime, budgetMs }: WriterDeps, ms = budgetMs): Budget {
  const over = new AbortController();
  return { over, late: runtime.wait(ms, over.signal).then(() => later) };
}

const later: BudgetedAttempt = { result: 'later' };

/** Waits for an attempt, by default a new one, until it ends or the budget is used up. */
async function withinBudget(
  deps: WriterDeps,
  cause: Cause,
  { late, over }: Budget,
  begun?: Promise<Attempt>,
): Promise<BudgetedAttempt> {
  const ended = repeatWhileBusy(deps, cause, over.signal, begun).then((end) => {
    if (end.result !== 'reconciled' && end.result !== 'refused') deps.wake();
    return end;
  });
  try {
    return await Promise.race([ended, late]);
  } finally {
    // Without a reason, an error with its stack would be created.
    over.abort('over');
  }
}

/** The interval at which a lease that another process holds is requested again, in milliseconds. */
const LEASE_POLL_MS = 25;

/**
 * Repeats an attempt while another one holds the lease, e.g. because the event feed has reported the traveler at the same
 * moment: the answer to the write depends on the result for what it has written.
 */
async function repeatWhileBusy(
  { reconciler, runtime }: WriterDeps,
  { connection, id, requestId }: Cause,
  signal: AbortSignal,
  begun = reconciler.reconcile(connection, id, requestId),
): Promise<Attempt> {
  let end = await begun;
  while (end.result === 'busy' && end.released && !signal.aborted) {
    if (!(await end.released)) await runtime.wait(LEASE_POLL_MS, signal);
    if (!signal.aborted) end = await reconciler.reconcile(connection, id, requestId);
  }
  return end;
}
