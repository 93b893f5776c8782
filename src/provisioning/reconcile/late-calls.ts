import { isDeepStrictEqual } from 'node:util';
import {
  type AnnouncedFields,
  addSentValues,
  hasAnnouncedOrCutValues,
  hasAnnouncedValues,
  hasOnlyAnnouncedFields,
  markLateChanges,
} from '../../translator/announced.ts';
import type { AppliedFields } from '../../translator/translation.ts';
import type { TravelUser } from '../../translator/traveler.ts';
import type { ConnectionSettings } from '../connection.ts';
import { isInactive, type LateCalls, type Progress, type Reservation } from '../identity.ts';
import type { TravelFailure } from '../travel-ports.ts';
import {
  type AttemptTime,
  endInFailure,
  type OutcomeDraft,
  type ReconcileContext,
  type ReconcileResult,
  withProgress,
} from './context.ts';
import { type Program, perform } from './effects.ts';
import { addressKey } from './email/addresses.ts';

/**
 * Removes the duplicates of the linked traveler that creates with unknown outcome have made: deletes them, or archives
 * them if the travel API refuses the deletion or something would be lost (`duplicateRemoval`). Returns a failure if a call to the travel API failed.
 */
export function* removeLateTravelers(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<TravelFailure | undefined> {
  const creates = draft.progress.late?.creates ?? [];
  const addresses = [...new Set(creates.map(({ reservation }) => reservation.email))];
  if (addresses.length === 0) return undefined;
  const found = yield* perform('findTravelers', addresses);
  if (found.kind !== 'ok') return found;
  for (const traveler of found.value) {
    if (traveler.id === draft.travelId || traveler.archived) continue;
    const removals = creates.map((create) => duplicateRemoval(context, traveler, create));
    if (removals.every((removal) => removal === 'none') || (yield* isLinked(traveler))) continue;
    const failure = removals.includes('delete') ? yield* deleteOrArchive(traveler) : yield* archive(traveler);
    if (failure) return failure;
  }
  return undefined;
}

/** If the time of the last check for late calls has come, makes it, and returns the draft without them. */
export function* finishLateCheck(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Program<OutcomeDraft | ReconcileResult> {
  if (!isLateCheckDue(context, draft)) return draft;
  const failure = yield* removeLateTravelers(context, draft);
  return failure ? endInFailure(draft, failure) : withoutLateCalls(draft);
}

function* isLinked({ id, email }: TravelUser): Program<boolean> {
  const holders = [
    yield* perform('findHolder', { travelId: id }),
    yield* perform('findHolder', { creating: email }),
  ];
  return holders.some((holder) => holder !== undefined);
}

function* deleteOrArchive(traveler: TravelUser): Program<TravelFailure | undefined> {
  const removed = yield* perform('removeTraveler', traveler.id);
  if (removed.kind === 'ok' || removed.kind === 'notFound') return undefined;
  if (removed.kind === 'unauthorized') return removed;
  if (removed.kind === 'unavailable' && removed.bareStatus === undefined) return removed;
  return yield* archive(traveler);
}

function* archive({ id }: TravelUser): Program<TravelFailure | undefined> {
  const archived = yield* perform('patchTraveler', id, { archived: true });
  return archived.kind === 'unavailable' || archived.kind === 'unauthorized' ? archived : undefined;
}

/**
 * Marks the applied fields that a late call may have changed since the last answer. The plan then compares them with
 * the traveler again.
 */
export function withLateCallsDoubted(context: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { observed, progress } = draft;
  if (!observed || !progress.late) return draft;
  const applied = markLateChanges(draft.applied, progress.late.sent, {
    observed,
    rules: context.rulesSnapshot.rules,
  });
  return { ...draft, applied };
}

/** A call whose outcome is unknown. */
interface LateCall {
  announced: AnnouncedFields;
  /** The fields that were applied before the call. */
  applied?: AppliedFields;
  /** The reservation of the email address; set only for a create. */
  reservation?: Reservation;
}

/**
 * Adds a call that the travel API may still carry out. The last check is not before `lateMs` milliseconds from now, or from the time-out of
 * the call, if the process that sent it has ended before.
 */
export function addLateCall(
  { time, connection }: ReconcileContext,
  { late: before, callEndsBy = 0 }: Progress,
  { announced, applied = {}, reservation }: LateCall,
): LateCalls {
  const { now } = time;
  const creates = before?.creates ?? [];
  // The clock may have been set back.
  const timedOutAt = Math.min(callEndsBy, now + connection.callTimeoutMs);
  return {
    // A call of the leaver whose traveler this is may arrive later.
    checkAt: Math.max(before?.checkAt ?? 0, Math.max(now, timedOutAt) + connection.lateMs),
    sent: addSentValues(before?.sent ?? {}, announced, applied),
    creates: reservation ? withCreate(creates, { reservation, fields: announced }) : creates,
  };
}

/**
 * Adds the values that the travel API has accepted and did not show yet when another value took their place: it may still carry them out,
 * and would undo the other one.
 */
export function withValuesNotShownYet(
  { time, connection }: { time: Pick<AttemptTime, 'now'>; connection: Pick<ConnectionSettings, 'lateMs'> },
  before: LateCalls | undefined,
  unconfirmed: Progress['unconfirmed'] = {},
): LateCalls | undefined {
  const open = Object.entries(unconfirmed).filter(([, { next }]) => next === 'check');
  if (open.length === 0) return before;
  const sent = { ...before?.sent };
  for (const [key, { value }] of open) sent[key] = [...(sent[key] ?? []), value];
  return { creates: [], ...before, checkAt: time.now + connection.lateMs, sent };
}

/** Adds a create to the late calls. If the create is already listed, the time of the last check does not change. */
export function withLateCreate(
  context: ReconcileContext,
  draft: OutcomeDraft,
  create: UnconfirmedCreate,
): OutcomeDraft {
  const { reservation, fields: announced } = create;
  const before = draft.progress.late;
  const isKnown = before?.creates.some((one) => isDeepStrictEqual(one, create));
  const late = isKnown ? before : addLateCall(context, draft.progress, { announced, reservation });
  const kept = late?.creates.find((one) => isSameCreate(one, create))?.reservation;
  const isOpen = draft.progress.reservation !== undefined;
  return withProgress(draft, { late, ...(isOpen && kept ? { reservation: kept } : {}) });
}

/**
 * Adds a create. A repetition of a create that is already listed only updates that entry: the travel API may have
 * carried out any of the two.
 */
function withCreate(creates: UnconfirmedCreate[], create: UnconfirmedCreate): UnconfirmedCreate[] {
  const before = creates.find((one) => isSameCreate(one, create));
  if (!before) return [...creates, create];
  const wasFree = before.reservation.wasFree || create.reservation.wasFree;
  const merged = { ...before, reservation: { ...before.reservation, wasFree } };
  return creates.map((one) => (one === before ? merged : one));
}

/** True if two creates have the same address and fields, so that one repeats the other. */
export function isSameCreate(one: UnconfirmedCreate, other: SentCreate): boolean {
  return one.reservation.email === other.reservation.email && isDeepStrictEqual(one.fields, other.fields);
}

/** True if late calls exist and the time of the last check for them has come. */
export function isLateCheckDue({ time }: ReconcileContext, { progress: { late } }: OutcomeDraft): boolean {
  return late !== undefined && late.checkAt <= time.now;
}

/** Returns the draft without late calls, for use after the last check for them. */
export function withoutLateCalls(draft: OutcomeDraft): OutcomeDraft {
  return withProgress(draft, { late: undefined });
}

/** Postpones a due check for late calls that the attempt could not make because the identity is held. */
export function withNextLateCheck(draft: OutcomeDraft, now: number): OutcomeDraft {
  const { late } = draft.progress;
  if (!late || late.checkAt > now) return draft;
  return withProgress(draft, { late: { ...late, checkAt: now + LATE_CHECK_MS } });
}

/** While an identity is held for an admin, the interval between two checks for late calls, in milliseconds. */
const LATE_CHECK_MS = 60_000;

/** The address and the fields of a create. */
interface SentCreate {
  reservation: Pick<Reservation, 'email'>;
  fields: AnnouncedFields;
}

/** A create that was sent and whose outcome is unknown. */
export interface UnconfirmedCreate extends SentCreate {
  reservation: Reservation;
}

/** Returns the draft with a create that is about to be sent, or whose outcome must still be found out. */
export function withAnnouncedCreate(
  draft: OutcomeDraft,
  { reservation, fields }: UnconfirmedCreate,
): OutcomeDraft {
  return withProgress({ ...draft, creating: reservation.email }, { announced: fields, reservation });
}

/** The tolerated difference between `createdAt` and the `Date` header, which has whole seconds, in milliseconds. */
const TOLERANCE_MS = 2_000;
/**
 * The tolerated difference for a traveler that has no other fields than those that were sent, in milliseconds: the clock that sets
 * `createdAt` may be that of another machine than the one that sends `Date`.
 */
const CLOCK_DIFFERENCE_MS = 60_000;

/**
 * True if this create made the traveler: an earlier search has found no traveler with the address, or the traveler has every value that
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
  // Preferences, and members that the bridge does not know, may have been added by the travel API.
  const { otherFields: _others, travelerPrefs: _preferences, ...known } = traveler;
  const hasNothingElse = hasOnlyAnnouncedFields(known, fields);
  // Without a clock, a leaver loses access: an admin can restore an archived traveler.
  if (reservedAt === undefined) return isInactive(context.identity) && hasNothingElse;
  // A `createdAt` that is not a date is NaN, and both comparisons are false.
  const ageMs = reservedAt - Date.parse(traveler.createdAt);
  return ageMs <= TOLERANCE_MS || (ageMs <= CLOCK_DIFFERENCE_MS && hasNothingElse);
}

/** The removal that a duplicate of the linked traveler allows: an archived one can be restored. */
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
  return withProgress(draft, {
    reservation: reservation && marked(reservation),
    late: late && { ...late, creates },
  });
}
