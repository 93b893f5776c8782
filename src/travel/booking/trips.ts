import { seconds } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { type BookingDeps, change, get, type Kept } from './context.ts';
import { type Booking, shares } from './coverage.ts';
import { booked, type Order, openRates, purchases } from './orders.ts';

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
export async function bookTrip(deps: BookingDeps, wanted: TripBooking): Promise<TripOutcome> {
  const { tripProjectId, bookerId } = wanted;
  const found = await get(deps, 'tripProject', tripProjectId);
  const { approvalStatus: status } = found.doc;
  if (status === 'awaitApproval' || status === 'declined') {
    throw new ApiError('conflict', `The trip cannot be booked while its approval status is ${status}.`);
  }
  const orders = wanted.orders ?? openRates(found.doc).map((rateId) => ({ rateId }));
  const making = { at: seconds(deps.now()), newId: deps.newId, tripProjectId };
  const { trip, bookings } = booked(found.doc, orders, making);
  const kept = await change(deps, 'tripProject', found, trip);
  const operations = [];
  for (const [position, booking] of bookings.entries()) {
    await tellBooking(deps, booking);
    const order = orders[position] ?? {};
    operations.push(
      ...(await purchases(deps, kept, { booking, order, bookerId, costs: shares(trip, booking) })),
    );
  }
  return { trip: kept, bookings, operations };
}

/** "tripProject.booking.succeeded" or "tripProject.booking.failed". */
export async function tellBooking(deps: BookingDeps, booking: Booking): Promise<void> {
  await deps.recorder.tell(`tripProject.booking.${booking.status}`, { ...booking } as JsonObject);
}
