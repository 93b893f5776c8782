import { ApiError } from '../errors.ts';
import type { TripProject } from '../resources/trip-project.ts';
import { type Booking, type Place, placesOf } from './coverage.ts';

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
