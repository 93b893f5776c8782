import { type JsonObject, textOf } from '../json.ts';
import type { StoredResource } from '../ports.ts';
import type { BookingSnapshot } from '../resources/booking-snapshot.ts';
import type { Place } from '../resources/place.ts';
import type { TripProject } from '../resources/trip-project.ts';
import type { Order } from './book.ts';
import type { Booking } from './coverage.ts';
import { priced } from './money.ts';

/** Who booked what for whom, on which terms. */
export interface Terms {
  booker: StoredResource;
  traveler: StoredResource;
  order: Pick<Order, 'budget' | 'cities' | 'fare' | 'supplierName'>;
}

/** What is known of a booking when it is made, kept for billing whatever becomes of the trip. */
export function snapshotOf(trip: TripProject, booking: Booking, terms: Terms): BookingSnapshot {
  const { booker, traveler, order } = terms;
  const supplierName = order.supplierName ?? supplierOf(trip, booking);
  return {
    booker: personOf(booker),
    channel: 'online',
    date: booking.createdAt,
    ...hotelPart(trip, booking, order),
    kind: booking.kind,
    ...(booking.reference === undefined ? {} : { reference: booking.reference }),
    ...(order.budget === undefined ? {} : { servicebudget: priced(order.budget) }),
    ...(supplierName === undefined ? {} : { supplierName }),
    ...transportPart(trip, booking, order),
    traveler: personOf(traveler),
  };
}

/** A user as a snapshot names them. */
export function personOf({ id, doc }: StoredResource): BookingSnapshot['booker'] {
  const email = textOf(doc, 'email') ?? '';
  return { id, email, fullName: fullName(doc) || email };
}

/** What a booking is, in a few words. */
export function wordsFor(trip: TripProject, booking: Booking): string {
  const stay = stayOf(trip, booking);
  if (stay) return `Hotel ${stay.place.name}`;
  const rental = (trip.carRentals ?? []).find(({ bookingId }) => bookingId === booking.id);
  if (rental) return `Car from ${rental.pickupPlace.name}`;
  const [first] = legsOf(trip, booking);
  const from = first?.at(0)?.departure.place.name ?? '';
  return `${booking.kind === 'rail' ? 'Train' : 'Flight'} from ${from} to ${first?.at(-1)?.arrival.place.name ?? ''}`;
}

function fullName(doc: JsonObject): string {
  return [textOf(doc, 'firstName'), textOf(doc, 'lastName')].filter(Boolean).join(' ');
}

function supplierOf(trip: TripProject, booking: Booking): string | undefined {
  return stayOf(trip, booking)?.place.name ?? legsOf(trip, booking)[0]?.[0]?.operatingCarrier?.name;
}

function hotelPart(
  trip: TripProject,
  booking: Booking,
  { cities }: Pick<Order, 'cities'>,
): Pick<BookingSnapshot, 'hotel'> {
  const stay = stayOf(trip, booking);
  if (!stay) return {};
  const { checkinLocaleDate, checkoutLocaleDate, place } = stay;
  return { hotel: { checkinLocaleDate, checkoutLocaleDate, place: spot(place, cities?.destination) } };
}

function transportPart(
  trip: TripProject,
  booking: Booking,
  { cities, fare }: Pick<Order, 'cities' | 'fare'>,
): Pick<BookingSnapshot, 'transport'> {
  const legs = legsOf(trip, booking);
  const departure = legs[0]?.[0]?.departure;
  const destination = legs[0]?.at(-1)?.arrival.place;
  if (!departure || !destination) return {};
  const home = legs.at(-1)?.at(-1)?.arrival.place.name === departure.place.name;
  const type = legs.length === 1 ? 'oneWay' : legs.length === 2 && home ? 'roundTrip' : 'multiCity';
  const returning = legs.length > 1 ? legs.at(-1)?.[0]?.departure.localeDateTime.slice(0, 10) : undefined;
  return {
    transport: {
      departure: spot(departure.place, cities?.departure),
      departureLocaleDate: departure.localeDateTime.slice(0, 10),
      destination: spot(destination, cities?.destination),
      itineraryType: type,
      ...fare,
      ...(returning === undefined ? {} : { returnLocaleDate: returning }),
    },
  };
}

function stayOf(trip: TripProject, booking: Booking) {
  return (trip.hotelStays ?? []).find(({ bookingId }) => bookingId === booking.id);
}

function legsOf(trip: TripProject, booking: Booking) {
  const legs = (trip.transportLegs ?? []).map(({ segments }) =>
    segments.filter(({ bookingId }) => bookingId === booking.id),
  );
  return legs.filter((segments) => segments.length > 0);
}

function spot({ airport, country }: Place, city: string | undefined) {
  return {
    ...(airport ? { airport: airport.iataCode } : {}),
    ...(city === undefined ? {} : { city }),
    ...(country ? { countryCode: country.code } : {}),
  };
}
