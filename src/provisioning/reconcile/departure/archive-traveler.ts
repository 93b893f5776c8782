import { findings } from '../../../model/findings.ts';
import type { Plan } from '../../../model/translation.ts';
import type { TravelFailure } from '../../../model/travel-ports.ts';
import { beforeCall, doubted, withoutCall } from '../../../translator/plan/field-records.ts';
import { emptyPlan, findDrift } from '../../../translator/plan/plan.ts';
import {
  endInFailure,
  endInState,
  isOutcomeUnknown,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withLinkedTraveler,
} from '../context.ts';
import { sentCreateOf } from '../create/own-create.ts';
import { type Program, perform } from '../effects.ts';
import { chooseLeaverEmail } from '../email/leaver-email.ts';
import { findOwnCreate } from '../link/link-traveler.ts';
import {
  fieldsToResend,
  isReadDue,
  withCallOpen,
  withObservationCompared,
  withObservedTraveler,
} from '../read-again.ts';
import { referenceValuesOf } from '../run/notify-dependents.ts';
import {
  announceCall,
  handlePatchFailure,
  leaseLostFailure,
  readTraveler,
  refuseOwnUser,
  sendPatch,
  withoutLink,
} from '../traveler-calls.ts';
import { withDriftDoubted } from '../update/ownership.ts';
import { holdDeparture, isKeptActive } from './guard.ts';

/** Archives the traveler of a deleted SCIM user, or deletes it if the policy `deprovision` says so. */
export function* archiveTraveler(context: ReconcileContext, begun: OutcomeDraft): Program<ReconcileResult> {
  const found = begun.travelId === undefined ? yield* findUnconfirmedTraveler(context, begun) : begun;
  if ('end' in found) return found;
  if (found.travelId !== undefined) return yield* archiveLinkedTraveler(context, found, found.travelId);
  return endInState(found, 'synced');
}

function* archiveLinkedTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<ReconcileResult> {
  const own = yield* refuseOwnUser(context, draft);
  if (own) return own;
  // An admin of the travel service may have reactivated the traveler or made it an administrator.
  const isRead = isReadDue(context, draft) || !isArchivedForDeletion(context, draft);
  const current = isRead
    ? yield* readTraveler(context, draft, travelId)
    : withObservationCompared(context, draft);
  if (current === 'gone') return endInState(withoutLink(draft), 'synced');
  if ('end' in current) return current;
  const drifted = withDriftDoubted(context, current);
  const next = { ...drifted, applied: doubted(drifted.applied, fieldsToResend(context, current)) };
  return isArchivedForDeletion(context, next)
    ? yield* endAlreadyArchived(context, next, travelId)
    : yield* archiveIfAllowed(context, next, travelId);
}

/**
 * True if the bridge has already archived the traveler because of this deletion. If the travel service reactivates it
 * afterwards, that is drift.
 */
function isArchivedForDeletion(
  { identity, connection }: ReconcileContext,
  { progress, applied: { archived } }: OutcomeDraft,
): boolean {
  const isSent = archived?.sent === true && archived.seen !== undefined;
  return (
    isSent && progress.settledVersion === identity.version && connection.policies.deprovision === 'archive'
  );
}

function endAlreadyArchived(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<ReconcileResult> {
  const { archived } = draft.applied;
  const drifted = draft.observed && archived ? findDrift({ archived }, draft.observed) : [];
  const done = { ...draft, findings: [...draft.findings, ...drifted] };
  return settleTombstoneEmail(context, endInState(done, 'synced'), { travelId, isFresh: false });
}

function* archiveIfAllowed(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<ReconcileResult> {
  const { observed } = draft;
  // An archived traveler no longer has access, so archiving it again needs no approval. Deleting it does.
  const isLeaving = observed?.archived === false || context.connection.policies.deprovision === 'delete';
  if (!isLeaving) return yield* archiveAndGiveUpEmail(context, draft, travelId);
  if (isKeptActive(context.identity)) return yield* endKeptActive(context, draft, travelId);
  const held = yield* holdDeparture(context, draft);
  if (held) return held;
  return yield* archiveAndGiveUpEmail(context, draft, travelId);
}

function endKeptActive(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<ReconcileResult> {
  const kept = endInState(withFinding(draft, findings.keptActive(context.identity.decision)), 'synced');
  return settleTombstoneEmail(context, kept, { travelId, isFresh: false });
}

function* archiveAndGiveUpEmail(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<ReconcileResult> {
  const done = yield* archiveOrDelete(context, draft, travelId);
  if (done.end.kind === 'failed' || done.draft.travelId === undefined) return done;
  return yield* settleTombstoneEmail(context, done, { travelId, isFresh: true });
}

/** Finds the traveler of a create whose outcome is unknown, so that it can be archived. */
export function* findUnconfirmedTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<OutcomeDraft | ReconcileResult> {
  const create = sentCreateOf(draft);
  const idle = { ...draft, creating: undefined, readAgainAt: undefined };
  if (!create) return idle;
  const found = yield* findOwnCreate(context, draft, create);
  if ('kind' in found) return endInFailure(draft, found);
  const [own] = found.own;
  // The values that the create has sent are owned: if the user returns, those that are no longer wanted are removed.
  if (own) return withObservedTraveler(context, withLinkedTraveler(draft, own, create.applied), own);
  // Keep the create until its traveler cannot appear any more: a user who returns in the meantime needs the record.
  const isAwaited = context.time.now < (draft.readAgainAt ?? 0);
  return isAwaited ? endInState(found.draft, 'synced') : { ...idle, applied: {} };
}

function* archiveOrDelete(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<ReconcileResult> {
  if (context.connection.policies.deprovision === 'archive')
    return yield* sendArchive(context, draft, travelId);
  // Until the answer, nobody knows whether the traveler still exists.
  const open = withCallOpen(context, {
    ...draft,
    applied: beforeCall(draft.applied, archivePlan, draft.observed),
  });
  if (!(yield* announceCall(context, open))) return endInFailure(draft, leaseLostFailure);
  const answer = yield* perform('removeTraveler', travelId);
  switch (answer.kind) {
    case 'ok':
    case 'notFound':
      return endInState(withoutLink(draft), 'synced');
    case 'forbidden':
    case 'invalid':
    case 'conflict': {
      // A person who has traveled is part of the accounts and cannot be deleted. Archiving takes the access away.
      const archived = yield* sendArchive(context, withFinding(draft, findings.notDeleted()), travelId);
      const isReferredTo = answer.kind === 'conflict' && (yield* mayStillBeReferredTo(context));
      return isReferredTo && archived.end.kind === 'state'
        ? endInFailure(archived.draft, referredToFailure)
        : archived;
    }
    case 'unauthorized':
    case 'unavailable': {
      const kept = isOutcomeUnknown(answer) ? open : draft;
      const isBare = answer.kind === 'unavailable' && answer.bareStatus !== undefined;
      return isBare
        ? yield* archiveMeanwhile(context, kept, { travelId, failure: answer })
        : endInFailure(kept, answer);
    }
  }
}

/** Archives a traveler whose deletion a gateway may prevent: the access must not last until the gateway lets the DELETE pass. */
function* archiveMeanwhile(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { travelId, failure }: { travelId: string; failure: TravelFailure },
): Program<ReconcileResult> {
  const archived = yield* sendArchive(context, draft, travelId);
  const isArchived = archived.end.kind === 'state' && archived.end.state === 'synced';
  return isArchived ? endInFailure(archived.draft, failure) : archived;
}

/**
 * True if the traveler may be deleted later, because it is the manager of others who are about to lose this manager. At
 * the first attempt they may have lost it just after the travel API refused the deletion.
 */
function* mayStillBeReferredTo({ identity }: ReconcileContext): Program<boolean> {
  const all = yield* perform('findReferrers', referenceValuesOf(identity));
  const referrers = all.filter((referrer) => referrer !== identity.id);
  if (identity.attempts === 0) return referrers.length > 0;
  for (const referrer of referrers) {
    const one = yield* perform('findIdentity', identity.connection, referrer);
    if (one?.state === 'dirty') return true;
  }
  return false;
}

const referredToFailure: TravelFailure = {
  kind: 'unavailable',
  text: 'other travelers still refer to the traveler',
};

function* sendArchive(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<ReconcileResult> {
  const { observed } = draft;
  // A check of this departure found that it was not applied. The next attempt to send it has its own time.
  const isRepeated = draft.progress.settledVersion === context.identity.version && isArchiveAccepted(draft);
  if (isRepeated) return endInState(draft, 'synced');
  if (observed?.archived === true) {
    const adopt = { ...emptyPlan, adopt: archivePlan.set };
    return endInState({ ...draft, applied: withoutCall(draft.applied, adopt, observed) }, 'synced');
  }
  const sent = yield* sendPatch(context, draft, { travelId, plan: archivePlan });
  if (!('failure' in sent)) return endInState(sent.draft, 'synced');
  return handlePatchFailure(sent, (known) =>
    endInState(withFinding(known, findings.forbidden('archived')), 'refused'),
  );
}

const archivePlan: Plan = { ...emptyPlan, set: { archived: { value: true, source: false } } };

/** True if the travel API has accepted that the traveler is archived, and does not show it. */
function isArchiveAccepted({ applied: { archived } }: OutcomeDraft): boolean {
  return archived?.sent === true && archived.seen === false;
}

/** Gives the traveler of a tombstone a parking address if another identity needs its address. An administrator keeps the address. */
export function* settleTombstoneEmail(
  context: ReconcileContext,
  { draft, end }: ReconcileResult,
  { travelId, isFresh }: { travelId: string; isFresh: boolean },
): Program<ReconcileResult> {
  const email = draft.observed?.archived ? yield* chooseLeaverEmail(context, draft) : undefined;
  if (email === undefined || email === 'own') return { draft, end };
  if (isFresh) return yield* sendEmail(context, { draft, end }, { travelId, email });
  // The traveler may have become an administrator in the travel service.
  const current = yield* readTraveler(context, draft, travelId);
  if (current === 'gone') return endInState(withoutLink(draft), 'synced');
  if ('end' in current) return current;
  return yield* settleTombstoneEmail(context, { draft: current, end }, { travelId, isFresh: true });
}

function* sendEmail(
  context: ReconcileContext,
  { draft, end }: ReconcileResult,
  { travelId, email: value }: { travelId: string; email: string },
): Program<ReconcileResult> {
  const plan: Plan = { ...emptyPlan, set: { email: { value, source: value } } };
  const sent = yield* sendPatch(context, draft, { travelId, plan });
  if (!('failure' in sent)) return { draft: sent.draft, end };
  return handlePatchFailure(sent, (known) => ({ draft: withRefusedEmail(context, known, value), end }));
}

/** Records a refused parking address, so that no other one is tried under these rules: the traveler keeps its address. */
function withRefusedEmail(context: ReconcileContext, draft: OutcomeDraft, value: string): OutcomeDraft {
  const reason = 'it keeps the address of a leaver';
  const email = { value, basis: context.rulesSnapshot.version, reason };
  return withFinding(
    { ...draft, refused: { ...draft.refused, email } },
    findings.refused('email', value, reason),
  );
}
