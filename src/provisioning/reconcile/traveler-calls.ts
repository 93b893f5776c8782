import { findings } from '../../model/findings.ts';
import { isInactive } from '../../model/identity.ts';
import type { Plan } from '../../model/translation.ts';
import type { TravelFailure } from '../../model/travel-ports.ts';
import type { CustomFieldValue, TravelerChange } from '../../model/traveler.ts';
import { beforeCall, doubted } from '../../translator/plan/field-records.ts';
import { toTravelerChange } from '../../translator/plan/traveler-change.ts';
import {
  endInFailure,
  endInState,
  isOutcomeUnknown,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withProgress,
} from './context.ts';
import { finishCreate, isCreateOpen } from './create/own-create.ts';
import { type Program, perform } from './effects.ts';
import { withAnswer, withCallOpen, withObservedTraveler } from './read-again.ts';
import { isFromBackup } from './restored/statements.ts';

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
  // What was sent to this traveler is not checked any more. A second one that a create has made is archived.
  const isDue = draft.readAgainAt !== undefined && draft.readAgainAt <= context.time.now;
  const isOver = isDue || draft.creating === undefined;
  const checked = yield* finishCreate(context, isOver ? { ...draft, readAgainAt: undefined } : draft);
  if ('end' in checked) return checked;
  return endInState(withFinding(checked, findings.ownCredential()), 'refused');
}

/**
 * Commits the records of a call before it is sent. If this attempt has found a traveler, the same commit links it. Returns false if the call
 * must not be sent, because the lease ended or another identity is linked to the traveler.
 */
export function* announceCall(
  { identity }: ReconcileContext,
  { travelId, applied, readAgainAt, creating, progress }: OutcomeDraft,
): Program<boolean> {
  const isLinked = travelId === undefined || travelId === identity.travelId;
  const link = isLinked ? {} : { travelId, creating };
  const announcement = { ...link, applied, readAgainAt, progress, isCall: true as const };
  return (yield* perform('announce', announcement)) === 'done';
}

interface Patch {
  travelId: string;
  plan: Plan;
  /** Custom field values that the change omits. */
  omit?: readonly CustomFieldValue[];
}

/**
 * The draft after a PATCH. After a success it contains the answer; after a failure, what is known of the traveler as long as the call may
 * still be carried out.
 */
export type PatchResult =
  | { draft: OutcomeDraft }
  | { draft: OutcomeDraft; failure: TravelFailure; change: TravelerChange };

/** Commits the records of a PATCH, sends it, and judges its answer. */
export function* sendPatch(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { travelId, plan, omit = [] }: Patch,
): Program<PatchResult> {
  const change = toTravelerChange(plan, draft.observed, omit);
  const applied = beforeCall(draft.applied, plan, draft.observed);
  const committed = withSentNoted(context, { ...draft, applied }, plan);
  const open = withCallOpen(context, committed);
  if (!(yield* announceCall(context, open))) return { draft, failure: leaseLostFailure, change };
  const answer = yield* perform('patchTraveler', travelId, change);
  if (answer.kind === 'ok') return { draft: withAnswer(context, committed, { plan, answer: answer.value }) };
  return { draft: isOutcomeUnknown(answer) ? open : draft, failure: answer, change };
}

/** Notes the fields of a call for a restored person: whatever becomes of the call, the bridge has sent them since the backup. */
export function withSentNoted({ identity }: ReconcileContext, draft: OutcomeDraft, plan: Plan): OutcomeDraft {
  if (!isFromBackup(identity)) return draft;
  const written = [...(draft.progress.written ?? []), ...Object.keys(plan.set), ...plan.remove];
  return withProgress(draft, { written: [...new Set(written)] });
}

/** Reads the linked traveler into the draft. Returns `gone` if it does not exist any more. */
export function* readTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Program<OutcomeDraft | ReconcileResult | 'gone'> {
  const answer = yield* perform('readTraveler', travelId);
  if (answer.kind === 'ok')
    return yield* finishCreate(context, withObservedTraveler(context, withoutMissing(draft), answer.value));
  if (answer.kind === 'notFound') return 'gone';
  return isBareNotFound(answer) ? yield* confirmMissing(context, draft, answer) : endInFailure(draft, answer);
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
      return refused(draft);
    case 'unauthorized':
    case 'unavailable':
      return endInFailure(draft, failure);
  }
}

/**
 * Returns the draft of a tombstone whose traveler does not exist any more. A create that may still be carried out a second time stays, so that
 * its traveler is found.
 */
export function withoutLink(draft: OutcomeDraft): OutcomeDraft {
  const unlinked = { ...draft, travelId: undefined, observed: undefined };
  return isCreateOpen(draft)
    ? { ...unlinked, applied: doubted(draft.applied, Object.keys(draft.applied)) }
    : { ...unlinked, creating: undefined, readAgainAt: undefined };
}

/** The time between the two reads after which a traveler counts as deleted, in milliseconds. */
const CONFIRM_MS = 60_000;

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
  failure: BareNotFound,
): Program<ReconcileResult | 'gone'> {
  if (!(yield* isOwnUserReadable())) return endInFailure(withoutMissing(draft), failure);
  const now = context.time.now;
  // The clock may have been set back.
  const since = Math.min(draft.progress.missingSince ?? now, now);
  const confirmAt = since + CONFIRM_MS;
  if (now >= confirmAt) return needsTraveler(context) ? 'gone' : endWithDoubt(draft);
  const waiting = withProgress(draft, { missingSince: since });
  return endInFailure(waiting, { ...failure, retryAfterMs: confirmAt - now }, confirmAt);
}

/** An active person in scope gets another traveler; one that exists nevertheless is then found by its address. */
function needsTraveler({ identity, translation }: ReconcileContext): boolean {
  return !isInactive(identity) && translation.scope !== 'out';
}

/** Ends with the link, so that an import that sees the traveler has it read again and its access ended. */
function endWithDoubt(draft: OutcomeDraft): ReconcileResult {
  const ended = { observed: undefined, creating: undefined, readAgainAt: undefined };
  return endInState({ ...draft, ...ended }, 'synced');
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
  return draft.progress.missingSince === undefined ? draft : withProgress(draft, { missingSince: undefined });
}

/** So many attempts in a row take about five minutes (`backoff`). */
const ALARM_ATTEMPTS = 9;

/**
 * Adds a finding to the draft of an attempt that a gateway may have answered in place of the travel API, once that has lasted for about five
 * minutes. The alarm counts it.
 */
export function withUnclearAnswer(
  draft: OutcomeDraft,
  failure: TravelFailure,
  attempts: number,
): OutcomeDraft {
  const status = failure.kind === 'unavailable' ? failure.bareStatus : undefined;
  const isKnown = draft.findings.some(({ code }) => code === 'unclearAnswer');
  if (status === undefined || attempts < ALARM_ATTEMPTS || isKnown) return draft;
  return withFinding(draft, findings.unclearAnswer(status));
}
