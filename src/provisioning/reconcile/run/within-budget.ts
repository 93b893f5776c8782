import type { CircuitBreaker } from '../../circuit-breaker.ts';
import type { Connection } from '../../connection.ts';
import type { Outcome } from '../../identity.ts';
import { ProvisioningError } from '../../provisioning-error.ts';
import type { Runtime } from '../../runtime-ports.ts';
import type { Identities, ReconcileQueue } from '../../store-ports.ts';
import { type CommitResult, commitWrite, type PendingWrite } from './commit.ts';
import { markDirty } from './notify-dependents.ts';
import type { Attempt, AttemptResult, Reconciler } from './reconciler.ts';

/** The attempt after a write; `later` if the budget is used up first or the attempt is left to the background loop. */
export interface BudgetedAttempt {
  result: AttemptResult | 'later';
  outcome?: Outcome;
}

interface ReconcileWithinBudgetDeps {
  reconciler: Pick<Reconciler, 'reconcile' | 'reconcileWrite'>;
  identities: Pick<Identities, 'commit'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  /** In milliseconds. An attempt that takes longer continues in the background. */
  budgetMs: number;
  circuitBreakerOf(connection: Connection): CircuitBreaker;
  wake(): void;
  runtime: Pick<Runtime, 'now' | 'wait' | 'checkpoint'>;
}

export type ReconcileWithinBudget = ReturnType<typeof reconcileWithinBudget>;

/**
 * Creates the functions with which writes reconcile their user, for as long as the IdP may wait for its answer. If the attempt does
 * not finish in time, the background loop completes it.
 */
export function reconcileWithinBudget(deps: ReconcileWithinBudgetDeps) {
  const { reconciler } = deps;
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
        const leftMs = since + deps.budgetMs - deps.runtime.now();
        // More than the whole budget is left if the clock was set back.
        const budgetMs = Math.min(deps.budgetMs, leftMs);
        if (budgetMs <= 0 || isBreakerOpen(deps, connection)) return false;
        const attempt = reconciler.reconcile(connection, id, requestId);
        const { result } = await withinBudget({ ...deps, budgetMs }, { connection, id, requestId, attempt });
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
      const result = await attemptAgain(deps, connection, { id, requestId });
      if (result === 'later' || result === 'busy' || result === 'unsaved')
        await markDirty(deps, connection.id, [id]);
      return result;
    },
    /**
     * Commits a write, runs `afterCommit`, and attempts to reconcile the identity. `stale`: nothing is committed, because an identity has changed
     * since it was read. Throws `conflict` if another user has the userName.
     */
    commitAndAttempt: (connection: Connection, write: PendingWrite, afterCommit: () => Promise<void>) =>
      commitAndAttempt(deps, connection, { write, afterCommit }),
  };
}

async function attemptAgain(
  deps: ReconcileWithinBudgetDeps,
  connection: Connection,
  { id, requestId }: { id: string; requestId: string | undefined },
): Promise<BudgetedAttempt['result']> {
  // A write never sends the probe of an open breaker. Probes come from the queue, which begins with people who must lose access.
  if (isBreakerOpen(deps, connection)) return 'later';
  const attempt = deps.reconciler.reconcile(connection, id, requestId);
  return (await withinBudget(deps, { connection, id, requestId, attempt })).result;
}

function isBreakerOpen({ circuitBreakerOf }: ReconcileWithinBudgetDeps, connection: Connection): boolean {
  return circuitBreakerOf(connection).pauseReason() !== undefined;
}

async function commitAndAttempt(
  deps: ReconcileWithinBudgetDeps,
  connection: Connection,
  { write, afterCommit }: { write: PendingWrite; afterCommit: () => Promise<void> },
): Promise<BudgetedAttempt | 'stale'> {
  // Only a returning leaver has a scheduled attempt here, because any other write clears it. Its call may still be in flight; the background loop reconciles the identity then.
  if (write.identity.nextAttemptAt !== undefined || isBreakerOpen(deps, connection)) {
    const committed = await commitWrite(deps, write);
    if (isStale(committed)) return 'stale';
    await afterCommit();
    deps.wake();
    return { result: 'later' };
  }
  const { committed, ended } = deps.reconciler.reconcileWrite(connection, write);
  const { identity, requestId } = write;
  const attempt = withinBudget(deps, { connection, id: identity.id, requestId, attempt: ended });
  if (isStale(await committed)) return 'stale';
  await afterCommit();
  return attempt;
}

function isStale(committed: CommitResult | 'unleased'): boolean {
  if (committed === 'duplicate') throw new ProvisioningError('conflict', 'Another user has this userName.');
  return committed === 'stale';
}

interface StartedAttempt {
  connection: Connection;
  id: string;
  requestId: string | undefined;
  attempt: Promise<Attempt>;
}

/** Waits for an attempt until it ends or the budget is used up. */
async function withinBudget(
  deps: ReconcileWithinBudgetDeps,
  started: StartedAttempt,
): Promise<BudgetedAttempt> {
  const { budgetMs, runtime, wake } = deps;
  const over = new AbortController();
  const ended = repeatWhileBusy(deps, started, over.signal).then((end) => {
    if (end.result !== 'reconciled' && end.result !== 'refused') wake();
    return end;
  });
  const late = runtime.wait(budgetMs, over.signal).then((): BudgetedAttempt => ({ result: 'later' }));
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
  { reconciler, runtime }: ReconcileWithinBudgetDeps,
  { connection, id, requestId, attempt }: StartedAttempt,
  signal: AbortSignal,
): Promise<Attempt> {
  let end = await attempt;
  while (end.result === 'busy' && end.released && !signal.aborted) {
    if (!(await end.released)) await runtime.wait(LEASE_POLL_MS, signal);
    if (!signal.aborted) end = await reconciler.reconcile(connection, id, requestId);
  }
  return end;
}
