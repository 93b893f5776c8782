import type { HotelOffer, OfferedSegment, TransportOffer } from '../back-office/offer.ts';
import { type City, kilometers, stopIn } from './cities.ts';
import type { Dice } from './dice.ts';
import { localTime, timeOf } from './local-time.ts';
import { DAY } from './scene.ts';

/** What a trip is priced in. */
export interface Money {
  currency: string;
  dice: Dice;
}

/** From a city to another, by local clocks that are written as if they were UTC. */
export interface Way {
  from: City;
  to: City;
  kind: 'flight' | 'rail';
  departsAt: number;
}

/** What one euro is in each currency, near enough for a price. */
const rates: Record<string, number> = { EUR: 1, GBP: 0.85, SEK: 11 };

/** So much in euros, in the currency of the trip, with the random part of every price. */
export function price(euros: number, { currency, dice }: Money, taxRate?: number) {
  const cents = Math.round(euros * (0.8 + 0.5 * dice.next()) * (rates[currency] ?? 1) * 100);
  return { currency, total: cents / 100, ...(taxRate === undefined ? {} : { taxRate }) };
}

/** By plane or train: one way, or there and back. */
export function journey(way: Way, returnsAt: number | undefined, money: Money, people = 1): TransportOffer {
  const { from, to, kind } = way;
  const back: Way[] = returnsAt === undefined ? [] : [{ from: to, to: from, kind, departsAt: returnsAt }];
  const legs = [way, ...back].map((one) => {
    return { summary: `${one.from.name} – ${one.to.name}`, segments: [segment(one, money.dice)] };
  });
  const far = kilometers(from, to);
  const euros = (kind === 'flight' ? 45 + 0.09 * far : 20 + 0.12 * far) * legs.length * people;
  return { kind, legs, price: price(euros, money, kind === 'rail' ? 10 : undefined) };
}

/** The nights in a hotel of a city between two local times. */
export function stay(city: City, [from, to]: [number, number], money: Money, people = 1): HotelOffer {
  const name = `${money.dice.of(hotels)} ${city.name}`;
  const nights = Math.max(1, Math.round((midnight(to) - midnight(from)) / DAY));
  return {
    kind: 'hotel',
    cancellable: money.dice.chance(0.9),
    price: price(125 * nights * people, money, 10),
    stay: {
      checkinLocaleDate: clock(from).slice(0, 10),
      checkoutLocaleDate: clock(midnight(from) + nights * DAY).slice(0, 10),
      hotelId: name.toLowerCase().replaceAll(' ', '-'),
      place: {
        country: { code: city.country },
        geoloc: { lat: city.lat, lng: city.lng },
        name,
        type: 'hotel',
      },
    },
  };
}

/** A local date-time, from a local clock that is written as if it were UTC. */
export function clock(local: number): string {
  return new Date(local).toISOString().slice(0, 19);
}

/** The day's first moment. */
export function midnight(time: number): number {
  return Math.floor(time / DAY) * DAY;
}

const hotels = ['Hotel Central', 'Hotel du Parc', 'Grand Hotel', 'Station Hotel', 'Riverside Hotel'];

const airlines: Record<string, { id: string; name: string }> = {
  FR: { id: 'AF', name: 'Air France' },
  DE: { id: 'LH', name: 'Lufthansa' },
  GB: { id: 'BA', name: 'British Airways' },
  ES: { id: 'IB', name: 'Iberia' },
  IT: { id: 'AZ', name: 'ITA Airways' },
  SE: { id: 'SK', name: 'SAS' },
};

const railways: Record<string, { id: string; name: string }> = {
  FR: { id: 'SNCF', name: 'SNCF Voyageurs' },
  DE: { id: 'DB', name: 'Deutsche Bahn' },
  GB: { id: 'GWR', name: 'National Rail' },
  ES: { id: 'RENFE', name: 'Renfe' },
  IT: { id: 'TI', name: 'Trenitalia' },
  SE: { id: 'SJ', name: 'SJ' },
};

/** When a way ends, by the local clocks of where it leads to. */
export function arrival(way: Way): number {
  return localTime(timeOf(way.departsAt, way.from.zone) + minutes(way) * 60_000, way.to.zone);
}

function minutes({ from, to, kind }: Way): number {
  const hours = kind === 'flight' ? 0.6 + kilometers(from, to) / 780 : 0.3 + kilometers(from, to) / 150;
  return 5 * Math.round((hours * 60) / 5);
}

function segment(way: Way, dice: Dice): OfferedSegment {
  const { from, to, kind, departsAt } = way;
  const carriers = kind === 'flight' ? airlines : railways;
  const operatingCarrier = carriers[from.country] ?? carriers[to.country];
  return {
    arrival: { localeDateTime: clock(arrival(way)), place: stopIn(to, kind) },
    departure: { localeDateTime: clock(departsAt), place: stopIn(from, kind) },
    duration: minutes(way),
    ...(operatingCarrier
      ? { operatingCarrier, transportNumber: `${operatingCarrier.id}${dice.between(100, 9899)}` }
      : {}),
  };
}
