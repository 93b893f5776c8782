import { isDeepStrictEqual } from 'node:util';
import {
  type AnnouncedFields,
  addSentValues,
  hasAnnouncedValues,
  markLateChanges,
} from '../translator/announced.ts';
import type { AppliedFields } from '../translator/translation.ts';
import type { TravelUser } from '../translator/traveler.ts';
import { addressKey } from './email-conflicts.ts';
import type { LateCalls, Progress, Reservation } from './identity.ts';
import type { OutcomeDraft, ReconcileContext } from './reconcile-context.ts';
import type { TravelFailure } from './travel-ports.ts';

/**
 * Deletes the travelers that late creates have made in addition to the linked one, or archives them where the travel API
 * refuses the deletion. Returns a failure if a call to the travel API failed.
 */
export async function removeLateTravelers(
  context: ReconcileContext,
  draft: OutcomeDraft,
): Promise<TravelFailure | undefined> {
  const creates = draft.progress.late?.creates ?? [];
  const addresses = [...new Set(creates.map(({ reservation }) => reservation.email))];
  if (addresses.length === 0) return undefined;
  const found = await context.connection.travel.findByEmails(addresses);
  if (found.kind !== 'ok') return found;
  for (const traveler of found.value) {
    if (traveler.id === draft.travelId || traveler.archived) continue;
    if (!creates.some((create) => isCertainlyOwnCreate(context, traveler, create))) continue;
    const failure = (await isLinked(context, traveler))
      ? undefined
      : await deleteOrArchive(context, traveler);
    if (failure) return failure;
  }
  return undefined;
}

/**
 * Stricter than the check before a link: the traveler must have every value that was sent, because an admin of the travel
 * service may have made another one under the same address since.
 */
function isCertainlyOwnCreate(
  context: ReconcileContext,
  traveler: TravelUser,
  create: UnconfirmedCreate,
): boolean {
  return (
    isOwnCreate(context, traveler, create) &&
    hasAnnouncedValues(traveler, create.fields, context.rulesSnapshot.rules)
  );
}

async function isLinked(
  { connection, identities }: ReconcileContext,
  { id, email }: TravelUser,
): Promise<boolean> {
  const { account } = connection;
  const holders = [
    await identities.findHolder(account, { travelId: id }),
    await identities.findHolder(account, { creating: email }),
  ];
  return holders.some((holder) => holder !== undefined);
}

async function deleteOrArchive(
  { connection: { travel } }: ReconcileContext,
  { id }: TravelUser,
): Promise<TravelFailure | undefined> {
  const removed = await travel.remove(id);
  if (removed.kind === 'ok' || removed.kind === 'notFound') return undefined;
  if (removed.kind === 'unavailable' || removed.kind === 'unauthorized') return removed;
  const archived = await travel.patch(id, { archived: true });
  return archived.kind === 'unavailable' || archived.kind === 'unauthorized' ? archived : undefined;
}

/** The tolerated difference between `createdAt` and the `Date` header, which has whole seconds, in milliseconds. */
const TOLERANCE_MS = 2_000;

/** A create that was sent and whose outcome is unknown. */
export interface UnconfirmedCreate {
  reservation: Reservation;
  fields: AnnouncedFields;
}

/**
 * True if this create made the traveler: the address was free when it was looked up before the create was sent, or the
 * traveler has every value that was sent and is not older than the reservation. In doubt it existed before.
 */
export function isOwnCreate(
  context: ReconcileContext,
  traveler: TravelUser,
  { reservation, fields }: UnconfirmedCreate,
): boolean {
  const { email, wasFree, reservedAt } = reservation;
  if (addressKey(traveler.email) !== addressKey(email)) return false;
  if (wasFree) return true;
  const createdAt = Date.parse(traveler.createdAt);
  // A `createdAt` that is not a date is NaN, and the comparison is false.
  const isNew = reservedAt !== undefined && createdAt >= reservedAt - TOLERANCE_MS;
  return isNew && hasAnnouncedValues(traveler, fields, context.rulesSnapshot.rules);
}

/**
 * Marks the applied fields that a late call may have changed after the last answer, so that the plan compares them again.
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
  /** Set for a create. */
  reservation?: Reservation;
}

/** Adds a call that the travel API may still carry out, and postpones the last check by `lateMs`. */
export function addLateCall(
  { now, connection }: ReconcileContext,
  before: LateCalls | undefined,
  { announced, applied = {}, reservation }: LateCall,
): LateCalls {
  const creates = before?.creates ?? [];
  return {
    checkAt: now() + connection.lateMs,
    sent: addSentValues(before?.sent ?? {}, announced, applied),
    creates: reservation ? withCreate(creates, { reservation, fields: announced }) : creates,
  };
}

/**
 * A repeated create stays one entry, with the first reservation: the travel API may have carried out any of the
 * repetitions.
 */
function withCreate(creates: UnconfirmedCreate[], create: UnconfirmedCreate): UnconfirmedCreate[] {
  const before = creates.find((one) => isSameCreate(one, create));
  if (!before) return [...creates, create];
  const wasFree = before.reservation.wasFree || create.reservation.wasFree;
  const merged = { ...before, reservation: { ...before.reservation, wasFree } };
  return creates.map((one) => (one === before ? merged : one));
}

/** True if two creates would make the same traveler. */
export function isSameCreate(one: UnconfirmedCreate, other: UnconfirmedCreate): boolean {
  return one.reservation.email === other.reservation.email && isDeepStrictEqual(one.fields, other.fields);
}

/** True if the last check for calls that were carried out late is due. */
export function isLateCheckDue({ now }: ReconcileContext, { progress: { late } }: OutcomeDraft): boolean {
  return late !== undefined && late.checkAt <= now();
}

/** The draft after the last check for late calls. */
export function withoutLateCalls(draft: OutcomeDraft): OutcomeDraft {
  const { late: _, ...progress } = draft.progress;
  return { ...draft, progress };
}

/** Postpones a check for late calls that is due but could not be made because the identity is held. */
export function withNextLateCheck(progress: Progress, now: number): Progress {
  const { late } = progress;
  if (!late || late.checkAt > now) return progress;
  return { ...progress, late: { ...late, checkAt: now + LATE_CHECK_MS } };
}

/** The interval between two checks for late calls while the identity is held for an admin. */
const LATE_CHECK_MS = 60_000;
