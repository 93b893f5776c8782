import { emptyPlan, findDrift, type Plan, toAppliedFields } from '../translator/plan.ts';
import type { TravelUser } from '../translator/traveler.ts';
import { isParkingAddress, mustGiveUp, parkingAddress } from './email-conflicts.ts';
import { findings } from './findings.ts';
import { isGuarded, isPrivileged, mayLeave, refuseOwnUser } from './guard.ts';
import {
  isLateCheckDue,
  lateAfter,
  removeLateTravelers,
  withLateDoubts,
  withoutLateCalls,
} from './late-calls.ts';
import { findOwnCreate } from './link-traveler.ts';
import { correctingDrift } from './ownership.ts';
import {
  type Draft,
  endInFailure,
  endInState,
  isApproved,
  isOutcomeUnknown,
  type ReconcileResult,
  type Task,
  withFinding,
  withHold,
  withKnownOutcome,
} from './reconcile-context.ts';
import type { TravelFailure } from './travel-ports.ts';
import { announceCall, announcedPatch, leaseLost, readTraveler, withObserved } from './traveler-calls.ts';

/** Takes the traveler of a deleted SCIM user out of use: archives it, or deletes it where the connection says so. */
export async function archiveTraveler(task: Task, begun: Draft): Promise<ReconcileResult> {
  const { movedTo } = task.identity.origin;
  const draft = movedTo === undefined ? begun : withFinding(begun, findings.movedTo(movedTo));
  if (isLateCheckDue(task, draft)) {
    const failure = await removeLateTravelers(task, draft);
    if (failure) return endInFailure(draft, failure);
  }
  const found = draft.travelId === undefined ? await findLate(task, draft) : draft;
  if ('end' in found) return found;
  if (found.travelId !== undefined) return archiveLinkedTraveler(task, found, found.travelId);
  const checked = isLateCheckDue(task, found) ? withoutLateCalls(found) : found;
  return endInState({ ...checked, creating: undefined }, 'synced');
}

async function archiveLinkedTraveler(task: Task, draft: Draft, travelId: string): Promise<ReconcileResult> {
  const own = await refuseOwnUser(task, draft);
  if (own) return own;
  // Somebody may have made the traveler active again, or an administrator.
  const seen = mustRead(task, draft)
    ? await readTraveler(task, draft, travelId)
    : withLateDoubts(task, draft);
  if (seen === 'gone') return endInState(withoutLink(draft), 'synced');
  if ('end' in seen) return seen;
  // Only now, as the traveler was judged by what was sent before.
  const checked = isLateCheckDue(task, seen) ? withoutLateCalls(seen) : seen;
  const next = correctingDrift(task, checked);
  return isArchivedForDeletion(task, next)
    ? settleArchived(task, next, travelId)
    : archiveIfAllowed(task, next, travelId);
}

/** True until the traveler was archived once for this deletion; from then on the feed and imports tell of it. */
function mustRead(task: Task, draft: Draft): boolean {
  const { observed, progress } = draft;
  const isKnown = observed !== undefined && progress.announced === undefined;
  return !isKnown || !isArchivedForDeletion(task, draft) || isLateCheckDue(task, draft);
}

/** True when the traveler was archived for this deletion; that somebody makes it active again by hand is drift. */
function isArchivedForDeletion(
  { identity, connection }: Task,
  { progress, applied: { archived } }: Draft,
): boolean {
  const isDone = progress.settledVersion === identity.version && archived?.sent === true && !archived.unsure;
  return isDone && connection.policies.deprovision === 'archive';
}

function settleArchived(task: Task, draft: Draft, travelId: string): Promise<ReconcileResult> {
  const { archived } = draft.applied;
  const drifted = draft.observed && archived ? findDrift({ archived }, draft.observed) : [];
  const done = { ...draft, findings: [...draft.findings, ...drifted] };
  return giveEmailUp(task, endInState(done, 'synced'), { travelId, isFresh: false });
}

async function archiveIfAllowed(task: Task, seen: Draft, travelId: string): Promise<ReconcileResult> {
  const { observed, applied } = seen;
  // An archived traveler has no access: only a deletion changes it.
  const isLeaving = observed?.archived === false || task.connection.policies.deprovision === 'delete';
  if (!isLeaving) return archiveAndGiveUpEmail(task, seen, travelId);
  if (observed && isGuarded(observed, applied) && !isApproved(task.identity, 'guarded'))
    return endInState(withHold(task, withFinding(seen, findings.guardedLeaver()), 'guarded'), 'held');
  if (!(await mayLeave(task)))
    return endInState(withHold(task, withFinding(seen, findings.heldBySafetyValve()), 'safetyValve'), 'held');
  return archiveAndGiveUpEmail(task, seen, travelId);
}

async function archiveAndGiveUpEmail(task: Task, seen: Draft, travelId: string): Promise<ReconcileResult> {
  const done = await archiveOrDelete(task, seen, travelId);
  if (done.end.kind === 'failed' || done.draft.travelId === undefined) return done;
  return giveEmailUp(task, done, { travelId, isFresh: true });
}

/** A create that was announced may have been carried out: then its traveler is there, and must go. */
async function findLate(task: Task, draft: Draft): Promise<Draft | ReconcileResult> {
  const { reservation, announced = {}, late: before } = draft.progress;
  if (draft.creating === undefined || !reservation) return draft;
  const create = { reservation, fields: announced };
  const found = await findOwnCreate(task, create);
  if (found.kind !== 'ok') return endInFailure(draft, found);
  const late = before ?? lateAfter(task, undefined, { announced, reservation });
  const next: Draft = { ...draft, progress: { ...draft.progress, late } };
  if (found.value)
    return withObserved(task, { ...withKnownOutcome(next), travelId: found.value.id }, found.value);
  // Until the last look it may still appear, and whoever returns must know of it.
  return task.now() < late.checkAt ? endInState(next, 'synced') : withKnownOutcome(next);
}

async function archiveOrDelete(task: Task, draft: Draft, travelId: string): Promise<ReconcileResult> {
  if (task.connection.policies.deprovision === 'archive') return sendArchive(task, draft, travelId);
  const told = withLateRemoval(task, draft);
  if (!(await announceCall(task, told))) return endInFailure(draft, leaseLost);
  task.checkpoint('beforeSend');
  const answer = await task.connection.travel.remove(travelId);
  task.checkpoint('afterSend');
  switch (answer.kind) {
    case 'ok':
    case 'notFound':
      return endInState(withoutLink(draft), 'synced');
    case 'forbidden':
    case 'invalid':
    case 'conflict': {
      // Somebody who has traveled is part of the accounts and cannot be deleted; but no leaver keeps access.
      const kept = withFinding(draft, findings.notDeleted());
      return sendArchive(task, kept, travelId);
    }
    case 'unauthorized':
    case 'unavailable':
      return endInFailure(isOutcomeUnknown(answer) ? told : draft, answer);
  }
}

/** Who returns while a removal may still be carried out late must be looked at once more. */
function withLateRemoval({ now, connection }: Task, draft: Draft): Draft {
  const late = { creates: [], sent: {}, ...draft.progress.late, checkAt: now() + connection.lateMs };
  return { ...draft, progress: { ...draft.progress, late } };
}

async function sendArchive(task: Task, draft: Draft, travelId: string): Promise<ReconcileResult> {
  const archived = { value: true, source: false };
  if (draft.observed?.archived === true)
    return endInState(
      {
        ...withKnownOutcome(draft),
        creating: undefined,
        applied: toAppliedFields(draft.applied, { ...emptyPlan, adopt: { archived } }, draft.observed),
      },
      'synced',
    );
  const sent = await announcedPatch(task, draft, { travelId, plan: { ...emptyPlan, set: { archived } } });
  if (!('failure' in sent)) return endInState({ ...sent.draft, creating: undefined }, 'synced');
  return settleFailedPatch(sent, (known) =>
    endInState(withFinding(known, findings.forbidden('archived')), 'refused'),
  );
}

/** An archived leaver gives the address up when it is to be somebody else's; an administrator never does. */
async function giveEmailUp(
  task: Task,
  { draft: before, end }: ReconcileResult,
  { travelId, isFresh }: { travelId: string; isFresh: boolean },
): Promise<ReconcileResult> {
  if (!before.observed || !(await isToGiveUp(task, before.observed))) return { draft: before, end };
  // Somebody may have made an administrator of the traveler.
  const draft = isFresh ? before : await readTraveler(task, before, travelId);
  if (draft === 'gone') return endInState(withoutLink(before), 'synced');
  if ('end' in draft) return draft;
  const parked =
    draft.observed && (await isToGiveUp(task, draft.observed)) ? parkingAddress(task, draft) : undefined;
  if (parked === undefined) return { draft, end };
  const email = { value: parked, source: parked };
  const plan: Plan = { ...emptyPlan, set: { email } };
  const sent = await announcedPatch(task, draft, { travelId, plan });
  if (!('failure' in sent)) return { draft: { ...sent.draft, creating: undefined }, end };
  return settleFailedPatch(sent, (known) => ({
    draft: withFinding(known, findings.refused('email', parked, 'it keeps the address of a leaver')),
    end,
  }));
}

async function isToGiveUp(task: Task, { archived, email, ...others }: TravelUser): Promise<boolean> {
  if (!archived || isParkingAddress(task.connection, email)) return false;
  return !isPrivileged({ ...others, archived, email }) && mustGiveUp(task, email);
}

/** What becomes of a tombstone whose traveler could not be changed. */
function settleFailedPatch(
  { draft, failure }: { draft: Draft; failure: TravelFailure },
  refused: (draft: Draft) => ReconcileResult,
): ReconcileResult {
  switch (failure.kind) {
    case 'notFound':
      return endInState(withoutLink(draft), 'synced');
    case 'forbidden':
    case 'invalid':
    case 'conflict':
      return refused(withKnownOutcome(draft));
    case 'unauthorized':
    case 'unavailable':
      return endInFailure(isOutcomeUnknown(failure) ? draft : withKnownOutcome(draft), failure);
  }
}

function withoutLink(draft: Draft): Draft {
  return { ...withKnownOutcome(draft), travelId: undefined, observed: undefined, creating: undefined };
}
