import { z } from 'zod';
import type { TripProject } from '../../travel/resources/trip-project.ts';
import { optionalText } from '../schemas.ts';

type Booking = NonNullable<TripProject['bookings']>[number];
type Part = z.output<typeof tripPart>;

/** The states of a trip. */
export const tripStates = ['notBooked', 'booked', 'canceled', 'failed'] as const;

/** A sum of money. */
export const money = z.object({ total: z.number(), currency: z.string() });

/** A segment of a trip, a stay or a car. */
export const tripPart = z.object({
  key: z.string(),
  kind: z.string().describe('E.g. `flight`, `rail`, `hotel` or `car`'),
  from: z.string(),
  to: optionalText,
  startsAt: z.string(),
  endsAt: z.string(),
  number: optionalText.describe('Of the flight or train'),
  reference: optionalText.describe('Of the booking'),
  state: z.enum(['notBooked', 'booked', 'canceled', 'exchanged', 'failed']),
  price: money.optional(),
});

/** Returns the members of a trip that a list shows, except its travelers. */
export function describeTrip({ search, bookings = [], rates, ...trip }: TripProject) {
  const { departurePlace, arrivalPlace, departureLocaleDateTime } = search;
  const [stay] = trip.hotelStays ?? [];
  const places = [departurePlace, arrivalPlace].flatMap((place) => place?.name ?? []);
  const startsAt = departureLocaleDateTime ?? stay?.checkinLocaleDate;
  return {
    title: places.join(' → ') || stay?.place.name || search.kind,
    startsAt,
    approvalStatus: trip.approvalStatus,
    state: stateOfTrip(bookings),
    prices: sumByCurrency(
      bookings.filter(isInForce).flatMap(({ rateId }) => rates.find(({ id }) => id === rateId)?.price ?? []),
    ),
  };
}

function stateOfTrip(bookings: Booking[]): (typeof tripStates)[number] {
  if (bookings.length === 0) return 'notBooked';
  if (bookings.some(isInForce)) return 'booked';
  return bookings.some(({ canceled }) => canceled) ? 'canceled' : 'failed';
}

function isInForce({ status, canceled }: Booking): boolean {
  return status === 'succeeded' && !canceled;
}

function sumByCurrency(prices: { total: number; currency: string }[]) {
  const sums = new Map<string, number>();
  for (const { total, currency } of prices) sums.set(currency, (sums.get(currency) ?? 0) + total);
  // Cents: sums of decimal fractions have rounding errors.
  return [...sums].map(([currency, total]) => ({ currency, total: Math.round(total * 100) / 100 }));
}

/** Returns the journeys, stays and rentals of a trip in order of time. */
export function partsOfTrip(trip: TripProject): Part[] {
  const { bookings = [], rates, transportLegs = [], hotelStays = [], carRentals = [] } = trip;
  const bought = (one: { bookingId?: string | undefined; rateId: string }, isGone = {}) =>
    bookingOf(one, { bookings, rates, isGone });
  const journeys = transportLegs.flatMap(({ kind, segments }) =>
    segments.map(
      (segment): Part => ({
        ...{ key: segment.id, kind, from: segment.departure.place.name, to: segment.arrival.place.name },
        startsAt: segment.departure.localeDateTime,
        endsAt: segment.arrival.localeDateTime,
        number: segment.transportNumber,
        ...bought(segment, segment),
      }),
    ),
  );
  const stays = hotelStays.map(
    (stay, index): Part => ({
      ...{ key: `hotel ${index}`, kind: 'hotel', from: stay.place.name },
      ...{ startsAt: stay.checkinLocaleDate, endsAt: stay.checkoutLocaleDate },
      ...bought(stay),
    }),
  );
  const rentals = carRentals.map(
    (rental, index): Part => ({
      ...{ key: `car ${index}`, kind: 'car', from: rental.pickupPlace.name, to: rental.returnpPlace.name },
      ...{ startsAt: rental.pickupLocaleDateTime, endsAt: rental.returnLocaleDateTime },
      ...bought(rental),
    }),
  );
  return [...journeys, ...stays, ...rentals].sort((one, other) => (startOf(one) < startOf(other) ? -1 : 1));
}

/** A stay has a date only, and comes after the journeys of that day. */
function startOf({ startsAt }: Part): string {
  return startsAt.includes('T') ? startsAt : `${startsAt}T24`;
}

function bookingOf(
  { bookingId, rateId }: { bookingId?: string | undefined; rateId: string },
  { bookings, rates, isGone }: Pick<TripProject, 'rates'> & { bookings: Booking[]; isGone: Gone },
): Pick<Part, 'reference' | 'state' | 'price'> {
  const booking = bookings.find((one) =>
    bookingId === undefined ? one.rateId === rateId : one.id === bookingId,
  );
  return {
    ...{ reference: booking?.reference, price: rates.find(({ id }) => id === rateId)?.price },
    state: stateOfPart(booking, isGone),
  };
}

/** A part can be canceled or exchanged while others of its booking stay. */
interface Gone {
  canceled?: boolean;
  exchanged?: boolean;
}

function stateOfPart(booking: Booking | undefined, { canceled, exchanged }: Gone): Part['state'] {
  if (!booking) return 'notBooked';
  if (booking.status !== 'succeeded') return 'failed';
  if (exchanged) return 'exchanged';
  return canceled || booking.canceled ? 'canceled' : 'booked';
}
