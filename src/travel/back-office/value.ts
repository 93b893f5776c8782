import type { TripProject } from '../resources/trip-project.ts';
import { type Booking, type Place, placesOf, travelersOf } from './coverage.ts';
import { centsOf, split } from './money.ts';

/** What each traveler's part of a booking cost. */
export function shares(trip: TripProject, booking: Booking): Map<string, number> {
  const rate = trip.rates.find(({ id }) => id === booking.rateId);
  const travelers = travelersOf(trip, booking);
  const parts = split(rate ? centsOf(rate.price) : 0, travelers.length);
  return new Map(travelers.map((id, position) => [id, parts[position] ?? 0]));
}

/**
 * What it is worth that a traveler gives up some places of a booking. The last gets what the others left, so that all
 * of them together are worth the share.
 */
export function worth(trip: TripProject, booking: Booking, given: Place[]): Map<string, number> {
  const all = placesOf(trip, booking);
  const worths = [...shares(trip, booking)].flatMap(([travelerId, share]): [string, number][] => {
    const own = all.filter((place) => place.travelerId === travelerId);
    const gone = own.filter(({ state }) => state !== 'held').length;
    const now = given.filter((place) => place.travelerId === travelerId).length;
    const upTo = (count: number) => Math.floor((share * count) / own.length);
    return now === 0 ? [] : [[travelerId, upTo(gone + now) - upTo(gone)]];
  });
  return new Map(worths);
}
