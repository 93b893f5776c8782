import { ApiError } from '../errors.ts';
import type { Amount } from '../fields.ts';
import type { TripProject } from '../resources/trip-project.ts';

/** A price, tax included. */
export interface Price {
  currency: string;
  /** The amount, with at most two decimals. */
  total: number;
  /** In percent; undefined if the tax is unknown. */
  taxRate?: number | undefined;
}

/** Converts an amount to hundredths, which can be added without rounding errors. */
export function centsOf({ total }: Pick<Amount, 'total'>): number {
  return Math.round(total * 100);
}

/** Converts hundredths to an amount. */
export function amountOf(cents: number, price: Omit<Price, 'total'>): Amount {
  return partialAmount(cents, cents, price);
}

/**
 * Takes a part from a remaining amount. Its tax is the difference of the remaining taxes before and after, so that the
 * taxes of all parts add up to the tax of the whole.
 */
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

/** Converts a price to an amount. Throws `conflict` if it is negative or not a whole number of hundredths. */
export function toAmount(price: Price): Amount {
  const cents = centsOf(price);
  if (cents < 0 || !Number.isSafeInteger(cents) || Math.abs(cents / 100 - price.total) > 1e-9) {
    throw new ApiError('conflict', `${price.total} is no price: it must be zero or more, in hundredths.`);
  }
  return amountOf(cents, price);
}

/** Splits cents into parts as equal as possible; the first parts are larger by one cent. */
export function splitCents(cents: number, parts: number): number[] {
  const least = Math.floor(cents / parts);
  return Array.from({ length: parts }, (_part, position) => least + Number(position < cents - least * parts));
}

/** Sums amounts of one currency: `added` minus `takenOff`. The tax is present only if all amounts have one. */
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

/** A segment of a quote. It lacks the fields that a trip adds later. */
export type QuotedSegment = Omit<Segment, 'id' | 'rateId' | 'bookingId' | 'canceled' | 'exchanged'>;

/** A quote for a journey by plane or train. */
export interface TransportQuote {
  kind: 'flight' | 'rail';
  /** The price for all travelers together. */
  price: Price;
  legs: { summary?: string; segments: QuotedSegment[] }[];
}

/** A quote for a hotel stay. */
export interface HotelQuote {
  kind: 'hotel';
  /** The price for all travelers together. */
  price: Price;
  stay: Omit<Stay, 'rateId' | 'bookingId'>;
  /** If false, a booking is not refundable. */
  cancellable?: boolean;
}

/** A quote for a car, which the first traveler rents. */
export interface CarQuote {
  kind: 'car';
  price: Price;
  rental: Omit<Rental, 'rateId' | 'bookingId'>;
}

/** A supplier's quote; a trip has one rate for each. */
export type Quote = TransportQuote | HotelQuote | CarQuote;

/** The creation time and the source of ids for new parts of a trip. */
export interface CreationContext {
  /** The time in response form (ISO 8601). */
  at: string;
  newId(form: 'A' | 'B'): string;
}

/** Adds quotes to a trip project: for each a rate, and its stay, rental or legs. */
export function addQuotes<Trip extends Pick<TripProject, 'rates'> & Partial<TripProject>>(
  trip: Trip,
  quotes: Quote[],
  context: CreationContext,
): Trip {
  return quotes.reduce((before, quote) => addQuote(before, quote, context), trip);
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
