import type { JsonObject } from '../schema/resource.ts';
import { resolveAnnounced, toAnnouncedFields } from '../translator/announced.ts';
import { type Plan, toAppliedFields, toPatchBody } from '../translator/plan.ts';
import type { CustomFieldValue, TravelUser } from '../translator/traveler.ts';
import { addLateCall, withLateCallsDoubted } from './late-calls.ts';
import {
  endInFailure,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withoutAnnouncedCall,
} from './reconcile-context.ts';
import type { TravelFailure } from './travel-ports.ts';

/** Why a call was not made: another attempt may have begun. */
export const leaseLostFailure: TravelFailure = {
  kind: 'unavailable',
  text: 'the lease ended before the next call',
};

/**
 * Commits what the draft announces before a call to its traveler is made. A traveler that was found in this attempt is
 * linked by the same commit, with what is applied to it; false when the call must not be made, as the lease ended or another
 * identity is linked to the traveler.
 */
export async function announceCall(
  { identity, announce }: ReconcileContext,
  { travelId, applied, progress }: OutcomeDraft,
): Promise<boolean> {
  const isLinked = travelId === undefined || travelId === identity.travelId;
  const news = isLinked ? { progress } : { travelId, applied, progress };
  return (await announce(news)) === 'done';
}

/** What a patch is made of. */
interface Patch {
  travelId: string;
  plan: Plan;
  /** Values of custom fields that are left out. */
  omit?: readonly CustomFieldValue[];
}

/** A draft that knows what the patch came to; after a failure, one that still announces it. */
export type PatchResult =
  | { draft: OutcomeDraft }
  | { draft: OutcomeDraft; failure: TravelFailure; body: JsonObject };

/** Sends one patch to a traveler, announced before. */
export async function patchTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { travelId, plan, omit = [] }: Patch,
): Promise<PatchResult> {
  const announced = toAnnouncedFields(plan, draft.applied, draft.observed);
  const told: OutcomeDraft = { ...draft, progress: { ...draft.progress, announced } };
  const body = toPatchBody(plan, draft.observed, omit);
  if (!(await announceCall(context, told))) return { draft, failure: leaseLostFailure, body };
  context.checkpoint('beforeSend');
  const answer = await context.connection.travel.patch(travelId, body);
  context.checkpoint('afterSend');
  if (answer.kind !== 'ok') return { draft: told, failure: answer, body };
  const applied = toAppliedFields(draft.applied, plan, answer.value);
  return { draft: withoutAnnouncedCall({ ...told, applied, observed: answer.value }) };
}

/** Reads the linked traveler; `gone` when it no longer exists. */
export async function readTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  travelId: string,
): Promise<OutcomeDraft | ReconcileResult | 'gone'> {
  const answer = await context.connection.travel.read(travelId);
  if (answer.kind === 'ok') return withObservedTraveler(context, draft, answer.value);
  return answer.kind === 'notFound' ? 'gone' : endInFailure(draft, answer);
}

/** The draft with a traveler that was just read; what calls without a known outcome came to is judged by it. */
export function withObservedTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
  observed: TravelUser,
): OutcomeDraft {
  const { announced, ...progress } = draft.progress;
  const seen = { observed, rules: context.rulesSnapshot.rules };
  if (!announced) return withLateCallsDoubted(context, { ...draft, observed });
  const late = addLateCall(context, draft.progress.late, { announced, applied: draft.applied });
  const applied = resolveAnnounced(draft.applied, announced, seen);
  return withLateCallsDoubted(context, { ...draft, observed, applied, progress: { ...progress, late } });
}
