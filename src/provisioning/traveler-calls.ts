import type { JsonObject } from '../schema/resource.ts';
import { resolveAnnounced, toAnnouncedFields } from '../translator/announced.ts';
import { type Plan, toAppliedFields, toPatchBody } from '../translator/plan.ts';
import type { CustomFieldValue, TravelUser } from '../translator/traveler.ts';
import { lateAfter, withLateDoubts } from './late-calls.ts';
import {
  type Draft,
  endInFailure,
  type ReconcileResult,
  type Task,
  withKnownOutcome,
} from './reconcile-context.ts';
import type { TravelFailure } from './travel-ports.ts';

/** Why a call was not made: another attempt may have begun. */
export const leaseLost: TravelFailure = { kind: 'unavailable', text: 'the lease ended before the next call' };

/**
 * Commits what the draft announces before a call to its traveler is made. A traveler that was found in this attempt is
 * linked by the same commit, with what is applied to it; false when the call must not be made, as the lease ended or another
 * identity is linked to the traveler.
 */
export async function announceCall(
  { connection, identity, token, store }: Task,
  { travelId, applied, progress }: Draft,
): Promise<boolean> {
  const isLinked = travelId === undefined || travelId === identity.travelId;
  const news = isLinked ? { progress } : { travelId, applied, progress };
  return (await store.leases.announce(connection.id, identity.id, token, news)) === 'done';
}

/** What a patch is made of. */
interface Patch {
  travelId: string;
  plan: Plan;
  /** Values of custom fields that are left out. */
  omit?: readonly CustomFieldValue[];
}

/** A draft that knows what the patch came to; after a failure, one that still announces it. */
export type Patched = { draft: Draft } | { draft: Draft; failure: TravelFailure; body: JsonObject };

/** Sends one patch to a traveler, announced before. */
export async function announcedPatch(
  task: Task,
  draft: Draft,
  { travelId, plan, omit = [] }: Patch,
): Promise<Patched> {
  const announced = toAnnouncedFields(plan, draft.applied, draft.observed);
  const told: Draft = { ...draft, progress: { ...draft.progress, announced } };
  const body = toPatchBody(plan, draft.observed, omit);
  if (!(await announceCall(task, told))) return { draft, failure: leaseLost, body };
  task.checkpoint('beforeSend');
  const answer = await task.connection.travel.patch(travelId, body);
  task.checkpoint('afterSend');
  if (answer.kind !== 'ok') return { draft: told, failure: answer, body };
  const applied = toAppliedFields(draft.applied, plan, answer.value);
  return { draft: withKnownOutcome({ ...told, applied, observed: answer.value }) };
}

/** Reads the linked traveler; `gone` when it no longer exists. */
export async function readTraveler(
  task: Task,
  draft: Draft,
  travelId: string,
): Promise<Draft | ReconcileResult | 'gone'> {
  const answer = await task.connection.travel.read(travelId);
  if (answer.kind === 'ok') return withObserved(task, draft, answer.value);
  return answer.kind === 'notFound' ? 'gone' : endInFailure(draft, answer);
}

/** The draft with a traveler that was just read; what calls without a known outcome came to is judged by it. */
export function withObserved(task: Task, draft: Draft, observed: TravelUser): Draft {
  const { announced, ...progress } = draft.progress;
  const seen = { observed, rules: task.basis.rules };
  if (!announced) return withLateDoubts(task, { ...draft, observed });
  const late = lateAfter(task, draft.progress.late, { announced, applied: draft.applied });
  const applied = resolveAnnounced(draft.applied, announced, seen);
  return withLateDoubts(task, { ...draft, observed, applied, progress: { ...progress, late } });
}
