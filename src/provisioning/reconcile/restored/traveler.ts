import { findings } from '../../../model/findings.ts';
import { isConfirmed, isInactive } from '../../../model/identity.ts';
import { isActive } from '../../../schema/resource.ts';
import { judgeNewcomer } from '../../people/takeover.ts';
import {
  endInFailure,
  endInState,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withFinding,
} from '../context.ts';
import { candidateEmails } from '../create/create-traveler.ts';
import { type Program, perform } from '../effects.ts';
import { isOfOtherName, readAvailability } from '../link/link-traveler.ts';
import { readTraveler, withoutLink } from '../traveler-calls.ts';
import { isAccessFromBackup, isFromBackup } from './statements.ts';

/**
 * Looks for the traveler of a restored person before anything is concluded: one without a link, or whose traveler was deleted, may have got
 * another one since the backup, and an archived traveler that is to be activated again may be that of another person by now.
 */
export function* findRestoredTraveler(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<OutcomeDraft | ReconcileResult> {
  const { identity } = context;
  if (!isFromBackup(identity) || isConfirmed(identity, 'archived')) return draft;
  if (draft.travelId === undefined) return yield* findByAddress(context, draft);
  const read = yield* readTraveler(context, draft, draft.travelId);
  if (read === 'gone') return yield* findByAddress(context, withoutLink(draft));
  return 'end' in read || !isOfAnother(context, read) ? read : withoutLink(draft);
}

/**
 * Links an active traveler that has an address and the last name of the person and belongs to nobody else: since the backup, the address may
 * have passed to another person. An inactive person of the backup has none.
 */
function* findByAddress(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<OutcomeDraft | ReconcileResult> {
  const { identity } = context;
  if (isInactive(identity) && isAccessFromBackup(identity)) return draft;
  for (const email of candidateEmails(context)) {
    const found = yield* perform('findTravelers', [email]);
    if (found.kind !== 'ok') return endInFailure(draft, found);
    for (const traveler of found.value.filter((one) => !one.archived && !isOfOtherName(context, one))) {
      const availability = yield* readAvailability(context, traveler);
      if (availability.kind !== 'ok') return endInFailure(draft, availability);
      const { value } = availability;
      const isFree = value.is === 'free' && value.leaver === undefined;
      if (isFree) return { ...draft, travelId: traveler.id, observed: traveler };
    }
  }
  return draft;
}

/** True for an archived traveler of a person whom the IdP states to be active, unless the person is still the one of the backup. */
function isOfAnother({ identity, time }: ReconcileContext, { observed }: OutcomeDraft): boolean {
  if (isInactive(identity) || isAccessFromBackup(identity)) return false;
  const { baseline = identity.desired } = identity.origin;
  // A user who was inactive in the backup was judged by the write that activated it.
  if (!observed?.archived || !isActive(baseline)) return false;
  return judgeNewcomer({ ...identity, desired: baseline }, identity, { now: time.wallClock }) === 3;
}

/** True for a person whom only the backup states to be active, and who could have a traveler. */
export function mustStayMissing(context: ReconcileContext): boolean {
  return isAccessFromBackup(context.identity) && candidateEmails(context).length > 0;
}

/** Ends the attempt at a person who has no traveler: nothing says that the one of the backup was not deleted since. */
export function endMissing(draft: OutcomeDraft): ReconcileResult {
  return endInState(withFinding({ ...draft, creating: undefined }, findings.restoredMissing()), 'synced');
}
