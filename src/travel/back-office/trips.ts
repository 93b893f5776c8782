import { seconds } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { booked, type Order, openRates } from './book.ts';
import type { Booking } from './coverage.ts';
import { change, type Desk, get, type Kept } from './desk.ts';
import { purchases } from './purchases.ts';
import { shares } from './value.ts';

/** Books rates of a trip; nothing said: all that are not booked yet. */
export interface TripBooking {
  tripProjectId: string;
  /** Nothing said: the first traveler. */
  bookerId?: string;
  orders?: Order[];
}

/** A trip after bookings were made or changed: those it was about, and what it brought to billing. */
export interface TripOutcome {
  trip: Kept<'tripProject'>;
  bookings: Booking[];
  operations: Kept<'billingOperation'>[];
}

/** Every booking that succeeds is one purchase for each of its travelers; one that fails is told, and costs nothing. */
export async function bookTrip(desk: Desk, wanted: TripBooking): Promise<TripOutcome> {
  const { tripProjectId, bookerId } = wanted;
  const found = await get(desk, 'tripProject', tripProjectId);
  const { approvalStatus: status } = found.doc;
  if (status === 'awaitApproval' || status === 'declined') {
    throw new ApiError('conflict', `The trip cannot be booked while its approval status is ${status}.`);
  }
  const orders = wanted.orders ?? openRates(found.doc).map((rateId) => ({ rateId }));
  const making = { at: seconds(desk.now()), newId: desk.newId, tripProjectId };
  const { trip, bookings } = booked(found.doc, orders, making);
  const kept = await change(desk, 'tripProject', found, trip);
  const operations = [];
  for (const [position, booking] of bookings.entries()) {
    await tellBooking(desk, booking);
    const order = orders[position] ?? {};
    operations.push(
      ...(await purchases(desk, kept, { booking, order, bookerId, costs: shares(trip, booking) })),
    );
  }
  return { trip: kept, bookings, operations };
}

/** "tripProject.booking.succeeded" or "tripProject.booking.failed". */
export async function tellBooking(desk: Desk, booking: Booking): Promise<void> {
  await desk.recorder.tell(`tripProject.booking.${booking.status}`, { ...booking } as JsonObject);
}
