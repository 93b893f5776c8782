import { type AnnouncedFields, resolveAnnounced, toAnnouncedFields } from '../../translator/announced.ts';
import { type Plan, toAppliedFields } from '../../translator/plan.ts';
import type { CustomFieldValue, TravelerChange, TravelUser } from '../../translator/traveler.ts';
import { toTravelerChange } from '../../translator/traveler-change.ts';
import { findings } from '../findings.ts';
import { isInactive } from '../identity.ts';
import type { TravelFailure } from '../travel-ports.ts';
import {
  endInFailure,
  endInState,
  isOutcomeUnknown,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withoutAnnouncedCall,
  withProgress,
} from './context.ts';
import { type Program, perform } from './effects.ts';
import { addLateCall, finishLateCheck, withLateCallsDoubted } from './late-calls.ts';
import { withReplacedKept } from './replaced-values.ts';
import {
  withAnsweredValues,
  withConfirmedValues,
  withLearnedSpellings,
  withSuspectedSpellings,
} from './unconfirmed-values.ts';

/** The failure that stands for a call which was neither announced nor sent, because another attempt or identity has the lease or the traveler. */
export const leaseLostFailure: TravelFailure = {
  kind: 'unavailable',
  text: 'the lease ended before the next call',
};

/**
 * Ends the reconciliation as `refused` if the linked traveler owns the credential that the bridge uses: the bridge never changes that traveler.
 * Returns undefined for every other traveler.
 */
export function* refuseOwnUser(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<ReconcileResult | undefined> {
  const self = yield* perform('readOwnUser');
  if (self.kind !== 'ok') return endInFailure(draft, self);
  if (self.value.id !== draft.travelId) return undefined;
  // What was sent to this traveler is not checked any more. Other travelers that an earlier create has made are removed at the last check.
  const checked = yield* finishLateCheck(context, draft);
  if ('end' in checked) return checked;
  const { late } = checked.progress;
  const creates = late?.creates.length === 0 ? undefined : late;
  const ended = withProgress(checked, {
    late: creates,
    unconfirmed: undefined,
    suspectedSpellings: undefined,
  });
  return endInState(withFinding(ended, findings.ownCredential()), 'refused');
}

/**
 * Commits the announced call of the draft before it is sent. If this attempt has found a traveler, the same commit
 * links it. Returns false if the call must not be sent, because the lease ended or another identity is linked to the
 * traveler.
 */
export function* announceCall(
  { identity }: ReconcileContext,
  { travelId, applied, progress }: OutcomeDraft,
): Program<boolean> {
  const isLinked = travelId === undefined || travelId === identity.travelId;
  const announcement = isLinked ? { progress } : { travelId, applied, progress };
  return (yield* perform('announce', announcement)) === 'done';
}

interface Patch {
  travelId: string;
  plan: Plan;
  /** Custom field values that the change omits. */
  omit?: readonly CustomFieldValue[];
}

/**
 * The draft after a PATCH. After a success it contains the answer; after a failure it still contains the call, if that was
 * announced.
 */
export type PatchResult =
  | { draft: OutcomeDraft }
  | { draft: OutcomeDraft; failure: TravelFailure; change: TravelerChange };

/** Announces a PATCH of the traveler and sends it. */
export function* announceAndPatch(
  context: ReconcileContext,
  before: OutcomeDraft,
  { travelId, plan, omit = [] }: Patch,
): Program<PatchResult> {
  const draft = withReplacedKept(context, before, plan);
  const announced = toAnnouncedFields(plan, draft.applied, draft.observed);
  const change = toTravelerChange(plan, draft.observed, omit);
  // The answers to earlier PATCHes are not stored yet: if the process ends now, the next attempt must ask for their fields, too.
  const earlier = draft.answered?.travelId === travelId ? draft.answered.fields : {};
  const fields = { ...earlier, ...announced };
  if (!(yield* announceCall(context, withAnnounced(draft, fields))))
    return { draft, failure: leaseLostFailure, change };
  const answer = yield* perform('patchTraveler', travelId, change);
  // The draft has the answers to the earlier PATCHes, so that only this one is still open.
  if (answer.kind !== 'ok') return { draft: withAnnounced(draft, announced), failure: answer, change };
  const applied = toAppliedFields(draft.applied, plan, answer.value, draft.observed);
  const answered = { travelId, fields };
  const done = withoutAnnouncedCall({ ...draft, applied, observed: answer.value, answered });
  const checked = withAnsweredValues(context, done, { plan, before: draft.applied });
  const confirmed = withConfirmedValues(context, checked, { isFresh: false });
  return { draft: withSuspectedSpellings(context, confirmed, draft) };
}

function withAnnounced(draft: OutcomeDraft, announced: AnnouncedFields): OutcomeDraft {
  return withProgress(draft, { announced });
}

/** Reads the linked traveler into the draft. Returns `gone` if it does not exist any more. */
export function* readTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<OutcomeDraft | ReconcileResult | 'gone'> {
  const answer = yield* perform('readTraveler', travelId);
  if (answer.kind === 'ok') return withObservedTraveler(context, withoutMissing(draft), answer.value);
  if (answer.kind === 'notFound') return 'gone';
  return isBareNotFound(answer)
    ? yield* confirmMissing(context, draft, { travelId, failure: answer })
    : endInFailure(draft, answer);
}

/**
 * Stores a traveler that was just read in the draft. If the outcome of the last call is unknown, determines from the
 * traveler which of the announced fields were set.
 */
export function withObservedTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  observed: TravelUser,
): OutcomeDraft {
  const resolved = withResolvedCall(context, draft, observed);
  return withConfirmedValues(context, withLearnedSpellings(context, resolved), { isFresh: true });
}

function withResolvedCall(
  context: ReconcileContext,
  draft: OutcomeDraft,
  observed: TravelUser,
): OutcomeDraft {
  const { announced } = draft.progress;
  if (!announced) return withLateCallsDoubted(context, { ...draft, observed });
  const late = addLateCall(context, draft.progress, { announced, applied: draft.applied });
  const applied = resolveAnnounced(draft.applied, announced, {
    observed,
    rules: context.rulesSnapshot.rules,
  });
  const resolved = withProgress(
    { ...draft, observed, applied },
    { announced: undefined, callEndsBy: undefined, late },
  );
  return withLateCallsDoubted(context, resolved);
}

/**
 * Ends the reconciliation of a tombstone after a failed PATCH. If the travel API refuses the values, the callback
 * `refused` returns the result.
 */
export function handlePatchFailure(
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

/** Returns the draft of a tombstone whose traveler does not exist any more. */
export function withoutLink(draft: OutcomeDraft): OutcomeDraft {
  return { ...withoutAnnouncedCall(draft), travelId: undefined, observed: undefined, creating: undefined };
}

/** The time between the two reads after which a traveler counts as deleted, in milliseconds. */
const CONFIRM_MS = 60_000;
/** After this time of failures that a gateway may have caused, an operator is alarmed; in milliseconds. */
const ALARM_MS = 5 * 60_000;

type BareNotFound = Extract<TravelFailure, { kind: 'unavailable' }>;

/** True for a 404 that has not the error code of the travel API. */
export function isBareNotFound(failure: TravelFailure): failure is BareNotFound {
  return failure.kind === 'unavailable' && failure.bareStatus === 404;
}

/**
 * Decides about a traveler that was answered with a 404 without an error code (docs/architecture.md, Answers of the travel API). It is gone
 * if the bridge's own user can be read by its id, now and at the first 404, at least a minute ago. Until then the attempt fails.
 */
export function* confirmMissing(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { travelId, failure }: { travelId: string; failure: BareNotFound },
): Program<ReconcileResult | 'gone'> {
  if (!(yield* isOwnUserReadable())) return endInFailure(withoutMissing(draft), failure);
  const now = context.time.now;
  const before = draft.progress.missing;
  const since = before?.travelId === travelId ? Math.min(before.since, now) : now;
  const confirmAt = since + CONFIRM_MS;
  if (now >= confirmAt) return needsTraveler(context) ? 'gone' : endWithDoubt(draft);
  const waiting = withProgress(draft, { missing: { travelId, since } });
  return endInFailure(waiting, { ...failure, retryAfterMs: confirmAt - now }, confirmAt);
}

/** An active person in scope gets another traveler; one that exists nevertheless is then found by its address. */
function needsTraveler({ identity, translation }: ReconcileContext): boolean {
  return !isInactive(identity) && translation.scope !== 'out';
}

/** Ends with the link, so that an import that sees the traveler has it read again and its access ended. */
function endWithDoubt(draft: OutcomeDraft): ReconcileResult {
  return endInState({ ...withoutAnnouncedCall(draft), observed: undefined, creating: undefined }, 'synced');
}

/** True if the travel API itself, and not only a gateway, answers requests for travelers by their ids. */
function* isOwnUserReadable(): Program<boolean> {
  const own = yield* perform('readOwnUser');
  if (own.kind !== 'ok') return false;
  const read = yield* perform('readTraveler', own.value.id);
  return read.kind === 'ok' && read.value.id === own.value.id;
}

/** Returns the draft after the traveler was read: it exists. */
export function withoutMissing(draft: OutcomeDraft): OutcomeDraft {
  return draft.progress.missing ? withProgress(draft, { missing: undefined }) : draft;
}

/** Returns the draft of an attempt that has reached a state: its calls were answered by the travel API. */
export function withoutBareAnswers(draft: OutcomeDraft): OutcomeDraft {
  return withProgress(draft, { missing: undefined, bareSince: undefined });
}

/**
 * Returns the draft of an attempt that has failed, with the time since when a gateway may answer in place of the travel API. After five
 * minutes a finding tells it, which the alarm counts. Failures of other kinds do not end that time.
 */
export function withBareAnswers(draft: OutcomeDraft, failure: TravelFailure, now: number): OutcomeDraft {
  const status = failure.kind === 'unavailable' ? failure.bareStatus : undefined;
  const begun = draft.progress.bareSince ?? (status && now);
  if (begun === undefined) return draft;
  // The clock may have been set back.
  const since = Math.min(begun, now);
  const noted = withProgress(draft, { bareSince: since });
  const isKnown = draft.findings.some(({ code }) => code === 'unclearAnswer');
  if (now - since < ALARM_MS || isKnown) return noted;
  return { ...noted, findings: [...draft.findings, findings.unclearAnswer(status)] };
}
