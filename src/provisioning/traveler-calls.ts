import type { JsonObject } from '../schema/resource.ts';
import { type AnnouncedFields, resolveAnnounced, toAnnouncedFields } from '../translator/announced.ts';
import { type Plan, toAppliedFields, toPatchBody } from '../translator/plan.ts';
import type { CustomFieldValue, TravelUser } from '../translator/traveler.ts';
import { confirmMissing, isBareNotFound, withoutMissing } from './bare-answers.ts';
import { addLateCall, withLateCallsDoubted } from './late-calls.ts';
import {
  endInFailure,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withoutAnnouncedCall,
} from './reconcile-context.ts';
import { withLearnedSpellings, withSuspectedSpellings } from './spellings.ts';
import type { TravelFailure } from './travel-ports.ts';
import { withAnsweredValues, withConfirmedValues } from './unconfirmed-values.ts';

/** The failure that stands for a call which was not sent because the lease ended: another attempt may have begun. */
export const leaseLostFailure: TravelFailure = {
  kind: 'unavailable',
  text: 'the lease ended before the next call',
};

/**
 * Commits the announced call of the draft before it is sent. If this attempt has found a traveler, the same commit
 * links it. Returns false if the call must not be sent, because the lease ended or another identity is linked to the
 * traveler.
 */
export async function announceCall(
  { identity, announce }: ReconcileContext,
  { travelId, applied, progress }: OutcomeDraft,
): Promise<boolean> {
  const isLinked = travelId === undefined || travelId === identity.travelId;
  const announcement = isLinked ? { progress } : { travelId, applied, progress };
  return (await announce(announcement)) === 'done';
}

interface Patch {
  travelId: string;
  plan: Plan;
  /** Custom field values that the request omits. */
  omit?: readonly CustomFieldValue[];
}

/**
 * The draft after a PATCH. After a success it contains the answer; after a failure it still contains the announced
 * call.
 */
export type PatchResult =
  | { draft: OutcomeDraft }
  | { draft: OutcomeDraft; failure: TravelFailure; body: JsonObject };

/** Announces a PATCH of the traveler and sends it. */
export async function patchTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { travelId, plan, omit = [] }: Patch,
): Promise<PatchResult> {
  const announced = toAnnouncedFields(plan, draft.applied, draft.observed);
  const body = toPatchBody(plan, draft.observed, omit);
  // The answers to earlier PATCHes are not stored yet: if the process ends now, the next attempt must ask for their fields, too.
  const earlier = draft.answered?.travelId === travelId ? draft.answered.fields : {};
  const fields = { ...earlier, ...announced };
  if (!(await announceCall(context, withAnnounced(draft, fields))))
    return { draft, failure: leaseLostFailure, body };
  context.checkpoint('beforeSend');
  const answer = await context.connection.travel.patch(travelId, body);
  context.checkpoint('afterSend');
  if (answer.kind !== 'ok') return { draft: withAnnounced(draft, announced), failure: answer, body };
  const applied = toAppliedFields(draft.applied, plan, answer.value);
  const answered = { travelId, fields };
  const done = withoutAnnouncedCall({ ...draft, applied, observed: answer.value, answered });
  const checked = withAnsweredValues(context, done, { plan, before: draft.applied });
  const confirmed = withConfirmedValues(context, checked, { isFresh: false });
  return { draft: withSuspectedSpellings(context, confirmed, draft) };
}

function withAnnounced(draft: OutcomeDraft, announced: AnnouncedFields): OutcomeDraft {
  return { ...draft, progress: { ...draft.progress, announced } };
}

/** Reads the linked traveler into the draft. Returns `gone` if it does not exist any more. */
export async function readTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Promise<OutcomeDraft | ReconcileResult | 'gone'> {
  const answer = await context.connection.travel.read(travelId);
  if (answer.kind === 'ok') return withObservedTraveler(context, withoutMissing(draft), answer.value);
  if (answer.kind === 'notFound') return 'gone';
  return isBareNotFound(answer)
    ? confirmMissing(context, draft, { travelId, failure: answer })
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
  const { announced, ...progress } = draft.progress;
  if (!announced) return withLateCallsDoubted(context, { ...draft, observed });
  const late = addLateCall(context, draft.progress.late, { announced, applied: draft.applied });
  const applied = resolveAnnounced(draft.applied, announced, {
    observed,
    rules: context.rulesSnapshot.rules,
  });
  return withLateCallsDoubted(context, { ...draft, observed, applied, progress: { ...progress, late } });
}
