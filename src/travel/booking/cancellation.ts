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

/** A request to cancel a booking or a part of it. */
export interface CancellationRequest extends ReleaseRequest {
  /** The part that the supplier refunds, in percent; 100 by default. */
  refundPercentage?: number;
}

/** Cancels a booking or a part of it and refunds what the supplier refunds. */
export async function cancelBooking(deps: BookingDeps, wanted: CancellationRequest): Promise<TripOutcome> {
  const { tripProjectId, bookingId, refundPercentage = 100 } = wanted;
  if (!(refundPercentage >= 0 && refundPercentage <= 100)) {
    throw new ApiError('conflict', `${refundPercentage} is no percentage.`);
  }
  const found = await requireDocument(deps, 'tripProject', tripProjectId);
  const booking = requireBooking(found.doc, bookingId);
  const released = requireReleasable(found.doc, booking, wanted);
  const cancellation = toCancellation(booking, released, {
    at: formatTimestamp(deps.now()),
    newId: deps.newId,
  });
  const cancellations = [...(booking.cancellations ?? []), cancellation];
  const changed = markReleased(replaceBooking(found.doc, { ...booking, cancellations }), bookingId);
  const trip = await updateDocument(deps, 'tripProject', found, changed);
  deps.recorder.appendEvent('bookingCancellation.created', cancellation);
  const refundCents = [...refundValues(found.doc, booking, released)].map(
    ([travelerId, cents]) => [travelerId, Math.floor((cents * refundPercentage) / 100)] as const,
  );
  const operations = await refundTravelers(deps, trip, { booking, refundCents: new Map(refundCents) });
  return { trip, bookings: [requireBooking(trip.doc, bookingId)], operations };
}

function toCancellation(
  { id, tripProjectId }: Booking,
  released: TravelerSegment[],
  { at, newId }: CreationContext,
) {
  const { travelerIds, segmentIds } = idsOf(released);
  const segments = segmentIds.filter((segmentId) => segmentId !== WHOLE_BOOKING);
  return {
    ...{ id: newId('A'), type: 'bookingCancellation' as const, createdAt: at, bookingId: id },
    ...(segments.length === 0 ? {} : { transportSegmentIds: segments }),
    ...{ travelerIds, tripProjectId },
  };
}

/** The travelers and segments to release from a booking; by default all that are still held. */
export interface ReleaseRequest {
  tripProjectId: string;
  bookingId: string;
  travelerIds?: string[];
  transportSegmentIds?: string[];
}

/** Returns the successful booking of a trip by id. Throws `conflict` if there is none. */
export function requireBooking(trip: TripProject, id: string): Booking {
  const booking = (trip.bookings ?? []).find((one) => one.id === id);
  if (!booking) throw new ApiError('conflict', `The trip has no booking ${id}.`);
  if (booking.status !== 'succeeded')
    throw new ApiError('conflict', `The booking ${id} is ${booking.status}.`);
  return booking;
}

/**
 * Returns the segments that the request selects and travelers still hold. Throws `conflict` if there are none, or if
 * the request names a traveler or segment that has none.
 */
export function requireReleasable(
  trip: TripProject,
  booking: Booking,
  request: ReleaseRequest,
): TravelerSegment[] {
  const { travelerIds, transportSegmentIds } = request;
  const held = travelerSegmentsOf(trip, booking).filter(
    ({ travelerId, segmentId, state }) =>
      state === 'held' && isSelected(travelerIds, travelerId) && isSelected(transportSegmentIds, segmentId),
  );
  const unheld = [
    ...(travelerIds ?? []).filter((id) => !held.some(({ travelerId }) => travelerId === id)),
    ...(transportSegmentIds ?? []).filter((id) => !held.some(({ segmentId }) => segmentId === id)),
  ];
  if (held.length === 0 || unheld.length > 0) {
    throw new ApiError(
      'conflict',
      `No traveler holds this part of the booking ${booking.id}: ${unheld.join(', ')}.`,
    );
  }
  return held;
}

/** Returns the traveler ids and segment ids without duplicates. */
export function idsOf(released: TravelerSegment[]): { travelerIds: string[]; segmentIds: string[] } {
  return {
    travelerIds: [...new Set(released.map(({ travelerId }) => travelerId))],
    segmentIds: [...new Set(released.map(({ segmentId }) => segmentId))],
  };
}

/** Returns the trip with one booking replaced. */
export function replaceBooking(trip: TripProject, changed: Booking): TripProject {
  return { ...trip, bookings: (trip.bookings ?? []).map((one) => (one.id === changed.id ? changed : one)) };
}

function isSelected(ids: string[] | undefined, id: string): boolean {
  return ids === undefined || ids.includes(id);
}
