import { formatTimestamp } from '../travel/collection.ts';
import { stringMember } from '../travel/json.ts';
import type { StoredResource } from '../travel/ports.ts';
import { amountOf, centsOf, type Price } from '../travel/resources/amounts.ts';
import { customFieldsOf } from '../travel/resources/custom-field-values.ts';
import { type BookingSnapshot, type TripProject, tripProject } from '../travel/resources/trip-project.ts';
import { addPurchase, addRefund, type Ledger, type Operation, toJson } from './ledger.ts';

/** A trip, the traveler who books and pays it, and its purchases. */
export interface Trip {
  /** The document, which bookings change; `stored` is its last stored state. */
  doc: TripProject;
  stored: StoredResource;
  traveler: StoredResource;
  quotes: Map<string, Quote>;
  purchases: Operation[];
}

/** A booking of a trip project. */
export type Booking = NonNullable<TripProject['bookings']>[number];
type Segment = NonNullable<TripProject['transportLegs']>[number]['segments'][number];

/** A supplier's quote for a hotel stay, a car or a journey, with what billing says about it. */
export interface Quote {
  kind: 'car' | 'flight' | 'hotel' | 'rail';
  price: Price;
  description: string;
  snapshot: Pick<Partial<BookingSnapshot>, 'hotel' | 'servicebudget' | 'supplierName' | 'transport'>;
  stay?: Omit<NonNullable<TripProject['hotelStays']>[number], 'rateId' | 'bookingId'>;
  rental?: Omit<NonNullable<TripProject['carRentals']>[number], 'rateId' | 'bookingId'>;
  legs?: { summary: string; segments: QuotedSegment[] }[];
}

/** A segment of a quote. It lacks the fields that a trip adds. */
export type QuotedSegment = Omit<Segment, 'id' | 'rateId' | 'bookingId' | 'canceled' | 'exchanged'>;

/** Creates a trip project with one rate for each quote. */
export async function searchTrip(
  ledger: Ledger,
  traveler: StoredResource,
  quotes: Quote[],
  details: Omit<TripProject, 'rates'>,
): Promise<Trip> {
  const doc: TripProject = { ...details, rates: [] };
  const byRate = new Map(quotes.map((quote) => [addQuote(ledger, doc, quote), quote]));
  const stored = await ledger.recorder.create(tripProject, toJson(doc));
  return { doc, stored, traveler, quotes: byRate, purchases: [] };
}

/** Stores a changed trip. Its changes have no event of their own. */
export async function saveTrip({ recorder }: Ledger, trip: Trip): Promise<void> {
  trip.stored = await recorder.replace(tripProject, trip.stored, toJson(trip.doc));
}

/** Adds the rate of a quote to a trip project, and its stay, rental or legs. Returns the id of the rate. */
function addQuote(ledger: Ledger, doc: TripProject, { kind, price, stay, rental, legs = [] }: Quote): string {
  const rate = { ...newPart(ledger, 'rate'), kind, price: amountOf(centsOf(price), price) };
  const rateId = rate.id;
  doc.rates = [...doc.rates, rate];
  if (stay) doc.hotelStays = [{ ...stay, rateId }];
  if (rental) doc.carRentals = [{ ...rental, rateId }];
  for (const { summary, segments } of legs) {
    const state = { rateId, canceled: false, exchanged: false };
    const added = segments.map((segment) => ({ ...segment, ...state, id: ledger.newId('A') }));
    doc.transportLegs = [...(doc.transportLegs ?? []), { kind, segments: added, summary }];
  }
  return rateId;
}

/** The id, type and creation time of a new part of a trip. */
function newPart<Type extends string>({ newId, now }: Ledger, type: Type) {
  return { id: newId('A'), type, createdAt: formatTimestamp(now()) };
}

/** Books rates of a trip. A successful booking is purchased, a failed one costs nothing. */
export async function bookTrip(
  ledger: Ledger,
  trip: Trip,
  rateIds: string[],
  status: 'failed' | 'succeeded' = 'succeeded',
): Promise<Booking[]> {
  const { doc, quotes, stored } = trip;
  const made = [];
  for (const rateId of rateIds) {
    const state = { canceled: false, exchanged: false, kind: quotes.get(rateId)?.kind ?? '', rateId, status };
    const booking: Booking = { ...newPart(ledger, 'booking'), ...state, tripProjectId: stored.id };
    doc.bookings = [...(doc.bookings ?? []), booking];
    made.push(booking);
    if (status === 'failed') continue;
    // A booking code is unique within the trip.
    booking.reference = `${stored.id.replace(/\W/g, '').slice(-5)}${doc.bookings.length}`.toUpperCase();
    const parts = [...(doc.carRentals ?? []), ...(doc.hotelStays ?? []), ...segmentsOf(doc)];
    for (const part of parts.filter((one) => one.rateId === rateId)) part.bookingId = booking.id;
  }
  await saveTrip(ledger, trip);
  for (const booking of made) {
    ledger.recorder.appendEvent(`tripProject.booking.${status}`, toJson(booking));
    if (status === 'succeeded') trip.purchases.push(await purchaseBooking(ledger, trip, booking));
  }
  return made;
}

function segmentsOf({ transportLegs = [] }: TripProject): Segment[] {
  return transportLegs.flatMap(({ segments }) => segments);
}

function purchaseBooking(ledger: Ledger, trip: Trip, booking: Booking): Promise<Operation> {
  const { doc, traveler } = trip;
  const { createdAt: date, kind, rateId, reference } = booking;
  const quote = trip.quotes.get(rateId);
  if (!quote) throw new Error(`the trip has no rate ${rateId}`);
  const text = (field: string) => stringMember(traveler.doc, field);
  const fullName = [text('firstName'), text('lastName')].filter(Boolean).join(' ');
  const person = { id: traveler.id, email: text('email') ?? '', fullName };
  const booked = { booker: person, traveler: person, channel: 'online' };
  return addPurchase(ledger, {
    amount: amountOf(centsOf(quote.price), quote.price),
    ...{ billingProfileId: text('billingProfileId'), costCenterId: text('costCenterId') },
    bookingSnapshot: { ...booked, date, kind, reference, ...quote.snapshot },
    customFields: [...(doc.customFields ?? []), ...customFieldsOf(traveler.doc)],
    ...{ description: quote.description, operationType: kind, projectCodeId: doc.projectCodeId },
    tripProjectId: trip.stored.id,
  });
}

/** Cancels a booking, and refunds what the supplier refunds. Returns the refund resource, if there is one. */
export async function cancelBooking(ledger: Ledger, trip: Trip, booking: Booking, refundPercentage: number) {
  const segments = segmentsOf(trip.doc).filter(({ bookingId }) => bookingId === booking.id);
  const cancellation = {
    ...{ ...newPart(ledger, 'bookingCancellation'), bookingId: booking.id, tripProjectId: trip.stored.id },
    ...(segments.length === 0 ? {} : { transportSegmentIds: segments.map(({ id }) => id) }),
    travelerIds: trip.doc.travelerIds,
  };
  booking.cancellations = [cancellation];
  for (const one of [booking, ...segments]) one.canceled = true;
  await saveTrip(ledger, trip);
  ledger.recorder.appendEvent('bookingCancellation.created', toJson(cancellation));
  return refundBooking(ledger, trip, booking, refundPercentage);
}

/** Exchanges a flight or train for another one: the traveler pays its price, and gets back that of the first one. */
export async function exchangeBooking(ledger: Ledger, trip: Trip, booking: Booking, quote: Quote) {
  const { doc } = trip;
  const old = segmentsOf(doc);
  const rateId = addQuote(ledger, doc, quote);
  trip.quotes.set(rateId, quote);
  const [selected = booking] = await bookTrip(ledger, trip, [rateId]);
  const exchange = {
    originalTransportSegmentIds: old.map(({ id }) => id),
    targetTransportSegmentIds: segmentsOf(doc).flatMap((one) => (one.rateId === rateId ? one.id : [])),
    travelerIds: doc.travelerIds,
  };
  const modification = {
    ...{ ...newPart(ledger, 'bookingModification'), bookingId: booking.id, selectedBookingId: selected.id },
    ...{ transportSegmentExchanges: [exchange], tripProjectId: trip.stored.id },
  };
  booking.modifications = [modification];
  for (const one of [booking, ...old]) one.exchanged = true;
  await saveTrip(ledger, trip);
  ledger.recorder.appendEvent('bookingModification.created', toJson(modification));
  return refundBooking(ledger, trip, booking, 100);
}

async function refundBooking(ledger: Ledger, { purchases }: Trip, booking: Booking, percentage: number) {
  const purchase = purchases.find(({ doc }) => doc.bookingSnapshot?.reference === booking.reference);
  const cents = purchase && Math.floor((centsOf(purchase.doc.amount) * percentage) / 100);
  return purchase && cents ? addRefund(ledger, purchase, cents) : undefined;
}
