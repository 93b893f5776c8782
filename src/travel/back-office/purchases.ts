import { notFound } from '../errors.ts';
import { type Order, rateOf } from './book.ts';
import { type Booking, lineOf, travelersOf } from './coverage.ts';
import { add, type Desk, type Kept, operationsOf } from './desk.ts';
import { amountOf } from './money.ts';
import { giveBack, leftOf } from './refunds.ts';
import { snapshotOf, wordsFor } from './snapshot.ts';
import { billTo, travelersBy } from './travelers.ts';

/** What was bought, and what it costs whom. */
export interface Bought {
  booking: Booking;
  order: Omit<Order, 'rateId'>;
  bookerId: string | undefined;
  /** Cents of each traveler. */
  costs: Map<string, number>;
}

/** One purchase for each traveler whom a booking costs something, or nothing. */
export async function purchases(
  desk: Desk,
  { id, doc: trip }: Kept<'tripProject'>,
  { booking, order, bookerId, costs }: Bought,
): Promise<Kept<'billingOperation'>[]> {
  if (booking.status !== 'succeeded') return [];
  const ids = travelersOf(trip, booking).filter((travelerId) => costs.has(travelerId));
  const [booker, ...travelers] = await travelersBy(desk, [bookerId ?? trip.travelerIds[0] ?? '', ...ids]);
  if (!booker) throw notFound('user');
  const { price } = rateOf(trip, booking.rateId);
  const made = [];
  for (const traveler of travelers) {
    const operation = await add(desk, 'billingOperation', {
      ...(await billTo(desk, traveler, trip)),
      amount: amountOf(costs.get(traveler.id) ?? 0, price),
      bookingSnapshot: snapshotOf(trip, booking, { booker, traveler, order }),
      date: booking.createdAt,
      description: wordsFor(trip, booking),
      operationType: booking.kind,
      transactionKind: 'purchase',
      tripProjectId: id,
    });
    made.push(operation);
  }
  return made;
}

/** Gives travelers back what they gave up of a booking, from what they paid for it and for those it was exchanged for. */
export async function reimburse(
  desk: Desk,
  trip: Kept<'tripProject'>,
  { booking, worths }: { booking: Booking; worths: Map<string, number> },
): Promise<Kept<'billingOperation'>[]> {
  const all = await operationsOf(desk, 'tripProjectId', [trip.id]);
  const bought = all.filter(({ doc }) => doc.transactionKind === 'purchase');
  const left = await leftOf(desk, bought);
  const made = [];
  for (const [travelerId, cents] of worths) {
    const own = lineOf(trip.doc, booking).flatMap(({ reference }) =>
      bought.filter(({ doc: { bookingSnapshot: known } }) => {
        return known?.reference === reference && known?.traveler.id === travelerId;
      }),
    );
    let open = cents;
    for (const purchase of own) {
      const part = Math.min(open, left.most(purchase));
      if (part <= 0) continue;
      open -= part;
      made.push(await giveBack(desk, purchase, { cents: part, left, description: undefined }));
    }
  }
  return made;
}
