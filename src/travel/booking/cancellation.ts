import { seconds } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { TripProject } from '../resources/trip-project.ts';
import { type BookingDeps, change, get } from './context.ts';
import { type Booking, marked, type Place, placesOf, WHOLE, worth } from './coverage.ts';
import { reimburse } from './orders.ts';
import type { Making } from './prices.ts';
import type { TripOutcome } from './trips.ts';

/** A booking is given up, wholly or in part. */
export interface Cancellation extends Giving {
  /** What the supplier gives back, of a hundred; nothing said: all. */
  refundPercentage?: number;
}

/** What is canceled is given back as far as the supplier gives it back. */
export async function cancelBooking(deps: BookingDeps, wanted: Cancellation): Promise<TripOutcome> {
  const { tripProjectId, bookingId, refundPercentage = 100 } = wanted;
  if (!(refundPercentage >= 0 && refundPercentage <= 100)) {
    throw new ApiError('conflict', `${refundPercentage} is no percentage.`);
  }
  const found = await get(deps, 'tripProject', tripProjectId);
  const booking = bookingOf(found.doc, bookingId);
  const places = placesGiven(found.doc, booking, wanted);
  const cancellation = canceled(booking, places, { at: seconds(deps.now()), newId: deps.newId });
  const cancellations = [...(booking.cancellations ?? []), cancellation];
  const changed = marked(withBooking(found.doc, { ...booking, cancellations }), bookingId);
  const trip = await change(deps, 'tripProject', found, changed);
  await deps.recorder.tell('bookingCancellation.created', cancellation);
  const worths = [...worth(found.doc, booking, places)].map(
    ([travelerId, cents]) => [travelerId, Math.floor((cents * refundPercentage) / 100)] as const,
  );
  const operations = await reimburse(deps, trip, { booking, worths: new Map(worths) });
  return { trip, bookings: [bookingOf(trip.doc, bookingId)], operations };
}

function canceled({ id, tripProjectId }: Booking, places: Place[], { at, newId }: Making) {
  const { travelerIds, segmentIds } = named(places);
  const segments = segmentIds.filter((segmentId) => segmentId !== WHOLE);
  return {
    ...{ id: newId('A'), type: 'bookingCancellation' as const, createdAt: at, bookingId: id },
    ...(segments.length === 0 ? {} : { transportSegmentIds: segments }),
    ...{ travelerIds, tripProjectId },
  };
}

/** What travelers give up of a booking; nothing said: everybody who holds something, and all of it. */
export interface Giving {
  tripProjectId: string;
  bookingId: string;
  travelerIds?: string[];
  transportSegmentIds?: string[];
}

/** The booking of a trip with this id, if it succeeded. */
export function bookingOf(trip: TripProject, id: string): Booking {
  const booking = (trip.bookings ?? []).find((one) => one.id === id);
  if (!booking) throw new ApiError('conflict', `The trip has no booking ${id}.`);
  if (booking.status !== 'succeeded')
    throw new ApiError('conflict', `The booking ${id} is ${booking.status}.`);
  return booking;
}

/** The places that are given up. Whoever and whatever is named must have, or be, one that is held. */
export function placesGiven(trip: TripProject, booking: Booking, giving: Giving): Place[] {
  const { travelerIds, transportSegmentIds } = giving;
  const held = placesOf(trip, booking).filter(
    ({ travelerId, segmentId, state }) =>
      state === 'held' && isMeant(travelerIds, travelerId) && isMeant(transportSegmentIds, segmentId),
  );
  const idle = [
    ...(travelerIds ?? []).filter((id) => !held.some(({ travelerId }) => travelerId === id)),
    ...(transportSegmentIds ?? []).filter((id) => !held.some(({ segmentId }) => segmentId === id)),
  ];
  if (held.length === 0 || idle.length > 0) {
    throw new ApiError('conflict', `Nobody holds this of the booking ${booking.id}: ${idle.join(', ')}.`);
  }
  return held;
}

/** Who gives up what, as the records of a change name them. */
export function named(places: Place[]): { travelerIds: string[]; segmentIds: string[] } {
  return {
    travelerIds: [...new Set(places.map(({ travelerId }) => travelerId))],
    segmentIds: [...new Set(places.map(({ segmentId }) => segmentId))],
  };
}

/** A trip in which a booking is as it is now. */
export function withBooking(trip: TripProject, changed: Booking): TripProject {
  return { ...trip, bookings: (trip.bookings ?? []).map((one) => (one.id === changed.id ? changed : one)) };
}

function isMeant(ids: string[] | undefined, id: string): boolean {
  return ids === undefined || ids.includes(id);
}
