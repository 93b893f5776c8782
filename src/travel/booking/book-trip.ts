import { formatTimestamp } from '../collection.ts';
import { ApiError, notFound } from '../errors.ts';
import type { Place } from '../fields.ts';
import { type JsonObject, stringMember } from '../json.ts';
import type { StoredResource } from '../ports.ts';
import type { BookingSnapshot, TripProject } from '../resources/trip-project.ts';
import {
  type BookingDeps,
  findOperations,
  insertDocument,
  requireDocument,
  type StoredOperation,
  type StoredTrip,
  updateDocument,
} from './context.ts';
import { amountOf, type CreationContext, type Price, toAmount } from './prices.ts';
import { createRefund, remainingAmounts } from './refunds.ts';
import {
  type Booking,
  bookingHistory,
  findBillingTarget,
  requireTravelers,
  travelerShares,
  travelersOf,
} from './traveler-segments.ts';

/** A request to book rates of a trip; without `orders`, all rates that are not booked. */
export interface TripBooking {
  tripProjectId: string;
  /** Defaults to the first traveler. */
  bookerId?: string;
  orders?: Order[];
}

/** The result of booking, exchanging or canceling: the trip, the bookings concerned, and the new billing operations. */
export interface TripOutcome {
  trip: StoredTrip;
  bookings: Booking[];
  operations: StoredOperation[];
}

/**
 * Books rates of a trip. Every successful booking creates one purchase per traveler; a failed one is recorded and costs
 * nothing. Throws `conflict` while the trip awaits approval or is declined.
 */
export async function bookTrip(deps: BookingDeps, wanted: TripBooking): Promise<TripOutcome> {
  const { tripProjectId, bookerId } = wanted;
  const found = await requireDocument(deps, 'tripProject', tripProjectId);
  const { approvalStatus: status } = found.doc;
  if (status === 'awaitApproval' || status === 'declined') {
    throw new ApiError('conflict', `The trip cannot be booked while its approval status is ${status}.`);
  }
  const orders = wanted.orders ?? unbookedRates(found.doc).map((rateId) => ({ rateId }));
  const context = { at: formatTimestamp(deps.now()), newId: deps.newId, tripProjectId };
  const { trip, bookings } = addBookings(found.doc, orders, context);
  const stored = await updateDocument(deps, 'tripProject', found, trip);
  const operations = [];
  for (const [position, booking] of bookings.entries()) {
    await emitBookingEvent(deps, booking);
    const order = orders[position] ?? {};
    operations.push(
      ...(await createPurchases(deps, stored, {
        booking,
        order,
        bookerId,
        costs: travelerShares(trip, booking),
      })),
    );
  }
  return { trip: stored, bookings, operations };
}

/** Appends "tripProject.booking.succeeded" or "tripProject.booking.failed". */
export async function emitBookingEvent(deps: BookingDeps, booking: Booking): Promise<void> {
  deps.recorder.appendEvent(`tripProject.booking.${booking.status}`, { ...booking } as JsonObject);
}

/** A rate to book. */
export interface Order {
  rateId: string;
  /** If true, the supplier refuses the booking. */
  fails?: boolean;
  supplierName?: string;
  /** The cost for one traveler that the travel policy suggests. */
  budget?: Price;
  /** The cities of departure and destination, if they are not part of the names of airports and hotels. */
  cities?: { departure?: string; destination?: string };
  /** The conditions of the ticket. */
  fare?: { cabinClass?: string; category?: string; fareType?: string; lowCost?: boolean };
}

/** Adds one booking per order to a trip, in the same order. Successful bookings are assigned their stay, rental or segments. */
export function addBookings(
  trip: TripProject,
  orders: Pick<Order, 'rateId' | 'fails'>[],
  context: CreationContext & { tripProjectId: string },
): { trip: TripProject; bookings: Booking[] } {
  refuseUnbookable(trip, orders);
  const before = trip.bookings ?? [];
  const bookings = orders.map(({ rateId, fails = false }, position): Booking => {
    const { tripProjectId } = context;
    const made = {
      ...{ id: context.newId('A'), type: 'booking' as const, createdAt: context.at },
      ...{ canceled: false, exchanged: false, kind: requireRate(trip, rateId).kind, rateId, tripProjectId },
    };
    if (fails) return { ...made, status: 'failed' };
    return {
      ...made,
      reference: bookingReference(tripProjectId, before.length + position),
      status: 'succeeded',
    };
  });
  const held = new Map(bookings.filter(isBooked).map(({ id, rateId }) => [rateId, id]));
  return { trip: { ...assignBookings(trip, held), bookings: [...before, ...bookings] }, bookings };
}

/** The ids of the rates without a successful booking. */
export function unbookedRates(trip: TripProject): string[] {
  const taken = new Set((trip.bookings ?? []).filter(isBooked).map(({ rateId }) => rateId));
  return trip.rates.map(({ id }) => id).filter((id) => !taken.has(id));
}

/** Returns the rate with this id, or throws `conflict`. */
export function requireRate(trip: TripProject, rateId: string): TripProject['rates'][number] {
  const rate = trip.rates.find(({ id }) => id === rateId);
  if (!rate) throw new ApiError('conflict', `The trip has no rate ${rateId}.`);
  return rate;
}

function refuseUnbookable(trip: TripProject, orders: Pick<Order, 'rateId'>[]): void {
  const open = new Set(unbookedRates(trip));
  for (const { rateId } of orders) {
    requireRate(trip, rateId);
    if (!open.delete(rateId)) throw new ApiError('conflict', `The rate ${rateId} is booked already.`);
  }
}

/** The reference is unique within the trip, because purchases are found by it. */
function bookingReference(tripProjectId: string, position: number): string {
  const mark = tripProjectId.replace(/[^0-9A-Za-z]/g, '').slice(-5);
  return `${mark}${(position + 1).toString(36)}`.toUpperCase();
}

function isBooked({ status }: Booking): boolean {
  return status === 'succeeded';
}

function assignBookings(trip: TripProject, bookingIds: Map<string, string>): TripProject {
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

/** A booking, and its cost for each traveler. */
export interface PurchaseRequest {
  booking: Booking;
  order: Omit<Order, 'rateId'>;
  bookerId: string | undefined;
  /** The cost for each traveler in cents, by traveler id. */
  costs: Map<string, number>;
}

/** Creates one purchase for each traveler in `costs`; none if the booking failed. */
export async function createPurchases(
  deps: BookingDeps,
  { id, doc: trip }: StoredTrip,
  { booking, order, bookerId, costs }: PurchaseRequest,
): Promise<StoredOperation[]> {
  if (booking.status !== 'succeeded') return [];
  const ids = travelersOf(trip, booking).filter((travelerId) => costs.has(travelerId));
  const [booker, ...travelers] = await requireTravelers(deps, [
    bookerId ?? trip.travelerIds[0] ?? '',
    ...ids,
  ]);
  if (!booker) throw notFound('user');
  const { price } = requireRate(trip, booking.rateId);
  const made = [];
  for (const traveler of travelers) {
    const operation = await insertDocument(deps, 'billingOperation', {
      ...(await findBillingTarget(deps, traveler, trip)),
      amount: amountOf(costs.get(traveler.id) ?? 0, price),
      bookingSnapshot: snapshotOf(trip, booking, { booker, traveler, order }),
      date: booking.createdAt,
      description: describeBooking(trip, booking),
      operationType: booking.kind,
      transactionKind: 'purchase',
      tripProjectId: id,
    });
    made.push(operation);
  }
  return made;
}

/**
 * Refunds travelers for released segments. The money is taken from their purchases of this booking and of the bookings
 * that it replaced.
 */
export async function refundTravelers(
  deps: BookingDeps,
  trip: StoredTrip,
  { booking, refundCents }: { booking: Booking; refundCents: Map<string, number> },
): Promise<StoredOperation[]> {
  const all = await findOperations(deps, 'tripProjectId', [trip.id]);
  const bought = all.filter(({ doc }) => doc.transactionKind === 'purchase');
  const left = await remainingAmounts(deps, bought);
  const made = [];
  for (const [travelerId, cents] of refundCents) {
    const own = bookingHistory(trip.doc, booking).flatMap(({ reference }) =>
      bought.filter(({ doc: { bookingSnapshot: known } }) => {
        return known?.reference === reference && known?.traveler.id === travelerId;
      }),
    );
    let open = cents;
    for (const purchase of own) {
      const part = Math.min(open, left.refundable(purchase));
      if (part <= 0) continue;
      open -= part;
      made.push(await createRefund(deps, purchase, { cents: part, left, description: undefined }));
    }
  }
  return made;
}

/** The people and conditions that a booking snapshot describes. */
export interface SnapshotParties {
  booker: StoredResource;
  traveler: StoredResource;
  order: Pick<Order, 'budget' | 'cities' | 'fare' | 'supplierName'>;
}

/** Describes a booking at the time it is made. Billing keeps this snapshot even if the trip changes. */
export function snapshotOf(trip: TripProject, booking: Booking, terms: SnapshotParties): BookingSnapshot {
  const { booker, traveler, order } = terms;
  const supplierName = order.supplierName ?? supplierOf(trip, booking);
  return {
    booker: toPerson(booker),
    channel: 'online',
    date: booking.createdAt,
    ...hotelPart(trip, booking, order),
    kind: booking.kind,
    ...(booking.reference === undefined ? {} : { reference: booking.reference }),
    ...(order.budget === undefined ? {} : { servicebudget: toAmount(order.budget) }),
    ...(supplierName === undefined ? {} : { supplierName }),
    ...transportPart(trip, booking, order),
    traveler: toPerson(traveler),
  };
}

/** Returns the id, email and name of a user in the form of a snapshot. */
export function toPerson({ id, doc }: StoredResource): BookingSnapshot['booker'] {
  const email = stringMember(doc, 'email') ?? '';
  return { id, email, fullName: fullName(doc) || email };
}

/** A short description of a booking for billing, e.g. "Hotel Tejo". */
export function describeBooking(trip: TripProject, booking: Booking): string {
  const stay = stayOf(trip, booking);
  if (stay) return `Hotel ${stay.place.name}`;
  const rental = (trip.carRentals ?? []).find(({ bookingId }) => bookingId === booking.id);
  if (rental) return `Car from ${rental.pickupPlace.name}`;
  const [first] = legsOf(trip, booking);
  const from = first?.at(0)?.departure.place.name ?? '';
  return `${booking.kind === 'rail' ? 'Train' : 'Flight'} from ${from} to ${first?.at(-1)?.arrival.place.name ?? ''}`;
}

function fullName(doc: JsonObject): string {
  return [stringMember(doc, 'firstName'), stringMember(doc, 'lastName')].filter(Boolean).join(' ');
}

function supplierOf(trip: TripProject, booking: Booking): string | undefined {
  return stayOf(trip, booking)?.place.name ?? legsOf(trip, booking)[0]?.[0]?.operatingCarrier?.name;
}

function hotelPart(
  trip: TripProject,
  booking: Booking,
  { cities }: Pick<Order, 'cities'>,
): Pick<BookingSnapshot, 'hotel'> {
  const stay = stayOf(trip, booking);
  if (!stay) return {};
  const { checkinLocaleDate, checkoutLocaleDate, place } = stay;
  return { hotel: { checkinLocaleDate, checkoutLocaleDate, place: toSpot(place, cities?.destination) } };
}

function transportPart(
  trip: TripProject,
  booking: Booking,
  { cities, fare }: Pick<Order, 'cities' | 'fare'>,
): Pick<BookingSnapshot, 'transport'> {
  const legs = legsOf(trip, booking);
  const departure = legs[0]?.[0]?.departure;
  const destination = legs[0]?.at(-1)?.arrival.place;
  if (!departure || !destination) return {};
  const home = legs.at(-1)?.at(-1)?.arrival.place.name === departure.place.name;
  const type = legs.length === 1 ? 'oneWay' : legs.length === 2 && home ? 'roundTrip' : 'multiCity';
  const returning = legs.length > 1 ? legs.at(-1)?.[0]?.departure.localeDateTime.slice(0, 10) : undefined;
  return {
    transport: {
      departure: toSpot(departure.place, cities?.departure),
      departureLocaleDate: departure.localeDateTime.slice(0, 10),
      destination: toSpot(destination, cities?.destination),
      itineraryType: type,
      ...fare,
      ...(returning === undefined ? {} : { returnLocaleDate: returning }),
    },
  };
}

function stayOf(trip: TripProject, booking: Booking) {
  return (trip.hotelStays ?? []).find(({ bookingId }) => bookingId === booking.id);
}

function legsOf(trip: TripProject, booking: Booking) {
  const legs = (trip.transportLegs ?? []).map(({ segments }) =>
    segments.filter(({ bookingId }) => bookingId === booking.id),
  );
  return legs.filter((segments) => segments.length > 0);
}

function toSpot({ airport, country }: Place, city: string | undefined) {
  return {
    ...(airport ? { airport: airport.iataCode } : {}),
    ...(city === undefined ? {} : { city }),
    ...(country ? { countryCode: country.code } : {}),
  };
}
