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
import type { LateCalls, Reservation } from './identity.ts';
import type { OutcomeDraft, ReconcileContext } from './reconcile-context.ts';
import type { TravelFailure } from './travel-ports.ts';

/**
 * Takes travelers out of use that late creates have made beside the linked one: they are deleted, or archived where that is
 * refused. A failure when the travel API could not be used.
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
    if (!creates.some((create) => isSurelyOwn(context, traveler, create))) continue;
    const failure = (await isLinked(context, traveler)) ? undefined : await remove(context, traveler);
    if (failure) return failure;
  }
  return undefined;
}

/** Stricter than for a link, as somebody may have made the traveler by hand since: it must have every value that was sent. */
function isSurelyOwn(context: ReconcileContext, traveler: TravelUser, create: UnconfirmedCreate): boolean {
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

async function remove(
  { connection: { travel } }: ReconcileContext,
  { id }: TravelUser,
): Promise<TravelFailure | undefined> {
  const removed = await travel.remove(id);
  if (removed.kind === 'ok' || removed.kind === 'notFound') return undefined;
  if (removed.kind === 'unavailable' || removed.kind === 'unauthorized') return removed;
  const archived = await travel.patch(id, { archived: true });
  return archived.kind === 'unavailable' || archived.kind === 'unauthorized' ? archived : undefined;
}

/** How far the travel API's clock and its `createdAt` may differ, in milliseconds; its `Date` header has whole seconds. */
const TOLERANCE_MS = 2_000;

/** A create that was sent and whose outcome is not known. */
export interface UnconfirmedCreate {
  reservation: Reservation;
  fields: AnnouncedFields;
}

/**
 * True when a traveler was made by our own create: the address was free when it was looked for before sending, or the
 * traveler has every value that was sent and is not older than the reservation. In doubt it is somebody else's.
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
  // NaN is not before nor after anything.
  const isNew = reservedAt !== undefined && createdAt >= reservedAt - TOLERANCE_MS;
  return isNew && hasAnnouncedValues(traveler, fields, context.rulesSnapshot.rules);
}

/** The draft in which fields are doubted that an earlier call may have changed after the last answer. */
export function withLateCallsDoubted(context: ReconcileContext, draft: OutcomeDraft): OutcomeDraft {
  const { observed, progress } = draft;
  if (!observed || !progress.late) return draft;
  const applied = markLateChanges(draft.applied, progress.late.sent, {
    observed,
    rules: context.rulesSnapshot.rules,
  });
  return { ...draft, applied };
}

/** A call without a known outcome. */
interface LateCall {
  announced: AnnouncedFields;
  /** What was applied before it. */
  applied?: AppliedFields;
  /** Of a create. */
  reservation?: Reservation;
}

/** The late calls with one more, which may be carried out from now on until the travel API has surely forgotten it. */
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

/** A create that was repeated is one: it may have been carried out since it was first announced. */
function withCreate(creates: UnconfirmedCreate[], create: UnconfirmedCreate): UnconfirmedCreate[] {
  const before = creates.find((one) => isSameCreate(one, create));
  if (!before) return [...creates, create];
  const wasFree = before.reservation.wasFree || create.reservation.wasFree;
  const once = { ...before, reservation: { ...before.reservation, wasFree } };
  return creates.map((one) => (one === before ? once : one));
}

/** True when two creates would make the same traveler. */
export function isSameCreate(one: UnconfirmedCreate, other: UnconfirmedCreate): boolean {
  return one.reservation.email === other.reservation.email && isDeepStrictEqual(one.fields, other.fields);
}

/** True when the time has come to look once more for calls that were carried out late. */
export function isLateCheckDue({ now }: ReconcileContext, { progress: { late } }: OutcomeDraft): boolean {
  return late !== undefined && late.checkAt <= now();
}

/** The draft once the last look for late calls is over. */
export function withoutLateCalls(draft: OutcomeDraft): OutcomeDraft {
  const { late: _, ...progress } = draft.progress;
  return { ...draft, progress };
}
