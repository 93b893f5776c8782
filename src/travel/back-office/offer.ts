import type { TripProject } from '../resources/trip-project.ts';
import { type Price, priced } from './money.ts';

type Rental = NonNullable<TripProject['carRentals']>[number];
type Stay = NonNullable<TripProject['hotelStays']>[number];
type Leg = NonNullable<TripProject['transportLegs']>[number];
type Segment = Leg['segments'][number];

/** From one stop to the next, as it is offered. */
export type OfferedSegment = Omit<Segment, 'id' | 'rateId' | 'bookingId' | 'canceled' | 'exchanged'>;

/** A journey by plane or train. */
export interface TransportOffer {
  kind: 'flight' | 'rail';
  /** For all travelers. */
  price: Price;
  legs: { summary?: string; segments: OfferedSegment[] }[];
}

/** Some nights in a hotel. */
export interface HotelOffer {
  kind: 'hotel';
  /** For all travelers. */
  price: Price;
  stay: Omit<Stay, 'rateId' | 'bookingId'>;
  /** False: what is booked is to be paid, come what may. */
  cancellable?: boolean;
}

/** A car, which the first traveler rents. */
export interface CarOffer {
  kind: 'car';
  price: Price;
  rental: Omit<Rental, 'rateId' | 'bookingId'>;
}

/** What a supplier offers; a trip has one rate for each. */
export type Offer = TransportOffer | HotelOffer | CarOffer;

/** When something is made, and how it gets its id. */
export interface Making {
  /** As it is answered. */
  at: string;
  newId(form: 'A' | 'B'): string;
}

/** What offers make of a trip project: a rate each, and what is had for it. */
export function withOffers<Trip extends Pick<TripProject, 'rates'> & Partial<TripProject>>(
  trip: Trip,
  offers: Offer[],
  making: Making,
): Trip {
  return offers.reduce((before, offer) => withOffer(before, offer, making), trip);
}

function withOffer<Trip extends Pick<TripProject, 'rates'> & Partial<TripProject>>(
  trip: Trip,
  offer: Offer,
  { at, newId }: Making,
): Trip {
  const rateId = newId('A');
  const { kind, price } = offer;
  const rate = { id: rateId, type: 'rate' as const, createdAt: at, kind, price: priced(price) };
  const rates = [...trip.rates, rate];
  switch (offer.kind) {
    case 'hotel':
      return { ...trip, rates, hotelStays: [...(trip.hotelStays ?? []), { ...offer.stay, rateId }] };
    case 'car':
      return { ...trip, rates, carRentals: [...(trip.carRentals ?? []), { ...offer.rental, rateId }] };
    case 'flight':
    case 'rail': {
      const legs = offer.legs.map(({ summary, segments }) => ({
        kind: offer.kind,
        segments: segments.map((segment) => newSegment(segment, { id: newId('A'), rateId })),
        ...(summary === undefined ? {} : { summary }),
      }));
      return { ...trip, rates, transportLegs: [...(trip.transportLegs ?? []), ...legs] };
    }
  }
}

function newSegment(segment: OfferedSegment, ids: { id: string; rateId: string }): Segment {
  return { ...segment, ...ids, canceled: false, exchanged: false };
}
