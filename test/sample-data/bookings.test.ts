import {
  type Booking,
  bookTrip,
  cancelBooking,
  exchangeBooking,
  type Quote,
  type Trip,
} from '../../src/sample-data/bookings.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import { bookAll, searchFor } from '../fixtures/bookings.ts';
import { car, flight, hotel, rail, roundTrip } from '../fixtures/quotes.ts';
import { type BookingFixture, openBookingFixture } from './fixture.ts';

let at: BookingFixture;
beforeEach(async () => {
  at = await openBookingFixture();
});
afterEach(() => at.fixture.close());

/** Searches and books a trip for a traveler. */
async function book(
  quotes: Quote[],
  travelerId?: string,
): Promise<{ trip: Trip; bookings: [Booking, ...Booking[]] }> {
  const id = travelerId ?? (await at.traveler({ billingProfileId: await at.profile() }));
  return at.transact(async (ledger) => {
    const trip = await searchFor(ledger, [id], quotes);
    const [first, ...others] = await bookAll(ledger, trip);
    if (!first) throw new Error('there is a quote');
    return { trip, bookings: [first, ...others] };
  });
}

/** The operations of a trip: their kinds and amounts. */
async function totals({ stored: { id } }: Trip) {
  const operations = await at.all(`/trip-projects/${id}/billing-operations`);
  return operations.map(({ transactionKind, amount }) => [transactionKind, (amount as JsonObject)['total']]);
}

async function partsOf({ stored: { id } }: Trip) {
  const { bookings, transportLegs = [] } = await at.get(`/trip-projects/${id}`);
  const segments = (transportLegs as { segments: JsonObject[] }[]).flatMap((leg) => leg.segments);
  return { bookings: bookings as JsonObject[], segments };
}

test.each([
  ['flight', roundTrip(300)],
  ['rail', rail(80)],
  ['hotel', hotel(240)],
  ['car', car(90)],
])(
  'a booking of a %s succeeds with an event, and creates a purchase with a snapshot',
  async (kind, quote) => {
    const billingProfileId = await at.profile();
    const costCenterId = (await at.fixture.make('/cost-centers', { name: 'Sales' })).id;
    const travelerId = await at.traveler({ billingProfileId, costCenterId });
    await at.newEvents();
    const { trip } = await book([quote], travelerId);
    const found = await at.get(`/trip-projects/${trip.stored.id}`);
    const [booking = {}] = found['bookings'] as JsonObject[];
    expect(booking).toMatchObject({ canceled: false, exchanged: false, kind, status: 'succeeded' });
    const parts = [
      found['hotelStays'] ?? [],
      found['carRentals'] ?? [],
      (await partsOf(trip)).segments,
    ].flat();
    expect(new Set(parts.map((part) => (part as JsonObject)['bookingId']))).toEqual(new Set([booking['id']]));
    const [operation = {}, ...others] = await at.all(`/trip-projects/${trip.stored.id}/billing-operations`);
    expect(others).toEqual([]);
    const { email, lastName } = await at.get(`/users/${travelerId}`);
    const person = { id: travelerId, email, fullName: `Ada ${lastName}` };
    expect(operation).toMatchObject({
      ...{ amount: { currency: 'EUR', total: quote.price.total }, billingProfileId, costCenterId },
      ...{
        date: '2026-11-20T12:00:00Z',
        operationType: kind,
        status: 'delayed',
        transactionKind: 'purchase',
      },
    });
    expect(operation['bookingSnapshot']).toMatchObject({
      ...{ booker: person, channel: 'online', date: '2026-11-20T12:00:00Z', kind },
      ...{ reference: booking['reference'], traveler: person, ...quote.snapshot },
    });
    expect(await at.newEvents()).toEqual([
      ['tripProject.created', trip.stored.id],
      ['tripProject.booking.succeeded', booking['id']],
      ['billingOperation.created', operation['id']],
    ]);
  },
);

test('a booking that fails has an event and costs nothing; its rate can be booked again', async () => {
  const travelerId = await at.traveler();
  await at.newEvents();
  const trip = await at.transact(async (ledger) => {
    const searched = await searchFor(ledger, [travelerId], [hotel(80)]);
    await bookTrip(
      ledger,
      searched,
      searched.doc.rates.map(({ id }) => id),
      'failed',
    );
    return searched;
  });
  expect(await totals(trip)).toEqual([]);
  const { bookings } = await partsOf(trip);
  expect(bookings).toMatchObject([{ status: 'failed' }]);
  expect(bookings[0]).not.toHaveProperty('reference');
  expect((await at.newEvents())[1]).toEqual(['tripProject.booking.failed', bookings[0]?.['id']]);
  await at.transact((ledger) => bookAll(ledger, trip));
  expect(await totals(trip)).toEqual([['purchase', 80]]);
});

describe('a cancellation', () => {
  const cancel = (trip: Trip, booking: Booking, refundPercentage = 100) =>
    at.transact((ledger) => cancelBooking(ledger, trip, booking, refundPercentage));

  test('marks the booking and its segments, with an event, and refunds the price', async () => {
    const { trip, bookings } = await book([roundTrip(300), hotel(80)]);
    await at.newEvents();
    await cancel(trip, bookings[0]);
    const parts = await partsOf(trip);
    expect(parts.bookings.map(({ canceled }) => canceled)).toEqual([true, false]);
    expect(parts.segments.map(({ canceled }) => canceled)).toEqual([true, true, true]);
    const [canceled = {}] = parts.bookings;
    const [cancellation] = canceled['cancellations'] as JsonObject[];
    expect(cancellation).toMatchObject({
      transportSegmentIds: parts.segments.map(({ id }) => id),
      travelerIds: trip.doc.travelerIds,
    });
    expect((await at.newEvents())[0]).toEqual(['bookingCancellation.created', cancellation?.['id']]);
    expect((await totals(trip)).at(-1)).toEqual(['refund', 300]);
  });

  test('refunds the percentage that the supplier refunds', async () => {
    const { trip, bookings } = await book([flight(99.99), hotel(100)]);
    await cancel(trip, bookings[0], 50);
    await cancel(trip, bookings[1] ?? bookings[0], 0);
    expect((await totals(trip)).slice(2)).toEqual([['refund', 49.99]]);
  });
});

test('an exchange replaces a booking by another one, with an event, and refunds the first one', async () => {
  const { trip, bookings } = await book([roundTrip(300)]);
  await at.newEvents();
  await at.transact((ledger) => exchangeBooking(ledger, trip, bookings[0], flight(330)));
  const parts = await partsOf(trip);
  const [old = {}, selected = {}] = parts.bookings;
  expect([old['exchanged'], old['canceled'], selected['exchanged']]).toEqual([true, false, false]);
  expect(parts.segments.map(({ exchanged }) => exchanged)).toEqual([true, true, true, false]);
  const [modification] = old['modifications'] as JsonObject[];
  const segmentIds = parts.segments.map(({ id }) => id);
  expect(modification).toMatchObject({
    ...{ bookingId: old['id'], selectedBookingId: selected['id'], tripProjectId: trip.stored.id },
    transportSegmentExchanges: [
      {
        originalTransportSegmentIds: segmentIds.slice(0, 3),
        targetTransportSegmentIds: segmentIds.slice(3),
        travelerIds: trip.doc.travelerIds,
      },
    ],
  });
  const [booked, , exchanged] = await at.newEvents();
  expect(booked).toEqual(['tripProject.booking.succeeded', selected['id']]);
  expect(exchanged).toEqual(['bookingModification.created', modification?.['id']]);
  expect((await totals(trip)).slice(1)).toEqual([
    ['purchase', 330],
    ['refund', 300],
  ]);
});
