import type { Order } from '../travel/booking/orders.ts';
import type { TripOutcome } from '../travel/booking/trips.ts';
import { followRefunds } from './billing.ts';
import { type Context, DAY, HOUR } from './context.ts';
import { kilometers } from './places.ts';
import type { Dice } from './random.ts';
import type { Chapter } from './simulation.ts';
import { journey, type Trip, type Way } from './trip-plan.ts';

/** The booking of a trip, and all that becomes of it. What a supplier does not take is tried again an hour later. */
export function book(chapter: Chapter, trip: Trip) {
  return async ({ stories }: Context): Promise<void> => {
    const { tripProjectId, bookerId } = trip;
    const orders = trip.rates.map((rate) => order(chapter, trip, rate));
    const outcome = await stories.bookTrip({ tripProjectId, bookerId, orders });
    const failed = orders.filter((_order, position) => outcome.bookings[position]?.status !== 'succeeded');
    if (failed.length === 0) {
      planFate(chapter, trip, outcome);
      return;
    }
    const again = failed.map((one) => ({ ...one, fails: false }));
    chapter.agenda.add(chapter.now() + HOUR, async (later) => {
      planFate(chapter, trip, await later.stories.bookTrip({ tripProjectId, bookerId, orders: again }));
    });
  };
}

function order({ dice }: Chapter, { plan }: Trip, { id, kind, price }: Trip['rates'][number]): Order {
  const total = Math.round(price.total * dice.between(85, 120)) / 100;
  const { from, to } = plan;
  return {
    rateId: id,
    fails: dice.chance(0.03),
    ...(dice.chance(0.5) ? { budget: { currency: price.currency, total } } : {}),
    ...(kind === 'flight' || kind === 'rail' ? ticket(dice, { kind, from, to }) : {}),
    ...(kind === 'hotel' ? { cities: { destination: to.name } } : {}),
  };
}

/** From so many kilometers on, some do not fly in the economy class. */
const LONG = 3000;

/** The terms of a ticket; trains have classes of their own, and none is a low-cost carrier. */
function ticket(
  dice: Dice,
  { kind, from, to }: Pick<Way, 'kind' | 'from' | 'to'>,
): Pick<Order, 'cities' | 'fare'> {
  const cities = { departure: from.name, destination: to.name };
  const fareType = dice.of(['flex', 'semiFlex']);
  if (kind === 'rail')
    return { cities, fare: { cabinClass: dice.chance(0.15) ? 'first' : 'second', fareType } };
  const isLong = kilometers(from, to) > LONG;
  const cabinClass = isLong && dice.chance(0.4) ? dice.of(['premiumEco', 'business']) : 'economy';
  return { cities, fare: { cabinClass, fareType, lowCost: !isLong && dice.chance(0.2) } };
}

/** One thing at most happens to a trip: it is canceled, or moved, or something is paid back; mostly it is just made. */
function planFate(chapter: Chapter, trip: Trip, outcome: TripOutcome): void {
  const { agenda, dice, now, examples } = chapter;
  examples.tripProjectId = trip.tripProjectId;
  const left = trip.plan.departsAt - 12 * HOUR - now();
  const sometime = now() + Math.max(HOUR, Math.floor(left * dice.next()));
  const fate = dice.next();
  if (fate < 0.1) agenda.add(sometime, cancel(chapter, trip, outcome));
  else if (fate < 0.19) agenda.add(sometime, move(chapter, trip, outcome));
  else if (fate < 0.22)
    agenda.add(trip.plan.returnsAt + dice.between(3, 30) * DAY, makeGood(chapter, outcome));
}

/** All of the trip, or one booking of it, and of that perhaps one traveler's part only. */
function cancel(chapter: Chapter, { tripProjectId, travelerIds }: Trip, { bookings }: TripOutcome) {
  return async (context: Context): Promise<void> => {
    const { dice } = chapter;
    const some = dice.chance(0.7) ? bookings : [dice.of(bookings)];
    const refundPercentage = dice.of([100, 100, 100, 80, 50, 0]);
    const alone = travelerIds.length > 1 && dice.chance(0.5) ? { travelerIds: travelerIds.slice(0, 1) } : {};
    for (const { id: bookingId } of some) {
      const { operations } = await context.stories.cancelBooking({
        ...{ tripProjectId, bookingId, refundPercentage },
        ...alone,
      });
      await followRefunds(chapter, context, operations);
    }
  };
}

/** The last leg of the journey is exchanged for a later one, if there is a journey. */
function move(chapter: Chapter, { tripProjectId, plan }: Trip, { bookings, trip }: TripOutcome) {
  return async (context: Context): Promise<void> => {
    const booking = bookings.find(({ kind }) => kind === 'flight' || kind === 'rail');
    const leg = (trip.doc.transportLegs ?? []).at(-1);
    if (!booking || !leg) return;
    const { dice } = chapter;
    const isReturn = (trip.doc.transportLegs ?? []).length > 1;
    const way = isReturn
      ? { from: plan.to, to: plan.from, departsAt: plan.returnsAt + dice.between(1, 2) * DAY }
      : { from: plan.from, to: plan.to, departsAt: plan.departsAt + dice.between(1, 2) * DAY };
    const { currency } = trip.doc.rates[0]?.price ?? { currency: 'EUR' };
    const kind = booking.kind === 'rail' ? 'rail' : 'flight';
    const money = { currency, dice };
    const { operations } = await context.stories.modifyBooking({
      ...{ tripProjectId, bookingId: booking.id },
      transportSegmentIds: leg.segments.map(({ id }) => id),
      offer: journey({ ...way, kind }, undefined, money, trip.doc.travelerIds.length),
      order: ticket(dice, { ...way, kind }),
    });
    await followRefunds(chapter, context, operations);
  };
}

/** Support gives a part of a purchase back, for a night that was loud or a train that was late. */
function makeGood(chapter: Chapter, { operations }: TripOutcome) {
  return async (context: Context): Promise<void> => {
    const [purchase] = operations;
    if (!purchase) return;
    const left = await context.stories.refundable(purchase.id);
    if (left < 100) return;
    const total = Math.floor((left * chapter.dice.between(10, 60)) / 100) / 100;
    const wanted = { billingOperationId: purchase.id, total, description: 'Goodwill' };
    await followRefunds(chapter, context, [await context.stories.refundOperation(wanted)]);
  };
}
