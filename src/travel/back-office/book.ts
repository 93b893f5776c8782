import { ApiError } from '../errors.ts';
import type { TripProject } from '../resources/trip-project.ts';
import type { Booking } from './coverage.ts';
import type { Price } from './money.ts';
import type { Making } from './offer.ts';

/** A rate to be booked. */
export interface Order {
  rateId: string;
  /** True: the supplier does not take it. */
  fails?: boolean;
  supplierName?: string;
  /** What the policy would have one traveler spend on it. */
  budget?: Price;
  /** The cities that a journey or a stay leads from and to, which the names of airports and hotels do not tell. */
  cities?: { departure?: string; destination?: string };
  /** What a ticket allows. */
  fare?: { cabinClass?: string; category?: string; fareType?: string; lowCost?: boolean };
}

/** The bookings that orders make of a trip, in their order; what succeeds has its stay, rental or segments. */
export function booked(
  trip: TripProject,
  orders: Pick<Order, 'rateId' | 'fails'>[],
  making: Making & { tripProjectId: string },
): { trip: TripProject; bookings: Booking[] } {
  refuseUnbookable(trip, orders);
  const before = trip.bookings ?? [];
  const bookings = orders.map(({ rateId, fails = false }, position): Booking => {
    const { tripProjectId } = making;
    const made = {
      ...{ id: making.newId('A'), type: 'booking' as const, createdAt: making.at },
      ...{ canceled: false, exchanged: false, kind: rateOf(trip, rateId).kind, rateId, tripProjectId },
    };
    if (fails) return { ...made, status: 'failed' };
    return { ...made, reference: reference(tripProjectId, before.length + position), status: 'succeeded' };
  });
  const held = new Map(bookings.filter(isHeld).map(({ id, rateId }) => [rateId, id]));
  return { trip: { ...assigned(trip, held), bookings: [...before, ...bookings] }, bookings };
}

/** The rates that nothing was booked for, and that nobody exchanged anything for. */
export function openRates(trip: TripProject): string[] {
  const taken = new Set((trip.bookings ?? []).filter(isHeld).map(({ rateId }) => rateId));
  return trip.rates.map(({ id }) => id).filter((id) => !taken.has(id));
}

/** The rate with this id. */
export function rateOf(trip: TripProject, rateId: string): TripProject['rates'][number] {
  const rate = trip.rates.find(({ id }) => id === rateId);
  if (!rate) throw new ApiError('conflict', `The trip has no rate ${rateId}.`);
  return rate;
}

function refuseUnbookable(trip: TripProject, orders: Pick<Order, 'rateId'>[]): void {
  const open = new Set(openRates(trip));
  for (const { rateId } of orders) {
    rateOf(trip, rateId);
    if (!open.delete(rateId)) throw new ApiError('conflict', `The rate ${rateId} is booked already.`);
  }
}

/** No two bookings of a trip have the same, as purchases are found by it. */
function reference(tripProjectId: string, position: number): string {
  const mark = tripProjectId.replace(/[^0-9A-Za-z]/g, '').slice(-5);
  return `${mark}${(position + 1).toString(36)}`.toUpperCase();
}

function isHeld({ status }: Booking): boolean {
  return status === 'succeeded';
}

function assigned(trip: TripProject, bookingIds: Map<string, string>): TripProject {
  const assign = <Part extends { rateId: string }>(part: Part): Part => {
    const bookingId = bookingIds.get(part.rateId);
    return bookingId === undefined ? part : { ...part, bookingId };
  };
  const { carRentals, hotelStays, transportLegs } = trip;
  return {
    ...trip,
    ...(carRentals ? { carRentals: carRentals.map(assign) } : {}),
    ...(hotelStays ? { hotelStays: hotelStays.map(assign) } : {}),
    ...(transportLegs
      ? { transportLegs: transportLegs.map((leg) => ({ ...leg, segments: leg.segments.map(assign) })) }
      : {}),
  };
}
