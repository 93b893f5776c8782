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
  type Draft,
  draftOf,
  endInFailure,
  endInState,
  type Fields,
  isApproved,
  type ReconcileResult,
  type Task,
  withFinding,
  withHold,
  withKnownOutcome,
} from './reconcile-context.ts';
import { type Resolved, resolveReferences } from './references.ts';
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
 * more was written meanwhile; `failed`, it is tried again; `unkept`, the store could keep neither a lease nor an outcome, so
 * the identity is as due as before: the caller must wait.
 */
export type Attempt = 'settled' | 'refused' | 'busy' | 'moved' | 'failed' | 'unkept';

/** Makes the travel service agree with identities, one at a time. */
export interface Reconciler {
  /** One attempt at one identity, now. Never rejects. */
  attempt(connection: Connection, id: string): Promise<Attempt>;
  /** Resolves when no attempt is under way. */
  idle(): Promise<void>;
  /** Gives back the leases of attempts whose outcome could not be kept; false while the store refuses. Never rejects. */
  releaseUnkept(): Promise<boolean>;
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
  bases: RulesSnapshots;
  /** Called when identities were made dirty. */
  wake(): void;
  runtime: Runtime;
}

/** The one reconcile function that every path uses: level-triggered, under a lease, safe to run any number of times. */
export function reconciler(workshop: ReconcileDeps): Reconciler {
  const deps: ReconcilerState = { ...workshop, unkept: new Map() };
  const underWay = new Set<Promise<Attempt>>();
  return {
    releaseUnkept: async () => {
      for (const [token, { held, text }] of [...deps.unkept]) {
        deps.unkept.delete(token);
        if ((await giveUp(deps, held, text)) === 'unkept') return false;
      }
      return true;
    },
    attempt: async (connection, id) => {
      const attempt = tryOnce(deps, connection, id);
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
  unkept: Map<string, { held: Held; text: string }>;
}

async function tryOnce(deps: ReconcilerState, connection: Connection, id: string): Promise<Attempt> {
  const token = deps.runtime.newId();
  const now = deps.runtime.now();
  const identity = await takeLease(deps, connection, { id, lease: { token, until: now + LEASE_MS, now } });
  if (typeof identity === 'string') return identity;
  try {
    return await underLease(deps, connection, { identity, token });
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
): Promise<Identity | 'busy' | 'unkept'> {
  try {
    return (await deps.leases.acquire(connection.id, id, lease)) ?? 'busy';
  } catch (error) {
    deps.runtime.log.error({ err: error, connection: connection.id, id }, 'a lease could not be kept');
    return 'unkept';
  }
}

interface Held {
  identity: Identity;
  token: string;
}

async function underLease(deps: ReconcilerState, connection: Connection, held: Held): Promise<Attempt> {
  const { identity, token } = held;
  const translated = await translate(deps, deps.bases, { connection, identity });
  const { settled, basis, announced } = await settleWith(deps, connection, { held, translated });
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
  return isRefusal(settled) ? 'refused' : 'settled';
}

/** True for an end that an IdP is told of when it has deactivated or deleted the user. */
function isRefusal({ draft, end }: ReconcileResult): boolean {
  if (end.kind !== 'state') return false;
  return end.state === 'refused' || (end.state === 'held' && draft.hold?.cause === 'guarded');
}

async function settleWith(
  deps: ReconcileDeps,
  connection: Connection,
  { held, translated }: { held: Held; translated: Translated | TravelFailure },
): Promise<{ settled: ReconcileResult; basis: string | undefined; announced: string[] }> {
  const { identity } = held;
  if ('kind' in translated) {
    const unread = draftOf(identity, {
      fields: {},
      findings: identity.findings,
      trace: identity.trace,
      needsFreshLookups: false,
    });
    return { settled: endInFailure(unread, translated), basis: identity.rulesVersion, announced: [] };
  }
  const announced = identity.creating === undefined ? [] : [identity.creating];
  const task = taskOf(deps, connection, { held, translated, announced });
  if (await areRulesHeld(deps, connection, { identity, basis: translated.basis })) {
    const draft = withFinding(draftOf(identity, translated.translation), findings.heldRules());
    const waiting = { ...draft, waitingFor: identity.waitingFor };
    return {
      settled: endInState(heldByRules(task, waiting), 'held'),
      basis: identity.rulesVersion,
      announced: [],
    };
  }
  return { settled: await reconcileTraveler(task), basis: translated.basis.version, announced };
}

function taskOf(
  deps: ReconcileDeps,
  connection: Connection,
  {
    held: { identity, token },
    translated: { basis, translation, baseline },
    announced,
  }: { held: Held; translated: Translated; announced: string[] },
): Task {
  const announce: Leases['announce'] = async (of, id, lease, news) => {
    const outcome = await deps.leases.announce(of, id, lease, news);
    if (outcome === 'done' && 'creating' in news && news.creating) announced.push(news.creating);
    return outcome;
  };
  const { identities, holds, runtime } = deps;
  return {
    ...{ connection, identity, token, basis, translation, baseline },
    store: { identities, leases: { ...deps.leases, announce }, holds },
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
function heldByRules(task: Task, draft: Draft): Draft {
  const { hold, findings: before } = task.identity;
  if (!hold || hold.cause === 'rules') return withHold(task, draft, 'rules');
  const kept = before.filter(({ code }) => code !== findings.heldRules().code);
  return withFinding({ ...draft, hold, findings: kept }, findings.heldRules());
}

/** True while a change of rules waits for an admin, and nothing but that change brings this identity here. */
async function areRulesHeld(
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
    translated: Translated | TravelFailure;
    rulesVersion: string | undefined;
  },
): Outcome {
  const { draft, end } = from.settled;
  const { now, random } = deps.runtime;
  const trace = 'kind' in from.translated ? identity.trace : from.translated.translation.trace;
  const common = { ...draft, trace, rulesVersion: from.rulesVersion };
  if (end.kind === 'state') {
    const progress = withSettled(identity, withNextLateCheck(draft.progress, now()));
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
function withSettled({ claimed, version }: Identity, progress: Progress): Progress {
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
async function giveUp(deps: ReconcilerState, held: Held, text: string): Promise<'failed' | 'unkept'> {
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
    return 'unkept';
  }
  return 'failed';
}

/** What a translation needs of the store. */
export interface TranslateDeps {
  identities: Pick<Identities, 'findById' | 'find'>;
  references: Pick<References, 'findRows' | 'save' | 'update'>;
}

/** A translation with all that it rested on. */
export interface Translated {
  basis: RulesSnapshot;
  resolved: Resolved;
  translation: Translation;
  /** What the rules make of the user as imported, for an identity that has a baseline. */
  baseline: Fields | undefined;
}

/**
 * Translates an identity under the connection's present rules and lookups; what is not found is looked up once more in
 * fresh ones. A failure when the travel API could never be read.
 */
export async function translate(
  directory: TranslateDeps,
  of: RulesSnapshots,
  { connection, identity }: { connection: Connection; identity: Identity },
): Promise<Translated | TravelFailure> {
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
): Promise<Translated> {
  const resolved = await resolveReferences(directory, identity, basis.rules);
  const snapshot = { lookups: basis.lookups, references: resolved.references, applied: identity.applied };
  const { desired, origin } = identity;
  const baseline = origin.baseline && toTravel(basis.rules, origin.baseline, snapshot).fields;
  return { basis, resolved, translation: toTravel(basis.rules, desired, snapshot), baseline };
}

/** Makes the travel service agree with one identity, whatever it takes; safe to run any number of times. */
export async function reconcileTraveler(task: Task): Promise<ReconcileResult> {
  const { identity } = task;
  const draft = draftOf(identity, task.translation);
  if (!identity.claimed) return endInState({ ...draft, findings: [] }, 'synced');
  if (identity.deletedAt !== undefined) return archiveTraveler(task, draft);
  const { movedFrom } = identity.origin;
  const begun = movedFrom === undefined ? draft : withFinding(draft, findings.movedFrom(movedFrom));
  if (isReturnHeld(identity))
    return endInState(withHold(task, withFinding(begun, findings.heldReturn()), 'return'), 'held');
  const first =
    begun.travelId === undefined ? await reconcileActive(task, begun) : await updateTraveler(task, begun);
  if (first !== 'gone') return first;
  const unlinked: Draft = { ...withKnownOutcome(begun), travelId: undefined, observed: undefined };
  if (isInactive(identity)) return endInState(unlinked, 'synced');
  const again = await reconcileActive(task, unlinked);
  if (again !== 'gone') return again;
  return endInFailure(unlinked, {
    kind: 'unavailable',
    text: 'the traveler was deleted while it was being made',
  });
}

/** An inactive person whose traveler is gone needs none; anybody else gets one. */
async function reconcileActive(task: Task, begun: Draft): Promise<ReconcileResult | 'gone'> {
  const isDue = isLateCheckDue(task, begun);
  const failure = isDue ? await removeLateTravelers(task, begun) : undefined;
  if (failure) return endInFailure(begun, failure);
  const isOpen = begun.creating !== undefined && begun.progress.reservation !== undefined;
  if (isOpen) return linkOrCreateTraveler(task, begun);
  const draft = isDue ? withoutLateCalls(begun) : begun;
  const hadTraveler = Object.keys(draft.applied).length > 0;
  if (isInactive(task.identity) && hadTraveler)
    return endInState({ ...draft, creating: undefined }, 'synced');
  return linkOrCreateTraveler(task, { ...draft, applied: {} });
}
