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

/** What one traveler has of a booking, and what became of it. A stay or a rental counts as one segment without id. */
export interface TravelerSegment {
  travelerId: string;
  segmentId: string;
  state: 'held' | 'canceled' | 'exchanged';
}

/** Who has what of a booking: one place for each traveler and segment. */
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

/** Who travels on a booking: all of the trip, those who exchanged another for it, or the one who rents the car. */
export function travelersOf(trip: TripProject, booking: Booking): string[] {
  const origin = findExchangedBooking(trip, booking);
  if (origin) {
    return origin.modification.transportSegmentExchanges.flatMap(({ travelerIds }) => travelerIds);
  }
  return booking.kind === 'car' ? trip.travelerIds.slice(0, 1) : trip.travelerIds;
}

/** A booking, and those for which it was exchanged, the newest first. */
export function bookingHistory(trip: TripProject, booking: Booking): Booking[] {
  const origin = findExchangedBooking(trip, booking);
  return origin ? [booking, ...bookingHistory(trip, origin.booking)] : [booking];
}

/** Marks what nobody holds any more: exchanged when somebody exchanged it, else canceled. */
export function markReleased(trip: TripProject, bookingId: string): TripProject {
  const booking = (trip.bookings ?? []).find(({ id }) => id === bookingId);
  if (!booking) return trip;
  const places = travelerSegmentsOf(trip, booking);
  const bookings = (trip.bookings ?? []).map((one) =>
    one === booking ? { ...one, ...releaseFlags(places) } : one,
  );
  const legs = (trip.transportLegs ?? []).map((leg) => ({
    ...leg,
    segments: leg.segments.map((segment) =>
      segment.bookingId === bookingId
        ? { ...segment, ...releaseFlags(places.filter(({ segmentId }) => segmentId === segment.id)) }
        : segment,
    ),
  }));
  return { ...trip, bookings, ...(trip.transportLegs ? { transportLegs: legs } : {}) };
}

/** The id under which a booking without segments counts as one. */
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

function releaseFlags(places: TravelerSegment[]): { canceled: boolean; exchanged: boolean } {
  const nobodyHolds = places.every(({ state }) => state !== 'held');
  const exchanged = nobodyHolds && places.some(({ state }) => state === 'exchanged');
  return { canceled: nobodyHolds && !exchanged, exchanged };
}

/** What each traveler's part of a booking cost. */
export function travelerShares(trip: TripProject, booking: Booking): Map<string, number> {
  const rate = trip.rates.find(({ id }) => id === booking.rateId);
  const travelers = travelersOf(trip, booking);
  const parts = splitCents(rate ? centsOf(rate.price) : 0, travelers.length);
  return new Map(travelers.map((id, position) => [id, parts[position] ?? 0]));
}

/**
 * What it is worth that a traveler gives up some places of a booking. The last gets what the others left, so that all
 * of them together are worth the share.
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

/** Where what a traveler books is billed. */
export type BillingTarget = Pick<
  BillingOperation,
  'billingProfileId' | 'costCenterId' | 'projectCodeId' | 'customFields'
>;

/** The users with these ids, in their order. Nobody who is archived travels. */
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
 * A project has the first word on who pays, then an option of a custom field, then the traveler. The custom fields of
 * the trip and of the traveler go along.
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

/** The travel policy of a traveler: their own, their cost center's, their billing profile's, or the default. */
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
