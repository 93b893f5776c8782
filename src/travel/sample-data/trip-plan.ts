import type { CarOffer, Offer } from '../back-office/offer.ts';
import type { TripProject } from '../resources/trip-project.ts';
import { type City, cities, kilometers, stopIn } from './cities.ts';
import { arrival, clock, journey, type Money, midnight, price, stay, type Way } from './itinerary.ts';
import { DAY, HOUR } from './scene.ts';

/** What somebody has in mind. Its times are local clocks that are written as if they were UTC. */
export interface TripPlan {
  search: TripProject['search'];
  offers: Offer[];
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

function car(city: City, [from, to]: [number, number], money: Money): CarOffer {
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
