import { ApiError } from '../errors.ts';
import type { Amount } from '../fields.ts';
import type { TripProject } from '../resources/trip-project.ts';

/** What something costs, tax included. */
export interface Price {
  currency: string;
  /** At most two decimals. */
  total: number;
  /** A percentage; without it nothing is said of the tax. */
  taxRate?: number | undefined;
}

/** An amount in hundredths, in which sums are exact. */
export function centsOf({ total }: Pick<Amount, 'total'>): number {
  return Math.round(total * 100);
}

/** An amount of so many hundredths. */
export function amountOf(cents: number, price: Omit<Price, 'total'>): Amount {
  return partialAmount(cents, cents, price);
}

/** A part of what is left of an amount. Its tax is what it takes from the tax of the whole, so that all parts make that, too. */
export function partialAmount(
  cents: number,
  left: number,
  { currency, taxRate }: Omit<Price, 'total'>,
): Amount {
  const total = cents / 100;
  if (taxRate === undefined) return { currency, total };
  const tax = taxIn(left, taxRate) - taxIn(left - cents, taxRate);
  return { base: (cents - tax) / 100, currency, tax: tax / 100, taxRate, total };
}

/** A price as an amount; it is not below zero, and whole hundredths. */
export function toAmount(price: Price): Amount {
  const cents = centsOf(price);
  if (cents < 0 || !Number.isSafeInteger(cents) || Math.abs(cents / 100 - price.total) > 1e-9) {
    throw new ApiError('conflict', `${price.total} is no price: it must be zero or more, in hundredths.`);
  }
  return amountOf(cents, price);
}

/** Cents in as many parts as equal as can be; the first are larger by one. */
export function splitCents(cents: number, parts: number): number[] {
  const least = Math.floor(cents / parts);
  return Array.from({ length: parts }, (_part, position) => least + Number(position < cents - least * parts));
}

/** The sum of amounts of one currency, those to be taken off after those to be added; its tax is known when all of theirs is. */
export function sumAmounts(added: Amount[], takenOff: Amount[]): Amount {
  const all = [...added, ...takenOff];
  const sum = (field: 'total' | 'tax' | 'base') => (sumCents(added, field) - sumCents(takenOff, field)) / 100;
  const [first] = all;
  const currency = first?.currency ?? '';
  if (all.some(({ currency: other }) => other !== currency)) {
    throw new Error('amounts of several currencies have no sum');
  }
  if (all.some(({ tax, base }) => tax === undefined || base === undefined)) {
    return { currency, total: sum('total') };
  }
  const rate = first?.taxRate;
  const taxRate = all.every((one) => one.taxRate === rate) ? rate : undefined;
  return {
    base: sum('base'),
    currency,
    tax: sum('tax'),
    ...(taxRate === undefined ? {} : { taxRate }),
    total: sum('total'),
  };
}

function taxIn(total: number, rate: number): number {
  return Math.round((total * rate) / (100 + rate));
}

function sumCents(amounts: Amount[], field: 'total' | 'tax' | 'base'): number {
  return amounts.reduce((sum, amount) => sum + centsOf({ total: amount[field] ?? 0 }), 0);
}

type Rental = NonNullable<TripProject['carRentals']>[number];
type Stay = NonNullable<TripProject['hotelStays']>[number];
type Leg = NonNullable<TripProject['transportLegs']>[number];
type Segment = Leg['segments'][number];

/** From one stop to the next, as it is offered. */
export type QuotedSegment = Omit<Segment, 'id' | 'rateId' | 'bookingId' | 'canceled' | 'exchanged'>;

/** A journey by plane or train. */
export interface TransportQuote {
  kind: 'flight' | 'rail';
  /** For all travelers. */
  price: Price;
  legs: { summary?: string; segments: QuotedSegment[] }[];
}

/** Some nights in a hotel. */
export interface HotelQuote {
  kind: 'hotel';
  /** For all travelers. */
  price: Price;
  stay: Omit<Stay, 'rateId' | 'bookingId'>;
  /** False: what is booked is to be paid, come what may. */
  cancellable?: boolean;
}

/** A car, which the first traveler rents. */
export interface CarQuote {
  kind: 'car';
  price: Price;
  rental: Omit<Rental, 'rateId' | 'bookingId'>;
}

/** What a supplier offers; a trip has one rate for each. */
export type Quote = TransportQuote | HotelQuote | CarQuote;

/** When something is made, and how it gets its id. */
export interface CreationContext {
  /** As it is answered. */
  at: string;
  newId(form: 'A' | 'B'): string;
}

/** What offers make of a trip project: a rate each, and what is had for it. */
export function addQuotes<Trip extends Pick<TripProject, 'rates'> & Partial<TripProject>>(
  trip: Trip,
  quotes: Quote[],
  making: CreationContext,
): Trip {
  return quotes.reduce((before, quote) => addQuote(before, quote, making), trip);
}

function addQuote<Trip extends Pick<TripProject, 'rates'> & Partial<TripProject>>(
  trip: Trip,
  quote: Quote,
  { at, newId }: CreationContext,
): Trip {
  const rateId = newId('A');
  const { kind, price } = quote;
  const rate = { id: rateId, type: 'rate' as const, createdAt: at, kind, price: toAmount(price) };
  const rates = [...trip.rates, rate];
  switch (quote.kind) {
    case 'hotel':
      return { ...trip, rates, hotelStays: [...(trip.hotelStays ?? []), { ...quote.stay, rateId }] };
    case 'car':
      return { ...trip, rates, carRentals: [...(trip.carRentals ?? []), { ...quote.rental, rateId }] };
    case 'flight':
    case 'rail': {
      const legs = quote.legs.map(({ summary, segments }) => ({
        kind: quote.kind,
        segments: segments.map((segment) => newSegment(segment, { id: newId('A'), rateId })),
        ...(summary === undefined ? {} : { summary }),
      }));
      return { ...trip, rates, transportLegs: [...(trip.transportLegs ?? []), ...legs] };
    }
  }
}

function newSegment(segment: QuotedSegment, ids: { id: string; rateId: string }): Segment {
  return { ...segment, ...ids, canceled: false, exchanged: false };
}
