import { archiveTraveler } from './archive-traveler.ts';
import { backoff } from './circuit-breaker.ts';
import type { Connection } from './connection.ts';
import { linkOrCreateTraveler } from './create-traveler.ts';
import { findings } from './findings.ts';
import { isHeldByRulesChange, withRulesHold } from './guard.ts';
import type { Identity, Outcome, Progress } from './identity.ts';
import { isInactive } from './identity.ts';
import { isLateCheckDue, removeLateTravelers, withNextLateCheck, withoutLateCalls } from './late-calls.ts';
import { leaseDuration, withLeaseGuard } from './lease-guard.ts';
import { notifyDependents, notifyLeftOutOfCycle, notifySuccessor } from './notify-dependents.ts';
import { isReturnHeld } from './ownership.ts';
import {
  endInFailure,
  endInState,
  newDraft,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withHold,
  withoutAnnouncedCall,
} from './reconcile-context.ts';
import type { RulesChanges } from './rules-change.ts';
import type { RulesSnapshots } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Holds, Identities, Leases, ReconcileQueue, References } from './store-ports.ts';
import { type TranslatedIdentity, translateIdentity } from './translate-identity.ts';
import type { TravelFailure } from './travel-ports.ts';
import { updateTraveler } from './update-traveler.ts';

/**
 * The result of one attempt. `reconciled`: the outcome is saved. `refused`: the travel API or a guard refuses the
 * change. `busy`: another attempt holds the lease. `moved`: saved, but the identity changed meanwhile and stays dirty.
 * `failed`: the next attempt follows after a back-off. `unsaved`: the store could not save the lease or the outcome;
 * the identity is still due, so the caller must wait before the next attempt.
 */
export type AttemptResult = 'reconciled' | 'refused' | 'busy' | 'moved' | 'failed' | 'unsaved';

/** Reconciles identities with the travel service. */
export interface Reconciler {
  /** Makes one attempt at one identity, now. Never rejects. */
  reconcile(connection: Connection, id: string): Promise<AttemptResult>;
  /** Resolves when no attempt is running. */
  idle(): Promise<void>;
  /**
   * Releases the leases of attempts whose outcome could not be saved. Returns false while the store still fails. Never rejects.
   */
  releaseUnsaved(): Promise<boolean>;
}

/** Dependencies of the reconciler. */
export interface ReconcileDeps {
  identities: Pick<
    Identities,
    'findById' | 'find' | 'findHolder' | 'commit' | 'isErased' | 'isWaitedFor' | 'findWaiters'
  >;
  leases: Leases;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty' | 'markEmailWaitersDirty'>;
  references: References;
  holds: Pick<Holds, 'admitDeparture'>;
  rulesChanges: Pick<RulesChanges, 'mayReconcile'>;
  rulesSnapshots: RulesSnapshots;
  /** Wakes the background loop that reconciles dirty identities. */
  wake(): void;
  runtime: Runtime;
}

/**
 * Creates the reconciler that every path uses: writes of an IdP, the queue, approvals. It is level-triggered, holds a lease
 * on the identity while it works, and can run any number of times.
 */
export function reconciler(reconcileDeps: ReconcileDeps): Reconciler {
  const deps: ReconcilerState = { ...reconcileDeps, unsaved: new Map() };
  const running = new Set<Promise<AttemptResult>>();
  return {
    releaseUnsaved: async () => {
      for (const [token, { leased, reason }] of [...deps.unsaved]) {
        deps.unsaved.delete(token);
        if ((await backOff(deps, leased, reason)) === 'unsaved') return false;
      }
      return true;
    },
    reconcile: async (connection, id) => {
      const attempt = reconcileOnce(deps, connection, id);
      running.add(attempt);
      try {
        return await attempt;
      } finally {
        running.delete(attempt);
      }
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

interface ReconcilerState extends ReconcileDeps {
  /** The attempts whose outcome could not be saved, by the token of their lease. */
  unsaved: Map<string, { leased: LeasedIdentity; reason: string }>;
}

async function reconcileOnce(
  deps: ReconcilerState,
  connection: Connection,
  id: string,
): Promise<AttemptResult> {
  const { now, newId } = deps.runtime;
  const lease = { token: newId(), ms: leaseDuration(connection), now: now() };
  const { token } = lease;
  const acquired = await acquireLease(deps, connection, { id, lease });
  if (typeof acquired === 'string') return acquired;
  const { identity } = acquired;
  const extend = (ms: number) => deps.leases.extend(connection.id, id, { token, ms, now: now() });
  const guarded = withLeaseGuard(connection, { since: lease.now, now, extend });
  try {
    return await reconcileUnderLease(deps, guarded, { ...acquired, token });
  } catch (error) {
    deps.runtime.log.error({ err: error, connection: connection.id, id }, 'reconciliation failed');
    return await backOff(deps, { identity, token }, String(error));
  }
}

/**
 * Acquires the lease. If the store cannot save it (e.g. on a full disk), only the attempt fails: the IdP's write is
 * already committed.
 */
async function acquireLease(
  deps: ReconcileDeps,
  connection: Connection,
  { id, lease }: { id: string; lease: Parameters<Leases['acquire']>[2] },
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

interface LeasedIdentity {
  identity: Identity;
  token: string;
}

async function reconcileUnderLease(
  deps: ReconcilerState,
  connection: Connection,
  leased: LeasedIdentity & Acquired,
): Promise<AttemptResult> {
  const { identity, token, generation } = leased;
  const translated = await translateIdentity(deps, { connection, identity, generation });
  const { result, rulesGeneration, announced } = await decideResult(deps, connection, { leased, translated });
  const { end } = result;
  // After a failure, keep the old rows: the next attempt must still see that the target of a reference is gone.
  if (!('kind' in translated) && end.kind === 'state') {
    // A deleted user has no references. If the DELETE is refused, the user is only deactivated and keeps them.
    const isLeaving = identity.deletedAt !== undefined && !isRefusal(result);
    const rows = isLeaving ? [] : translated.resolved.rows;
    await deps.references.save(connection.id, identity.id, rows);
  }
  const outcome = toOutcome(deps, identity, { result, translated, rulesGeneration });
  logResult(deps, identity, result);
  deps.runtime.checkpoint('beforeOutcome');
  const saved = await deps.leases.finish(connection.id, identity.id, token, identity.revision, outcome);
  if (saved === 'taken') {
    return backOff(deps, leased, 'another identity was linked to the same traveler');
  }
  if (saved === 'lost') {
    await notifySuccessor(deps, connection, identity);
    return 'busy';
  }
  await notifyDependents(deps, connection, { before: identity, after: outcome, announced });
  if (!('kind' in translated))
    await notifyLeftOutOfCycle(deps, { identity, before: translated.resolved.before, after: outcome });
  if (end.kind === 'failed') return 'failed';
  if (saved === 'moved') return 'moved';
  return isRefusal(result) ? 'refused' : 'reconciled';
}

interface Decision {
  result: ReconcileResult;
  /** The generation of the rules that the result follows. */
  rulesGeneration: number;
  /** The email addresses of all creates that this or an earlier attempt has announced. */
  announced: string[];
}

/** Reconciles the traveler, unless the rules cannot be read or the change of rules waits for an admin. */
async function decideResult(
  deps: ReconcileDeps,
  connection: Connection,
  { leased, translated }: { leased: LeasedIdentity; translated: TranslatedIdentity | TravelFailure },
): Promise<Decision> {
  const { identity } = leased;
  if ('kind' in translated) {
    const untranslated = newDraft(identity, {
      fields: {},
      findings: identity.findings,
      trace: identity.trace,
      needsFreshLookups: false,
    });
    return {
      result: endInFailure(untranslated, translated),
      rulesGeneration: identity.rulesGeneration,
      announced: [],
    };
  }
  const announced = identity.creating === undefined ? [] : [identity.creating];
  const context = newContext(deps, connection, { leased, translated, announced });
  if (
    await isHeldByRulesChange(deps.rulesChanges, connection, {
      identity,
      rulesSnapshot: translated.rulesSnapshot,
    })
  ) {
    const draft = withFinding(newDraft(identity, translated.translation), findings.heldRules());
    const waiting = { ...draft, waitingFor: identity.waitingFor };
    return {
      result: endInState(withRulesHold(context, waiting), 'held'),
      rulesGeneration: identity.rulesGeneration,
      announced: [],
    };
  }
  const result = await reconcileTraveler(context);
  return { result, rulesGeneration: translated.rulesSnapshot.generation, announced };
}

function newContext(
  deps: ReconcileDeps,
  connection: Connection,
  {
    leased: { identity, token },
    translated: { rulesSnapshot, translation, baseline },
    announced,
  }: { leased: LeasedIdentity; translated: TranslatedIdentity; announced: string[] },
): ReconcileContext {
  const { identities, leases, holds, runtime } = deps;
  return {
    ...{ connection, identity, rulesSnapshot, translation, baseline, identities, holds },
    announce: async (announcement) => {
      const outcome = await leases.announce(connection.id, identity.id, token, announcement);
      if (outcome === 'done' && 'creating' in announcement && announcement.creating)
        announced.push(announcement.creating);
      return outcome;
    },
    saveEmailWait: (email) => leases.waitFor(connection.id, identity.id, token, email),
    enqueue: async (other) => {
      await deps.reconcileQueue.markDirty(other.connection, [other.id], runtime.now());
      deps.wake();
    },
    now: runtime.now,
    newId: runtime.newId,
    checkpoint: runtime.checkpoint,
  };
}

/** Decides which step the identity needs: archive its traveler, link or create one, or update the linked one. */
async function reconcileTraveler(context: ReconcileContext): Promise<ReconcileResult> {
  const { identity } = context;
  const initial = newDraft(identity, context.translation);
  if (!identity.claimed) return endInState({ ...initial, findings: [] }, 'synced');
  if (identity.deletedAt !== undefined) return archiveTraveler(context, initial);
  const { movedFrom } = identity.origin;
  const draft = movedFrom === undefined ? initial : withFinding(initial, findings.movedFrom(movedFrom));
  if (isReturnHeld(identity))
    return endInState(withHold(context, withFinding(draft, findings.heldReturn()), 'return'), 'held');
  const first =
    draft.travelId === undefined
      ? await linkUnlessInactive(context, draft)
      : await updateTraveler(context, draft);
  if (first !== 'gone') return first;
  const unlinked: OutcomeDraft = {
    ...withoutAnnouncedCall(draft),
    travelId: undefined,
    observed: undefined,
  };
  if (isInactive(identity)) return endInState(unlinked, 'synced');
  const again = await linkUnlessInactive(context, unlinked);
  if (again !== 'gone') return again;
  return endInFailure(unlinked, {
    kind: 'unavailable',
    text: 'the traveler was deleted while it was being made',
  });
}

/** Links or creates a traveler. For an inactive user whose traveler was deleted, no new one is created. */
async function linkUnlessInactive(
  context: ReconcileContext,
  initial: OutcomeDraft,
): Promise<ReconcileResult | 'gone'> {
  const isDue = isLateCheckDue(context, initial);
  const failure = isDue ? await removeLateTravelers(context, initial) : undefined;
  if (failure) return endInFailure(initial, failure);
  const isOpen = initial.creating !== undefined && initial.progress.reservation !== undefined;
  if (isOpen) return linkOrCreateTraveler(context, initial);
  const draft = isDue ? withoutLateCalls(initial) : initial;
  const hadTraveler = Object.keys(draft.applied).length > 0;
  if (isInactive(context.identity) && hadTraveler)
    return endInState({ ...draft, creating: undefined }, 'synced');
  return linkOrCreateTraveler(context, { ...draft, applied: {} });
}

function toOutcome(
  deps: ReconcileDeps,
  identity: Identity,
  {
    result: { draft, end },
    translated,
    rulesGeneration,
  }: Pick<Decision, 'result' | 'rulesGeneration'> & { translated: TranslatedIdentity | TravelFailure },
): Outcome {
  const { now, random } = deps.runtime;
  const trace = 'kind' in translated ? identity.trace : translated.translation.trace;
  const common = { ...draft, trace, rulesGeneration };
  if (end.kind === 'state') {
    const progress = withSettledVersion(identity, withNextLateCheck(draft.progress, now()));
    return { ...common, progress, state: end.state, attempts: 0, nextAttemptAt: undefined };
  }
  const nextAttemptAt = now() + backoff(end.failure, identity.attempts, random());
  return {
    ...common,
    // After a failed attempt the identity still waits for the address: other identities use this to find cycles.
    waitingFor: draft.waitingFor ?? identity.waitingFor,
    hold: draft.hold ?? identity.hold,
    state: 'dirty',
    attempts: identity.attempts + 1,
    nextAttemptAt,
  };
}

/** Sets `settledVersion`, but only for a claimed identity: the first write of an IdP must read the traveler. */
function withSettledVersion({ claimed, version }: Identity, progress: Progress): Progress {
  return claimed ? { ...progress, settledVersion: version } : progress;
}

function logResult(
  { runtime: { log } }: ReconcileDeps,
  { connection, id, attempts }: Identity,
  { draft, end }: ReconcileResult,
): void {
  const where = { connection, id };
  if (end.kind === 'state') {
    log.info({ ...where, state: end.state, findings: draft.findings.map(({ code }) => code) }, 'reconciled');
    return;
  }
  const { failure } = end;
  if (failure.kind === 'unauthorized') {
    log.error(
      where,
      'the travel API refuses the credential of the bridge (401): check TRAVEL_API_KEY; retrying',
    );
  } else {
    const text = failure.kind === 'unavailable' ? failure.text : failure.kind;
    log.warn(
      { ...where, failure: text, attempts: attempts + 1 },
      'a call to the travel API failed; retrying',
    );
  }
}

/** True if the result makes the IdP's deactivation or DELETE fail with 403. */
function isRefusal({ draft, end }: ReconcileResult): boolean {
  if (end.kind !== 'state') return false;
  return end.state === 'refused' || (end.state === 'held' && draft.hold?.cause === 'guarded');
}

/**
 * Ends an attempt without an outcome, after an unexpected error or if another identity was linked first; retries later.
 */
async function backOff(
  deps: ReconcilerState,
  leased: LeasedIdentity,
  reason: string,
): Promise<'failed' | 'unsaved'> {
  const { identity, token } = leased;
  const { now, random, log } = deps.runtime;
  const wait = backoff({ kind: 'unavailable', text: reason }, identity.attempts, random());
  try {
    // Read the identity again, so that a create that this attempt has announced is not lost.
    const latest = (await deps.identities.findById(identity.connection, identity.id)) ?? identity;
    const outcome: Outcome = {
      ...latest,
      state: 'dirty',
      attempts: identity.attempts + 1,
      nextAttemptAt: now() + wait,
    };
    await deps.leases.finish(identity.connection, identity.id, token, identity.revision, outcome);
  } catch (error) {
    log.error({ err: error }, 'the outcome could not be saved; retrying until the lease ends');
    deps.unsaved.set(token, { leased, reason });
    return 'unsaved';
  }
  return 'failed';
}
