import type { Faker } from '@faker-js/faker';
import type { Order, TripOutcome } from '../travel/booking/book-trip.ts';
import { scheduleRefunds, scheduleTelephoneBooking } from './billing.ts';
import type { SimulationContext, Traveler } from './context.ts';
import { kilometers } from './reference-data.ts';
import { DAY, HOUR, LENGTH, randomTime, type ScheduledAction, type Transaction } from './simulation.ts';
import { type Journey, planTrip, type Trip, transportQuote } from './trip-plan.ts';

const MINUTE = 60_000;

/** Schedules all trips, at even intervals of working time, from the fourth day on: the first people are hired by then. */
export function scheduleTrips(simulation: SimulationContext): void {
  const { options, schedule } = simulation;
  if (options.trips > 0) schedule.add(searchTime(simulation, 0), startTrip(simulation, 0));
}

function startTrip(simulation: SimulationContext, number: number): ScheduledAction {
  return async (transaction) => {
    const { options, progress, random, schedule, travelers } = simulation;
    if (number + 1 < options.trips)
      schedule.add(searchTime(simulation, number + 1), startTrip(simulation, number + 1));
    const size = random.helpers.weightedArrayElement(partySizes);
    const party = travelers.drawParty(random, simulation.now(), size);
    await searchTrip(simulation, transaction, party);
    if (random.datatype.boolean(0.05)) scheduleTelephoneBooking(simulation, party);
    progress();
  };
}

const partySizes = [
  { value: 1, weight: 80 },
  { value: 2, weight: 13 },
  { value: 3, weight: 5 },
  { value: 4, weight: 2 },
];

function searchTime({ options: { trips, now } }: SimulationContext, number: number): number {
  const [from, to] = [workingTimeUntil(now - LENGTH + 4 * DAY), workingTimeUntil(now)];
  return timeAfterWorking(from + ((number + 0.5) / trips) * (to - from));
}

async function searchTrip(
  simulation: SimulationContext,
  transaction: Transaction,
  party: Traveler[],
): Promise<void> {
  const { company, now, random, schedule, travelers } = simulation;
  const [first] = party;
  if (!first) return;
  const travelerIds = party.map(({ id }) => id);
  const currency = company.branches[first.branch]?.currency ?? 'EUR';
  const plan = planTrip({ currency, random }, { count: party.length, city: first.city }, now());
  const searched = await transaction.booking.searchTrip({
    ...{ travelerIds, search: plan.search, quotes: plan.quotes },
    ...tripDetails(simulation),
  });
  const [booker = first] = random.datatype.boolean(0.15) ? travelers.drawParty(random, now(), 1) : party;
  const { approvalStatus, rates } = searched.doc;
  const trip = { tripProjectId: searched.id, travelerIds, bookerId: booker.id, rates, plan };
  // Some trips are only searched.
  if (random.datatype.boolean(0.06)) return;
  if (approvalStatus === 'bookingAllowed')
    schedule.add(randomTime(random, now() + 5 * MINUTE, now() + 50 * MINUTE), bookTrip(simulation, trip));
  else scheduleApproval(simulation, trip, approvalStatus === 'declined');
}

/** Some trips belong to a project, most have a reason. */
function tripDetails({ company: { fields, projectCodeIds }, random }: SimulationContext) {
  const { id: customFieldId, options } = fields.reason;
  const reason = { customFieldOptionId: random.helpers.arrayElement([...options.values()]) };
  return {
    ...(random.datatype.boolean(0.25) ? { projectCodeId: random.helpers.arrayElement(projectCodeIds) } : {}),
    customFields: random.datatype.boolean(0.7) ? [{ customFieldId, values: [reason] }] : [],
  };
}

/** The approver decides within a day. After a refusal, sometimes an admin allows the trip. */
function scheduleApproval(simulation: SimulationContext, trip: Trip, isDeclined: boolean): void {
  const { now, random, schedule } = simulation;
  const decisionTime = randomTime(random, now() + 2 * HOUR, now() + 24 * HOUR);
  if (isDeclined) {
    if (!random.datatype.boolean(0.3)) return;
    schedule.add(decisionTime, async ({ booking }) => {
      await booking.allowBooking(trip.tripProjectId);
      schedule.add(randomTime(random, now() + 10 * MINUTE, now() + 2 * HOUR), bookTrip(simulation, trip));
    });
    return;
  }
  const isApproved = random.datatype.boolean(0.85);
  schedule.add(decisionTime, async ({ booking }) => {
    if (isApproved) {
      await booking.approveTrip(trip.tripProjectId);
      schedule.add(randomTime(random, now() + 10 * MINUTE, now() + 5 * HOUR), bookTrip(simulation, trip));
      return;
    }
    await booking.declineTrip(trip.tripProjectId);
    scheduleApproval(simulation, trip, true);
  });
}

/** People work from 8:00 to 18:00, Monday to Friday. */
const WORKDAY_START = 8 * HOUR;
const WORKDAY = 10 * HOUR;
const WEEK = 7 * DAY;
/** The first Monday of 1970, in epoch milliseconds. */
const MONDAY = 4 * DAY;

/** The working time from the first Monday of 1970 until a time, in milliseconds. */
export function workingTimeUntil(time: number): number {
  const weeks = Math.floor((time - MONDAY) / WEEK);
  const inWeek = time - MONDAY - weeks * WEEK;
  const days = Math.floor(inWeek / DAY);
  const today = Math.min(WORKDAY, Math.max(0, inWeek - days * DAY - WORKDAY_START));
  return weeks * 5 * WORKDAY + (days < 5 ? days * WORKDAY + today : 5 * WORKDAY);
}

/** The inverse of `workingTimeUntil`: the time, in epoch milliseconds, at which that much working time has passed. */
export function timeAfterWorking(worked: number): number {
  const weeks = Math.floor(worked / (5 * WORKDAY));
  const days = Math.floor((worked - weeks * 5 * WORKDAY) / WORKDAY);
  return Math.floor(MONDAY + weeks * WEEK + days * DAY + WORKDAY_START + (worked % WORKDAY));
}

/** Books a trip and schedules what happens to it later. Orders that a supplier rejects are repeated after an hour. */
function bookTrip(simulation: SimulationContext, trip: Trip): ScheduledAction {
  return async ({ booking }) => {
    const { tripProjectId, bookerId } = trip;
    const orders = trip.rates.map((rate) => createOrder(simulation, trip, rate));
    const outcome = await booking.bookTrip({ tripProjectId, bookerId, orders });
    const failed = orders.filter((_order, position) => outcome.bookings[position]?.status !== 'succeeded');
    if (failed.length === 0) {
      scheduleChange(simulation, trip, outcome);
      return;
    }
    const repeated = failed.map((order) => ({ ...order, fails: false }));
    simulation.schedule.add(simulation.now() + HOUR, async (later) => {
      const repeatedOutcome = await later.booking.bookTrip({ tripProjectId, bookerId, orders: repeated });
      scheduleChange(simulation, trip, repeatedOutcome);
    });
  };
}

function createOrder(
  { random }: SimulationContext,
  { plan }: Trip,
  { id, kind, price }: Trip['rates'][number],
): Order {
  const { from, to } = plan;
  const total = Math.round(price.total * random.number.float({ min: 0.85, max: 1.2 }) * 100) / 100;
  return {
    rateId: id,
    fails: random.datatype.boolean(0.03),
    ...(random.datatype.boolean(0.5) ? { budget: { currency: price.currency, total } } : {}),
    ...(kind === 'flight' || kind === 'rail' ? ticketTerms(random, { kind, from, to }) : {}),
    ...(kind === 'hotel' ? { cities: { destination: to.name } } : {}),
  };
}

/** The distance in kilometers above which some people do not fly in economy class. */
const LONG_HAUL = 3000;

/** The class and fare of a ticket. Trains have other classes than flights, and no low-cost carriers. */
function ticketTerms(
  random: Faker,
  { kind, from, to }: Pick<Journey, 'kind' | 'from' | 'to'>,
): Pick<Order, 'cities' | 'fare'> {
  const cities = { departure: from.name, destination: to.name };
  const fareType = random.helpers.arrayElement(['flex', 'semiFlex']);
  if (kind === 'rail')
    return { cities, fare: { cabinClass: random.datatype.boolean(0.15) ? 'first' : 'second', fareType } };
  const isLong = kilometers(from, to) > LONG_HAUL;
  const cabinClass =
    isLong && random.datatype.boolean(0.4)
      ? random.helpers.arrayElement(['premiumEco', 'business'])
      : 'economy';
  return { cities, fare: { cabinClass, fareType, lowCost: !isLong && random.datatype.boolean(0.2) } };
}

/** At most one change happens to a trip: a cancellation, an exchange, or a refund for a complaint. */
function scheduleChange(simulation: SimulationContext, trip: Trip, outcome: TripOutcome): void {
  const { examples, now, random, schedule } = simulation;
  examples.tripProjectId = trip.tripProjectId;
  const { departsAt, returnsAt } = trip.plan;
  const earliest = now() + HOUR;
  const beforeDeparture = randomTime(random, earliest, Math.max(earliest, departsAt - 12 * HOUR));
  const change = random.helpers.weightedArrayElement([
    { value: 'cancel', weight: 10 },
    { value: 'exchange', weight: 9 },
    { value: 'refund', weight: 3 },
    { value: 'none', weight: 78 },
  ]);
  if (change === 'cancel') schedule.add(beforeDeparture, cancelTrip(simulation, trip, outcome));
  else if (change === 'exchange') schedule.add(beforeDeparture, exchangeLeg(simulation, trip, outcome));
  else if (change === 'refund') {
    const complaint = randomTime(random, returnsAt + 3 * DAY, returnsAt + 30 * DAY);
    schedule.add(complaint, refundDisputeRequest(simulation, outcome));
  }
}

/** Cancels the whole trip or one booking, for all travelers or for the first one. */
function cancelTrip(
  simulation: SimulationContext,
  { tripProjectId, travelerIds }: Trip,
  { bookings }: TripOutcome,
): ScheduledAction {
  return async (transaction) => {
    const { random } = simulation;
    const canceled = random.datatype.boolean(0.7) ? bookings : [random.helpers.arrayElement(bookings)];
    const refundPercentage = random.helpers.weightedArrayElement([
      { value: 100, weight: 3 },
      { value: 80, weight: 1 },
      { value: 50, weight: 1 },
      { value: 0, weight: 1 },
    ]);
    const isPartial = travelerIds.length > 1 && random.datatype.boolean(0.5);
    const onlyFirst = isPartial ? { travelerIds: travelerIds.slice(0, 1) } : {};
    for (const { id: bookingId } of canceled) {
      const { operations } = await transaction.booking.cancelBooking({
        ...{ tripProjectId, bookingId, refundPercentage },
        ...onlyFirst,
      });
      await scheduleRefunds(simulation, transaction, operations);
    }
  };
}

/** Exchanges the last leg of the flight or train for one that leaves a day or two later. */
function exchangeLeg(
  simulation: SimulationContext,
  { tripProjectId, plan }: Trip,
  { bookings, trip }: TripOutcome,
): ScheduledAction {
  return async (transaction) => {
    const transport = bookings.find(({ kind }) => kind === 'flight' || kind === 'rail');
    const legs = trip.doc.transportLegs ?? [];
    const lastLeg = legs.at(-1);
    if (!transport || !lastLeg) return;
    const { random } = simulation;
    const delay = random.number.int({ min: 1, max: 2 }) * DAY;
    const kind: Journey['kind'] = transport.kind === 'rail' ? 'rail' : 'flight';
    const journey =
      legs.length > 1
        ? { kind, from: plan.to, to: plan.from, departsAt: plan.returnsAt + delay }
        : { kind, from: plan.from, to: plan.to, departsAt: plan.departsAt + delay };
    const { currency } = trip.doc.rates[0]?.price ?? { currency: 'EUR' };
    const { operations } = await transaction.booking.modifyBooking({
      ...{ tripProjectId, bookingId: transport.id },
      transportSegmentIds: lastLeg.segments.map(({ id }) => id),
      quote: transportQuote(journey, undefined, { currency, random }, trip.doc.travelerIds.length),
      order: ticketTerms(random, journey),
    });
    await scheduleRefunds(simulation, transaction, operations);
  };
}

/** Support refunds a part of a purchase after a complaint, such as a late train. */
function refundDisputeRequest(simulation: SimulationContext, { operations }: TripOutcome): ScheduledAction {
  return async (transaction) => {
    const [purchase] = operations;
    if (!purchase) return;
    const refundableCents = await transaction.booking.refundableCents(purchase.id);
    if (refundableCents < 100) return;
    const part = simulation.random.number.float({ min: 0.1, max: 0.6 });
    const total = Math.floor(refundableCents * part) / 100;
    const refund = { billingOperationId: purchase.id, total, description: 'Goodwill' };
    const operation = await transaction.booking.refundOperation(refund);
    await scheduleRefunds(simulation, transaction, [operation]);
  };
}
