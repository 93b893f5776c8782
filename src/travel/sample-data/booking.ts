import type { Order } from '../back-office/book.ts';
import type { TripOutcome } from '../back-office/trips.ts';
import { journey } from './itinerary.ts';
import { followRefunds } from './refunds.ts';
import { DAY, HOUR, type Scene } from './scene.ts';
import type { Chapter } from './story.ts';
import type { Trip } from './trip-plan.ts';

/** The booking of a trip, and all that becomes of it. What a supplier does not take is tried again an hour later. */
export function book(chapter: Chapter, trip: Trip) {
  return async ({ stories }: Scene): Promise<void> => {
    const { tripProjectId, bookerId } = trip;
    const orders = trip.rates.map((rate) => order(chapter, rate));
    const outcome = await stories.bookTrip({ tripProjectId, bookerId, orders });
    if (outcome.bookings.every(({ status }) => status === 'succeeded')) {
      planFate(chapter, trip, outcome);
      return;
    }
    chapter.agenda.add(chapter.now() + HOUR, async (later) => {
      planFate(chapter, trip, await later.stories.bookTrip({ tripProjectId, bookerId }));
    });
  };
}

function order({ dice }: Chapter, { id, kind, price }: Trip['rates'][number]): Order {
  const total = Math.round(price.total * dice.between(85, 120)) / 100;
  const ticket = { cabinClass: 'economy', fareType: dice.of(['basic', 'flex']), lowCost: dice.chance(0.2) };
  return {
    rateId: id,
    fails: dice.chance(0.03),
    ...(dice.chance(0.5) ? { budget: { currency: price.currency, total } } : {}),
    ...(kind === 'flight' || kind === 'rail' ? { fare: ticket } : {}),
  };
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
  return async (scene: Scene): Promise<void> => {
    const { dice } = chapter;
    const some = dice.chance(0.7) ? bookings : [dice.of(bookings)];
    const refundPercentage = dice.of([100, 100, 100, 80, 50, 0]);
    const alone = travelerIds.length > 1 && dice.chance(0.5) ? { travelerIds: travelerIds.slice(0, 1) } : {};
    for (const { id: bookingId } of some) {
      const { operations } = await scene.stories.cancelBooking({
        ...{ tripProjectId, bookingId, refundPercentage },
        ...alone,
      });
      await followRefunds(chapter, scene, operations);
    }
  };
}

/** The last leg of the journey is exchanged for a later one, if there is a journey. */
function move(chapter: Chapter, { tripProjectId, plan }: Trip, { bookings, trip }: TripOutcome) {
  return async (scene: Scene): Promise<void> => {
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
    const { operations } = await scene.stories.modifyBooking({
      ...{ tripProjectId, bookingId: booking.id },
      transportSegmentIds: leg.segments.map(({ id }) => id),
      offer: journey({ ...way, kind }, undefined, money, trip.doc.travelerIds.length),
    });
    await followRefunds(chapter, scene, operations);
  };
}

/** Support gives a part of a purchase back, for a night that was loud or a train that was late. */
function makeGood(chapter: Chapter, { operations }: TripOutcome) {
  return async (scene: Scene): Promise<void> => {
    const [purchase] = operations;
    if (!purchase || purchase.doc.amount.total < 1) return;
    const total = Math.floor(purchase.doc.amount.total * chapter.dice.between(10, 60)) / 100;
    const wanted = { billingOperationId: purchase.id, total, description: 'Goodwill' };
    await followRefunds(chapter, scene, [await scene.stories.refundOperation(wanted)]);
  };
}
