import { findings } from '../../model/findings.ts';
import { type Identity, isInactive, isSamePerson, type Succession } from '../../model/identity.ts';
import { isLeaver } from '../people/takeover.ts';
import { comparedEmails } from '../people/who-is-who.ts';
import {
  endInFailure,
  endInState,
  isApproved,
  newDraft,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
  withHold,
} from './context.ts';
import { linkOrCreateTraveler } from './create/create-traveler.ts';
import { sentCreateOf } from './create/own-create.ts';
import { archiveTraveler } from './departure/archive-traveler.ts';
import { isScopeDecisive, reconcileOutOfScope, withScopeNoted } from './departure/scope.ts';
import { type Program, perform } from './effects.ts';
import { linkTravelerOfLeaver } from './link/link-traveler.ts';
import { withNotShownFindings } from './read-again.ts';
import { endMissing, findRestoredTraveler, mustStayMissing } from './restored/traveler.ts';
import { updateTraveler } from './update/update-traveler.ts';

/**
 * Decides which step the identity needs: archive its traveler, link or create one, or update the linked one. An attempt may find a leaver
 * in the place of the user, so the findings about it are added at the end.
 */
export function* reconcileTraveler(context: ReconcileContext): Program<ReconcileResult> {
  const step = yield* takeStep(context);
  const { identity } = context;
  const result = { ...step, draft: withNotShownFindings(context, step.draft) };
  if (!identity.claimed) return result;
  const told = withSuccessionFindings(context, result.draft);
  return { ...result, draft: yield* withFurtherTravelers(context, told) };
}

/** Adds a finding for each traveler whom no IdP has sent and who has a further address of the user: both may be one person. */
function* withFurtherTravelers(context: ReconcileContext, draft: OutcomeDraft): Program<OutcomeDraft> {
  const { identity, translation } = context;
  const { connection, id, desired } = identity;
  const emails = comparedEmails(desired);
  // A user with one address has the traveler of that address, or a finding about it.
  if (isInactive(identity) || translation.scope !== 'in' || emails.length < 2) return draft;
  const further = new Set<string>();
  for (const value of emails) {
    const matches = yield* perform('findIdentities', connection, { by: 'travelEmail', value });
    for (const { claimed, deletedAt, travelId } of matches)
      if (!claimed && deletedAt === undefined && travelId !== undefined) further.add(travelId);
  }
  if (draft.travelId !== undefined) further.delete(draft.travelId);
  const found = [...further].map((travelId) => findings.furtherTraveler(travelId, id));
  return { ...draft, findings: [...draft.findings, ...found] };
}

function* takeStep(context: ReconcileContext): Program<ReconcileResult> {
  const { identity } = context;
  const begun = newDraft(identity, context.translation);
  if (!identity.claimed) return yield* reconcileUnclaimed(context, begun);
  const noted = withScopeNoted(context, begun);
  const initial = hasFinallyLeft(identity) ? noted : yield* findRestoredTraveler(context, noted);
  if ('end' in initial) return initial;
  if (identity.deletedAt !== undefined) return yield* archiveTraveler(context, initial);
  if (isScopeDecisive(context)) return yield* reconcileOutOfScope(context, initial);
  if (hasPassedTravelerOn(identity)) return endInState({ ...initial, creating: undefined }, 'synced');
  const first =
    initial.travelId === undefined
      ? yield* linkTraveler(context, initial)
      : yield* updateTraveler(context, initial);
  if (first !== 'gone') return first;
  const unlinked: OutcomeDraft = {
    ...initial,
    ...{ travelId: undefined, observed: undefined, creating: undefined, readAgainAt: undefined },
  };
  if (isInactive(identity)) return endInState(unlinked, 'synced');
  if (mustStayMissing(context)) return endMissing(unlinked);
  const again = yield* linkUnlessInactive(context, unlinked);
  if (again !== 'gone') return again;
  return endInFailure(unlinked, {
    kind: 'unavailable',
    text: 'the traveler was deleted while it was being made',
  });
}

/**
 * Leaves the traveler of an unclaimed person alone. If the IdP has deleted the person, an admin must approve that the traveler is
 * archived (docs/architecture.md, People whom an IdP has never sent).
 */
function* reconcileUnclaimed(context: ReconcileContext, initial: OutcomeDraft): Program<ReconcileResult> {
  const { identity } = context;
  const draft: OutcomeDraft = { ...initial, findings: [] };
  if (identity.deletedAt === undefined) return endInState(draft, 'synced');
  if (isApproved(identity, 'neverProvisioned') || isApproved(identity, 'guarded'))
    return yield* archiveTraveler(context, draft);
  const held = withHold(context, withFinding(draft, findings.neverProvisioned()), 'neverProvisioned');
  return endInState(held, 'held');
}

/** Adds what the user must know of a leaver in whose place it is, and of a user that has taken its own place. */
function withSuccessionFindings(
  { identity, translation }: ReconcileContext,
  draft: OutcomeDraft,
): OutcomeDraft {
  const { predecessor } = draft.progress;
  const { successor } = identity.origin;
  // A user who is out of scope waits for the traveler of a leaver without a word.
  const isTold = !hasPassedTravelerOn(identity) && (translation.scope === 'in' || predecessor?.row === 3);
  const noted = [
    isTold && predecessor && findings.predecessor(predecessor, { ...identity, travelId: draft.travelId }),
    successor && findings.successor(successor, { ...identity, travelId: draft.travelId }),
  ].filter((finding) => finding !== undefined && finding !== false);
  return { ...draft, findings: [...noted, ...draft.findings] };
}

/**
 * True for a user whose departure is over and who has no traveler. A traveler that gets the address later is that of somebody else, also if
 * the user is one of a restored backup.
 */
function hasFinallyLeft(identity: Identity): boolean {
  const { deletedAt, travelId, version, progress } = identity;
  const isSettled = deletedAt !== undefined && travelId === undefined && progress.settledVersion === version;
  return isSettled || hasPassedTravelerOn(identity);
}

/** True for an inactive user whose traveler another user has now. */
function hasPassedTravelerOn({ origin: { successor }, travelId, ...identity }: Identity): boolean {
  const isGone = successor !== undefined && isSamePerson(successor) && travelId === undefined;
  return isGone && isInactive(identity);
}

/** Links the traveler of the leaver who is the same person; else links or creates one. */
function* linkTraveler(context: ReconcileContext, draft: OutcomeDraft): Program<ReconcileResult | 'gone'> {
  if (mustStayMissing(context)) return endMissing(draft);
  const { predecessor } = draft.progress;
  // A create without an answer is settled first: it may make a second traveler.
  const isOwed = !isInactive(context.identity) && !sentCreateOf(draft);
  const isReturn = isOwed && predecessor !== undefined && isSamePerson(predecessor);
  const travelId = isReturn ? yield* travelerOfLeaver(predecessor) : undefined;
  const linked = travelId === undefined ? 'none' : yield* linkTravelerOfLeaver(context, draft, travelId);
  return linked === 'none' ? yield* linkUnlessInactive(context, draft) : linked;
}

function* travelerOfLeaver({ connection, id }: Succession): Program<string | undefined> {
  const known = id === undefined ? undefined : yield* perform('findIdentity', connection, id);
  return known && isLeaver(known) ? known.travelId : undefined;
}

/**
 * Finishes a create without a known outcome, or links or creates a traveler. For an inactive user whose traveler was deleted, no new one is
 * created.
 */
function* linkUnlessInactive(
  context: ReconcileContext,
  initial: OutcomeDraft,
): Program<ReconcileResult | 'gone'> {
  if (sentCreateOf(initial)) return yield* linkOrCreateTraveler(context, initial);
  const hadTraveler = Object.keys(initial.applied).length > 0;
  const draft = { ...initial, applied: {} };
  return isInactive(context.identity) && hadTraveler
    ? endInState({ ...initial, creating: undefined }, 'synced')
    : yield* linkOrCreateTraveler(context, draft);
}
