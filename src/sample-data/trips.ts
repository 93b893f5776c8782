import { formatTimestamp } from '../travel/collection.ts';
import { scheduleTransfers } from './billing.ts';
import {
  bookOffline,
  bookTrip,
  cancelBooking,
  exchangeLastLeg,
  saveTrip,
  searchTrip,
  type Trip,
} from './bookings.ts';
import { type PolicyTitle, smartSettings } from './company.ts';
import type { SimulationContext, Traveler } from './context.ts';
import { DAY, HOUR, LENGTH, randomTime, type Story } from './simulation.ts';
import { type Booking, rateOf } from './trip-parts.ts';
import { type Journey, type Pricing, planTrip, type TripPlan, transportQuote } from './trip-plan.ts';

/** Starts all trips, from the fourth day on: the first people are hired by then. */
export async function* startTrips(simulation: SimulationContext): Story {
  const { now, progress, random, schedule, travelers } = simulation;
  for (const time of searchTimes(simulation)) {
    yield time;
    const party = travelers.drawParty(random, now(), random.helpers.weightedArrayElement(partySizes));
    schedule.add(now(), makeTrip(simulation, await search(simulation, party)));
    if (random.datatype.boolean(0.05)) schedule.add(now(), bookByTelephone(simulation, party));
    progress();
  }
}

const partySizes = [
  { value: 1, weight: 80 },
  { value: 2, weight: 13 },
  { value: 3, weight: 5 },
  { value: 4, weight: 2 },
];

/** Random times between 8:00 and 18:00 UTC, Monday to Friday, in order. */
function searchTimes({ options: { trips, now }, random }: SimulationContext): number[] {
  const [first, end] = [Math.floor((now - LENGTH) / DAY) + 4, Math.floor(now / DAY)];
  const days = Array.from({ length: end - first }, (_day, number) => first + number);
  // Day 0, the first of January 1970, was a Thursday.
  const workdays = days.filter((day) => (day + 3) % 7 < 5);
  const times = Array.from({ length: trips }, () => {
    return (
      random.helpers.arrayElement(workdays) * DAY + random.number.int({ min: 8 * HOUR, max: 18 * HOUR - 1 })
    );
  });
  return times.sort((one, other) => one - other);
}

/** A trip that was searched, with its plan. */
interface PlannedTrip {
  trip: Trip;
  plan: TripPlan;
}

async function search(simulation: SimulationContext, party: [Traveler, ...Traveler[]]): Promise<PlannedTrip> {
  const { company, now, random, travelers } = simulation;
  const plan = planTrip(pricingFor(simulation, party), party[0].city, now());
  const project = random.datatype.boolean(0.25) ? random.helpers.arrayElement(company.projects) : undefined;
  const { id: customFieldId, options } = company.fields['reason for travel'];
  const reason = { customFieldOptionId: random.helpers.arrayElement([...options.values()]) };
  const [booker] = random.datatype.boolean(0.15) ? travelers.drawParty(random, now(), 1) : party;
  const isFree = party.every(({ policy }) => !needsApproval(policy, plan, now()));
  const trip = await searchTrip(simulation, {
    doc: {
      approvalStatus: isFree ? 'bookingAllowed' : 'awaitApproval',
      customFields: random.datatype.boolean(0.7) ? [{ customFieldId, values: [reason] }] : [],
      projectCodeId: project?.id,
      search: plan.search,
    },
    ...{ quotes: plan.quotes, payer: project?.payer },
    ...{ travelers: party.map(({ user }) => user), booker: booker.user },
  });
  return { trip, plan };
}

function pricingFor(
  { company, random }: SimulationContext,
  { 0: first, length }: [Traveler, ...Traveler[]],
): Pricing {
  return { currency: company.branches[first.branch]?.currency ?? 'EUR', people: length, random };
}

/** Applies a travel policy of the company. There is no exchange rate for prices in other currencies. */
function needsApproval(policy: PolicyTitle, { departsAt, quotes, to }: TripPlan, time: number): boolean {
  if (policy !== 'standard') return policy === 'guests and interns';
  const { maxTripPrice, minBookingLeadTime, tripDestination } = smartSettings;
  const priced = quotes.filter(({ price }) => price.currency === maxTripPrice.currency);
  const total = priced.reduce((sum, { price }) => sum + price.total, 0);
  const isLate = departsAt - time < minBookingLeadTime.days * DAY;
  return isLate || total > maxTripPrice.amount || tripDestination.forceApprovalCountries.includes(to.country);
}

function later({ now, random }: SimulationContext, from: number, to: number): number {
  return randomTime(random, now() + from, now() + to);
}

const MINUTE = 60_000;

/** The approval, the booking and perhaps a change of a trip. Orders that a supplier rejects are repeated after an hour. */
async function* makeTrip(simulation: SimulationContext, planned: PlannedTrip): Story {
  const { now, random } = simulation;
  const { trip } = planned;
  // Some trips are only searched.
  if (random.datatype.boolean(0.06)) return;
  if (trip.doc.approvalStatus === 'awaitApproval') {
    yield later(simulation, 2 * HOUR, 24 * HOUR);
    const isApproved = random.datatype.boolean(0.85);
    trip.doc.approvalStatus = isApproved ? 'approved' : 'declined';
    await saveTrip(simulation, trip);
    if (!isApproved) {
      if (random.datatype.boolean(0.7)) return;
      yield later(simulation, 2 * HOUR, 24 * HOUR);
      // An admin allows the trip that the approver has declined. Booking it stores the trip.
      trip.doc.approvalStatus = 'bookingAllowed';
    }
  }
  yield later(simulation, 5 * MINUTE, 5 * HOUR);
  const orders = trip.doc.rates.map(({ id: rateId }) => ({ rateId, fails: random.datatype.boolean(0.03) }));
  const bookings = await bookTrip(simulation, trip, orders);
  const failed = orders.filter(({ fails }) => fails).map(({ rateId }) => ({ rateId }));
  if (failed.length > 0) {
    yield now() + HOUR;
    bookings.push(...(await bookTrip(simulation, trip, failed)));
  }
  simulation.examples.tripProjectId = trip.id;
  yield* changeTrip(
    simulation,
    planned,
    bookings.filter(({ status }) => status === 'succeeded'),
  );
}

const changes = [
  { value: 'cancel' as const, weight: 10 },
  { value: 'exchange' as const, weight: 9 },
  { value: 'complaint' as const, weight: 3 },
  { value: 'none' as const, weight: 78 },
];

/** At most one change happens to a trip: a cancellation, an exchange, or a refund for a complaint, such as a late train. */
async function* changeTrip(
  simulation: SimulationContext,
  { trip, plan }: PlannedTrip,
  bookings: Booking[],
): Story {
  const { ledger, now, random } = simulation;
  const change = random.helpers.weightedArrayElement(changes);
  if (change === 'none') return;
  if (change === 'complaint') {
    yield randomTime(random, plan.returnsAt + 3 * DAY, plan.returnsAt + 30 * DAY);
    const [purchase] = trip.purchases;
    if (!purchase) return;
    const cents = ledger.refundableCents(purchase) * random.number.float({ min: 0.1, max: 0.6 });
    scheduleTransfers(simulation, [await ledger.refund(purchase, Math.floor(cents), 'Goodwill')]);
    return;
  }
  const earliest = now() + HOUR;
  yield randomTime(random, earliest, Math.max(earliest, plan.departsAt - 12 * HOUR));
  if (change === 'cancel') await cancelTrip(simulation, trip, bookings);
  else await exchangeTicket(simulation, { trip, plan }, bookings);
}

/** Cancels the whole trip or one booking, for all travelers or for the first one. */
async function cancelTrip(simulation: SimulationContext, trip: Trip, bookings: Booking[]): Promise<void> {
  const { random } = simulation;
  const canceled = random.datatype.boolean(0.7) ? bookings : [random.helpers.arrayElement(bookings)];
  const refundPercentage = random.helpers.arrayElement([100, 100, 100, 80, 50, 0]);
  const count = random.datatype.boolean(0.5) ? 1 : trip.travelers.length;
  const travelerIds = trip.doc.travelerIds.slice(0, count);
  for (const booking of canceled)
    scheduleTransfers(
      simulation,
      await cancelBooking(simulation, trip, { booking, travelerIds, refundPercentage }),
    );
}

/** Exchanges the last leg of the flight or train for one that leaves a day or two later. */
async function exchangeTicket(
  simulation: SimulationContext,
  { trip, plan }: PlannedTrip,
  bookings: Booking[],
): Promise<void> {
  const { random } = simulation;
  const booking = bookings.find(({ kind }) => kind === 'flight' || kind === 'rail');
  if (!booking) return;
  const delay = random.number.int({ min: 1, max: 2 }) * DAY;
  const kind: Journey['kind'] = booking.kind === 'rail' ? 'rail' : 'flight';
  const isReturn = (trip.doc.transportLegs?.length ?? 0) > 1;
  const journey = isReturn
    ? { kind, from: plan.to, to: plan.from, departsAt: plan.returnsAt + delay }
    : { kind, from: plan.from, to: plan.to, departsAt: plan.departsAt + delay };
  const { currency } = rateOf(trip.doc, booking.rateId).price;
  const quote = transportQuote(journey, undefined, { currency, people: trip.travelers.length, random });
  scheduleTransfers(simulation, await exchangeLastLeg(simulation, trip, { booking, quote }));
}

/** A booking that a traveler makes by telephone: support records it some hours later. */
async function* bookByTelephone(simulation: SimulationContext, [caller]: [Traveler, ...Traveler[]]): Story {
  const { now, random } = simulation;
  const date = formatTimestamp(now());
  const { quotes } = planTrip(pricingFor(simulation, [caller]), caller.city, now());
  const quote = random.helpers.arrayElement(quotes.filter(({ kind }) => kind !== 'car'));
  yield later(simulation, HOUR, 6 * HOUR);
  await bookOffline(simulation, caller.user, { quote, date });
}
