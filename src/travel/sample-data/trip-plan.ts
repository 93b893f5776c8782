import type { CarOffer, Offer } from '../back-office/offer.ts';
import type { TripProject } from '../resources/trip-project.ts';
import { type City, cities, kilometers, stopIn } from './cities.ts';
import { clock, journey, type Money, midnight, price, stay } from './itinerary.ts';
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
  const returnsAt = midnight(departsAt) + dice.between(1, 4) * DAY + dice.between(24, 40) * (HOUR / 2);
  const plan = { from, to, departsAt, returnsAt };
  const offers = offersOf(kind, plan, money, people.count);
  const way = offers.some(({ kind: one }) => one === 'rail') ? 'rail' : 'flight';
  const places = { arrivalPlace: stopIn(to, way), departurePlace: stopIn(from, way) };
  const search: TripProject['search'] = {
    ...(kind === 'hotelOnly' ? { arrivalPlace: places.arrivalPlace } : places),
    departureLocaleDateTime: clock(departsAt),
    kind,
    ...(kind === 'oneWay' ? {} : { returnLocaleDateTime: clock(returnsAt) }),
  };
  return { ...plan, search, offers };
}

type Journey = Pick<TripPlan, 'from' | 'to' | 'departsAt' | 'returnsAt'>;

function offersOf(kind: string, { from, to, departsAt, returnsAt }: Journey, money: Money, count: number) {
  const isNear = from.station !== undefined && to.station !== undefined && kilometers(from, to) < FAR;
  const way = { from, to, kind: isNear ? ('rail' as const) : ('flight' as const), departsAt };
  const back = kind === 'oneWay' ? undefined : returnsAt;
  return [
    ...(kind === 'hotelOnly' ? [] : [journey(way, back, money, count)]),
    ...(kind.includes('otel') ? [stay(to, [departsAt, returnsAt], money, count)] : []),
    ...(kind === 'roundTripWithCar' ? [car(to, [departsAt, returnsAt], money)] : []),
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
      pickupLocaleDateTime: clock(from + 4 * HOUR),
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
