import { seconds } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { TripProject } from '../resources/trip-project.ts';
import { bookingOf, type Giving, named, placesGiven, withBooking } from './cancellation.ts';
import { type BookingDeps, change, get, type Kept } from './context.ts';
import { type Booking, marked, type Place, worth } from './coverage.ts';
import { booked, type Order, purchases, rateOf, reimburse } from './orders.ts';
import { centsOf, type Making, split, type TransportOffer, withOffers } from './prices.ts';
import { type TripOutcome, tellBooking } from './trips.ts';

/** Segments of a booking are exchanged for what is offered instead. */
export interface Exchange extends Giving {
  /** Its price is for all who exchange. */
  offer: TransportOffer;
  order?: Omit<Order, 'rateId' | 'fails'>;
  /** Nothing said: the first traveler. */
  bookerId?: string;
}

/** The travelers give up segments of one booking for another booking, and pay, or get back, the difference. */
export async function modifyBooking(deps: BookingDeps, wanted: Exchange): Promise<TripOutcome> {
  const { tripProjectId, bookingId, offer } = wanted;
  const found = await get(deps, 'tripProject', tripProjectId);
  const old = bookingOf(found.doc, bookingId);
  const places = wholePlaces(found.doc, old, wanted);
  refuseOtherCurrency(found.doc, old, offer);
  const making = { at: seconds(deps.now()), newId: deps.newId, tripProjectId };
  const { trip, selected, modification } = exchanged(found.doc, { old, places, offer }, making);
  const kept = await change(deps, 'tripProject', found, trip);
  await deps.recorder.tell('bookingModification.created', modification);
  await tellBooking(deps, selected);
  const dues = differences(worth(found.doc, old, places), centsOf(offer.price));
  const operations = await settle(deps, kept, { selected, dues, wanted });
  return { trip: kept, bookings: [selected], operations };
}

/** Those who exchange all exchange the same. */
function wholePlaces(trip: TripProject, booking: Booking, giving: Giving): Place[] {
  const places = placesGiven(trip, booking, giving);
  const { travelerIds, segmentIds } = named(places);
  if (booking.kind !== 'flight' && booking.kind !== 'rail') {
    throw new ApiError('conflict', `A booking of the kind ${booking.kind} cannot be exchanged.`);
  }
  if (places.length !== travelerIds.length * segmentIds.length) {
    throw new ApiError('conflict', 'Not all of these travelers hold all of these segments.');
  }
  return places;
}

/** There is no rate by which a difference between two currencies could be told. */
function refuseOtherCurrency(trip: TripProject, old: Booking, { price }: TransportOffer): void {
  const { currency } = rateOf(trip, old.rateId).price;
  if (price.currency !== currency) {
    throw new ApiError('conflict', `What was paid in ${currency} cannot be exchanged for ${price.currency}.`);
  }
}

interface Exchanged {
  old: Booking;
  places: Place[];
  offer: TransportOffer;
}

function exchanged(
  before: TripProject,
  { old, places, offer }: Exchanged,
  making: Making & { tripProjectId: string },
) {
  const offered = withOffers(before, [offer], making);
  const rateId = offered.rates.at(-1)?.id ?? '';
  const { trip, bookings } = booked(offered, [{ rateId }], making);
  const [selected = old] = bookings;
  const { travelerIds, segmentIds } = named(places);
  const targets = (trip.transportLegs ?? []).flatMap(({ segments }) =>
    segments.filter(({ bookingId }) => bookingId === selected.id).map(({ id }) => id),
  );
  const modification = {
    ...{ id: making.newId('A'), type: 'bookingModification' as const, createdAt: making.at },
    ...{ bookingId: old.id, selectedBookingId: selected.id, tripProjectId: making.tripProjectId },
    transportSegmentExchanges: [
      { originalTransportSegmentIds: segmentIds, targetTransportSegmentIds: targets, travelerIds },
    ],
  };
  const modifications = [...(old.modifications ?? []), modification];
  return { trip: marked(withBooking(trip, { ...old, modifications }), old.id), selected, modification };
}

/** What each traveler pays more, or less, than what they gave up was worth. */
function differences(worths: Map<string, number>, price: number): [string, number][] {
  const parts = split(price, worths.size);
  return [...worths].map(([travelerId, cents], position) => [travelerId, (parts[position] ?? 0) - cents]);
}

async function settle(
  deps: BookingDeps,
  trip: Kept<'tripProject'>,
  { selected, dues, wanted }: { selected: Booking; dues: [string, number][]; wanted: Exchange },
): Promise<Kept<'billingOperation'>[]> {
  const { order = {}, bookerId } = wanted;
  const costs = new Map(dues.filter(([, cents]) => cents > 0));
  const worths = new Map(dues.filter(([, cents]) => cents < 0).map(([id, cents]) => [id, -cents]));
  return [
    ...(await purchases(deps, trip, { booking: selected, order, bookerId, costs })),
    ...(await reimburse(deps, trip, { booking: selected, worths })),
  ];
}
