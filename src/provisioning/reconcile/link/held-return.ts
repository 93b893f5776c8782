import { emptyPlan, toAppliedFields } from '../../../translator/plan.ts';
import { findings } from '../../findings.ts';
import { type Identity, isDepartureCause, isInactive, predecessorOf } from '../../identity.ts';
import type { Judgement } from '../../users/evidence.ts';
import {
  endInFailure,
  endInState,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withHold,
} from '../context.ts';
import type { Program } from '../effects.ts';
import { admitDeparture, holdDeparture, isGuarded, isKeptActive } from '../guard.ts';
import { isLateCheckDue, removeLateTravelers, withoutLateCalls } from '../late-calls.ts';
import {
  announceAndPatch,
  handlePatchFailure,
  readTraveler,
  refuseOwnUser,
  withoutLink,
} from '../traveler-calls.ts';
import { isArchiveAccepted, isValueCheckDue, withConfirmedValues } from '../unconfirmed-values.ts';

/** Holds the return of a user without a traveler: the leaver keeps the traveler until an admin decides. */
export function holdReturn(
  context: ReconcileContext,
  draft: OutcomeDraft,
  judgement: Judgement | undefined,
): ReconcileResult {
  const noted = withFinding({ ...draft, creating: undefined }, findings.heldReturn(judgement, 'leavers'));
  return endInState(withHold(context, noted, 'return'), 'held');
}

/**
 * Holds the return of a user who has the traveler of the leaver: the same SCIM user was activated again for another person. The departure
 * of the leaver comes first: the traveler is archived, unless that departure itself waits for an admin or was discarded
 * (docs/architecture.md, Leaving and returning).
 */
export function* holdReturnOfTraveler(
  context: ReconcileContext,
  begun: OutcomeDraft,
): Program<ReconcileResult> {
  const { travelId } = begun;
  const judgement = predecessorOf(context.identity, begun);
  if (travelId === undefined) return holdReturn(context, begun, judgement);
  const own = yield* refuseOwnUser(context, begun);
  if (own) return own;
  const current = yield* readUnlessArchived(context, begun, travelId);
  if (current === 'gone') return holdReturn(context, withoutLink(begun), judgement);
  if ('end' in current) return current;
  if (current.observed?.archived === true) return endArchived(context, withArchiveAdopted(current));
  const open = isInactive(context.identity) ? yield* holdDepartureAgain(context, current) : undefined;
  if (open) return open;
  if (!isInactive(context.identity) && !(yield* mayArchive(context, current))) {
    const noted = withFinding(current, findings.heldReturn(judgement, 'active'));
    return endInState(withHold(context, noted, 'return'), 'held');
  }
  return yield* archiveAndHold(context, current, travelId);
}

/** Reads the traveler under the lease, unless it was archived for this hold before and nothing is in doubt. */
function* readUnlessArchived(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<OutcomeDraft | ReconcileResult | 'gone'> {
  const { observed, progress } = draft;
  const isDue = isLateCheckDue(context, draft);
  const isKnown = observed !== undefined && progress.announced === undefined && !isDue;
  const isInDoubt = isValueCheckDue(context, draft);
  if (isKnown && !isInDoubt && context.identity.hold?.cause === 'return')
    return withConfirmedValues(context, draft, { isFresh: false });
  const failure = isDue ? yield* removeLateTravelers(context, draft) : undefined;
  if (failure) return endInFailure(draft, failure);
  const current = yield* readTraveler(context, draft, travelId);
  if (current === 'gone' || 'end' in current) return current;
  return isDue ? withoutLateCalls(current) : current;
}

/**
 * True if the departure may be carried out. A departure that is held or was discarded stays as it is until the return is decided; a
 * discard of the return archives the traveler, as its text says.
 */
function* mayArchive(context: ReconcileContext, draft: OutcomeDraft): Program<boolean> {
  const { identity } = context;
  if (isArchiveAccepted(draft)) return false;
  if (isReturnDiscarded(identity)) return true;
  const { hold, origin, travelId } = identity;
  // A late call may have undone the archive, or made the traveler, or the archive was not applied; whatever else activates it is a change in the travel service.
  const isKnown = travelId !== undefined && draft.applied['archived']?.unsure !== true;
  const wasLeftActive = hold?.cause === 'return' && isKnown;
  if (wasLeftActive || isDepartureCause(hold?.cause) || origin.leaverKeptActive) return false;
  if (draft.observed && isGuarded(draft.observed, draft.applied)) return false;
  return yield* admitDeparture(context);
}

/**
 * Decides about the departure of a user who is inactive again, so that there is no return to decide. Returns the end of the attempt if the
 * traveler stays active for now; undefined if it is to be archived.
 */
function* holdDepartureAgain(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<ReconcileResult | undefined> {
  const { identity } = context;
  if (isKeptActive(identity))
    return endInState(withFinding(draft, findings.keptActive(identity.decision)), 'synced');
  // The travel API has accepted the archive and not carried it out: it is sent again when that is due.
  if (isArchiveAccepted(draft)) return endInState(draft, 'synced');
  return yield* holdDeparture(context, draft);
}

function isReturnDiscarded({ decision, version }: Identity): boolean {
  return decision?.cause === 'return' && decision.answer === 'discarded' && decision.version === version;
}

function* archiveAndHold(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<ReconcileResult> {
  const plan = { ...emptyPlan, set: { archived } };
  const sent = yield* announceAndPatch(context, draft, { travelId, plan });
  if (!('failure' in sent)) return endArchived(context, sent.draft);
  if (sent.failure.kind === 'notFound')
    return holdReturn(context, withoutLink(sent.draft), predecessorOf(context.identity, sent.draft));
  return handlePatchFailure(sent, (known) =>
    endArchived(context, withFinding(known, findings.forbidden('archived'))),
  );
}

const archived = { value: true, source: false } as const;

function withArchiveAdopted(draft: OutcomeDraft): OutcomeDraft {
  const { observed, applied } = draft;
  if (!observed) return draft;
  return { ...draft, applied: toAppliedFields(applied, { ...emptyPlan, adopt: { archived } }, observed) };
}

/** Ends the attempt after the departure. While the user is inactive, there is nothing to decide. */
function endArchived(context: ReconcileContext, draft: OutcomeDraft): ReconcileResult {
  if (isInactive(context.identity)) return endInState(draft, 'synced');
  const judgement = predecessorOf(context.identity, draft);
  const state = draft.observed?.archived === false ? 'active' : 'archived';
  const noted = withFinding(draft, findings.heldReturn(judgement, state));
  return endInState(withHold(context, noted, 'return'), 'held');
}
