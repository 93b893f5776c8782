import {
  bookOffline,
  bookTrip,
  cancelBooking,
  exchangeLastLeg,
  type Trip,
} from '../../src/sample-data/bookings.ts';
import type { Booking, Quote } from '../../src/sample-data/trip-parts.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import { bookAll, readTravelers, searchFor } from '../fixtures/bookings.ts';
import { car, flight, hotel, rail, roundTrip } from '../fixtures/quotes.ts';
import { type BookingFixture, openBookingFixture } from './fixture.ts';

let at: BookingFixture;
beforeEach(async () => {
  at = await openBookingFixture();
});
afterEach(() => at.fixture.close());

/** Searches and books a trip for these travelers, by default for one. */
async function book(
  quotes: Quote[],
  travelerIds?: string[],
): Promise<{ trip: Trip; bookings: [Booking, ...Booking[]] }> {
  const ids = travelerIds ?? [await at.traveler({ billingProfileId: await at.profile() })];
  return at.transact(async (desk) => {
    const trip = await searchFor(desk, ids, quotes);
    const [first, ...others] = await bookAll(desk, trip);
    if (!first) throw new Error('there is a quote');
    return { trip, bookings: [first, ...others] };
  });
}

/** The operations of a trip: their kinds and amounts. */
async function totals({ id }: Trip) {
  const operations = await at.all(`/trip-projects/${id}/billing-operations`);
  return operations.map(({ transactionKind, amount }) => [transactionKind, (amount as JsonObject)['total']]);
}

async function partsOf({ id }: Trip) {
  const { bookings, transportLegs = [] } = await at.get(`/trip-projects/${id}`);
  const segments = (transportLegs as { segments: JsonObject[] }[]).flatMap((leg) => leg.segments);
  return { bookings: bookings as JsonObject[], segments };
}

test.each<[string, Quote, JsonObject]>([
  [
    'flight',
    { ...roundTrip(300), terms: { cities: { departure: 'Paris', destination: 'Lisbon' } } },
    {
      supplierName: 'TAP Air Portugal',
      transport: {
        departure: { airport: 'CDG', city: 'Paris', countryCode: 'FR' },
        departureLocaleDate: '2026-12-01',
        destination: { airport: 'LIS', city: 'Lisbon', countryCode: 'PT' },
        itineraryType: 'roundTrip',
        returnLocaleDate: '2026-12-04',
      },
    },
  ],
  [
    'rail',
    { ...rail(80), terms: { supplierName: 'Renfe', budget: { currency: 'EUR', total: 90 } } },
    {
      servicebudget: { currency: 'EUR', total: 90 },
      supplierName: 'Renfe',
      transport: expect.objectContaining({ itineraryType: 'oneWay' }),
    },
  ],
  [
    'hotel',
    hotel(240),
    {
      supplierName: 'Hotel Tejo',
      hotel: {
        checkinLocaleDate: '2026-12-01',
        checkoutLocaleDate: '2026-12-04',
        place: { countryCode: 'PT' },
      },
    },
  ],
  ['car', car(90), {}],
])(
  'a booking of a %s succeeds with an event, and creates a purchase with a snapshot',
  async (kind, quote, known) => {
    const billingProfileId = await at.profile();
    const costCenterId = (await at.fixture.make('/cost-centers', { name: 'Sales' })).id;
    const travelerId = await at.traveler({ billingProfileId, costCenterId });
    await at.newEvents();
    const { trip } = await book([quote], [travelerId]);
    const found = await at.get(`/trip-projects/${trip.id}`);
    const [booking = {}] = found['bookings'] as JsonObject[];
    expect(booking).toMatchObject({ canceled: false, exchanged: false, kind, status: 'succeeded' });
    const parts = [
      found['hotelStays'] ?? [],
      found['carRentals'] ?? [],
      (await partsOf(trip)).segments,
    ].flat();
    expect(new Set(parts.map((part) => (part as JsonObject)['bookingId']))).toEqual(new Set([booking['id']]));
    const [operation = {}, ...others] = await at.all(`/trip-projects/${trip.id}/billing-operations`);
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
      ...{ reference: booking['reference'], traveler: person, ...known },
    });
    expect(await at.newEvents()).toEqual([
      ['tripProject.created', trip.id],
      ['tripProject.booking.succeeded', booking['id']],
      ['billingOperation.created', operation['id']],
    ]);
  },
);

test('a booking that fails has an event and costs nothing; its rate can be booked again', async () => {
  const travelerId = await at.traveler();
  await at.newEvents();
  const trip = await at.transact(async (desk) => {
    const searched = await searchFor(desk, [travelerId], [hotel(80)]);
    const orders = searched.doc.rates.map(({ id: rateId }) => ({ rateId, fails: true }));
    await bookTrip(desk, searched, orders);
    return searched;
  });
  expect(await totals(trip)).toEqual([]);
  const { bookings } = await partsOf(trip);
  expect(bookings).toMatchObject([{ status: 'failed' }]);
  expect(bookings[0]).not.toHaveProperty('reference');
  expect((await at.newEvents())[1]).toEqual(['tripProject.booking.failed', bookings[0]?.['id']]);
  await at.transact((desk) => bookAll(desk, trip));
  expect(await totals(trip)).toEqual([['purchase', 80]]);
});

test('a booking of several travelers creates a purchase for each, exact to the cent; a car creates one', async () => {
  const ids = [await at.traveler(), await at.traveler(), await at.traveler()];
  const { trip } = await book([roundTrip(100), car(50)], ids);
  const operations = await at.all(`/trip-projects/${trip.id}/billing-operations`);
  const shown = operations.map(({ amount, bookingSnapshot, operationType }) => {
    const { traveler, booker } = bookingSnapshot as Record<string, JsonObject>;
    return [operationType, traveler?.['id'], booker?.['id'], (amount as JsonObject)['total']];
  });
  expect(shown).toEqual([
    ['flight', ids[0], ids[0], 33.34],
    ['flight', ids[1], ids[0], 33.33],
    ['flight', ids[2], ids[0], 33.33],
    ['car', ids[0], ids[0], 50],
  ]);
});

test('a booking is billed to the project, or else to the traveler', async () => {
  const [own, ofProject] = [await at.profile(), await at.profile()];
  const projectCodeId = (await at.fixture.make('/project-codes', { code: 'APOLLO' })).id;
  const travelerId = await at.traveler({ billingProfileId: own });
  const billed = (details: { payer?: string }) =>
    at.transact(async (desk) => {
      const trip = await searchFor(desk, [travelerId], [hotel(80)], { ...details, projectCodeId });
      await bookAll(desk, trip);
      return trip.purchases.map(({ doc }) => doc.billingProfileId);
    });
  expect([await billed({}), await billed({ payer: ofProject })]).toEqual([[own], [ofProject]]);
});

describe('a cancellation', () => {
  const cancel = (trip: Trip, booking: Booking, travelerIds: string[], refundPercentage = 100) =>
    at.transact((desk) => cancelBooking(desk, trip, { booking, travelerIds, refundPercentage }));

  test('marks the booking and its segments, with an event, and refunds the price', async () => {
    const { trip, bookings } = await book([roundTrip(300), hotel(80)]);
    await at.newEvents();
    await cancel(trip, bookings[0], trip.doc.travelerIds);
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

  test('of one traveler keeps the booking of the others', async () => {
    const ids = [await at.traveler(), await at.traveler()];
    const { trip, bookings } = await book([flight(100)], ids);
    await cancel(trip, bookings[0], ids.slice(0, 1));
    const parts = await partsOf(trip);
    expect([parts.bookings[0]?.['canceled'], parts.segments[0]?.['canceled']]).toEqual([false, false]);
    expect((await totals(trip)).slice(2)).toEqual([['refund', 50]]);
  });

  test('refunds the percentage that the supplier refunds', async () => {
    const { trip, bookings } = await book([flight(99.99), hotel(100)]);
    await cancel(trip, bookings[0], trip.doc.travelerIds, 50);
    await cancel(trip, bookings[1] ?? bookings[0], trip.doc.travelerIds, 0);
    expect((await totals(trip)).slice(2)).toEqual([['refund', 49.99]]);
  });
});

describe('an exchange', () => {
  test('replaces the last leg by that of another booking, with an event', async () => {
    const { trip, bookings } = await book([roundTrip(300)]);
    await at.newEvents();
    await at.transact((desk) => exchangeLastLeg(desk, trip, { booking: bookings[0], quote: flight(130) }));
    const parts = await partsOf(trip);
    const [old = {}, selected = {}] = parts.bookings;
    expect([old['exchanged'], old['canceled'], selected['exchanged']]).toEqual([false, false, false]);
    expect(parts.segments.map(({ exchanged }) => exchanged)).toEqual([false, false, true, false]);
    const [modification] = old['modifications'] as JsonObject[];
    expect(modification).toMatchObject({
      ...{ bookingId: old['id'], selectedBookingId: selected['id'], tripProjectId: trip.id },
      transportSegmentExchanges: [
        {
          originalTransportSegmentIds: [parts.segments[2]?.['id']],
          targetTransportSegmentIds: [parts.segments[3]?.['id']],
          travelerIds: trip.doc.travelerIds,
        },
      ],
    });
    expect((await at.newEvents()).slice(0, 2)).toEqual([
      ['bookingModification.created', modification?.['id']],
      ['tripProject.booking.succeeded', selected['id']],
    ]);
    expect((await totals(trip)).slice(1)).toEqual([['purchase', 30]]);
  });

  test.each([
    [130, [['purchase', 30]]],
    [100, []],
    [60, [['refund', 40]]],
    [0, [['refund', 100]]],
  ])('from a price of 100 to %d makes %j', async (price, made) => {
    const { trip, bookings } = await book([flight(100)]);
    await at.transact((desk) => exchangeLastLeg(desk, trip, { booking: bookings[0], quote: flight(price) }));
    expect((await totals(trip)).slice(1)).toEqual(made);
    expect((await partsOf(trip)).bookings.map(({ exchanged }) => exchanged)).toEqual([true, false]);
  });
});

test('a booking of the offline channel has a snapshot and its own date, and no trip project', async () => {
  const travelerId = await at.traveler();
  const date = '2026-11-19T09:00:00Z';
  const { id } = await at.transact(async (desk) => {
    const [traveler] = await readTravelers(desk, [travelerId]);
    return bookOffline(desk, traveler, { quote: hotel(90), date });
  });
  const operation = await at.get(`/billing-operations/${id}`);
  expect(operation).toMatchObject({ bookingSnapshot: { channel: 'offline', date, kind: 'hotel' }, date });
  expect(operation).not.toHaveProperty('tripProjectId');
});
