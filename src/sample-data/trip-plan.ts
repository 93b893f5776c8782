import type { Faker } from '@faker-js/faker';
import type { CarQuote, HotelQuote, Quote, QuotedSegment, TransportQuote } from '../travel/booking/prices.ts';
import type { TripProject } from '../travel/resources/trip-project.ts';
import { type City, cities, fromLocalTime, kilometers, stationOf, toLocalTime } from './reference-data.ts';
import { DAY, HOUR } from './simulation.ts';

/** A trip before it is searched. Its times are local times (see `toLocalTime`). */
export interface TripPlan {
  search: TripProject['search'];
  quotes: Quote[];
  departsAt: number;
  returnsAt: number;
  from: City;
  to: City;
}

/** A trip that was searched, with its plan. */
export interface Trip {
  tripProjectId: string;
  travelerIds: string[];
  bookerId: string;
  rates: TripProject['rates'];
  plan: TripPlan;
}

const kinds = [
  { value: 'roundTrip', weight: 40 },
  { value: 'roundTripWithHotel', weight: 30 },
  { value: 'hotelOnly', weight: 12 },
  { value: 'oneWay', weight: 10 },
  { value: 'roundTripWithCar', weight: 8 },
];

/** The longest distance, in kilometers, that people travel by train, provided that both cities have a station. */
const RAIL_DISTANCE = 650;

/** Plans a trip for some people who live in a city; `time` is when they search, in epoch milliseconds. */
export function planTrip(pricing: Pricing, people: { count: number; city: string }, time: number): TripPlan {
  const { random } = pricing;
  const [home] = cities;
  const from = cities.find(({ name }) => name === people.city) ?? home;
  if (!from) throw new Error('there are no cities');
  const to = random.helpers.arrayElement(cities.filter((city) => city !== from));
  const kind = random.helpers.weightedArrayElement(kinds);
  // The square makes near days more frequent than far ones.
  const leadDays = 4 + Math.floor(55 * random.number.float() ** 2);
  const departsAt = startOfDay(time) + leadDays * DAY + timeOfDay(random, 6.5, 19);
  const journey: Journey = { from, to, kind: transportBetween(from, to), departsAt };
  const arrivesAt = kind === 'hotelOnly' ? departsAt : arrivalTime(journey);
  const days = random.number.int({ min: 1, max: 4 });
  const returnsAt = startOfDay(arrivesAt) + days * DAY + timeOfDay(random, 12, 20);
  const plan = { from, to, departsAt, returnsAt };
  const quotes = createQuotes(kind, { journey, arrivesAt, returnsAt }, pricing, people.count);
  const places = {
    arrivalPlace: stationOf(to, journey.kind),
    departurePlace: stationOf(from, journey.kind),
  };
  const search: TripProject['search'] = {
    ...(kind === 'hotelOnly' ? { arrivalPlace: places.arrivalPlace } : places),
    departureLocaleDateTime: formatLocal(departsAt),
    kind,
    ...(kind === 'oneWay' ? {} : { returnLocaleDateTime: formatLocal(returnsAt) }),
  };
  return { ...plan, search, quotes };
}

/** A random half or full hour of the day, in milliseconds. */
function timeOfDay(random: Faker, fromHour: number, toHour: number): number {
  return random.number.int({ min: fromHour * HOUR, max: toHour * HOUR, multipleOf: HOUR / 2 });
}

function transportBetween(from: City, to: City): Journey['kind'] {
  const hasTrain = from.station !== undefined && to.station !== undefined;
  const isNear = hasTrain && kilometers(from, to) < RAIL_DISTANCE;
  return isNear ? 'rail' : 'flight';
}

/** A journey, with the local times at which the stay at its destination begins and ends. */
interface Visit {
  journey: Journey;
  arrivesAt: number;
  returnsAt: number;
}

function createQuotes(
  kind: string,
  { journey, arrivesAt, returnsAt }: Visit,
  pricing: Pricing,
  count: number,
): Quote[] {
  const { to } = journey;
  const times: [number, number] = [arrivesAt, returnsAt];
  const returnTime = kind === 'oneWay' ? undefined : returnsAt;
  return [
    ...(kind === 'hotelOnly' ? [] : [transportQuote(journey, returnTime, pricing, count)]),
    ...(kind === 'hotelOnly' || kind === 'roundTripWithHotel' ? [hotelQuote(to, times, pricing, count)] : []),
    ...(kind === 'roundTripWithCar' ? [carQuote(to, times, pricing)] : []),
  ];
}

function carQuote(city: City, [from, to]: [number, number], pricing: Pricing): CarQuote {
  const acriss = pricing.random.helpers.arrayElement(['ECMR', 'CDMR', 'IDAR', 'SFAR']);
  const place = stationOf(city, 'flight');
  const days = Math.max(1, Math.ceil((to - from) / DAY));
  return {
    kind: 'car',
    price: price(55 * days, pricing, 20),
    rental: {
      car: { acriss, name: carNames[acriss] ?? acriss },
      pickupLocaleDateTime: formatLocal(from + HOUR),
      pickupPlace: place,
      returnLocaleDateTime: formatLocal(to - 2 * HOUR),
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

/** The currency of a trip, and the random generator of its prices. */
export interface Pricing {
  currency: string;
  random: Faker;
}

/** A flight or train from one city to another. */
export interface Journey {
  from: City;
  to: City;
  kind: 'flight' | 'rail';
  /** The local time of the departure (see `toLocalTime`). */
  departsAt: number;
}

/** The approximate value of one euro in each currency. */
const rates: Record<string, number> = { EUR: 1, GBP: 0.85, SEK: 11 };

/** Converts an amount in euros to a price in the trip's currency that is up to 20 % lower or 30 % higher. */
export function price(euros: number, { currency, random }: Pricing, taxRate?: number) {
  const factor = random.number.float({ min: 0.8, max: 1.3 }) * (rates[currency] ?? 1);
  return {
    currency,
    total: Math.round(euros * factor * 100) / 100,
    ...(taxRate === undefined ? {} : { taxRate }),
  };
}

/** Quotes a flight or train: one way, or with the return journey if `returnsAt` (a local time) is given. */
export function transportQuote(
  journey: Journey,
  returnsAt: number | undefined,
  pricing: Pricing,
  people: number,
): TransportQuote {
  const { from, to, kind } = journey;
  const back = returnsAt === undefined ? [] : [{ from: to, to: from, kind, departsAt: returnsAt }];
  const legs = [journey, ...back].map((leg) => {
    return { summary: `${leg.from.name} – ${leg.to.name}`, segments: [createSegment(leg, pricing.random)] };
  });
  const distance = kilometers(from, to);
  const euros = (kind === 'flight' ? 45 + 0.09 * distance : 20 + 0.12 * distance) * legs.length * people;
  return { kind, legs, price: price(euros, pricing, kind === 'rail' ? 10 : undefined) };
}

/** Quotes the nights in a hotel between two local times. */
function hotelQuote(city: City, [from, to]: [number, number], pricing: Pricing, people: number): HotelQuote {
  const { random } = pricing;
  const name = `${random.helpers.arrayElement(hotels)} ${city.name}`;
  const nights = Math.max(1, Math.round((startOfDay(to) - startOfDay(from)) / DAY));
  return {
    kind: 'hotel',
    cancellable: random.datatype.boolean(0.9),
    price: price(125 * nights * people, pricing, 10),
    stay: {
      checkinLocaleDate: formatLocal(from).slice(0, 10),
      checkoutLocaleDate: formatLocal(startOfDay(from) + nights * DAY).slice(0, 10),
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

/** Formats a local time as a date-time without zone, such as `2026-11-20T08:00:00`. */
export function formatLocal(local: number): string {
  return new Date(local).toISOString().slice(0, 19);
}

/** Returns the midnight before a time; both are epoch milliseconds or both local times. */
export function startOfDay(time: number): number {
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

/** The local time of the arrival, in the time zone of the destination. */
function arrivalTime(journey: Journey): number {
  const departure = fromLocalTime(journey.departsAt, journey.from.zone);
  return toLocalTime(departure + durationMinutes(journey) * 60_000, journey.to.zone);
}

function durationMinutes({ from, to, kind }: Journey): number {
  const hours = kind === 'flight' ? 0.6 + kilometers(from, to) / 780 : 0.3 + kilometers(from, to) / 150;
  return 5 * Math.round((hours * 60) / 5);
}

function createSegment(journey: Journey, random: Faker): QuotedSegment {
  const { from, to, kind, departsAt } = journey;
  const carriers = kind === 'flight' ? airlines : railways;
  const operatingCarrier = carriers[from.country] ?? carriers[to.country];
  return {
    arrival: { localeDateTime: formatLocal(arrivalTime(journey)), place: stationOf(to, kind) },
    departure: { localeDateTime: formatLocal(departsAt), place: stationOf(from, kind) },
    duration: durationMinutes(journey),
    ...(operatingCarrier
      ? { operatingCarrier, transportNumber: operatingCarrier.id + transportDigits(random) }
      : {}),
  };
}

function transportDigits(random: Faker): string {
  return random.string.numeric({ length: { min: 3, max: 4 }, allowLeadingZeros: false });
}
