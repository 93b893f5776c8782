import { formatTimestamp, type RecorderDeps } from '../travel/collection.ts';
import type { Place } from '../travel/fields.ts';
import { stringMember } from '../travel/json.ts';
import type { StoredResource } from '../travel/ports.ts';
import { amountOf, centsOf, type Price } from '../travel/resources/amounts.ts';
import type { BookingSnapshot, TripProject } from '../travel/resources/trip-project.ts';

/** A booking of a trip project. */
export type Booking = NonNullable<TripProject['bookings']>[number];
type Rate = TripProject['rates'][number];
type Rental = NonNullable<TripProject['carRentals']>[number];
type Stay = NonNullable<TripProject['hotelStays']>[number];
type Segment = NonNullable<TripProject['transportLegs']>[number]['segments'][number];

/** A segment of a quote. It lacks the fields that a trip adds later. */
export type QuotedSegment = Omit<Segment, 'id' | 'rateId' | 'bookingId' | 'canceled' | 'exchanged'>;

/** A supplier's quote for a hotel stay, a car, which the first traveler rents, or a journey. */
export interface Quote {
  kind: 'car' | 'flight' | 'hotel' | 'rail';
  /** The price for all travelers together. */
  price: Price;
  stay?: Omit<Stay, 'rateId' | 'bookingId'>;
  rental?: Omit<Rental, 'rateId' | 'bookingId'>;
  legs?: { summary?: string; segments: QuotedSegment[] }[];
  terms?: Terms;
}

/** What a snapshot says about a booking, and the trip does not. */
export interface Terms {
  supplierName?: string;
  /** The cost for one traveler that the travel policy suggests. */
  budget?: Price;
  /** The cities of departure and destination, which are not part of the names of airports and hotels. */
  cities?: { departure?: string; destination?: string };
  /** The conditions of the ticket. */
  fare?: { cabinClass?: string; category?: string; fareType?: string; lowCost?: boolean };
}

/** The id, type and creation time of a new part of a trip. */
export function newPart<Type extends string>({ newId, now }: RecorderDeps, type: Type) {
  return { id: newId('A'), type, createdAt: formatTimestamp(now()) };
}

/** Adds the rate of a quote to a trip project, and its stay, rental or legs. */
export function addQuote(deps: RecorderDeps, doc: TripProject, quote: Quote): Rate {
  const { kind, price, stay, rental, legs = [] } = quote;
  const rate = { ...newPart(deps, 'rate'), kind, price: amountOf(centsOf(price), price) };
  const rateId = rate.id;
  doc.rates = [...doc.rates, rate];
  if (stay) doc.hotelStays = [...(doc.hotelStays ?? []), { ...stay, rateId }];
  if (rental) doc.carRentals = [...(doc.carRentals ?? []), { ...rental, rateId }];
  const state = { rateId, canceled: false, exchanged: false };
  for (const { segments, ...leg } of legs) {
    const added = segments.map((segment) => ({ ...segment, ...state, id: deps.newId('A') }));
    doc.transportLegs = [...(doc.transportLegs ?? []), { ...leg, kind, segments: added }];
  }
  return rate;
}

/** Adds the booking of a rate. A successful one is assigned its stay, rental or segments. */
export function addBooking(
  deps: RecorderDeps,
  { id: tripProjectId, doc }: { id: string; doc: TripProject },
  { rateId, fails = false }: { rateId: string; fails?: boolean },
): Booking {
  const { bookings = [] } = doc;
  const { kind } = rateOf(doc, rateId);
  const part = {
    ...newPart(deps, 'booking'),
    canceled: false,
    exchanged: false,
    kind,
    rateId,
    tripProjectId,
  };
  // A booking code is unique within the trip.
  const reference = `${tripProjectId.replace(/\W/g, '').slice(-5)}${bookings.length + 1}`.toUpperCase();
  const booking = { ...part, ...(fails ? { status: 'failed' } : { reference, status: 'succeeded' }) };
  doc.bookings = [...bookings, booking];
  const parts = [...(doc.carRentals ?? []), ...(doc.hotelStays ?? []), ...allSegments(doc)];
  if (!fails)
    for (const booked of parts.filter((one) => one.rateId === rateId)) booked.bookingId = booking.id;
  return booking;
}

/** Returns a rate of a trip. */
export function rateOf({ rates }: TripProject, rateId: string): Rate {
  const rate = rates.find(({ id }) => id === rateId);
  if (!rate) throw new Error(`the trip has no rate ${rateId}`);
  return rate;
}

function allSegments({ transportLegs = [] }: TripProject): Segment[] {
  return transportLegs.flatMap(({ segments }) => segments);
}

/** Returns the segments of a booking; none for a hotel or a car. */
export function segmentsOf(doc: TripProject, booking: Booking): Segment[] {
  return allSegments(doc).filter(({ bookingId }) => bookingId === booking.id);
}

/** The people and terms that a snapshot describes. */
interface SnapshotParties {
  booker: StoredResource;
  traveler: StoredResource;
  terms: Terms | undefined;
}

/** Describes a booking at the time it is made. Billing keeps this snapshot even if the trip changes. */
export function snapshotOf(doc: TripProject, booking: Booking, parties: SnapshotParties): BookingSnapshot {
  const { booker, traveler, terms: { budget, cities = {}, fare, ...terms } = {} } = parties;
  const { createdAt: date, kind, reference } = booking;
  const stay = stayOf(doc, booking);
  const [first] = segmentsOf(doc, booking);
  const supplierName = terms.supplierName ?? stay?.place.name ?? first?.operatingCarrier?.name;
  return {
    ...{ booker: toPerson(booker), traveler: toPerson(traveler), channel: 'online', date, kind },
    ...(stay ? { hotel: hotelPart(stay, cities.destination) } : {}),
    ...(reference === undefined ? {} : { reference }),
    ...(budget ? { servicebudget: amountOf(centsOf(budget), budget) } : {}),
    ...(supplierName === undefined ? {} : { supplierName }),
    ...(first ? { transport: { ...transportPart(doc, booking, cities), ...fare } } : {}),
  };
}

/** Returns the id, email and name of a user in the form of a snapshot. */
function toPerson({ id, doc }: StoredResource): BookingSnapshot['booker'] {
  const [email = '', ...names] = ['email', 'firstName', 'lastName'].map((name) => stringMember(doc, name));
  return { id, email, fullName: names.filter(Boolean).join(' ') || email };
}

/** A short description of a booking for billing, e.g. "Hotel Tejo". */
export function describeBooking(doc: TripProject, booking: Booking): string {
  const stay = stayOf(doc, booking);
  if (stay) return `Hotel ${stay.place.name}`;
  const rental = (doc.carRentals ?? []).find(({ bookingId }) => bookingId === booking.id);
  if (rental) return `Car from ${rental.pickupPlace.name}`;
  const [first] = legsOf(doc, booking);
  const from = first?.at(0)?.departure.place.name ?? '';
  return `${booking.kind === 'rail' ? 'Train' : 'Flight'} from ${from} to ${first?.at(-1)?.arrival.place.name ?? ''}`;
}

function hotelPart({ checkinLocaleDate, checkoutLocaleDate, place }: Stay, city: string | undefined) {
  return { checkinLocaleDate, checkoutLocaleDate, place: toSpot(place, city) };
}

function transportPart(doc: TripProject, booking: Booking, cities: NonNullable<Terms['cities']>) {
  const [first = [], ...others] = legsOf(doc, booking);
  const [departure, destination] = [first[0]?.departure, first.at(-1)?.arrival.place];
  if (!departure || !destination) throw new Error('a leg has no segments');
  const back = others.at(-1);
  const isHome = back?.at(-1)?.arrival.place.name === departure.place.name;
  return {
    departure: toSpot(departure.place, cities.departure),
    departureLocaleDate: departure.localeDateTime.slice(0, 10),
    destination: toSpot(destination, cities.destination),
    itineraryType: others.length === 0 ? 'oneWay' : others.length === 1 && isHome ? 'roundTrip' : 'multiCity',
    ...(back?.[0] ? { returnLocaleDate: back[0].departure.localeDateTime.slice(0, 10) } : {}),
  };
}

function stayOf(doc: TripProject, booking: Booking): Stay | undefined {
  return (doc.hotelStays ?? []).find(({ bookingId }) => bookingId === booking.id);
}

/** The segments of a booking by leg. */
function legsOf({ transportLegs = [] }: TripProject, booking: Booking): Segment[][] {
  const isOwn = ({ bookingId }: Segment) => bookingId === booking.id;
  return transportLegs.map(({ segments }) => segments.filter(isOwn)).filter(({ length }) => length > 0);
}

function toSpot({ airport, country }: Place, city: string | undefined) {
  return {
    ...(airport ? { airport: airport.iataCode } : {}),
    ...(city === undefined ? {} : { city }),
    ...(country ? { countryCode: country.code } : {}),
  };
}
