import { formatTimestamp } from '../collection.ts';
import { ApiError } from '../errors.ts';
import type { TripProject } from '../resources/trip-project.ts';
import {
  addBookings,
  createPurchases,
  emitBookingEvent,
  type Order,
  refundTravelers,
  requireRate,
  type TripOutcome,
} from './book-trip.ts';
import {
  idsOf,
  type ReleaseRequest,
  replaceBooking,
  requireBooking,
  requireReleasable,
} from './cancellation.ts';
import { type BookingDeps, requireDocument, type StoredDocument, updateDocument } from './context.ts';
import { addQuotes, type CreationContext, centsOf, splitCents, type TransportQuote } from './prices.ts';
import { type Booking, markReleased, refundValues, type TravelerSegment } from './traveler-segments.ts';

/** Segments of a booking are exchanged for what is offered instead. */
export interface ExchangeRequest extends ReleaseRequest {
  /** Its price is for all who exchange. */
  quote: TransportQuote;
  order?: Omit<Order, 'rateId' | 'fails'>;
  /** Nothing said: the first traveler. */
  bookerId?: string;
}

/** The travelers give up segments of one booking for another booking, and pay, or get back, the difference. */
export async function modifyBooking(deps: BookingDeps, wanted: ExchangeRequest): Promise<TripOutcome> {
  const { tripProjectId, bookingId, quote } = wanted;
  const found = await requireDocument(deps, 'tripProject', tripProjectId);
  const old = requireBooking(found.doc, bookingId);
  const places = requireExchangeable(found.doc, old, wanted);
  refuseOtherCurrency(found.doc, old, quote);
  const making = { at: formatTimestamp(deps.now()), newId: deps.newId, tripProjectId };
  const { trip, selected, modification } = exchangeBooking(found.doc, { old, places, quote }, making);
  const kept = await updateDocument(deps, 'tripProject', found, trip);
  await deps.recorder.appendEvent('bookingModification.created', modification);
  await emitBookingEvent(deps, selected);
  const dues = differences(refundValues(found.doc, old, places), centsOf(quote.price));
  const operations = await settleDifferences(deps, kept, { selected, dues, wanted });
  return { trip: kept, bookings: [selected], operations };
}

/** Those who exchange all exchange the same. */
function requireExchangeable(trip: TripProject, booking: Booking, giving: ReleaseRequest): TravelerSegment[] {
  const places = requireReleasable(trip, booking, giving);
  const { travelerIds, segmentIds } = idsOf(places);
  if (booking.kind !== 'flight' && booking.kind !== 'rail') {
    throw new ApiError('conflict', `A booking of the kind ${booking.kind} cannot be exchanged.`);
  }
  if (places.length !== travelerIds.length * segmentIds.length) {
    throw new ApiError('conflict', 'Not all of these travelers hold all of these segments.');
  }
  return places;
}

/** There is no rate by which a difference between two currencies could be told. */
function refuseOtherCurrency(trip: TripProject, old: Booking, { price }: TransportQuote): void {
  const { currency } = requireRate(trip, old.rateId).price;
  if (price.currency !== currency) {
    throw new ApiError('conflict', `What was paid in ${currency} cannot be exchanged for ${price.currency}.`);
  }
}

interface BookingExchange {
  old: Booking;
  places: TravelerSegment[];
  quote: TransportQuote;
}

function exchangeBooking(
  before: TripProject,
  { old, places, quote }: BookingExchange,
  making: CreationContext & { tripProjectId: string },
) {
  const quoted = addQuotes(before, [quote], making);
  const rateId = quoted.rates.at(-1)?.id ?? '';
  const { trip, bookings } = addBookings(quoted, [{ rateId }], making);
  const [selected = old] = bookings;
  const { travelerIds, segmentIds } = idsOf(places);
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
  return {
    trip: markReleased(replaceBooking(trip, { ...old, modifications }), old.id),
    selected,
    modification,
  };
}

/** What each traveler pays more, or less, than what they gave up was worth. */
function differences(worths: Map<string, number>, price: number): [string, number][] {
  const parts = splitCents(price, worths.size);
  return [...worths].map(([travelerId, cents], position) => [travelerId, (parts[position] ?? 0) - cents]);
}

async function settleDifferences(
  deps: BookingDeps,
  trip: StoredDocument<'tripProject'>,
  { selected, dues, wanted }: { selected: Booking; dues: [string, number][]; wanted: ExchangeRequest },
): Promise<StoredDocument<'billingOperation'>[]> {
  const { order = {}, bookerId } = wanted;
  const costs = new Map(dues.filter(([, cents]) => cents > 0));
  const worths = new Map(dues.filter(([, cents]) => cents < 0).map(([id, cents]) => [id, -cents]));
  return [
    ...(await createPurchases(deps, trip, { booking: selected, order, bookerId, costs })),
    ...(await refundTravelers(deps, trip, { booking: selected, worths })),
  ];
}
