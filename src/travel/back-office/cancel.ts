import { seconds } from '../collection.ts';
import { ApiError } from '../errors.ts';
import { type Booking, marked, type Place, WHOLE } from './coverage.ts';
import { change, type Desk, get } from './desk.ts';
import { bookingOf, type Giving, named, placesGiven, withBooking } from './giving.ts';
import type { Making } from './offer.ts';
import { reimburse } from './purchases.ts';
import type { TripOutcome } from './trips.ts';
import { worth } from './value.ts';

/** A booking is given up, wholly or in part. */
export interface Cancellation extends Giving {
  /** What the supplier gives back, of a hundred; nothing said: all. */
  refundPercentage?: number;
}

/** What is canceled is given back as far as the supplier gives it back. */
export async function cancelBooking(desk: Desk, wanted: Cancellation): Promise<TripOutcome> {
  const { tripProjectId, bookingId, refundPercentage = 100 } = wanted;
  if (!(refundPercentage >= 0 && refundPercentage <= 100)) {
    throw new ApiError('conflict', `${refundPercentage} is no percentage.`);
  }
  const found = await get(desk, 'tripProject', tripProjectId);
  const booking = bookingOf(found.doc, bookingId);
  const places = placesGiven(found.doc, booking, wanted);
  const cancellation = canceled(booking, places, { at: seconds(desk.now()), newId: desk.newId });
  const cancellations = [...(booking.cancellations ?? []), cancellation];
  const changed = marked(withBooking(found.doc, { ...booking, cancellations }), bookingId);
  const trip = await change(desk, 'tripProject', found, changed);
  await desk.recorder.tell('bookingCancellation.created', cancellation);
  const worths = [...worth(found.doc, booking, places)].map(
    ([travelerId, cents]) => [travelerId, Math.floor((cents * refundPercentage) / 100)] as const,
  );
  const operations = await reimburse(desk, trip, { booking, worths: new Map(worths) });
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
