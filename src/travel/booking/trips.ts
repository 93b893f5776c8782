import { formatTimestamp } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { type BookingDeps, requireDocument, type StoredDocument, updateDocument } from './context.ts';
import { type Booking, travelerShares } from './coverage.ts';
import { addBookings, createPurchases, type Order, unbookedRates } from './orders.ts';

/** Books rates of a trip; nothing said: all that are not booked yet. */
export interface TripBooking {
  tripProjectId: string;
  /** Nothing said: the first traveler. */
  bookerId?: string;
  orders?: Order[];
}

/** A trip after bookings were made or changed: those it was about, and what it brought to billing. */
export interface TripOutcome {
  trip: StoredDocument<'tripProject'>;
  bookings: Booking[];
  operations: StoredDocument<'billingOperation'>[];
}

/** Every booking that succeeds is one purchase for each of its travelers; one that fails is told, and costs nothing. */
export async function bookTrip(deps: BookingDeps, wanted: TripBooking): Promise<TripOutcome> {
  const { tripProjectId, bookerId } = wanted;
  const found = await requireDocument(deps, 'tripProject', tripProjectId);
  const { approvalStatus: status } = found.doc;
  if (status === 'awaitApproval' || status === 'declined') {
    throw new ApiError('conflict', `The trip cannot be booked while its approval status is ${status}.`);
  }
  const orders = wanted.orders ?? unbookedRates(found.doc).map((rateId) => ({ rateId }));
  const making = { at: formatTimestamp(deps.now()), newId: deps.newId, tripProjectId };
  const { trip, bookings } = addBookings(found.doc, orders, making);
  const kept = await updateDocument(deps, 'tripProject', found, trip);
  const operations = [];
  for (const [position, booking] of bookings.entries()) {
    await emitBookingEvent(deps, booking);
    const order = orders[position] ?? {};
    operations.push(
      ...(await createPurchases(deps, kept, {
        booking,
        order,
        bookerId,
        costs: travelerShares(trip, booking),
      })),
    );
  }
  return { trip: kept, bookings, operations };
}

/** "tripProject.booking.succeeded" or "tripProject.booking.failed". */
export async function emitBookingEvent(deps: BookingDeps, booking: Booking): Promise<void> {
  await deps.recorder.appendEvent(`tripProject.booking.${booking.status}`, { ...booking } as JsonObject);
}
