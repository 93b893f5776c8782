import { toTravel } from '../translator/to-travel.ts';
import type { Translation } from '../translator/translation.ts';
import { archiveTraveler } from './archive-traveler.ts';
import { backoff } from './circuit-breaker.ts';
import type { Connection } from './connection.ts';
import { linkOrCreateTraveler } from './create-traveler.ts';
import { isInactive } from './email-conflicts.ts';
import { findings } from './findings.ts';
import type { Identity, Outcome, Progress } from './identity.ts';
import { isLateCheckDue, removeLateTravelers, withoutLateCalls } from './late-calls.ts';
import { notifyDependents, notifyLeftOutOfCycle, notifySuccessor } from './notify-dependents.ts';
import { isReturnHeld } from './ownership.ts';
import {
  endInFailure,
  endInState,
  isApproved,
  newDraft,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  type WantedFields,
  withFinding,
  withHold,
  withoutAnnouncedCall,
} from './reconcile-context.ts';
import { type ResolvedReferences, resolveReferences } from './references.ts';
import type { RulesChanges } from './rules-change.ts';
import type { RulesSnapshot, RulesSnapshots } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Holds, Identities, Leases, ReconcileQueue, References } from './store-ports.ts';
import type { TravelFailure } from './travel-ports.ts';
import { updateTraveler } from './update-traveler.ts';

/** Longer than all the travel calls of one reconciliation together may take: what a dead holder sent has then arrived. */
const LEASE_MS = 120_000;
/** How often somebody is looked at who waits for an admin while a call may still be carried out late. */
const LATE_CHECK_MS = 60_000;

/**
 * What one attempt came to: `refused`, the travel API or a guard will not have it; `busy`, another holds the lease; `moved`,
 * more was written meanwhile; `failed`, it is tried again; `unsaved`, the store could keep neither a lease nor an outcome, so
 * the identity is as due as before: the caller must wait.
 */
export type AttemptResult = 'reconciled' | 'refused' | 'busy' | 'moved' | 'failed' | 'unsaved';

/** Makes the travel service agree with identities, one at a time. */
export interface Reconciler {
  /** One attempt at one identity, now. Never rejects. */
  reconcile(connection: Connection, id: string): Promise<AttemptResult>;
  /** Resolves when no attempt is under way. */
  idle(): Promise<void>;
  /** Gives back the leases of attempts whose outcome could not be kept; false while the store refuses. Never rejects. */
  releaseUnsaved(): Promise<boolean>;
}

/** What the reconciler works with. */
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
  /** Called when identities were made dirty. */
  wake(): void;
  runtime: Runtime;
}

/** The one reconcile function that every path uses: level-triggered, under a lease, safe to run any number of times. */
export function reconciler(workshop: ReconcileDeps): Reconciler {
  const deps: ReconcilerState = { ...workshop, unkept: new Map() };
  const underWay = new Set<Promise<AttemptResult>>();
  return {
    releaseUnsaved: async () => {
      for (const [token, { held, text }] of [...deps.unkept]) {
        deps.unkept.delete(token);
        if ((await giveUp(deps, held, text)) === 'unsaved') return false;
      }
      return true;
    },
    reconcile: async (connection, id) => {
      const attempt = reconcileOnce(deps, connection, id);
      underWay.add(attempt);
      try {
        return await attempt;
      } finally {
        underWay.delete(attempt);
      }
    },
    idle: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** The attempts whose outcome could not be kept, by their lease's token. */
interface ReconcilerState extends ReconcileDeps {
  unkept: Map<string, { held: LeasedIdentity; text: string }>;
}

async function reconcileOnce(
  deps: ReconcilerState,
  connection: Connection,
  id: string,
): Promise<AttemptResult> {
  const token = deps.runtime.newId();
  const now = deps.runtime.now();
  const identity = await takeLease(deps, connection, { id, lease: { token, until: now + LEASE_MS, now } });
  if (typeof identity === 'string') return identity;
  try {
    return await reconcileUnderLease(deps, connection, { identity, token });
  } catch (error) {
    deps.runtime.log.error({ err: error, connection: connection.id, id }, 'reconciling failed');
    return await giveUp(deps, { identity, token }, String(error));
  }
}

/** What is committed is answered for, so a lease that cannot be kept, as the disk is full, is only a failed attempt. */
async function takeLease(
  deps: ReconcileDeps,
  connection: Connection,
  { id, lease }: { id: string; lease: Parameters<Leases['acquire']>[2] },
): Promise<Identity | 'busy' | 'unsaved'> {
  try {
    return (await deps.leases.acquire(connection.id, id, lease)) ?? 'busy';
  } catch (error) {
    deps.runtime.log.error({ err: error, connection: connection.id, id }, 'a lease could not be kept');
    return 'unsaved';
  }
}

interface LeasedIdentity {
  identity: Identity;
  token: string;
}

async function reconcileUnderLease(
  deps: ReconcilerState,
  connection: Connection,
  held: LeasedIdentity,
): Promise<AttemptResult> {
  const { identity, token } = held;
  const translated = await translateIdentity(deps, deps.rulesSnapshots, { connection, identity });
  const { settled, basis, announced } = await decideOutcome(deps, connection, { held, translated });
  // Not after a failure: that a target is gone must be told again until the traveler has followed.
  const { end } = settled;
  if (!('kind' in translated) && end.kind === 'state') {
    // A DELETE that is refused will be taken back, references and all.
    const isLeaving = identity.deletedAt !== undefined && !isRefusal(settled);
    const rows = isLeaving ? [] : translated.resolved.rows;
    await deps.references.save(connection.id, identity.id, rows);
  }
  const outcome = toOutcome(deps, identity, { settled, translated, rulesVersion: basis });
  logResult(deps, { identity, settled });
  deps.runtime.checkpoint('beforeOutcome');
  const kept = await deps.leases.finish(connection.id, identity.id, token, identity.revision, outcome);
  if (kept === 'taken') {
    return giveUp(deps, held, 'another identity was linked to the same traveler');
  }
  if (kept === 'lost') {
    await notifySuccessor(deps, connection, identity);
    return 'busy';
  }
  await notifyDependents(deps, connection, { before: identity, after: outcome, announced });
  if (!('kind' in translated))
    await notifyLeftOutOfCycle(deps, { identity, before: translated.resolved.before, after: outcome });
  if (end.kind === 'failed') return 'failed';
  if (kept === 'moved') return 'moved';
  return isRefusal(settled) ? 'refused' : 'reconciled';
}

/** True for an end that an IdP is told of when it has deactivated or deleted the user. */
function isRefusal({ draft, end }: ReconcileResult): boolean {
  if (end.kind !== 'state') return false;
  return end.state === 'refused' || (end.state === 'held' && draft.hold?.cause === 'guarded');
}

async function decideOutcome(
  deps: ReconcileDeps,
  connection: Connection,
  { held, translated }: { held: LeasedIdentity; translated: TranslatedIdentity | TravelFailure },
): Promise<{ settled: ReconcileResult; basis: string | undefined; announced: string[] }> {
  const { identity } = held;
  if ('kind' in translated) {
    const unread = newDraft(identity, {
      fields: {},
      findings: identity.findings,
      trace: identity.trace,
      needsFreshLookups: false,
    });
    return { settled: endInFailure(unread, translated), basis: identity.rulesVersion, announced: [] };
  }
  const announced = identity.creating === undefined ? [] : [identity.creating];
  const context = newContext(deps, connection, { held, translated, announced });
  if (await isHeldByRulesChange(deps, connection, { identity, basis: translated.rulesSnapshot })) {
    const draft = withFinding(newDraft(identity, translated.translation), findings.heldRules());
    const waiting = { ...draft, waitingFor: identity.waitingFor };
    return {
      settled: endInState(withRulesHold(context, waiting), 'held'),
      basis: identity.rulesVersion,
      announced: [],
    };
  }
  return { settled: await reconcileTraveler(context), basis: translated.rulesSnapshot.version, announced };
}

function newContext(
  deps: ReconcileDeps,
  connection: Connection,
  {
    held: { identity, token },
    translated: { rulesSnapshot, translation, baseline },
    announced,
  }: { held: LeasedIdentity; translated: TranslatedIdentity; announced: string[] },
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
    enqueue: async ({ connection: of, id }) => {
      await deps.reconcileQueue.markDirty(of, [id], runtime.now());
      deps.wake();
    },
    now: runtime.now,
    newId: runtime.newId,
    checkpoint: runtime.checkpoint,
  };
}

/** Somebody who waits for another cause goes on waiting for that one. */
function withRulesHold(context: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { hold, findings: before } = context.identity;
  if (!hold || hold.cause === 'rules') return withHold(context, draft, 'rules');
  const kept = before.filter(({ code }) => code !== findings.heldRules().code);
  return withFinding({ ...draft, hold, findings: kept }, findings.heldRules());
}

/** True while a change of rules waits for an admin, and nothing but that change brings this identity here. */
async function isHeldByRulesChange(
  { rulesChanges }: ReconcileDeps,
  connection: Connection,
  { identity, basis }: { identity: Identity; basis: RulesSnapshot },
): Promise<boolean> {
  const { rulesVersion, version, progress } = identity;
  if (rulesVersion === undefined || rulesVersion === basis.version) return false;
  // An admin's approval of another hold is carried out at once, as a write of the IdP is.
  if (identity.hold && identity.hold.cause !== 'rules' && isApproved(identity, identity.hold.cause))
    return false;
  return progress.settledVersion === version && !(await rulesChanges.mayReconcile(connection, basis));
}

function toOutcome(
  deps: ReconcileDeps,
  identity: Identity,
  from: {
    settled: ReconcileResult;
    translated: TranslatedIdentity | TravelFailure;
    rulesVersion: string | undefined;
  },
): Outcome {
  const { draft, end } = from.settled;
  const { now, random } = deps.runtime;
  const trace = 'kind' in from.translated ? identity.trace : from.translated.translation.trace;
  const common = { ...draft, trace, rulesVersion: from.rulesVersion };
  if (end.kind === 'state') {
    const progress = withSettledVersion(identity, withNextLateCheck(draft.progress, now()));
    return { ...common, progress, state: end.state, attempts: 0, nextAttemptAt: undefined };
  }
  const nextAttemptAt = now() + backoff(end.failure, identity.attempts, random());
  return {
    ...common,
    // Others look for a cycle of people who wait for each other; a failed attempt does not end the wait.
    waitingFor: draft.waitingFor ?? identity.waitingFor,
    hold: draft.hold ?? identity.hold,
    state: 'dirty',
    attempts: identity.attempts + 1,
    nextAttemptAt,
  };
}

/** Nothing is settled before an IdP has written it: its first write reads the traveler. */
function withSettledVersion({ claimed, version }: Identity, progress: Progress): Progress {
  return claimed ? { ...progress, settledVersion: version } : progress;
}

/** A look for late calls that could not be made, as an admin must decide first, comes again later. */
function withNextLateCheck(progress: Progress, now: number): Progress {
  const { late } = progress;
  if (!late || late.checkAt > now) return progress;
  return { ...progress, late: { ...late, checkAt: now + LATE_CHECK_MS } };
}

function logResult(
  deps: ReconcileDeps,
  { identity, settled }: { identity: Identity; settled: ReconcileResult },
): void {
  const { log } = deps.runtime;
  const where = { connection: identity.connection, id: identity.id };
  if (settled.end.kind === 'state') {
    log.info(
      { ...where, state: settled.end.state, findings: settled.draft.findings.map(({ code }) => code) },
      'reconciled',
    );
    return;
  }
  const { failure } = settled.end;
  if (failure.kind === 'unauthorized') {
    log.error(
      where,
      'the travel API refuses our credential (401): check TRAVEL_API_KEY; nothing is lost, all is tried again',
    );
  } else {
    const text = failure.kind === 'unavailable' ? failure.text : failure.kind;
    log.warn(
      { ...where, failure: text, attempts: identity.attempts + 1 },
      'the travel API could not be used; it is tried again',
    );
  }
}

/** A fault of ours, or a link that another won: back off and look again. */
async function giveUp(
  deps: ReconcilerState,
  held: LeasedIdentity,
  text: string,
): Promise<'failed' | 'unsaved'> {
  const { identity, token } = held;
  const { now, random, log } = deps.runtime;
  const wait = backoff({ kind: 'unavailable', text }, identity.attempts, random());
  try {
    // Read again: a create may have been announced since, and must not be forgotten.
    const latest = (await deps.identities.findById(identity.connection, identity.id)) ?? identity;
    const outcome: Outcome = {
      ...latest,
      state: 'dirty',
      attempts: identity.attempts + 1,
      nextAttemptAt: now() + wait,
    };
    await deps.leases.finish(identity.connection, identity.id, token, identity.revision, outcome);
  } catch (error) {
    log.error({ err: error }, 'an outcome could not be kept; it is tried again until its lease runs out');
    deps.unkept.set(token, { held, text });
    return 'unsaved';
  }
  return 'failed';
}

/** What a translation needs of the store. */
export interface TranslateDeps {
  identities: Pick<Identities, 'findById' | 'find'>;
  references: Pick<References, 'findRows' | 'save' | 'update'>;
}

/** A translation with all that it rested on. */
export interface TranslatedIdentity {
  rulesSnapshot: RulesSnapshot;
  resolved: ResolvedReferences;
  translation: Translation;
  /** What the rules make of the user as imported, for an identity that has a baseline. */
  baseline: WantedFields | undefined;
}

/**
 * Translates an identity under the connection's present rules and lookups; what is not found is looked up once more in
 * fresh ones. A failure when the travel API could never be read.
 */
export async function translateIdentity(
  directory: TranslateDeps,
  of: RulesSnapshots,
  { connection, identity }: { connection: Connection; identity: Identity },
): Promise<TranslatedIdentity | TravelFailure> {
  const basis = await of.current(connection);
  if ('kind' in basis) return basis;
  const first = await translateWith(directory, identity, basis);
  if (!first.translation.needsFreshLookups) return first;
  const fresh = await of.refresh(connection);
  if ('kind' in fresh || fresh.version === basis.version) return first;
  const again = await translateWith(directory, identity, fresh);
  return { ...again, resolved: { ...again.resolved, before: first.resolved.before } };
}

async function translateWith(
  directory: TranslateDeps,
  identity: Identity,
  basis: RulesSnapshot,
): Promise<TranslatedIdentity> {
  const resolved = await resolveReferences(directory, identity, basis.rules);
  const snapshot = { lookups: basis.lookups, references: resolved.references, applied: identity.applied };
  const { desired, origin } = identity;
  const baseline = origin.baseline && toTravel(basis.rules, origin.baseline, snapshot).fields;
  return { rulesSnapshot: basis, resolved, translation: toTravel(basis.rules, desired, snapshot), baseline };
}

/** Makes the travel service agree with one identity, whatever it takes; safe to run any number of times. */
export async function reconcileTraveler(context: ReconcileContext): Promise<ReconcileResult> {
  const { identity } = context;
  const draft = newDraft(identity, context.translation);
  if (!identity.claimed) return endInState({ ...draft, findings: [] }, 'synced');
  if (identity.deletedAt !== undefined) return archiveTraveler(context, draft);
  const { movedFrom } = identity.origin;
  const begun = movedFrom === undefined ? draft : withFinding(draft, findings.movedFrom(movedFrom));
  if (isReturnHeld(identity))
    return endInState(withHold(context, withFinding(begun, findings.heldReturn()), 'return'), 'held');
  const first =
    begun.travelId === undefined
      ? await linkUnlessInactive(context, begun)
      : await updateTraveler(context, begun);
  if (first !== 'gone') return first;
  const unlinked: OutcomeDraft = { ...withoutAnnouncedCall(begun), travelId: undefined, observed: undefined };
  if (isInactive(identity)) return endInState(unlinked, 'synced');
  const again = await linkUnlessInactive(context, unlinked);
  if (again !== 'gone') return again;
  return endInFailure(unlinked, {
    kind: 'unavailable',
    text: 'the traveler was deleted while it was being made',
  });
}

/** An inactive person whose traveler is gone needs none; anybody else gets one. */
async function linkUnlessInactive(
  context: ReconcileContext,
  begun: OutcomeDraft,
): Promise<ReconcileResult | 'gone'> {
  const isDue = isLateCheckDue(context, begun);
  const failure = isDue ? await removeLateTravelers(context, begun) : undefined;
  if (failure) return endInFailure(begun, failure);
  const isOpen = begun.creating !== undefined && begun.progress.reservation !== undefined;
  if (isOpen) return linkOrCreateTraveler(context, begun);
  const draft = isDue ? withoutLateCalls(begun) : begun;
  const hadTraveler = Object.keys(draft.applied).length > 0;
  if (isInactive(context.identity) && hadTraveler)
    return endInState({ ...draft, creating: undefined }, 'synced');
  return linkOrCreateTraveler(context, { ...draft, applied: {} });
}
