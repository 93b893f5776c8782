import type { ConnectionModes } from '../store/connection-modes.ts';
import { archiveTraveler, findUnconfirmedTraveler } from './archive-traveler.ts';
import type { Connection } from './connection.ts';
import { linkOrCreateTraveler } from './create-traveler.ts';
import { findings } from './findings.ts';
import type { ForeignValues } from './foreign-values.ts';
import { isHeldByRulesChange, withRulesHold } from './guard.ts';
import { holdReturn, holdReturnOfTraveler } from './held-return.ts';
import { type Identity, isInactive, predecessorOf, type Succession } from './identity.ts';
import { isLateCheckDue, removeLateTravelers, withoutLateCalls } from './late-calls.ts';
import { linkApprovedTraveler } from './link-traveler.ts';
import { isReferredTo } from './notify-dependents.ts';
import { isReturnHeld } from './ownership.ts';
import { reconcileInPause, reconcileStated } from './pause.ts';
import {
  endInFailure,
  endInState,
  isApproved,
  newDraft,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withHold,
  withoutAnnouncedCall,
} from './reconcile-context.ts';
import type { RulesChanges } from './rules-change.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Leases, ReconcileQueue, References } from './store-ports.ts';
import type { TranslatedIdentity } from './translate-identity.ts';
import type { TravelFailure } from './travel-ports.ts';
import { withUnconfirmedFindings } from './unconfirmed-values.ts';
import { updateTraveler } from './update-traveler.ts';

/**
 * Decides which step the identity needs: archive its traveler, link or create one, or update the linked one. An attempt may find a leaver
 * in the place of the user, so the findings about it are added at the end.
 */
export async function reconcileTraveler(context: ReconcileContext): Promise<ReconcileResult> {
  const step = await takeStep(context);
  const { identity } = context;
  const result = { ...step, draft: withUnconfirmedFindings(step.draft) };
  const isTold = !identity.claimed || result.draft.hold?.cause === 'return';
  return isTold ? result : { ...result, draft: withSuccessionFindings(identity, result.draft) };
}

async function takeStep(context: ReconcileContext): Promise<ReconcileResult> {
  const { identity } = context;
  const initial = newDraft(identity, context.translation);
  if (!identity.claimed) return reconcileUnclaimed(context, initial);
  if (identity.deletedAt !== undefined) return archiveTraveler(context, initial);
  const { movedFrom } = identity.origin;
  const draft = movedFrom === undefined ? initial : withFinding(initial, findings.movedFrom(movedFrom));
  if (isReturnHeld(identity)) return holdUndecidedReturn(context, draft);
  if (hasPassedTravelerOn(identity)) return endInState({ ...draft, creating: undefined }, 'synced');
  const first =
    draft.travelId === undefined ? await linkTraveler(context, draft) : await updateTraveler(context, draft);
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

/**
 * Leaves the traveler of an unclaimed person alone. If the IdP has deleted the person, an admin must approve that the traveler is
 * archived (docs/architecture.md, People whom an IdP has never sent).
 */
async function reconcileUnclaimed(
  context: ReconcileContext,
  initial: OutcomeDraft,
): Promise<ReconcileResult> {
  const { identity } = context;
  const draft: OutcomeDraft = { ...initial, findings: [] };
  if (identity.deletedAt === undefined) return endInState(draft, 'synced');
  if (isApproved(identity, 'neverProvisioned') || isApproved(identity, 'guarded'))
    return archiveTraveler(context, draft);
  const held = withHold(context, withFinding(draft, findings.neverProvisioned()), 'neverProvisioned');
  return endInState(held, 'held');
}

/** Adds what the user must know of a leaver in whose place it is, and of a user that has taken its own place. */
function withSuccessionFindings(identity: Identity, draft: OutcomeDraft): OutcomeDraft {
  const known = hasPassedTravelerOn(identity) ? undefined : predecessorOf(identity, draft);
  // A user with an own traveler does not wait for that of the leaver any more.
  const isOwn = known?.effect === 'held' && known.id !== undefined && draft.travelId !== undefined;
  const predecessor: Succession | undefined = isOwn ? { ...known, effect: 'separate' } : known;
  const { successor } = identity.origin;
  const noted = [
    predecessor && findings.predecessor(predecessor),
    successor && findings.successor(successor, identity.id),
  ].filter((finding) => finding !== undefined);
  return { ...draft, findings: [...noted, ...draft.findings] };
}

/** True for an inactive user whose traveler another user has now. */
function hasPassedTravelerOn({ origin: { successor }, travelId, ...identity }: Identity): boolean {
  const isGone = successor?.effect === 'passedOn' || successor?.effect === 'revived';
  return isGone && travelId === undefined && isInactive(identity);
}

/** Holds the return until an admin decides. The departure of the leaver is finished first, by the identity that has the traveler. */
async function holdUndecidedReturn(context: ReconcileContext, draft: OutcomeDraft): Promise<ReconcileResult> {
  if (draft.travelId !== undefined) return holdReturnOfTraveler(context, draft);
  const found = await findUnconfirmedTraveler(context, draft);
  if (!('end' in found)) {
    const isUndecided = found.travelId !== undefined || !isInactive(context.identity);
    if (isUndecided) return holdReturnOfTraveler(context, found);
    // While the user is inactive, there is nothing to decide.
    const checked = isLateCheckDue(context, found) ? withoutLateCalls(found) : found;
    return endInState({ ...checked, creating: undefined }, 'synced');
  }
  return found.end.kind === 'failed'
    ? found
    : holdReturn(context, found.draft, predecessorOf(context.identity, found.draft));
}

/** Links the traveler that an admin has handed over to the user; else links or creates one. */
async function linkTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Promise<ReconcileResult | 'gone'> {
  const { identity } = context;
  const known = predecessorOf(identity, draft);
  const isHandedOver = known?.effect === 'held' && isApproved(identity, 'return') && !isInactive(identity);
  const travelId = isHandedOver ? await travelerOfLeaver(context, known) : undefined;
  const linked = travelId === undefined ? 'none' : await linkApprovedTraveler(context, draft, travelId);
  return linked === 'none' ? linkUnlessInactive(context, draft) : linked;
}

/** When the return was held, the create of the traveler may have had no known outcome. */
async function travelerOfLeaver(
  { identities }: ReconcileContext,
  { connection, id, travelId }: Succession,
): Promise<string | undefined> {
  if (travelId !== undefined || id === undefined) return travelId;
  return (await identities.findById(connection, id))?.travelId;
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

/** Dependencies of an attempt that holds the lease. */
export interface DecisionDeps {
  identities: ReconcileContext['identities'];
  leases: Pick<Leases, 'announce' | 'waitFor'>;
  reconcileQueue: Pick<ReconcileQueue, 'markDirty'>;
  references: Pick<References, 'findReferrers'>;
  holds: ReconcileContext['holds'];
  rulesChanges: Pick<RulesChanges, 'mayReconcile'>;
  modes: Pick<ConnectionModes, 'pausedAt'>;
  foreignValues?: Pick<ForeignValues, 'observe'> | undefined;
  /** Wakes the background loop that reconciles dirty identities. */
  wake(): void;
  runtime: Runtime;
}

/** An identity under its lease, which has this token. */
export interface AttemptedIdentity {
  identity: Identity;
  token: string;
  /** An address that no identity of the account had when this attempt began. */
  freeEmail?: string | undefined;
}

/** The result of an attempt under the rules in force. */
interface Decision {
  result: ReconcileResult;
  /** The generation of the rules that the result follows. */
  rulesGeneration: number;
  /** The email addresses of all creates that this or an earlier attempt has announced. */
  announced: string[];
}

/** Reconciles the traveler, unless the rules cannot be read or the change of rules waits for an admin. */
export async function decideResult(
  deps: DecisionDeps,
  connection: Connection,
  { leased, translated }: { leased: AttemptedIdentity; translated: TranslatedIdentity | TravelFailure },
): Promise<Decision> {
  const { identity } = leased;
  if ('kind' in translated) {
    const untranslated = newDraft(identity, {
      fields: {},
      findings: identity.findings,
      trace: [],
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
  const pausedAt = deps.modes.pausedAt(connection.id);
  if (pausedAt === undefined) deps.foreignValues?.observe(identity);
  const result = await (pausedAt === undefined
    ? reconcileStated(context, reconcileTraveler)
    : reconcileInPause(context, pausedAt, reconcileTraveler));
  return { result, rulesGeneration: translated.rulesSnapshot.generation, announced };
}

function newContext(
  deps: DecisionDeps,
  connection: Connection,
  {
    leased: { identity, token, freeEmail },
    translated: { rulesSnapshot, translation, baseline },
    announced,
  }: { leased: AttemptedIdentity; translated: TranslatedIdentity; announced: string[] },
): ReconcileContext {
  const { identities, leases, holds, runtime } = deps;
  return {
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
    isReferredTo: (options) => isReferredTo(deps, identity, options),
    now: runtime.now,
    wallClock: runtime.wallClock,
    newId: runtime.newId,
    checkpoint: runtime.checkpoint,
    ...{ connection, identity, rulesSnapshot, translation, baseline, identities, holds, freeEmail },
  };
}
