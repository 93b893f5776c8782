import { formatTimestamp } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { TripProject } from '../resources/trip-project.ts';
import { refundTravelers, type TripOutcome } from './book-trip.ts';
import { type BookingDeps, requireDocument, updateDocument } from './context.ts';
import type { CreationContext } from './prices.ts';
import {
  type Booking,
  markReleased,
  refundValues,
  type TravelerSegment,
  travelerSegmentsOf,
  WHOLE_BOOKING,
} from './traveler-segments.ts';

/** A booking is given up, wholly or in part. */
export interface CancellationRequest extends ReleaseRequest {
  /** What the supplier gives back, of a hundred; nothing said: all. */
  refundPercentage?: number;
}

/** What is canceled is given back as far as the supplier gives it back. */
export async function cancelBooking(deps: BookingDeps, wanted: CancellationRequest): Promise<TripOutcome> {
  const { tripProjectId, bookingId, refundPercentage = 100 } = wanted;
  if (!(refundPercentage >= 0 && refundPercentage <= 100)) {
    throw new ApiError('conflict', `${refundPercentage} is no percentage.`);
  }
  const found = await requireDocument(deps, 'tripProject', tripProjectId);
  const booking = requireBooking(found.doc, bookingId);
  const places = requireReleasable(found.doc, booking, wanted);
  const cancellation = toCancellation(booking, places, {
    at: formatTimestamp(deps.now()),
    newId: deps.newId,
  });
  const cancellations = [...(booking.cancellations ?? []), cancellation];
  const changed = markReleased(replaceBooking(found.doc, { ...booking, cancellations }), bookingId);
  const trip = await updateDocument(deps, 'tripProject', found, changed);
  await deps.recorder.appendEvent('bookingCancellation.created', cancellation);
  const worths = [...refundValues(found.doc, booking, places)].map(
    ([travelerId, cents]) => [travelerId, Math.floor((cents * refundPercentage) / 100)] as const,
  );
  const operations = await refundTravelers(deps, trip, { booking, worths: new Map(worths) });
  return { trip, bookings: [requireBooking(trip.doc, bookingId)], operations };
}

function toCancellation(
  { id, tripProjectId }: Booking,
  places: TravelerSegment[],
  { at, newId }: CreationContext,
) {
  const { travelerIds, segmentIds } = idsOf(places);
  const segments = segmentIds.filter((segmentId) => segmentId !== WHOLE_BOOKING);
  return {
    ...{ id: newId('A'), type: 'bookingCancellation' as const, createdAt: at, bookingId: id },
    ...(segments.length === 0 ? {} : { transportSegmentIds: segments }),
    ...{ travelerIds, tripProjectId },
  };
}

/** What travelers give up of a booking; nothing said: everybody who holds something, and all of it. */
export interface ReleaseRequest {
  tripProjectId: string;
  bookingId: string;
  travelerIds?: string[];
  transportSegmentIds?: string[];
}

/** The booking of a trip with this id, if it succeeded. */
export function requireBooking(trip: TripProject, id: string): Booking {
  const booking = (trip.bookings ?? []).find((one) => one.id === id);
  if (!booking) throw new ApiError('conflict', `The trip has no booking ${id}.`);
  if (booking.status !== 'succeeded')
    throw new ApiError('conflict', `The booking ${id} is ${booking.status}.`);
  return booking;
}

/** The places that are given up. Whoever and whatever is named must have, or be, one that is held. */
export function requireReleasable(
  trip: TripProject,
  booking: Booking,
  giving: ReleaseRequest,
): TravelerSegment[] {
  const { travelerIds, transportSegmentIds } = giving;
  const held = travelerSegmentsOf(trip, booking).filter(
    ({ travelerId, segmentId, state }) =>
      state === 'held' && isSelected(travelerIds, travelerId) && isSelected(transportSegmentIds, segmentId),
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
export function idsOf(places: TravelerSegment[]): { travelerIds: string[]; segmentIds: string[] } {
  return {
    travelerIds: [...new Set(places.map(({ travelerId }) => travelerId))],
    segmentIds: [...new Set(places.map(({ segmentId }) => segmentId))],
  };
}

/** A trip in which a booking is as it is now. */
export function replaceBooking(trip: TripProject, changed: Booking): TripProject {
  return { ...trip, bookings: (trip.bookings ?? []).map((one) => (one.id === changed.id ? changed : one)) };
}

function isSelected(ids: string[] | undefined, id: string): boolean {
  return ids === undefined || ids.includes(id);
}
