import { addressKey } from '../../../model/addresses.ts';
import type { Creating } from '../../../model/identity.ts';
import type { TravelFailure } from '../../../model/travel-ports.ts';
import type { TravelUser } from '../../../model/traveler.ts';
import { showsCreatedValues, showsValue } from '../../../translator/plan/field-records.ts';
import { endInFailure, type OutcomeDraft, type ReconcileContext, type ReconcileResult } from '../context.ts';
import { type Program, perform } from '../effects.ts';

/**
 * The tolerated difference between `createdAt` and the time of the create, in milliseconds: the clock that sets `createdAt` may be that of
 * another machine than the one that sends `Date`.
 */
const CLOCK_DIFFERENCE_MS = 60_000;

/** A create that was sent, and the records of its fields. */
export type SentCreate = Pick<OutcomeDraft, 'applied'> & { creating: Creating };

/** Returns the create of an unlinked draft that was sent and may have made a traveler. */
export function sentCreateOf({ travelId, creating, applied }: OutcomeDraft): SentCreate | undefined {
  // A reservation that was not sent has no records, or those of a traveler that was deleted.
  const isSent = Object.values(applied).some(({ seen }) => seen === undefined);
  return travelId === undefined && creating && isSent ? { creating, applied } : undefined;
}

/**
 * True if the create made the traveler: the address was found free just before it or while its outcome was unknown, or the traveler is not
 * older and shows every value that no travel API rewrites. Where the travel API does not tell the time, the names must be as sent.
 */
export function isOwnCreate(
  { rulesSnapshot: { rules } }: ReconcileContext,
  traveler: TravelUser,
  { creating: { email, at, wasFree }, applied }: SentCreate,
): boolean {
  if (addressKey(traveler.email) !== addressKey(email)) return false;
  if (wasFree) return true;
  if (traveler.archived && applied['archived']?.sent !== true) return false;
  const showsName = ['firstName', 'lastName'].every((key) =>
    showsValue(traveler, { key, sent: applied[key]?.sent ?? null, rules }),
  );
  // A `createdAt` that is not a date is NaN: the comparison is false.
  const isNew = at === undefined ? showsName : Date.parse(traveler.createdAt) >= at - CLOCK_DIFFERENCE_MS;
  return isNew && showsCreatedValues(traveler, applied, rules);
}

/**
 * Ends a create whose time to be looked up has come, after its traveler was linked: a second traveler of our own is archived. Returns the
 * draft without the create, or the end of the attempt if a call failed.
 */
export function* finishCreate(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<OutcomeDraft | ReconcileResult> {
  const { creating, travelId, applied, readAgainAt } = draft;
  if (!creating || travelId === undefined || readAgainAt !== undefined) return draft;
  const found = yield* perform('findTravelers', [creating.email]);
  if (found.kind !== 'ok') return endInFailure(draft, found);
  for (const traveler of found.value) {
    const isSecond = traveler.id !== travelId && !traveler.archived;
    if (!isSecond || !isOwnCreate(context, traveler, { creating, applied })) continue;
    if (yield* perform('findHolder', { travelId: traveler.id })) continue;
    const archived = yield* perform('patchTraveler', traveler.id, { archived: true });
    if (isNotAnswered(archived)) return endInFailure(draft, archived);
  }
  return { ...draft, creating: undefined };
}

function isNotAnswered(answer: { kind: string }): answer is TravelFailure {
  return answer.kind === 'unavailable' || answer.kind === 'unauthorized';
}

/** True while a create without an answer may still make a traveler: until then no other address is sent for the person. */
export function isCreateOpen({ creating, readAgainAt }: OutcomeDraft): boolean {
  return creating !== undefined && readAgainAt !== undefined;
}
