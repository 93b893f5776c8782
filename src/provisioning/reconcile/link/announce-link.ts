import type { IdentityChange } from '../../../model/store-ports.ts';
import type { AppliedFields } from '../../../model/translation.ts';
import type { TravelUser } from '../../../model/traveler.ts';
import { toStoredTrace } from '../../../translator/trace.ts';
import {
  endInFailure,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withLinkedTraveler,
} from '../context.ts';
import { type Program, perform } from '../effects.ts';
import { withObservedTraveler } from '../read-again.ts';
import { leaseLostFailure } from '../traveler-calls.ts';
import { type TravelerGone, updateTraveler } from '../update/update-traveler.ts';

export type Release = Extract<IdentityChange, { kind: 'giveUpTraveler' }>;

/** Commits the link, and makes the traveler agree with the user. `from` takes the traveler away from a leaver. */
export function* announceLink(
  context: ReconcileContext,
  draft: OutcomeDraft,
  { traveler, applied, from }: { traveler: TravelUser; applied: AppliedFields; from?: Release },
): Program<ReconcileResult | TravelerGone | 'taken'> {
  const begun = withLinkedTraveler(draft, traveler, applied);
  // The last attempt at a leaver may have ended after this traveler was read, so it is read again.
  const linked = from ? { ...begun, observed: undefined } : withObservedTraveler(context, begun, traveler);
  const { creating, readAgainAt, progress } = linked;
  // The link is committed before the first PATCH: if two identities find one traveler at once, only one may change it.
  const announcement = { travelId: traveler.id, applied, creating, readAgainAt, progress, from };
  const link = yield* perform('announce', announcement);
  if (link === 'taken') return 'taken';
  if (link === 'lost') return endInFailure(draft, leaseLostFailure);
  const isFresh = from === undefined;
  if (Object.keys(applied).length === 0) return yield* updateTraveler(context, linked, { isFresh });
  const again = translatedAgain(context, linked);
  return yield* updateTraveler(again.context, again.draft, { isFresh });
}

/**
 * Translates again with the fields that the link has brought: a value that cannot be resolved stays or goes depending on what it meant
 * before.
 */
function translatedAgain(
  context: ReconcileContext,
  draft: OutcomeDraft,
): { context: ReconcileContext; draft: OutcomeDraft } {
  const translation = context.translateWith(draft.applied);
  const others = draft.findings.filter((finding) => !context.translation.findings.includes(finding));
  const findings = [...translation.findings, ...others];
  return {
    context: { ...context, translation },
    draft: { ...draft, findings, trace: toStoredTrace(translation.trace) },
  };
}
