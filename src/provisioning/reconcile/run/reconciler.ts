import type { Connection } from '../../../model/connection.ts';
import { type Outcome, wasInPilot } from '../../../model/identity.ts';
import type { Runtime } from '../../../model/runtime-ports.ts';
import type { LeasedOutcome, LeaseRequest, Leases, ReconcileQueue } from '../../../model/store-ports.ts';
import type { ConnectionModes } from '../../../store/connection-modes.ts';
import { backoff } from '../../calls/circuit-breaker.ts';
import { type LeaseHolder, LeaseHolders, leaseDuration } from '../../calls/lease.ts';
import type { ForeignValues } from '../../people/foreign-values.ts';
import { type Program, run, runWhile, type Step } from '../effects.ts';
import { type AttemptInput, type Decision, reconcileIdentity } from '../reconcile-identity.ts';
import { type CommittedStep, canBeCommitted, canTakeLease, type PendingWrite, withLease } from './commit.ts';
import { type Interpreter, type InterpreterDeps, interpreter, type RunningAttempt } from './interpreter.ts';
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
 * 1. The commit before the call has the write, the lease, the records of the fields and `readAgainAt` (`tryWrite`, `announce`).
 * 2. The lease ends: by time, or at the start of a process that alone uses its database.
 * 3. Any process takes the lease and reads the traveler (`readTraveler` in traveler-calls.ts; a create is searched by its address,
 *    `linkOwnCreate`).
 * 4. The fields that the traveler shows as sent are known, and the others are sent again.
 * 5. After `readAgainAt`, when the call can no longer arrive, the traveler is read once more, and what the call has changed is sent again.
 *
 * If the process ends after the outcome was saved, only the identities that depend on it may have missed it (`notifyDependents`):
 * `ReconcileQueue.markUnresolvedDirty` makes those dirty that wait for something.
 */
export function reconciler(reconcileDeps: ReconcileDeps) {
  const running = new Set<Promise<Attempt>>();
  const track = (attempt: Promise<Attempt>): Promise<Attempt> => {
    running.add(attempt);
    return attempt.finally(() => running.delete(attempt));
  };
  const shared = { unsaved: new Map(), leaseHolders: new LeaseHolders(), track };
  const deps: ReconcilerState = { ...reconcileDeps, ...shared };
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
    /** Computes what the commit of a write contains of its attempt, and how the attempt goes on. */
    plan: (connection: Connection, write: PendingWrite) => plan(deps, connection, write),
    /** Resolves when no attempt is running. */
    idle: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** An attempt at a write that is not committed yet. */
export interface PlannedAttempt {
  /** What is to be committed: the write, and the lease and first step if the attempt can take the lease. */
  commit: Pick<PendingWrite, 'identity' | 'changes'>;
  /** Carries the attempt on after the commit; makes another one if it was committed without the lease. Never rejects. */
  goOn(committed: 'done' | 'unleased'): Promise<Attempt>;
  /** Ends the attempt: the write was not committed. */
  drop(): void;
}

async function plan(
  deps: ReconcilerState,
  connection: Connection,
  write: PendingWrite,
): Promise<PlannedAttempt> {
  const { requestId } = write;
  const { id } = write.identity;
  const lease = requestLease(deps.runtime, connection);
  const leased = toLeased(write, lease.token);
  // Another attempt has the lease, or the commit changes what an attempt must read.
  const startAnew = () => deps.track(reconcileOnce(deps, connection, { id, requestId }));
  if (!canTakeLease(write)) return { commit: write, goOn: startAnew, drop: () => {} };
  const holder = deps.leaseHolders.add(id);
  const drop = () => void holder.giveUp();
  const attempt = beginAttempt(deps, leased, { connection, id, lease, requestId });
  const first = await planFirstStep(deps, attempt, write);
  const goOn = (committed: 'done' | 'unleased') => {
    if (committed === 'done') return deps.track(underLease(deps, { leased, holder }, first.goOn));
    drop();
    return startAnew();
  };
  return { commit: withLease(write, lease, first.inCommit), goOn, drop };
}

/** Returns the identity of a write as it is stored by a commit that takes the lease, which raises the revision of a stored one by one. */
function toLeased(
  { identity, before, references, newUser, freeEmail, generation }: PendingWrite,
  token: string,
): LeasedIdentity {
  const revision = before === undefined ? identity.revision : before.revision + 1;
  return { identity: { ...identity, revision }, token, references, newUser, freeEmail, generation };
}

/** How far an attempt comes without an effect that anybody else sees. */
interface FirstStep {
  /** What is committed with the write: the first call, or the outcome of an attempt without a call. */
  inCommit: CommittedStep;
  /** Carries the attempt on from there. */
  goOn(): Promise<Attempt>;
}

/** Runs the program of an attempt with reads of the store only. The write is committed also if that fails. */
async function planFirstStep(
  deps: ReconcilerState,
  attempt: BegunAttempt,
  write: PendingWrite,
): Promise<FirstStep> {
  const { program, carryOut, isUnseen, announced } = attempt;
  try {
    const step = await runWhile(program, carryOut, isUnseen);
    if (step.done) {
      const end = endAttempt(deps, attempt, step.value);
      return { inCommit: { ended: end.ended }, goOn: () => afterOutcome(deps, attempt, end, 'kept') };
    }
    const { kind, values } = step.value;
    if (kind !== 'announce' || !canBeCommitted(write, values[0]))
      return { inCommit: {}, goOn: () => callAndSave(deps, attempt, step) };
    const [call] = values;
    return {
      inCommit: { call },
      goOn: async () => callAndSave(deps, attempt, program.next(announced(call))),
    };
  } catch (error) {
    return { inCommit: {}, goOn: () => Promise.reject(error) };
  }
}

interface ReconcilerState extends ReconcileDeps {
  /** The attempts whose outcome could not be saved, by the token of their lease. */
  unsaved: Map<string, { leased: LeasedIdentity; reason: string }>;
  leaseHolders: LeaseHolders;
  /** Keeps an attempt among those that are running until it ends. */
  track(attempt: Promise<Attempt>): Promise<Attempt>;
}

/** The request for a lease that begins now. */
function requestLease({ newId, now }: Runtime, connection: Connection): LeaseRequest {
  return { token: newId(), ms: leaseDuration(connection), now: now() };
}

/** The identity to reconcile, and the SCIM request that causes the attempt. */
interface AttemptCause {
  id: string;
  requestId: string | undefined;
}

/** Makes one attempt at an identity that is committed. Never rejects. */
async function reconcileOnce(
  deps: ReconcilerState,
  connection: Connection,
  { id, requestId }: AttemptCause,
): Promise<Attempt> {
  const lease = requestLease(deps.runtime, connection);
  const holder = deps.leaseHolders.add(id);
  const acquired = await acquireLease(deps, connection, { id, lease });
  if (typeof acquired === 'string') return { result: acquired, released: holder.giveUp() };
  const leased = { ...acquired, token: lease.token };
  return underLease(deps, { leased, holder }, () => {
    const attempt = beginAttempt(deps, leased, { connection, id, lease, requestId });
    return callAndSave(deps, attempt, attempt.program.next());
  });
}

/**
 * Acquires the lease. If the store cannot save it (e.g. on a full disk), only the attempt fails: the IdP's write is
 * already committed.
 */
async function acquireLease(
  deps: ReconcilerState,
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

/** An attempt that has begun: its program, and what carries out the effects. */
interface BegunAttempt extends Interpreter {
  connection: Connection;
  leased: LeasedIdentity;
  program: Program<Decision>;
}

function beginAttempt(deps: ReconcilerState, leased: LeasedIdentity, attempt: RunningAttempt): BegunAttempt {
  const { connection } = attempt;
  const shadowSince = deps.modes.shadowSince(connection.id);
  if (shadowSince === undefined || wasInPilot(leased.identity)) deps.foreignValues?.observe(leased.identity);
  const effects = interpreter(deps, attempt);
  const program = reconcileIdentity({ ...leased, connection, shadowSince, time: effects.time });
  return { ...effects, connection, leased, program };
}

/** What the program of an attempt has decided, and the outcome to be saved. */
interface EndedAttempt {
  decision: Decision;
  ended: LeasedOutcome;
}

/** Ends the program of an attempt. */
function endAttempt(
  { runtime }: ReconcilerState,
  { leased: { identity, token } }: BegunAttempt,
  decision: Decision,
): EndedAttempt {
  const outcome = toOutcome(runtime, identity, decision);
  logResult(runtime.log, identity, decision.result);
  runtime.checkpoint('beforeOutcome');
  return { decision, ended: { token, before: identity, outcome } };
}

/** Carries an attempt on from a step of its program to the end, and saves the outcome. */
async function callAndSave(
  deps: ReconcilerState,
  attempt: BegunAttempt,
  step: Step<Decision>,
): Promise<Attempt> {
  const { connection, id } = attempt.leased.identity;
  const end = endAttempt(deps, attempt, await run(attempt.program, attempt.carryOut, step));
  const { token, before, outcome } = end.ended;
  return afterOutcome(deps, attempt, end, await deps.leases.finish(connection, id, token, before, outcome));
}

/** Tells those who depend on the outcome, and returns the result of the attempt. */
async function afterOutcome(
  deps: ReconcilerState,
  { connection, leased, announcedEmails, emailsRead }: BegunAttempt,
  { decision: { result, translated }, ended: { outcome } }: EndedAttempt,
  saved: Awaited<ReturnType<Leases['finish']>>,
): Promise<Attempt> {
  const { identity } = leased;
  if (saved === 'taken') return backOff(deps, leased, 'another identity was linked to the same traveler');
  if (saved === 'lost') {
    await notifySuccessor(deps, connection, identity);
    return { result: 'busy' };
  }
  // If the outcome keeps nothing of what was read, as that of a plan, the traveler still has the address.
  const { travelId } = outcome;
  const isReadKept = outcome.observed !== identity.observed || travelId !== identity.travelId;
  const former = [...announcedEmails, ...(isReadKept ? emailsRead(travelId ?? identity.travelId) : [])];
  if (identity.creating !== undefined) former.push(identity.creating.email);
  await notifyDependents(deps, connection, { before: identity, after: outcome, former });
  await notifyOfPlannedEmail(deps, identity, outcome);
  if (!('kind' in translated))
    await notifyLeftOutOfCycle(deps, { identity, before: translated.resolved.before, after: outcome });
  if (result.end.kind !== 'state') return { result: 'failed', outcome };
  // The IdP must learn of a refusal also if the identity has become dirty during the attempt.
  if (saved === 'moved' && !isRefusal(result)) return { result: 'moved', outcome };
  return { result: isRefusal(result) ? 'refused' : 'reconciled', outcome };
}

/** Does the work of an attempt that holds the lease. An unexpected error ends the attempt, which follows after a back-off. Never rejects. */
async function underLease(
  deps: ReconcilerState,
  { leased, holder }: { leased: LeasedIdentity; holder: LeaseHolder },
  work: () => Promise<Attempt>,
): Promise<Attempt> {
  try {
    return await work();
  } catch (error) {
    const { connection, id } = leased.identity;
    deps.runtime.log.error({ err: error, connection, id }, 'reconciliation failed');
    return await backOff(deps, leased, String(error));
  } finally {
    holder.end();
  }
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
