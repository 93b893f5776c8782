import { emptyPlan, findDrift, type Plan, toAppliedFields } from '../translator/plan.ts';
import type { TravelUser } from '../translator/traveler.ts';
import { isParkingAddress, mustGiveEmailUp, newParkingAddress } from './email-conflicts.ts';
import { findings } from './findings.ts';
import { admitDeparture, isAdministrator, isGuarded, refuseOwnUser } from './guard.ts';
import {
  addLateCall,
  isLateCheckDue,
  removeLateTravelers,
  withLateCallsDoubted,
  withoutLateCalls,
} from './late-calls.ts';
import { findOwnCreate } from './link-traveler.ts';
import { withDriftMarked } from './ownership.ts';
import {
  endInFailure,
  endInState,
  isApproved,
  isOutcomeUnknown,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withHold,
  withoutAnnouncedCall,
} from './reconcile-context.ts';
import type { TravelFailure } from './travel-ports.ts';
import {
  announceCall,
  leaseLostFailure,
  patchTraveler,
  readTraveler,
  withObservedTraveler,
} from './traveler-calls.ts';

/** Takes the traveler of a deleted SCIM user out of use: archives it, or deletes it where the connection says so. */
export async function archiveTraveler(
  context: ReconcileContext,
  begun: OutcomeDraft,
): Promise<ReconcileResult> {
  const { movedTo } = context.identity.origin;
  const draft = movedTo === undefined ? begun : withFinding(begun, findings.movedTo(movedTo));
  if (isLateCheckDue(context, draft)) {
    const failure = await removeLateTravelers(context, draft);
    if (failure) return endInFailure(draft, failure);
  }
  const found = draft.travelId === undefined ? await findUnconfirmedTraveler(context, draft) : draft;
  if ('end' in found) return found;
  if (found.travelId !== undefined) return archiveLinkedTraveler(context, found, found.travelId);
  const checked = isLateCheckDue(context, found) ? withoutLateCalls(found) : found;
  return endInState({ ...checked, creating: undefined }, 'synced');
}

async function archiveLinkedTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Promise<ReconcileResult> {
  const own = await refuseOwnUser(context, draft);
  if (own) return own;
  // Somebody may have made the traveler active again, or an administrator.
  const seen = mustReadBeforeArchive(context, draft)
    ? await readTraveler(context, draft, travelId)
    : withLateCallsDoubted(context, draft);
  if (seen === 'gone') return endInState(withoutLink(draft), 'synced');
  if ('end' in seen) return seen;
  // Only now, as the traveler was judged by what was sent before.
  const checked = isLateCheckDue(context, seen) ? withoutLateCalls(seen) : seen;
  const next = withDriftMarked(context, checked);
  return isArchivedForDeletion(context, next)
    ? endAlreadyArchived(context, next, travelId)
    : archiveIfAllowed(context, next, travelId);
}

/** True until the traveler was archived once for this deletion; from then on the feed and imports tell of it. */
function mustReadBeforeArchive(context: ReconcileContext, draft: OutcomeDraft): boolean {
  const { observed, progress } = draft;
  const isKnown = observed !== undefined && progress.announced === undefined;
  return !isKnown || !isArchivedForDeletion(context, draft) || isLateCheckDue(context, draft);
}

/** True when the traveler was archived for this deletion; that somebody makes it active again by hand is drift. */
function isArchivedForDeletion(
  { identity, connection }: ReconcileContext,
  { progress, applied: { archived } }: OutcomeDraft,
): boolean {
  const isDone = progress.settledVersion === identity.version && archived?.sent === true && !archived.unsure;
  return isDone && connection.policies.deprovision === 'archive';
}

function endAlreadyArchived(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Promise<ReconcileResult> {
  const { archived } = draft.applied;
  const drifted = draft.observed && archived ? findDrift({ archived }, draft.observed) : [];
  const done = { ...draft, findings: [...draft.findings, ...drifted] };
  return giveEmailUp(context, endInState(done, 'synced'), { travelId, isFresh: false });
}

async function archiveIfAllowed(
  context: ReconcileContext,
  seen: OutcomeDraft,
  travelId: string,
): Promise<ReconcileResult> {
  const { observed, applied } = seen;
  // An archived traveler has no access: only a deletion changes it.
  const isLeaving = observed?.archived === false || context.connection.policies.deprovision === 'delete';
  if (!isLeaving) return archiveAndGiveUpEmail(context, seen, travelId);
  if (observed && isGuarded(observed, applied) && !isApproved(context.identity, 'guarded'))
    return endInState(withHold(context, withFinding(seen, findings.guardedLeaver()), 'guarded'), 'held');
  if (!(await admitDeparture(context)))
    return endInState(
      withHold(context, withFinding(seen, findings.heldBySafetyValve()), 'safetyValve'),
      'held',
    );
  return archiveAndGiveUpEmail(context, seen, travelId);
}

async function archiveAndGiveUpEmail(
  context: ReconcileContext,
  seen: OutcomeDraft,
  travelId: string,
): Promise<ReconcileResult> {
  const done = await archiveOrDelete(context, seen, travelId);
  if (done.end.kind === 'failed' || done.draft.travelId === undefined) return done;
  return giveEmailUp(context, done, { travelId, isFresh: true });
}

/** A create that was announced may have been carried out: then its traveler is there, and must go. */
async function findUnconfirmedTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Promise<OutcomeDraft | ReconcileResult> {
  const { reservation, announced = {}, late: before } = draft.progress;
  if (draft.creating === undefined || !reservation) return draft;
  const create = { reservation, fields: announced };
  const found = await findOwnCreate(context, create);
  if (found.kind !== 'ok') return endInFailure(draft, found);
  const late = before ?? addLateCall(context, undefined, { announced, reservation });
  const next: OutcomeDraft = { ...draft, progress: { ...draft.progress, late } };
  if (found.value)
    return withObservedTraveler(
      context,
      { ...withoutAnnouncedCall(next), travelId: found.value.id },
      found.value,
    );
  // Until the last look it may still appear, and whoever returns must know of it.
  return context.now() < late.checkAt ? endInState(next, 'synced') : withoutAnnouncedCall(next);
}

async function archiveOrDelete(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Promise<ReconcileResult> {
  if (context.connection.policies.deprovision === 'archive') return sendArchive(context, draft, travelId);
  const told = withRemovalAsLateCall(context, draft);
  if (!(await announceCall(context, told))) return endInFailure(draft, leaseLostFailure);
  context.checkpoint('beforeSend');
  const answer = await context.connection.travel.remove(travelId);
  context.checkpoint('afterSend');
  switch (answer.kind) {
    case 'ok':
    case 'notFound':
      return endInState(withoutLink(draft), 'synced');
    case 'forbidden':
    case 'invalid':
    case 'conflict': {
      // Somebody who has traveled is part of the accounts and cannot be deleted; but no leaver keeps access.
      const kept = withFinding(draft, findings.notDeleted());
      return sendArchive(context, kept, travelId);
    }
    case 'unauthorized':
    case 'unavailable':
      return endInFailure(isOutcomeUnknown(answer) ? told : draft, answer);
  }
}

/** Who returns while a removal may still be carried out late must be looked at once more. */
function withRemovalAsLateCall({ now, connection }: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const late = { creates: [], sent: {}, ...draft.progress.late, checkAt: now() + connection.lateMs };
  return { ...draft, progress: { ...draft.progress, late } };
}

async function sendArchive(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Promise<ReconcileResult> {
  const archived = { value: true, source: false };
  if (draft.observed?.archived === true)
    return endInState(
      {
        ...withoutAnnouncedCall(draft),
        creating: undefined,
        applied: toAppliedFields(draft.applied, { ...emptyPlan, adopt: { archived } }, draft.observed),
      },
      'synced',
    );
  const sent = await patchTraveler(context, draft, { travelId, plan: { ...emptyPlan, set: { archived } } });
  if (!('failure' in sent)) return endInState({ ...sent.draft, creating: undefined }, 'synced');
  return handlePatchFailure(sent, (known) =>
    endInState(withFinding(known, findings.forbidden('archived')), 'refused'),
  );
}

/** An archived leaver gives the address up when it is to be somebody else's; an administrator never does. */
async function giveEmailUp(
  context: ReconcileContext,
  { draft: before, end }: ReconcileResult,
  { travelId, isFresh }: { travelId: string; isFresh: boolean },
): Promise<ReconcileResult> {
  if (!before.observed || !(await mustGiveUpEmailOf(context, before.observed))) return { draft: before, end };
  // Somebody may have made an administrator of the traveler.
  const draft = isFresh ? before : await readTraveler(context, before, travelId);
  if (draft === 'gone') return endInState(withoutLink(before), 'synced');
  if ('end' in draft) return draft;
  const parked =
    draft.observed && (await mustGiveUpEmailOf(context, draft.observed))
      ? newParkingAddress(context, draft)
      : undefined;
  if (parked === undefined) return { draft, end };
  const email = { value: parked, source: parked };
  const plan: Plan = { ...emptyPlan, set: { email } };
  const sent = await patchTraveler(context, draft, { travelId, plan });
  if (!('failure' in sent)) return { draft: { ...sent.draft, creating: undefined }, end };
  return handlePatchFailure(sent, (known) => ({
    draft: withFinding(known, findings.refused('email', parked, 'it keeps the address of a leaver')),
    end,
  }));
}

async function mustGiveUpEmailOf(
  context: ReconcileContext,
  { archived, email, ...others }: TravelUser,
): Promise<boolean> {
  if (!archived || isParkingAddress(context.connection, email)) return false;
  return !isAdministrator({ ...others, archived, email }) && mustGiveEmailUp(context, email);
}

/** What becomes of a tombstone whose traveler could not be changed. */
function handlePatchFailure(
  { draft, failure }: { draft: OutcomeDraft; failure: TravelFailure },
  refused: (draft: OutcomeDraft) => ReconcileResult,
): ReconcileResult {
  switch (failure.kind) {
    case 'notFound':
      return endInState(withoutLink(draft), 'synced');
    case 'forbidden':
    case 'invalid':
    case 'conflict':
      return refused(withoutAnnouncedCall(draft));
    case 'unauthorized':
    case 'unavailable':
      return endInFailure(isOutcomeUnknown(failure) ? draft : withoutAnnouncedCall(draft), failure);
  }
}

function withoutLink(draft: OutcomeDraft): OutcomeDraft {
  return { ...withoutAnnouncedCall(draft), travelId: undefined, observed: undefined, creating: undefined };
}
