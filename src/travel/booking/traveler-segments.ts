import { ApiError, notFound } from '../errors.ts';
import { type JsonObject, stringMember } from '../json.ts';
import { readResource, type StoredResource } from '../ports.ts';
import type { BillingOperation } from '../resources/billing.ts';
import { customFieldsOf, optionIds } from '../resources/custom-field-values.ts';
import { DEFAULT_POLICY_INDEX } from '../resources/travel-policy.ts';
import type { TripProject } from '../resources/trip-project.ts';
import type { BookingDeps } from './context.ts';
import { centsOf, splitCents } from './prices.ts';

/** A booking of a trip project. */
export type Booking = NonNullable<TripProject['bookings']>[number];

/** One segment of a booking for one traveler, with its state. A hotel stay or a rental counts as one segment without id. */
export interface TravelerSegment {
  travelerId: string;
  segmentId: string;
  state: 'held' | 'canceled' | 'exchanged';
}

/** Returns all pairs of a traveler and a segment of a booking. */
export function travelerSegmentsOf(trip: TripProject, booking: Booking): TravelerSegment[] {
  const segments = segmentIds(trip, booking);
  const canceled = (booking.cancellations ?? []).map((one) => ({
    travelerIds: one.travelerIds,
    segmentIds: one.transportSegmentIds ?? segments,
  }));
  const exchanged = (booking.modifications ?? []).flatMap(({ transportSegmentExchanges }) =>
    transportSegmentExchanges.map((one) => ({
      travelerIds: one.travelerIds,
      segmentIds: one.originalTransportSegmentIds,
    })),
  );
  const isAmong = (all: typeof canceled, travelerId: string, segmentId: string) =>
    all.some((one) => one.travelerIds.includes(travelerId) && one.segmentIds.includes(segmentId));
  return travelersOf(trip, booking).flatMap((travelerId) =>
    segments.map((segmentId): TravelerSegment => {
      if (isAmong(exchanged, travelerId, segmentId)) return { travelerId, segmentId, state: 'exchanged' };
      const state = isAmong(canceled, travelerId, segmentId) ? 'canceled' : 'held';
      return { travelerId, segmentId, state };
    }),
  );
}

/**
 * Returns the travelers of a booking: those who exchanged another booking for it, the renter of a car, or else all
 * travelers of the trip.
 */
export function travelersOf(trip: TripProject, booking: Booking): string[] {
  const origin = findExchangedBooking(trip, booking);
  if (origin) {
    return origin.modification.transportSegmentExchanges.flatMap(({ travelerIds }) => travelerIds);
  }
  return booking.kind === 'car' ? trip.travelerIds.slice(0, 1) : trip.travelerIds;
}

/** Returns a booking and the bookings that it replaced, newest first. */
export function bookingHistory(trip: TripProject, booking: Booking): Booking[] {
  const origin = findExchangedBooking(trip, booking);
  return origin ? [booking, ...bookingHistory(trip, origin.booking)] : [booking];
}

/**
 * Marks a booking and its segments once all travelers have released them: `exchanged` if at least one traveler
 * exchanged them, otherwise `canceled`.
 */
export function markReleased(trip: TripProject, bookingId: string): TripProject {
  const booking = (trip.bookings ?? []).find(({ id }) => id === bookingId);
  if (!booking) return trip;
  const travelerSegments = travelerSegmentsOf(trip, booking);
  const bookings = (trip.bookings ?? []).map((one) =>
    one === booking ? { ...one, ...releaseFlags(travelerSegments) } : one,
  );
  const legs = (trip.transportLegs ?? []).map((leg) => ({
    ...leg,
    segments: leg.segments.map((segment) =>
      segment.bookingId === bookingId
        ? {
            ...segment,
            ...releaseFlags(travelerSegments.filter(({ segmentId }) => segmentId === segment.id)),
          }
        : segment,
    ),
  }));
  return { ...trip, bookings, ...(trip.transportLegs ? { transportLegs: legs } : {}) };
}

/** The segment id that stands for a booking without segments. */
export const WHOLE_BOOKING = '';

function segmentIds(trip: TripProject, booking: Booking): string[] {
  const segments = (trip.transportLegs ?? []).flatMap((leg) => leg.segments);
  const own = segments.filter(({ bookingId }) => bookingId === booking.id).map(({ id }) => id);
  return own.length > 0 ? own : [WHOLE_BOOKING];
}

function findExchangedBooking(trip: TripProject, booking: Booking) {
  for (const other of trip.bookings ?? []) {
    const modification = other.modifications?.find(
      ({ selectedBookingId }) => selectedBookingId === booking.id,
    );
    if (modification) return { booking: other, modification };
  }
  return undefined;
}

function releaseFlags(travelerSegments: TravelerSegment[]): { canceled: boolean; exchanged: boolean } {
  const isReleased = travelerSegments.every(({ state }) => state !== 'held');
  const exchanged = isReleased && travelerSegments.some(({ state }) => state === 'exchanged');
  return { canceled: isReleased && !exchanged, exchanged };
}

/** Returns the cost of a booking for each traveler, in cents. */
export function travelerShares(trip: TripProject, booking: Booking): Map<string, number> {
  const rate = trip.rates.find(({ id }) => id === booking.rateId);
  const travelers = travelersOf(trip, booking);
  const parts = splitCents(rate ? centsOf(rate.price) : 0, travelers.length);
  return new Map(travelers.map((id, position) => [id, parts[position] ?? 0]));
}

/**
 * Returns the value of the segments that travelers release, in cents by traveler. The last segment to be released gets
 * the remainder, so that all values add up to the traveler's share.
 */
export function refundValues(
  trip: TripProject,
  booking: Booking,
  given: TravelerSegment[],
): Map<string, number> {
  const all = travelerSegmentsOf(trip, booking);
  const worths = [...travelerShares(trip, booking)].flatMap(([travelerId, share]): [string, number][] => {
    const own = all.filter((place) => place.travelerId === travelerId);
    const gone = own.filter(({ state }) => state !== 'held').length;
    const now = given.filter((place) => place.travelerId === travelerId).length;
    const upTo = (count: number) => Math.floor((share * count) / own.length);
    return now === 0 ? [] : [[travelerId, upTo(gone + now) - upTo(gone)]];
  });
  return new Map(worths);
}

/** The fields of a billing operation that determine who pays. */
export type BillingTarget = Pick<
  BillingOperation,
  'billingProfileId' | 'costCenterId' | 'projectCodeId' | 'customFields'
>;

/** Reads the users with these ids, in the same order. Throws `conflict` for an archived user, who cannot travel. */
export async function requireTravelers({ recorder }: BookingDeps, ids: string[]): Promise<StoredResource[]> {
  const found = await recorder.transaction.read(ids.map((id) => ({ type: 'user', id })));
  const byId = new Map(found.map((user) => [user.id, user]));
  return ids.map((id) => {
    const user = byId.get(id);
    if (!user) throw notFound('user');
    if (user.doc['archived'] === true) throw new ApiError('conflict', `The user ${id} is archived.`);
    return user;
  });
}

/**
 * Determines who pays: the billing profile of the project, else that of a custom field option, else that of the
 * traveler. The result also contains the custom fields of trip and traveler.
 */
export async function findBillingTarget(
  deps: BookingDeps,
  { doc }: StoredResource,
  trip: Pick<TripProject, 'projectCodeId' | 'customFields'>,
): Promise<BillingTarget> {
  const { projectCodeId } = trip;
  const customFields = [...(trip.customFields ?? []), ...customFieldsOf(doc)];
  const project = await readDocument(deps, 'projectCode', projectCodeId);
  const billingProfileId =
    stringMember(project, 'billingProfileId') ??
    (await findProfileOfOptions(deps, customFields.flatMap(optionIds))) ??
    stringMember(doc, 'billingProfileId');
  return { billingProfileId, costCenterId: stringMember(doc, 'costCenterId'), projectCodeId, customFields };
}

/** Finds the travel policy of a traveler: their own, that of their cost center, that of their billing profile, or the default. */
export async function findTravelPolicy(
  deps: BookingDeps,
  { doc }: StoredResource,
): Promise<JsonObject | undefined> {
  const own = stringMember(doc, 'travelPolicyId');
  const center = own ? {} : await readDocument(deps, 'costCenter', stringMember(doc, 'costCenterId'));
  const centers = own ?? stringMember(center, 'travelPolicyId');
  const profile = centers
    ? {}
    : await readDocument(deps, 'billingProfile', stringMember(doc, 'billingProfileId'));
  const policyId = centers ?? stringMember(profile, 'travelPolicyId');
  if (policyId !== undefined) return readDocument(deps, 'travelPolicy', policyId);
  const { name, value } = DEFAULT_POLICY_INDEX;
  const [byDefault] = await deps.recorder.transaction.find({
    type: 'travelPolicy',
    name,
    values: [value],
    limit: 1,
  });
  return byDefault?.doc;
}

async function readDocument(
  { recorder }: BookingDeps,
  type: string,
  id: string | undefined,
): Promise<JsonObject> {
  return (id === undefined ? undefined : await readResource(recorder.transaction, type, id))?.doc ?? {};
}

async function findProfileOfOptions({ recorder }: BookingDeps, ids: string[]): Promise<string | undefined> {
  const options = await recorder.transaction.read(ids.map((id) => ({ type: 'customFieldOption', id })));
  return options.map(({ doc }) => stringMember(doc, 'billingProfileId')).find((id) => id !== undefined);
}
