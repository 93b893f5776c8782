import {
  type AnnouncedFields,
  hasAnnouncedOrCutValues,
  hasAnnouncedValues,
  hasOnlyAnnouncedFields,
} from '../translator/announced.ts';
import type { TravelUser } from '../translator/traveler.ts';
import { addressKey } from './email-conflicts.ts';
import { type Identity, isInactive, type Reservation } from './identity.ts';
import { isReturnHeld } from './ownership.ts';
import type { OutcomeDraft, ReconcileContext } from './reconcile-context.ts';

/** A create that was sent and whose outcome is unknown. */
export interface UnconfirmedCreate {
  reservation: Reservation;
  fields: AnnouncedFields;
}

/** The tolerated difference between `createdAt` and the `Date` header, which has whole seconds, in milliseconds. */
const TOLERANCE_MS = 2_000;
/**
 * The tolerated difference for a traveler that has no other fields than those that were sent, in milliseconds: the clock that sets
 * `createdAt` may be that of another machine than the one that sends `Date`.
 */
const CLOCK_DIFFERENCE_MS = 60_000;

/**
 * True if this create made the traveler: a search has found no traveler with the address before, or the traveler has every value that
 * was sent, which the travel API may have cut, and is not older than the reservation. In doubt the result is false, unless the user has
 * left and the traveler has nothing else.
 */
export function isOwnCreate(
  context: ReconcileContext,
  traveler: TravelUser,
  { reservation, fields }: UnconfirmedCreate,
): boolean {
  const { email, wasFree, reservedAt } = reservation;
  if (addressKey(traveler.email) !== addressKey(email)) return false;
  if (wasFree) return true;
  if (!hasAnnouncedOrCutValues(traveler, fields, context.rulesSnapshot.rules)) return false;
  // Members that the bridge does not know may have been added by the travel API.
  const { otherFields: _, ...known } = traveler;
  const hasNothingElse = hasOnlyAnnouncedFields(known, fields);
  // Without a clock, a leaver loses access: an admin can restore an archived traveler.
  if (reservedAt === undefined) return hasLeft(context.identity) && hasNothingElse;
  // A `createdAt` that is not a date is NaN, and both comparisons are false.
  const ageMs = reservedAt - Date.parse(traveler.createdAt);
  return ageMs <= TOLERANCE_MS || (ageMs <= CLOCK_DIFFERENCE_MS && hasNothingElse);
}

/** True if the person has left for whom the create was sent: nobody has been given the traveler since. */
function hasLeft(identity: Identity): boolean {
  return isInactive(identity) || isReturnHeld(identity);
}

/** What may be done with a duplicate of the linked traveler: an archived one can be restored. */
export type DuplicateRemoval = 'delete' | 'archive' | 'none';

/**
 * Decides about a traveler that a create with unknown outcome may have made besides the linked one. This is stricter than `isOwnCreate`,
 * because an admin may have created one with the same address: it is only deleted if nothing is lost, which is if it has exactly what
 * was sent. It is left alone if a value differs from what was sent.
 */
export function duplicateRemoval(
  context: ReconcileContext,
  traveler: TravelUser,
  create: UnconfirmedCreate,
): DuplicateRemoval {
  const { fields } = create;
  const { rules } = context.rulesSnapshot;
  if (!isOwnCreate(context, traveler, create) || !hasAnnouncedOrCutValues(traveler, fields, rules))
    return 'none';
  const isEqual = hasAnnouncedValues(traveler, fields, rules) && hasOnlyAnnouncedFields(traveler, fields);
  return isEqual ? 'delete' : 'archive';
}

/**
 * Records that a search found no traveler with the address: if one appears later, a create that was sent before, or is sent next, has
 * made it.
 */
export function withAddressFree(draft: OutcomeDraft, email: string): OutcomeDraft {
  const { reservation, late } = draft.progress;
  const isFree = (one: Reservation) => addressKey(one.email) === addressKey(email);
  const marked = (one: Reservation) => (isFree(one) ? { ...one, wasFree: true } : one);
  const creates = late?.creates.map((one) => ({ ...one, reservation: marked(one.reservation) })) ?? [];
  return {
    ...draft,
    progress: {
      ...draft.progress,
      ...(reservation ? { reservation: marked(reservation) } : {}),
      ...(late ? { late: { ...late, creates } } : {}),
    },
  };
}
