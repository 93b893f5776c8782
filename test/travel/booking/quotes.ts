import type {
  CarQuote,
  HotelQuote,
  QuotedSegment,
  TransportQuote,
} from '../../../src/travel/booking/prices.ts';
import type { Place } from '../../../src/travel/fields.ts';

/** Places. */
export const paris = airport('CDG', 'Paris', 'FR');
export const lisbon = airport('LIS', 'Lisbon', 'PT');
export const madrid = airport('MAD', 'Madrid', 'ES');

/** One way from Paris to Lisbon. */
export function flight(total: number, currency = 'EUR'): TransportQuote {
  return { kind: 'flight', price: { currency, total }, legs: [{ segments: [segment(paris, lisbon, '01')] }] };
}

/** From Paris to Lisbon and back, with a stop in Madrid on the way out: three segments. */
export function roundTrip(total: number): TransportQuote {
  const out = [segment(paris, madrid, '01'), segment(madrid, lisbon, '01')];
  const back = [segment(lisbon, paris, '04')];
  return {
    kind: 'flight',
    price: { currency: 'EUR', total, taxRate: 10 },
    legs: [{ summary: 'out', segments: out }, { segments: back }],
  };
}

/** By train to Madrid. */
export function rail(total: number): TransportQuote {
  const legs = [{ segments: [segment(paris, madrid, '01')] }];
  return { kind: 'rail', price: { currency: 'EUR', total }, legs };
}

/** Three nights in Lisbon. */
export function hotel(total: number): HotelQuote {
  return {
    kind: 'hotel',
    price: { currency: 'EUR', total },
    stay: {
      checkinLocaleDate: '2026-12-01',
      checkoutLocaleDate: '2026-12-04',
      hotelId: 'lis-042',
      place: { country: { code: 'PT' }, name: 'Hotel Tejo', type: 'hotel' },
    },
  };
}

/** A small car in Lisbon. */
export function car(total: number): CarQuote {
  return {
    kind: 'car',
    price: { currency: 'EUR', total },
    rental: {
      car: { acriss: 'ECMR' },
      pickupLocaleDateTime: '2026-12-01T12:00:00',
      pickupPlace: lisbon,
      returnLocaleDateTime: '2026-12-04T08:00:00',
      returnpPlace: lisbon,
    },
  };
}

function airport(iataCode: string, name: string, code: string): Place {
  return { airport: { iataCode }, country: { code }, name, type: 'airport' };
}

function segment(from: Place, to: Place, day: string): QuotedSegment {
  return {
    arrival: { localeDateTime: `2026-12-${day}T11:00:00`, place: to },
    departure: { localeDateTime: `2026-12-${day}T09:00:00`, place: from },
    operatingCarrier: { id: 'TP', name: 'TAP Air Portugal' },
  };
}
