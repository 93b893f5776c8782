import type { CarQuote, HotelQuote, Quote, QuotedSegment, TransportQuote } from '../travel/booking/prices.ts';
import type { TripProject } from '../travel/resources/trip-project.ts';
import { DAY, type Dice, HOUR } from './context.ts';
import { type City, cities, kilometers, localTime, stopIn, timeOf } from './places.ts';

/** What somebody has in mind. Its times are local clocks that are written as if they were UTC. */
export interface TripPlan {
  search: TripProject['search'];
  offers: Quote[];
  departsAt: number;
  returnsAt: number;
  from: City;
  to: City;
}

/** A trip that is searched, and how it was planned. */
export interface Trip {
  tripProjectId: string;
  travelerIds: string[];
  bookerId: string;
  rates: TripProject['rates'];
  plan: TripPlan;
}

const kinds = [
  { kind: 'roundTrip', weight: 40 },
  { kind: 'roundTripWithHotel', weight: 30 },
  { kind: 'hotelOnly', weight: 12 },
  { kind: 'oneWay', weight: 10 },
  { kind: 'roundTripWithCar', weight: 8 },
];

/** By train where there is one, and it is not too far. */
const FAR = 650;

/** A trip of some people who live in a city, searched at a time. */
export function tripPlan(money: Money, people: { count: number; city: string }, time: number): TripPlan {
  const { dice } = money;
  const [home] = cities;
  const from = cities.find(({ name }) => name === people.city) ?? home;
  if (!from) throw new Error('there are no cities');
  const to = dice.of(cities.filter((one) => one !== from));
  const { kind } = dice.weighted(kinds);
  // Most are near, some far in the future.
  const lead = 4 + Math.floor(55 * dice.next() ** 2);
  const departsAt = midnight(time) + lead * DAY + dice.between(13, 38) * (HOUR / 2);
  const way: Way = { from, to, kind: wayBetween(from, to), departsAt };
  const arrivesAt = kind === 'hotelOnly' ? departsAt : arrival(way);
  const returnsAt = midnight(arrivesAt) + dice.between(1, 4) * DAY + dice.between(24, 40) * (HOUR / 2);
  const plan = { from, to, departsAt, returnsAt };
  const offers = offersOf(kind, { way, arrivesAt, returnsAt }, money, people.count);
  const places = { arrivalPlace: stopIn(to, way.kind), departurePlace: stopIn(from, way.kind) };
  const search: TripProject['search'] = {
    ...(kind === 'hotelOnly' ? { arrivalPlace: places.arrivalPlace } : places),
    departureLocaleDateTime: clock(departsAt),
    kind,
    ...(kind === 'oneWay' ? {} : { returnLocaleDateTime: clock(returnsAt) }),
  };
  return { ...plan, search, offers };
}

function wayBetween(from: City, to: City): Way['kind'] {
  const isNear = from.station !== undefined && to.station !== undefined && kilometers(from, to) < FAR;
  return isNear ? 'rail' : 'flight';
}

/** A way, and the local times between which people are where it leads to. */
interface Journey {
  way: Way;
  arrivesAt: number;
  returnsAt: number;
}

function offersOf(kind: string, { way, arrivesAt, returnsAt }: Journey, money: Money, count: number) {
  const back = kind === 'oneWay' ? undefined : returnsAt;
  return [
    ...(kind === 'hotelOnly' ? [] : [journey(way, back, money, count)]),
    ...(kind.includes('otel') ? [stay(way.to, [arrivesAt, returnsAt], money, count)] : []),
    ...(kind === 'roundTripWithCar' ? [car(way.to, [arrivesAt, returnsAt], money)] : []),
  ];
}

function car(city: City, [from, to]: [number, number], money: Money): CarQuote {
  const acriss = money.dice.of(['ECMR', 'CDMR', 'IDAR', 'SFAR']);
  const place = stopIn(city, 'flight');
  const days = Math.max(1, Math.ceil((to - from) / DAY));
  return {
    kind: 'car',
    price: price(55 * days, money, 20),
    rental: {
      car: { acriss, name: carNames[acriss] ?? acriss },
      pickupLocaleDateTime: clock(from + HOUR),
      pickupPlace: place,
      returnLocaleDateTime: clock(to - 2 * HOUR),
      returnpPlace: place,
    },
  };
}

const carNames: Record<string, string> = {
  ECMR: 'Renault Clio',
  CDMR: 'Volkswagen Golf',
  IDAR: 'Škoda Octavia',
  SFAR: 'Peugeot 5008',
};

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
export function journey(way: Way, returnsAt: number | undefined, money: Money, people = 1): TransportQuote {
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
export function stay(city: City, [from, to]: [number, number], money: Money, people = 1): HotelQuote {
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

function segment(way: Way, dice: Dice): QuotedSegment {
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
