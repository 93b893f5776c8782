import type { ConnectionModes } from '../../../store/connection-modes.ts';
import { backoff } from '../../circuit-breaker.ts';
import type { Connection } from '../../connection.ts';
import type { Outcome } from '../../identity.ts';
import type { ForeignValues } from '../../import/foreign-values.ts';
import type { Runtime } from '../../runtime-ports.ts';
import type { LeaseRequest, Leases, ReconcileQueue } from '../../store-ports.ts';
import { run } from '../effects.ts';
import { type AttemptInput, reconcileIdentity } from '../reconcile-identity.ts';
import {
  type CommitResult,
  canTakeLease,
  NotLeased,
  type PendingWrite,
  type WriteCommit,
  writeCommit,
} from './commit.ts';
import { type InterpreterDeps, interpreter, type RunningAttempt } from './interpreter.ts';
import { LeaseHolders, leaseDuration } from './lease.ts';
import {
  notifyDependents,
  notifyLeftOutOfCycle,
  notifyOfPlannedEmail,
  notifySuccessor,
} from './notify-dependents.ts';
import { isRefusal, logResult, toOutcome } from './outcome.ts';

/**
 * The result of one attempt. `reconciled`: the outcome is saved. `refused`: the travel API or a guard refuses the
 * change. `busy`: another attempt holds the lease. `moved`: saved, but the identity changed meanwhile and stays dirty.
 * `failed`: the next attempt follows after a back-off. `unsaved`: the write was not committed, or the store could not save the lease or
 * the outcome; an identity that is stored is still due, so the caller must wait before the next attempt.
 */
export type AttemptResult = 'reconciled' | 'refused' | 'busy' | 'moved' | 'failed' | 'unsaved';

/** The result of an attempt, and the outcome if it was saved. `released`: see `LeaseHolder.giveUp`. */
export interface Attempt {
  result: AttemptResult;
  outcome?: Outcome;
  released?: Promise<boolean>;
}

/** An attempt at the identity of a write. */
export interface WriteAttempt {
  /** Resolves when the write is committed or refused; rejects with the error of the store. */
  committed: Promise<CommitResult>;
  /** Never rejects. */
  ended: Promise<Attempt>;
}

/** Dependencies of the reconciler. */
export interface ReconcileDeps extends InterpreterDeps {
  reconcileQueue: Pick<ReconcileQueue, 'markDirty' | 'markEmailWaitersDirty' | 'askForEmail'>;
  modes: Pick<ConnectionModes, 'shadowSince'>;
  foreignValues?: Pick<ForeignValues, 'observe'> | undefined;
  runtime: Runtime;
}

export type Reconciler = ReturnType<typeof reconciler>;

/**
 * Creates the reconciler that every path uses: writes of an IdP, the queue, approvals. It is level-triggered, holds a lease
 * on the identity while it works, and can run any number of times. If its process ends, the background loop of any process finds the
 * identity in the queue once the lease has ended, because it is still dirty; so it does when a check is due
 * (`ReconcileQueue.findDue`).
 *
 * If the process ends before the commit of a write, nothing of the write is stored, and the IdP sends it again. If it ends after the
 * commit, the call may have been sent or not, which makes no difference:
 * 1. The commit before the call has the write, the lease, the announced fields and the latest end of the call (`commitWrite`, `announce`).
 * 2. The lease ends: by time, or at the start of a process that alone uses its database.
 * 3. Any process takes the lease and reads the traveler (`readTraveler` in traveler-calls.ts; a create is searched by its address,
 *    `linkOwnCreate`).
 * 4. The announced fields become applied ones or are sent again, as the traveler shows (`resolveAnnounced`).
 * 5. Until a call can no longer arrive, it is kept in `progress.late`.
 * 6. Then the traveler is read once more, and what a late call has changed is sent again (`finishLateCheck`).
 *
 * If the process ends after the outcome was saved, only the identities that depend on it may have missed it (`notifyDependents`):
 * `ReconcileQueue.markUnresolvedDirty` makes those dirty that wait for something.
 */
export function reconciler(reconcileDeps: ReconcileDeps) {
  const deps: ReconcilerState = { ...reconcileDeps, unsaved: new Map(), leaseHolders: new LeaseHolders() };
  const running = new Set<Promise<unknown>>();
  const track = <T>(attempt: Promise<T>): Promise<T> => {
    running.add(attempt);
    return attempt.finally(() => running.delete(attempt));
  };
  return {
    /**
     * Releases the leases of attempts whose outcome could not be saved. Returns false while the store still fails. Never rejects.
     */
    releaseUnsaved: async (): Promise<boolean> => {
      for (const [token, { leased, reason }] of [...deps.unsaved]) {
        deps.unsaved.delete(token);
        if ((await backOff(deps, leased, reason)).result === 'unsaved') return false;
      }
      return true;
    },
    /** Makes one attempt at one identity, now. Never rejects. `requestId`: the SCIM request that causes it. */
    reconcile: (connection: Connection, id: string, requestId?: string): Promise<Attempt> =>
      track(reconcileOnce(deps, connection, { id, requestId })),
    /**
     * Commits a write and makes one attempt at its identity. What the attempt sends first is computed before the commit
     * and announced in it, if nothing must be read from the travel API for that.
     */
    reconcileWrite: (connection: Connection, write: PendingWrite): WriteAttempt => {
      const { newId, now } = deps.runtime;
      const lease = { token: newId(), ms: leaseDuration(connection), now: now() };
      const commit = writeCommit(deps, write, lease);
      return {
        committed: commit.result,
        ended: track(attemptWrite(deps, connection, { write, lease, commit })),
      };
    },
    /** Resolves when no attempt is running. */
    idle: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

interface ReconcilerState extends ReconcileDeps {
  /** The attempts whose outcome could not be saved, by the token of their lease. */
  unsaved: Map<string, { leased: LeasedIdentity; reason: string }>;
  leaseHolders: LeaseHolders;
}

/** The identity to reconcile, and the SCIM request that causes the attempt. */
interface AttemptCause {
  id: string;
  requestId: string | undefined;
}

async function reconcileOnce(
  deps: ReconcilerState,
  connection: Connection,
  { id, requestId }: AttemptCause,
): Promise<Attempt> {
  const { now, newId } = deps.runtime;
  const lease = { token: newId(), ms: leaseDuration(connection), now: now() };
  const holder = deps.leaseHolders.add(id);
  const acquired = await acquireLease(deps, connection, { id, lease });
  if (typeof acquired === 'string') return { result: acquired, released: holder.giveUp() };
  const leased = { ...acquired, token: lease.token };
  try {
    return await reconcileUnderLease(deps, leased, { connection, id, lease, requestId, pending: undefined });
  } catch (error) {
    deps.runtime.log.error({ err: error, connection: connection.id, id }, 'reconciliation failed');
    return await backOff(deps, leased, String(error));
  } finally {
    holder.end();
  }
}

/** Returns the identity of a write as it is stored by a commit that takes the lease, which raises the revision of a stored one by one. */
function toLeased(
  { identity, before, references, newUser, freeEmail, generation }: PendingWrite,
  token: string,
): LeasedIdentity {
  const revision = before === undefined ? identity.revision : before.revision + 1;
  return { identity: { ...identity, revision }, token, references, newUser, freeEmail, generation };
}

interface CommittingAttempt {
  write: PendingWrite;
  lease: LeaseRequest;
  commit: WriteCommit;
}

async function attemptWrite(
  deps: ReconcilerState,
  connection: Connection,
  { write, lease, commit }: CommittingAttempt,
): Promise<Attempt> {
  const { identity, requestId } = write;
  const { id } = identity;
  const leased = toLeased(write, lease.token);
  const holder = deps.leaseHolders.add(id);
  try {
    // A write that cannot have the lease is committed alone; the commit then throws `NotLeased`.
    if (!canTakeLease(write)) await commit.run();
    const attempt = { connection, id, lease, requestId, pending: { write, commit } };
    return await reconcileUnderLease(deps, leased, attempt);
  } catch (error) {
    // The write is committed even if its attempt fails before the commit. If the commit has been tried, `run` returns its result, or throws
    // its error again.
    const refusal = await commit.run().then(
      () => undefined,
      (reason: unknown) => ({ reason }),
    );
    if (refusal) {
      void holder.giveUp();
      return await afterRefusal(deps, connection, { id, requestId, reason: refusal.reason });
    }
    deps.runtime.log.error({ err: error, connection: connection.id, id }, 'reconciliation failed');
    return await backOff(deps, leased, String(error));
  } finally {
    holder.end();
  }
}

/** Reconciles an identity whose write was committed without the lease. */
async function afterRefusal(
  deps: ReconcilerState,
  connection: Connection,
  { reason, ...cause }: AttemptCause & { reason: unknown },
): Promise<Attempt> {
  if (!(reason instanceof NotLeased && reason.isCommitted)) return { result: 'unsaved' };
  return reconcileOnce(deps, connection, cause);
}

/**
 * Acquires the lease. If the store cannot save it (e.g. on a full disk), only the attempt fails: the IdP's write is
 * already committed.
 */
async function acquireLease(
  deps: ReconcileDeps,
  connection: Connection,
  { id, lease }: { id: string; lease: LeaseRequest },
): Promise<Acquired | 'busy' | 'unsaved'> {
  try {
    return (await deps.leases.acquire(connection.id, id, lease)) ?? 'busy';
  } catch (error) {
    deps.runtime.log.error({ err: error, connection: connection.id, id }, 'the lease could not be saved');
    return 'unsaved';
  }
}

/** An identity under its lease, and the generation of the rules in force when the lease was acquired. */
type Acquired = NonNullable<Awaited<ReturnType<Leases['acquire']>>>;

/** An identity under its lease, which has this token, with the facts that an attempt begins with. */
interface LeasedIdentity extends Acquired, Pick<AttemptInput, 'references' | 'newUser' | 'freeEmail'> {
  token: string;
}

async function reconcileUnderLease(
  deps: ReconcilerState,
  leased: LeasedIdentity,
  attempt: RunningAttempt,
): Promise<Attempt> {
  const { runtime, modes, foreignValues } = deps;
  const { connection } = attempt;
  const { identity } = leased;
  const shadowSince = modes.shadowSince(connection.id);
  if (shadowSince === undefined) foreignValues?.observe(identity);
  const { carryOut, time, announcedEmails, emailsRead, finish } = interpreter(deps, attempt);
  const { result, translated, rulesGeneration } = await run(
    reconcileIdentity({ ...leased, connection, shadowSince, time }),
    carryOut,
  );
  const outcome = toOutcome(runtime, identity, { result, translated, rulesGeneration });
  logResult(runtime.log, identity, result);
  runtime.checkpoint('beforeOutcome');
  const saved = await finish(identity, outcome);
  if (saved === 'taken') return backOff(deps, leased, 'another identity was linked to the same traveler');
  if (saved === 'lost') {
    await notifySuccessor(deps, connection, identity);
    return { result: 'busy' };
  }
  // If the outcome keeps nothing of what was read, as that of a plan, the traveler still has the address.
  const isReadKept = outcome.observed !== identity.observed;
  const former = [...announcedEmails, ...(isReadKept ? emailsRead(outcome.travelId) : [])];
  if (identity.creating !== undefined) former.push(identity.creating.email);
  await notifyDependents(deps, connection, {
    ...{ before: identity, after: outcome, former },
  });
  await notifyOfPlannedEmail(deps, identity, outcome);
  if (!('kind' in translated))
    await notifyLeftOutOfCycle(deps, { identity, before: translated.resolved.before, after: outcome });
  if (result.end.kind !== 'state') return { result: 'failed', outcome };
  // The IdP must learn of a refusal also if the identity has become dirty during the attempt.
  if (saved === 'moved' && !isRefusal(result)) return { result: 'moved', outcome };
  return { result: isRefusal(result) ? 'refused' : 'reconciled', outcome };
}

/**
 * Ends an attempt without an outcome, after an unexpected error or if another identity was linked first; retries later.
 */
async function backOff(deps: ReconcilerState, leased: LeasedIdentity, reason: string): Promise<Attempt> {
  const { identity, token } = leased;
  const { now, random, log } = deps.runtime;
  const wait = backoff({ kind: 'unavailable', text: reason }, identity.attempts, random());
  try {
    // Read the identity again, so that a call that this attempt has announced is not lost.
    const latest = (await deps.identities.findById(identity.connection, identity.id)) ?? identity;
    const outcome: Outcome = {
      ...latest,
      state: 'dirty',
      attempts: identity.attempts + 1,
      nextAttemptAt: now() + wait,
    };
    const { revision } = identity;
    await deps.leases.finish(identity.connection, identity.id, token, { ...latest, revision }, outcome);
  } catch (error) {
    log.error({ err: error }, 'the outcome could not be saved; retrying until the lease ends');
    deps.unsaved.set(token, { leased, reason });
    return { result: 'unsaved' };
  }
  return { result: 'failed' };
}
