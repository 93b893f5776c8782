import type { Faker } from '@faker-js/faker';
import type { Price } from '../travel/resources/amounts.ts';
import type { TripProject } from '../travel/resources/trip-project.ts';
import { type City, cities, fromLocalTime, kilometers, stationOf, toLocalTime } from './reference-data.ts';
import { DAY, HOUR } from './simulation.ts';
import type { Quote, QuotedSegment, Terms } from './trip-parts.ts';

/** A trip before it is searched. Its times are local times (see `toLocalTime`). */
export interface TripPlan {
  search: TripProject['search'];
  quotes: Quote[];
  departsAt: number;
  returnsAt: number;
  from: City;
  to: City;
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
export function planTrip(pricing: Pricing, home: string, time: number): TripPlan {
  const { random } = pricing;
  const from = cities.find(({ name }) => name === home);
  if (!from) throw new Error(`there is no city ${home}`);
  const to = random.helpers.arrayElement(cities.filter((city) => city !== from));
  const kind = random.helpers.weightedArrayElement(kinds);
  // The square makes near days more frequent than far ones.
  const leadDays = 4 + Math.floor(55 * random.number.float() ** 2);
  const departsAt = startOfDay(time) + leadDays * DAY + timeOfDay(random, 6.5, 19);
  const hasTrain = from.station !== undefined && to.station !== undefined;
  const transport = hasTrain && kilometers(from, to) < RAIL_DISTANCE ? 'rail' : 'flight';
  const journey: Journey = { from, to, kind: transport, departsAt };
  const arrivesAt = kind === 'hotelOnly' ? departsAt : arrivalTime(journey);
  const returnsAt =
    startOfDay(arrivesAt) + random.number.int({ min: 1, max: 4 }) * DAY + timeOfDay(random, 12, 20);
  const search: TripProject['search'] = {
    arrivalPlace: stationOf(to, transport),
    ...(kind === 'hotelOnly' ? {} : { departurePlace: stationOf(from, transport) }),
    departureLocaleDateTime: formatLocal(departsAt),
    kind,
    ...(kind === 'oneWay' ? {} : { returnLocaleDateTime: formatLocal(returnsAt) }),
  };
  const quotes = [
    ...(kind === 'hotelOnly'
      ? []
      : [transportQuote(journey, kind === 'oneWay' ? undefined : returnsAt, pricing)]),
    ...(/hotel/i.test(kind) ? [hotelQuote(to, [arrivesAt, returnsAt], pricing)] : []),
    ...(kind === 'roundTripWithCar' ? [carQuote(to, [arrivesAt, returnsAt], pricing)] : []),
  ];
  return { from, to, departsAt, returnsAt, search, quotes };
}

/** A random half or full hour of the day, in milliseconds. */
function timeOfDay(random: Faker, fromHour: number, toHour: number): number {
  return random.number.int({ min: fromHour * HOUR, max: toHour * HOUR, multipleOf: HOUR / 2 });
}

/** The currency of a trip, the number of its travelers, and the random generator of its prices. */
export interface Pricing {
  currency: string;
  people: number;
  random: Faker;
}

/** The approximate value of one euro in each currency. */
const rates: Record<string, number> = { EUR: 1, GBP: 0.85, SEK: 11 };

/** Converts an amount in euros to a price in the trip's currency that is up to 20 % lower or 30 % higher. */
export function price(euros: number, { currency, random }: Omit<Pricing, 'people'>, taxRate?: number): Price {
  const factor = random.number.float({ min: 0.8, max: 1.3 }) * (rates[currency] ?? 1);
  return { currency, total: Math.round(euros * factor * 100) / 100, taxRate };
}

/** A flight or train from one city to another. */
export interface Journey {
  from: City;
  to: City;
  kind: 'flight' | 'rail';
  /** The local time of the departure (see `toLocalTime`). */
  departsAt: number;
}

/** Quotes a flight or train: one way, or with the return journey if `returnsAt` (a local time) is given. */
export function transportQuote(journey: Journey, returnsAt: number | undefined, pricing: Pricing): Quote {
  const { from, to, kind } = journey;
  const back = returnsAt === undefined ? [] : [{ from: to, to: from, kind, departsAt: returnsAt }];
  const legs = [journey, ...back].map((leg) => {
    return { summary: `${leg.from.name} – ${leg.to.name}`, segments: [createSegment(leg, pricing.random)] };
  });
  const distance = kilometers(from, to);
  const euros =
    (kind === 'flight' ? 45 + 0.09 * distance : 20 + 0.12 * distance) * legs.length * pricing.people;
  const cost = price(euros, pricing, kind === 'rail' ? 10 : undefined);
  return {
    kind,
    legs,
    price: cost,
    terms: { ...budgetFor(cost, pricing), ...ticketTerms(journey, pricing.random) },
  };
}

/** The distance in kilometers above which some people do not fly in economy class. */
const LONG_HAUL = 3000;

/** The class and fare of a ticket. Trains have other classes than flights, and no low-cost carriers. */
function ticketTerms({ kind, from, to }: Journey, random: Faker): Terms {
  const isLong = kilometers(from, to) > LONG_HAUL;
  const long = ['economy', 'economy', 'premiumEco', 'business'];
  const classes = kind === 'rail' ? ['second', 'second', 'first'] : isLong ? long : ['economy'];
  return {
    cities: { departure: from.name, destination: to.name },
    fare: {
      cabinClass: random.helpers.arrayElement(classes),
      fareType: random.helpers.arrayElement(['flex', 'semiFlex']),
      ...(kind === 'rail' ? {} : { lowCost: !isLong && random.datatype.boolean(0.2) }),
    },
  };
}

/** The budget that the travel policy suggests for half of the quotes. */
function budgetFor({ currency, total }: Price, { random, people }: Pricing): Terms {
  if (random.datatype.boolean()) return {};
  const factor = random.number.float({ min: 0.85, max: 1.2 });
  return { budget: { currency, total: Math.round((total / people) * factor * 100) / 100 } };
}

const hotels = ['Hotel Central', 'Hotel du Parc', 'Grand Hotel', 'Station Hotel', 'Riverside Hotel'];

/** Quotes the nights in a hotel between two local times. */
function hotelQuote(city: City, [from, to]: [number, number], pricing: Pricing): Quote {
  const name = `${pricing.random.helpers.arrayElement(hotels)} ${city.name}`;
  const nights = Math.max(1, Math.round((startOfDay(to) - startOfDay(from)) / DAY));
  const { country, geoloc } = stationOf(city, 'flight');
  const cost = price(125 * nights * pricing.people, pricing, 10);
  return {
    kind: 'hotel',
    price: cost,
    stay: {
      checkinLocaleDate: formatLocal(from).slice(0, 10),
      checkoutLocaleDate: formatLocal(startOfDay(from) + nights * DAY).slice(0, 10),
      hotelId: name.toLowerCase().replaceAll(' ', '-'),
      place: { country, geoloc, name, type: 'hotel' },
    },
    terms: { ...budgetFor(cost, pricing), cities: { destination: city.name } },
  };
}

const cars: Record<string, string> = {
  ECMR: 'Renault Clio',
  CDMR: 'Volkswagen Golf',
  IDAR: 'Škoda Octavia',
  SFAR: 'Peugeot 5008',
};

/** Quotes a car between two local times. */
function carQuote(city: City, [from, to]: [number, number], pricing: Pricing): Quote {
  const [acriss, name] = pricing.random.helpers.objectEntry(cars);
  const place = stationOf(city, 'flight');
  return {
    kind: 'car',
    price: price(55 * Math.max(1, Math.ceil((to - from) / DAY)), pricing, 20),
    rental: {
      car: { acriss, name },
      pickupLocaleDateTime: formatLocal(from + HOUR),
      pickupPlace: place,
      returnLocaleDateTime: formatLocal(to - 2 * HOUR),
      returnpPlace: place,
    },
  };
}

/** Formats a local time as a date-time without zone, such as `2026-11-20T08:00:00`. */
function formatLocal(local: number): string {
  return new Date(local).toISOString().slice(0, 19);
}

/** Returns the midnight before a time; both are epoch milliseconds or both local times. */
function startOfDay(time: number): number {
  return Math.floor(time / DAY) * DAY;
}

/** The local time of the arrival, in the time zone of the destination. */
function arrivalTime(journey: Journey): number {
  const departure = fromLocalTime(journey.departsAt, journey.from.zone);
  return toLocalTime(departure + durationMinutes(journey) * 60_000, journey.to.zone);
}

function durationMinutes({ from, to, kind }: Journey): number {
  const hours = kind === 'flight' ? 0.6 + kilometers(from, to) / 780 : 0.3 + kilometers(from, to) / 150;
  return 5 * Math.round((hours * 60) / 5);
}

/** The airline and the railway of the countries. Others are reached by the airline of the other end. */
const carriers: Record<string, Record<Journey['kind'], { id: string; name: string }>> = {
  FR: { flight: { id: 'AF', name: 'Air France' }, rail: { id: 'SNCF', name: 'SNCF Voyageurs' } },
  DE: { flight: { id: 'LH', name: 'Lufthansa' }, rail: { id: 'DB', name: 'Deutsche Bahn' } },
  GB: { flight: { id: 'BA', name: 'British Airways' }, rail: { id: 'GWR', name: 'National Rail' } },
  ES: { flight: { id: 'IB', name: 'Iberia' }, rail: { id: 'RENFE', name: 'Renfe' } },
  IT: { flight: { id: 'AZ', name: 'ITA Airways' }, rail: { id: 'TI', name: 'Trenitalia' } },
  SE: { flight: { id: 'SK', name: 'SAS' }, rail: { id: 'SJ', name: 'SJ' } },
};

function createSegment(journey: Journey, random: Faker): QuotedSegment {
  const { from, to, kind, departsAt } = journey;
  const carrier = (carriers[from.country] ?? carriers[to.country])?.[kind];
  const number = random.string.numeric({ length: { min: 3, max: 4 }, allowLeadingZeros: false });
  return {
    arrival: { localeDateTime: formatLocal(arrivalTime(journey)), place: stationOf(to, kind) },
    departure: { localeDateTime: formatLocal(departsAt), place: stationOf(from, kind) },
    duration: durationMinutes(journey),
    ...(carrier ? { operatingCarrier: carrier, transportNumber: carrier.id + number } : {}),
  };
}
