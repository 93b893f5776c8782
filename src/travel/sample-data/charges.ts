import type { OfflineBooking } from '../back-office/charges.ts';
import { type City, cities, stopIn } from './cities.ts';
import type { Branch } from './company.ts';
import { clock, midnight, price } from './itinerary.ts';
import { DAY, HOUR, type Scene } from './scene.ts';
import type { Chapter } from './story.ts';
import type { Traveler } from './travelers.ts';

/** The subscription of a month, and what else support charged a branch in it. */
export async function chargeMonth({ dice }: Chapter, { stories }: Scene, branch: Branch): Promise<void> {
  const { billingProfileId, currency, headcount } = branch;
  const charge = { billingProfileId };
  await stories.charge({
    ...charge,
    description: `Subscription, ${headcount} users`,
    operationType: 'subscription',
    price: { currency, total: 49 + 4 * headcount, taxRate: 20 },
  });
  if (dice.chance(0.3)) {
    const { euros, ...extra } = dice.of(extras);
    await stories.charge({ ...charge, ...extra, price: price(euros, { currency, dice }, 20) });
  }
}

const extras = [
  { operationType: 'seminar' as const, description: 'Seminar of two days', euros: 2400 },
  { operationType: 'other' as const, description: 'Visa service', euros: 180 },
  { operationType: 'other' as const, description: 'Airport transfer', euros: 90 },
];

/** Somebody calls support, which books for them and writes it down some hours later. */
export function bookByTelephone(chapter: Chapter, party: Traveler[]): void {
  const { agenda, company, dice, now } = chapter;
  const [traveler] = party;
  const city = cities.find(({ name }) => name === traveler?.city);
  if (!traveler || !city) return;
  const bookedAt = now();
  const { currency } = company.branches[traveler.branch] ?? { currency: 'EUR' };
  const kind = dice.of(['hotel', 'rail', 'flight'] as const);
  const booking: OfflineBooking = {
    ...{ travelerId: traveler.id, kind, bookedAt },
    price: price(210, { currency, dice }, 10),
    details: details(chapter, kind, city),
  };
  agenda.add(bookedAt + dice.between(1, 6) * HOUR, async ({ stories }) => {
    await stories.bookOffline(booking);
  });
}

function details({ dice, now }: Chapter, kind: 'hotel' | 'rail' | 'flight', home: City) {
  const city = dice.of(cities.filter((one) => one !== home));
  const from = midnight(now()) + dice.between(3, 30) * DAY;
  const day = (time: number) => clock(time).slice(0, 10);
  const spot = ({ name, country, airport }: City) => {
    return { city: name, countryCode: country, ...(kind === 'flight' ? { airport: airport.iataCode } : {}) };
  };
  const reference = dice
    .between(36 ** 5, 36 ** 6 - 1)
    .toString(36)
    .toUpperCase();
  if (kind !== 'hotel') {
    const itinerary = { departureLocaleDate: day(from), itineraryType: 'oneWay' };
    return { reference, transport: { departure: spot(home), destination: spot(city), ...itinerary } };
  }
  const nights = { checkinLocaleDate: day(from), checkoutLocaleDate: day(from + 2 * DAY) };
  return {
    hotel: { ...nights, place: spot(city) },
    reference,
    supplierName: `Hotel ${stopIn(city, 'rail').name}`,
  };
}
