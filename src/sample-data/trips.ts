import type { Order, TripOutcome } from '../travel/booking/book-trip.ts';
import { bookByTelephone, followRefunds } from './billing.ts';
import { type Context, DAY, type Dice, HOUR, LENGTH } from './context.ts';
import { kilometers } from './places.ts';
import type { Chapter, Traveler } from './simulation.ts';
import { journey, type Trip, tripPlan, type Way } from './trip-plan.ts';

/** Plans trips, evenly over the working hours from the day on which everybody is there; each is searched, agreed to and booked at its times. */
export function planTrips(chapter: Chapter): void {
  const { agenda, wish } = chapter;
  if (wish.trips > 0) agenda.add(searching(chapter, 0), begin(chapter, 0));
}

function begin(chapter: Chapter, number: number) {
  return async (context: Context) => {
    const { agenda, dice, travelers, wish } = chapter;
    if (number + 1 < wish.trips) agenda.add(searching(chapter, number + 1), begin(chapter, number + 1));
    const party = travelers.party(dice, chapter.now(), dice.weighted(sizes).count);
    await search(chapter, context, party);
    if (dice.chance(0.05)) bookByTelephone(chapter, party);
    chapter.progress();
  };
}

const sizes = [
  { count: 1, weight: 80 },
  { count: 2, weight: 13 },
  { count: 3, weight: 5 },
  { count: 4, weight: 2 },
];

function searching({ wish: { trips, now } }: Chapter, number: number): number {
  const [from, to] = [workedUntil(now - LENGTH + 4 * DAY), workedUntil(now)];
  return timeAfter(from + ((number + 0.5) / trips) * (to - from));
}

async function search(chapter: Chapter, context: Context, party: Traveler[]): Promise<void> {
  const { agenda, company, dice, now } = chapter;
  const [first] = party;
  if (!first) return;
  const travelerIds = party.map(({ id }) => id);
  const currency = company.branches[first.branch]?.currency ?? 'EUR';
  const plan = tripPlan({ currency, dice }, { count: party.length, city: first.city }, now());
  const { fields, projectCodeIds } = company;
  const searched = await context.stories.searchTrip({
    ...{ travelerIds, search: plan.search, quotes: plan.offers },
    ...(dice.chance(0.25) ? { projectCodeId: dice.of(projectCodeIds) } : {}),
    customFields: dice.chance(0.7)
      ? [
          {
            customFieldId: fields.reason.id,
            values: [{ customFieldOptionId: dice.of([...fields.reason.options.values()]) }],
          },
        ]
      : [],
  });
  const [booker = first] = dice.chance(0.15) ? chapter.travelers.party(dice, now(), 1) : party;
  const { rates } = searched.doc;
  const trip = { tripProjectId: searched.id, travelerIds, bookerId: booker.id, rates, plan };
  // Some only look.
  if (dice.chance(0.06)) return;
  if (searched.doc.approvalStatus === 'bookingAllowed')
    agenda.add(now() + dice.between(5, 50) * 60_000, book(chapter, trip));
  else decide(chapter, trip, searched.doc.approvalStatus === 'declined');
}

/** The approver answers within a day, and sometimes an admin is asked after them. */
function decide(chapter: Chapter, trip: Trip, isDeclined: boolean): void {
  const { agenda, dice, now } = chapter;
  const soon = now() + dice.between(2, 24) * HOUR;
  const appeal = async ({ stories }: Context) => {
    await stories.allowBooking(trip.tripProjectId);
    agenda.add(now() + dice.between(10, 120) * 60_000, book(chapter, trip));
  };
  if (isDeclined) {
    if (dice.chance(0.3)) agenda.add(soon, appeal);
    return;
  }
  const agrees = dice.chance(0.85);
  agenda.add(soon, async ({ stories }) => {
    if (agrees) {
      await stories.approveTrip(trip.tripProjectId);
      agenda.add(now() + dice.between(10, 300) * 60_000, book(chapter, trip));
      return;
    }
    await stories.declineTrip(trip.tripProjectId);
    decide(chapter, trip, true);
  });
}

/** From eight to six, Monday to Friday. */
const OPENS = 8 * HOUR;
const HOURS = 10 * HOUR;
const WEEK = 7 * DAY;
/** A Monday, in epoch milliseconds. */
const MONDAY = 4 * DAY;

/** How long people have worked since that Monday, in milliseconds. */
export function workedUntil(time: number): number {
  const weeks = Math.floor((time - MONDAY) / WEEK);
  const inWeek = time - MONDAY - weeks * WEEK;
  const days = Math.floor(inWeek / DAY);
  const today = Math.min(HOURS, Math.max(0, inWeek - days * DAY - OPENS));
  return weeks * 5 * HOURS + (days < 5 ? days * HOURS + today : 5 * HOURS);
}

/** The other way round: the time, in epoch milliseconds, at which people have worked so long. */
export function timeAfter(worked: number): number {
  const weeks = Math.floor(worked / (5 * HOURS));
  const days = Math.floor((worked - weeks * 5 * HOURS) / HOURS);
  return Math.floor(MONDAY + weeks * WEEK + days * DAY + OPENS + (worked % HOURS));
}

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
      quote: journey({ ...way, kind }, undefined, money, trip.doc.travelerIds.length),
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
    const left = await context.stories.refundableCents(purchase.id);
    if (left < 100) return;
    const total = Math.floor((left * chapter.dice.between(10, 60)) / 100) / 100;
    const wanted = { billingOperationId: purchase.id, total, description: 'Goodwill' };
    await followRefunds(chapter, context, [await context.stories.refundOperation(wanted)]);
  };
}
