import type { Recorder } from '../travel/changes.ts';
import type { RecorderDeps } from '../travel/collection.ts';
import { stringMember } from '../travel/json.ts';
import type { StoredResource } from '../travel/ports.ts';
import { amountOf, centsOf, splitCents } from '../travel/resources/amounts.ts';
import { customFieldsOf } from '../travel/resources/custom-field-values.ts';
import { type TripProject, tripProject } from '../travel/resources/trip-project.ts';
import { type IssuedRefund, type Ledger, type Operation, toJson } from './ledger.ts';
import {
  addBooking,
  addQuote,
  type Booking,
  describeBooking,
  newPart,
  type Quote,
  rateOf,
  segmentsOf,
  snapshotOf,
  type Terms,
} from './trip-parts.ts';

/** The recorder and the ledger of the simulated service, its time and its source of ids. */
export interface Desk extends RecorderDeps {
  recorder: Recorder;
  ledger: Ledger;
}

/** A trip, the people of it, and its purchases. */
export interface Trip {
  id: string;
  /** The document, which bookings change; `stored` is its last stored state. */
  doc: TripProject;
  stored: StoredResource;
  travelers: StoredResource[];
  booker: StoredResource;
  /** The billing profile of the project, which pays in place of the travelers' own. */
  payer: string | undefined;
  /** The terms of the quotes, by the id of their rate. */
  terms: Map<string, Terms | undefined>;
  purchases: (Operation & { bookingId: string; traveler: StoredResource })[];
}

/** The people of a trip, its search, and what it has found. */
export interface TripSearch extends Pick<Trip, 'travelers' | 'booker' | 'payer'> {
  doc: Pick<TripProject, 'approvalStatus' | 'customFields' | 'projectCodeId' | 'search'>;
  quotes: Quote[];
}

/** Creates a trip project with one rate for each quote. */
export async function searchTrip(desk: Desk, { doc: given, quotes, ...people }: TripSearch): Promise<Trip> {
  const doc: TripProject = { ...given, rates: [], travelerIds: people.travelers.map(({ id }) => id) };
  const terms = new Map(quotes.map((quote) => [addQuote(desk, doc, quote).id, quote.terms]));
  const stored = await desk.recorder.create(tripProject, toJson(doc));
  return { id: stored.id, doc, stored, terms, purchases: [], ...people };
}

/** Stores a changed trip. Its changes have no event of their own. */
export async function saveTrip({ recorder }: Desk, trip: Trip): Promise<void> {
  trip.stored = await recorder.replace(tripProject, trip.stored, toJson(trip.doc));
}

/** Books rates of a trip. Each successful booking has one purchase for each traveler; a failed one costs nothing. */
export async function bookTrip(
  desk: Desk,
  trip: Trip,
  orders: { rateId: string; fails?: boolean }[],
): Promise<Booking[]> {
  const bookings = orders.map((order) => addBooking(desk, trip, order));
  await saveTrip(desk, trip);
  for (const booking of bookings) {
    desk.recorder.appendEvent(`tripProject.booking.${booking.status}`, toJson(booking));
    if (booking.status === 'failed') continue;
    const travelers = travelersOf(trip, booking);
    const shares = splitCents(centsOf(rateOf(trip.doc, booking.rateId).price), travelers.length);
    for (const [position, traveler] of travelers.entries())
      await buy(desk, trip, { booking, traveler, cents: shares[position] ?? 0 });
  }
  return bookings;
}

/** A car is rented by the first traveler. */
function travelersOf({ travelers }: Trip, { kind }: Booking): StoredResource[] {
  return kind === 'car' ? travelers.slice(0, 1) : travelers;
}

async function buy(
  { ledger }: Desk,
  { id, doc, booker, payer, terms, purchases }: Trip,
  { booking, traveler, cents }: { booking: Booking; traveler: StoredResource; cents: number },
): Promise<void> {
  const purchase = await ledger.purchase({
    ...billedTo(traveler, doc),
    ...(payer === undefined ? {} : { billingProfileId: payer }),
    amount: amountOf(cents, rateOf(doc, booking.rateId).price),
    bookingSnapshot: snapshotOf(doc, booking, { booker, traveler, terms: terms.get(booking.rateId) }),
    description: describeBooking(doc, booking),
    ...{ operationType: booking.kind, tripProjectId: id },
  });
  purchases.push(Object.assign(purchase, { bookingId: booking.id, traveler }));
}

/** The fields of a billing operation that say who pays, with the custom fields of trip and traveler. */
function billedTo({ doc }: StoredResource, trip: Pick<TripProject, 'customFields' | 'projectCodeId'>) {
  return {
    billingProfileId: stringMember(doc, 'billingProfileId'),
    costCenterId: stringMember(doc, 'costCenterId'),
    customFields: [...(trip.customFields ?? []), ...customFieldsOf(doc)],
    projectCodeId: trip.projectCodeId,
  };
}

/** Cancels a booking for some of its travelers, and refunds what the supplier refunds. */
export async function cancelBooking(
  desk: Desk,
  trip: Trip,
  canceled: { booking: Booking; travelerIds: string[]; refundPercentage: number },
): Promise<(IssuedRefund | undefined)[]> {
  const { booking, travelerIds, refundPercentage } = canceled;
  const segments = segmentsOf(trip.doc, booking);
  const cancellation = {
    ...{
      ...newPart(desk, 'bookingCancellation'),
      bookingId: booking.id,
      travelerIds,
      tripProjectId: trip.id,
    },
    ...(segments.length === 0 ? {} : { transportSegmentIds: segments.map(({ id }) => id) }),
  };
  booking.cancellations = [...(booking.cancellations ?? []), cancellation];
  booking.canceled = travelersOf(trip, booking).every(({ id }) => travelerIds.includes(id));
  for (const segment of segments) segment.canceled = booking.canceled;
  await saveTrip(desk, trip);
  desk.recorder.appendEvent('bookingCancellation.created', toJson(cancellation));
  const refunds = [];
  for (const purchase of trip.purchases)
    if (purchase.bookingId === booking.id && travelerIds.includes(purchase.traveler.id)) {
      const cents = Math.floor((centsOf(purchase.doc.amount) * refundPercentage) / 100);
      refunds.push(await desk.ledger.refund(purchase, cents));
    }
  return refunds;
}

/** Exchanges the last leg of a booking for that of a quote. Each traveler pays or gets back the difference. */
export async function exchangeLastLeg(
  desk: Desk,
  trip: Trip,
  { booking, quote }: { booking: Booking; quote: Quote },
): Promise<(IssuedRefund | undefined)[]> {
  const { doc, id: tripProjectId } = trip;
  const all = segmentsOf(doc, booking);
  const old =
    doc.transportLegs?.findLast(({ segments }) => segments.some((one) => all.includes(one)))?.segments ?? [];
  const rate = addQuote(desk, doc, quote);
  trip.terms.set(rate.id, quote.terms);
  const selected = addBooking(desk, trip, { rateId: rate.id });
  const exchange = {
    originalTransportSegmentIds: old.map(({ id }) => id),
    targetTransportSegmentIds: segmentsOf(doc, selected).map(({ id }) => id),
    travelerIds: doc.travelerIds,
  };
  const modification = {
    ...{ ...newPart(desk, 'bookingModification'), bookingId: booking.id, selectedBookingId: selected.id },
    ...{ transportSegmentExchanges: [exchange], tripProjectId },
  };
  booking.modifications = [...(booking.modifications ?? []), modification];
  for (const segment of old) segment.exchanged = true;
  booking.exchanged = all.every(({ exchanged }) => exchanged);
  await saveTrip(desk, trip);
  desk.recorder.appendEvent('bookingModification.created', toJson(modification));
  desk.recorder.appendEvent('tripProject.booking.succeeded', toJson(selected));
  return payDifferences(desk, trip, { booking, selected, share: old.length / all.length });
}

/** Each traveler pays the price of the new booking, minus the share of the old one that was exchanged. */
async function payDifferences(
  desk: Desk,
  trip: Trip,
  { booking, selected, share }: { booking: Booking; selected: Booking; share: number },
): Promise<(IssuedRefund | undefined)[]> {
  const bought = trip.purchases.filter(({ bookingId }) => bookingId === booking.id);
  const prices = splitCents(centsOf(rateOf(trip.doc, selected.rateId).price), bought.length);
  const refunds = [];
  for (const [position, purchase] of bought.entries()) {
    const cents = (prices[position] ?? 0) - Math.floor(centsOf(purchase.doc.amount) * share);
    if (cents > 0) await buy(desk, trip, { booking: selected, traveler: purchase.traveler, cents });
    else refunds.push(await desk.ledger.refund(purchase, -cents));
  }
  return refunds;
}

/** Records a booking of the offline channel, which has a snapshot but no trip project. `date` is the time of the booking. */
export function bookOffline(
  desk: Desk,
  traveler: StoredResource,
  { quote, date }: { quote: Quote; date: string },
): Promise<Operation> {
  const doc: TripProject = { rates: [], search: { kind: quote.kind }, travelerIds: [traveler.id] };
  const { id: rateId, price } = addQuote(desk, doc, quote);
  const booking = addBooking(desk, { id: desk.newId('B'), doc }, { rateId });
  const snapshot = snapshotOf(doc, booking, { booker: traveler, traveler, terms: quote.terms });
  return desk.ledger.purchase({
    ...{ ...billedTo(traveler, doc), amount: price, date, operationType: quote.kind },
    bookingSnapshot: { ...snapshot, channel: 'offline', date },
    description: describeBooking(doc, booking),
  });
}
