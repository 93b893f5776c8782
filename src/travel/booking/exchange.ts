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
import {
  type BookingDeps,
  requireDocument,
  type StoredOperation,
  type StoredTrip,
  updateDocument,
} from './context.ts';
import { addQuotes, type CreationContext, centsOf, splitCents, type TransportQuote } from './prices.ts';
import { type Booking, markReleased, refundValues, type TravelerSegment } from './traveler-segments.ts';

/** A request to exchange segments of a booking for those of a quote. */
export interface ExchangeRequest extends ReleaseRequest {
  /** The price is for all travelers of the exchange. */
  quote: TransportQuote;
  order?: Omit<Order, 'rateId' | 'fails'>;
  /** Defaults to the first traveler. */
  bookerId?: string;
}

/** Exchanges segments of a booking for those of a new booking. Each traveler pays or gets back the difference. */
export async function modifyBooking(deps: BookingDeps, wanted: ExchangeRequest): Promise<TripOutcome> {
  const { tripProjectId, bookingId, quote } = wanted;
  const found = await requireDocument(deps, 'tripProject', tripProjectId);
  const old = requireBooking(found.doc, bookingId);
  const released = requireExchangeable(found.doc, old, wanted);
  refuseOtherCurrency(found.doc, old, quote);
  const context = { at: formatTimestamp(deps.now()), newId: deps.newId, tripProjectId };
  const { trip, selected, modification } = exchangeBooking(found.doc, { old, released, quote }, context);
  const stored = await updateDocument(deps, 'tripProject', found, trip);
  deps.recorder.appendEvent('bookingModification.created', modification);
  await emitBookingEvent(deps, selected);
  const dues = differences(refundValues(found.doc, old, released), centsOf(quote.price));
  const operations = await settleDifferences(deps, stored, { selected, dues, wanted });
  return { trip: stored, bookings: [selected], operations };
}

/**
 * Returns the selected traveler segments; all travelers of an exchange must hold the same segments. Only flights and
 * trains can be exchanged.
 */
function requireExchangeable(
  trip: TripProject,
  booking: Booking,
  request: ReleaseRequest,
): TravelerSegment[] {
  const released = requireReleasable(trip, booking, request);
  const { travelerIds, segmentIds } = idsOf(released);
  if (booking.kind !== 'flight' && booking.kind !== 'rail') {
    throw new ApiError('conflict', `A booking of the kind ${booking.kind} cannot be exchanged.`);
  }
  if (released.length !== travelerIds.length * segmentIds.length) {
    throw new ApiError('conflict', 'Not all of these travelers hold all of these segments.');
  }
  return released;
}

/** There is no exchange rate, so a difference between two currencies cannot be computed. */
function refuseOtherCurrency(trip: TripProject, old: Booking, { price }: TransportQuote): void {
  const { currency } = requireRate(trip, old.rateId).price;
  if (price.currency !== currency) {
    throw new ApiError('conflict', `What was paid in ${currency} cannot be exchanged for ${price.currency}.`);
  }
}

interface BookingExchange {
  old: Booking;
  released: TravelerSegment[];
  quote: TransportQuote;
}

function exchangeBooking(
  before: TripProject,
  { old, released, quote }: BookingExchange,
  context: CreationContext & { tripProjectId: string },
) {
  const quoted = addQuotes(before, [quote], context);
  const rateId = quoted.rates.at(-1)?.id ?? '';
  const { trip, bookings } = addBookings(quoted, [{ rateId }], context);
  const [selected = old] = bookings;
  const { travelerIds, segmentIds } = idsOf(released);
  const targets = (trip.transportLegs ?? []).flatMap(({ segments }) =>
    segments.filter(({ bookingId }) => bookingId === selected.id).map(({ id }) => id),
  );
  const modification = {
    ...{ id: context.newId('A'), type: 'bookingModification' as const, createdAt: context.at },
    ...{ bookingId: old.id, selectedBookingId: selected.id, tripProjectId: context.tripProjectId },
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

/** The cents that each traveler pays (positive) or gets back (negative). */
function differences(refundCents: Map<string, number>, price: number): [string, number][] {
  const parts = splitCents(price, refundCents.size);
  return [...refundCents].map(([travelerId, cents], position) => [
    travelerId,
    (parts[position] ?? 0) - cents,
  ]);
}

async function settleDifferences(
  deps: BookingDeps,
  trip: StoredTrip,
  { selected, dues, wanted }: { selected: Booking; dues: [string, number][]; wanted: ExchangeRequest },
): Promise<StoredOperation[]> {
  const { order = {}, bookerId } = wanted;
  const costs = new Map(dues.filter(([, cents]) => cents > 0));
  const refundCents = new Map(dues.filter(([, cents]) => cents < 0).map(([id, cents]) => [id, -cents]));
  return [
    ...(await createPurchases(deps, trip, { booking: selected, order, bookerId, costs })),
    ...(await refundTravelers(deps, trip, { booking: selected, refundCents })),
  ];
}
