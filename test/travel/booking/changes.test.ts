import type { TripOutcome } from '../../../src/travel/booking/book-trip.ts';
import type { CancellationRequest } from '../../../src/travel/booking/cancellation.ts';
import type { ExchangeRequest } from '../../../src/travel/booking/exchange.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { type BookingFixture, openBookingFixture, summarizeEvents } from './fixture.ts';
import { car, flight, hotel, roundTrip } from './quotes.ts';

let at: BookingFixture;
beforeEach(async () => {
  at = await openBookingFixture();
});
afterEach(() => at.fixture.close());

const conflict = expect.objectContaining({ name: 'ApiError', code: 'conflict' });

const idsOf = ({ trip, bookings }: TripOutcome) => ({
  tripProjectId: trip.id,
  bookingId: bookings[0]?.id ?? '',
});
const cancel = (outcome: TripOutcome, more: Partial<CancellationRequest> = {}) =>
  at.transact((service) => service.cancelBooking({ ...idsOf(outcome), ...more }));
const exchange = (outcome: TripOutcome, more: Partial<ExchangeRequest> & Pick<ExchangeRequest, 'quote'>) =>
  at.transact((service) => service.modifyBooking({ ...idsOf(outcome), ...more }));
const totals = ({ operations }: TripOutcome) =>
  operations.map(({ doc }) => [doc.transactionKind, doc.amount.total]);
const segmentsOf = async (outcome: TripOutcome): Promise<JsonObject[]> => {
  const { transportLegs } = await at.get(`/trip-projects/${outcome.trip.id}`);
  return (transportLegs as { segments: JsonObject[] }[]).flatMap(({ segments }) => segments);
};
const bookingsOf = async (outcome: TripOutcome) =>
  (await at.get(`/trip-projects/${outcome.trip.id}`))['bookings'] as JsonObject[];
const three = async () => [await at.traveler(), await at.traveler(), await at.traveler()];

describe('a cancellation', () => {
  test.each([
    ['flight', roundTrip(300)],
    ['hotel', hotel(300)],
    ['car', car(300)],
  ])('of a whole %s has an event and a refund', async (kind, offer) => {
    const outcome = await at.bookTrip([offer]);
    await at.newEvents();
    at.fixture.advanceClock(3_600_000);
    const { operations } = await cancel(outcome);
    const [booking = {}] = await bookingsOf(outcome);
    expect(booking).toMatchObject({ canceled: true, exchanged: false, status: 'succeeded' });
    const [cancellation = {}] = booking['cancellations'] as JsonObject[];
    const { tripProjectId, bookingId } = idsOf(outcome);
    expect(cancellation).toMatchObject({
      type: 'bookingCancellation',
      createdAt: '2026-11-20T13:00:00Z',
      bookingId,
      travelerIds: outcome.trip.doc.travelerIds,
      tripProjectId,
    });
    const segments = kind === 'flight' ? await segmentsOf(outcome) : [];
    expect(segments.every(({ canceled }) => canceled === true)).toBe(true);
    expect(cancellation['transportSegmentIds'] ?? []).toEqual(segments.map(({ id }) => id));
    const purchase = outcome.operations[0];
    const refund = await at.get(`/billing-operations/${operations[0]?.id}`);
    expect(refund).toMatchObject({
      amount: purchase?.doc.amount,
      date: '2026-11-20T13:00:00Z',
      operationType: kind,
      purchaseBillingOperationId: purchase?.id,
      status: 'succeeded',
      transactionKind: 'refund',
      tripProjectId,
    });
    expect(refund['bookingSnapshot']).toEqual(purchase?.doc.bookingSnapshot);
    expect(await at.newEvents()).toEqual([
      { kind: 'bookingCancellation.created', data: cancellation },
      { kind: 'billingOperation.created', data: refund },
    ]);
    await expect(cancel(outcome)).rejects.toEqual(conflict);
  });

  test('of some travelers keeps the booking of the others', async () => {
    const [first = '', second = '', third = ''] = await three();
    const outcome = await at.bookTrip([roundTrip(100)], [first, second, third]);
    const once = await cancel(outcome, { travelerIds: [second] });
    expect(totals(once)).toEqual([['refund', 33.33]]);
    expect(await bookingsOf(outcome)).toMatchObject([{ canceled: false }]);
    expect((await segmentsOf(outcome)).some(({ canceled }) => canceled)).toBe(false);
    await expect(cancel(outcome, { travelerIds: [second] })).rejects.toEqual(conflict);
    const rest = await cancel(outcome);
    expect(totals(rest)).toEqual([
      ['refund', 33.34],
      ['refund', 33.33],
    ]);
    expect(await bookingsOf(outcome)).toMatchObject([
      { canceled: true, cancellations: [{ travelerIds: [second] }, { travelerIds: [first, third] }] },
    ]);
  });

  test('of some segments refunds their part; all parts add up to the whole', async () => {
    const outcome = await at.bookTrip([roundTrip(100)]);
    const ids = (await segmentsOf(outcome)).map(({ id }) => String(id));
    const given = [];
    for (const [position, id] of ids.entries()) {
      given.push(...totals(await cancel(outcome, { transportSegmentIds: [id] })));
      const canceled = (await segmentsOf(outcome)).map((segment) => segment['canceled']);
      expect(canceled).toEqual(ids.map((_id, other) => other <= position));
    }
    expect(given).toEqual([
      ['refund', 33.33],
      ['refund', 33.33],
      ['refund', 33.34],
    ]);
    expect(await bookingsOf(outcome)).toMatchObject([{ canceled: true }]);
  });

  test('refunds the percentage that the supplier refunds', async () => {
    const half = await at.bookTrip([flight(99.99)]);
    expect(totals(await cancel(half, { refundPercentage: 50 }))).toEqual([['refund', 49.99]]);
    const nothing = await at.bookTrip([flight(100)]);
    await at.newEvents();
    expect(totals(await cancel(nothing, { refundPercentage: 0 }))).toEqual([]);
    expect(summarizeEvents(await at.newEvents())).toMatchObject([
      ['bookingCancellation.created', expect.any(String)],
    ]);
    const wrong = await at.bookTrip([flight(100)]);
    for (const refundPercentage of [-1, 101, Number.NaN]) {
      await expect(cancel(wrong, { refundPercentage })).rejects.toEqual(conflict);
    }
  });

  test('refunds nothing twice', async () => {
    const outcome = await at.bookTrip([flight(100)]);
    const billingOperationId = outcome.operations[0]?.id ?? '';
    await at.transact((service) => service.refundOperation({ billingOperationId, total: 70 }));
    expect(totals(await cancel(outcome))).toEqual([['refund', 30]]);
  });

  test('after the invoice makes refunds that wait for its payment; of a void invoice, none', async () => {
    const outcome = await at.bookTrip([flight(100), flight(50)]);
    const billingProfileId = outcome.operations[0]?.doc.billingProfileId ?? '';
    const [invoice] = await at.transact((service) =>
      service.invoiceProfile({ billingProfileId, kind: 'booking' }),
    );
    const { operations } = await cancel(outcome);
    expect(await at.get(`/billing-operations/${operations[0]?.id}`)).toMatchObject({ status: 'delayed' });
    expect(await at.all('/refunds')).toMatchObject([{ invoiceId: invoice?.id, status: 'delayed' }]);
    await at.transact((service) => service.voidInvoice(invoice?.id ?? ''));
    const second = { ...outcome, bookings: outcome.bookings.slice(1) };
    expect(totals(await cancel(second))).toEqual([]);
    expect(await bookingsOf(outcome)).toMatchObject([{ canceled: true }, { canceled: true }]);
  });

  test('requires a successful booking, and travelers and segments that it contains', async () => {
    const outcome = await at.bookTrip([flight(100)]);
    for (const more of [
      { bookingId: 'f'.repeat(24) },
      { travelerIds: ['nobody'] },
      { transportSegmentIds: ['nothing'] },
      { travelerIds: [] },
    ]) {
      await expect(cancel(outcome, more)).rejects.toEqual(conflict);
    }
    await expect(cancel(outcome, { tripProjectId: 'nowhere' })).rejects.toMatchObject({ code: 'notFound' });
    const trip = await at.transact(async (service) => {
      const { id, doc } = await service.searchTrip({
        travelerIds: outcome.trip.doc.travelerIds,
        search: { kind: 'oneWay' },
        quotes: [flight(1)],
      });
      const orders = [{ rateId: doc.rates[0]?.id ?? '', fails: true }];
      return service.bookTrip({ tripProjectId: id, orders });
    });
    await expect(cancel(trip)).rejects.toEqual(conflict);
  });
});

describe('a modification', () => {
  test('exchanges segments for those of another booking, with an event', async () => {
    const outcome = await at.bookTrip([flight(100)]);
    await at.newEvents();
    const done = await exchange(outcome, { quote: flight(130), order: { supplierName: 'Iberia' } });
    const [old = {}, selected = {}] = await bookingsOf(outcome);
    const [from = {}, to = {}] = await segmentsOf(outcome);
    const [modification = {}] = old['modifications'] as JsonObject[];
    expect(modification).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      type: 'bookingModification',
      createdAt: '2026-11-20T12:00:00Z',
      bookingId: old['id'],
      selectedBookingId: selected['id'],
      transportSegmentExchanges: [
        {
          originalTransportSegmentIds: [from['id']],
          targetTransportSegmentIds: [to['id']],
          travelerIds: outcome.trip.doc.travelerIds,
        },
      ],
      tripProjectId: outcome.trip.id,
    });
    expect([old['exchanged'], old['canceled'], selected['exchanged']]).toEqual([true, false, false]);
    expect([from['exchanged'], to['exchanged'], to['bookingId']]).toEqual([true, false, selected['id']]);
    expect(selected['reference']).not.toBe(old['reference']);
    const purchase = await at.get(`/billing-operations/${done.operations[0]?.id}`);
    expect(purchase).toMatchObject({
      amount: { total: 30 },
      transactionKind: 'purchase',
      bookingSnapshot: { supplierName: 'Iberia', reference: selected['reference'] },
    });
    expect(await at.newEvents()).toEqual([
      { kind: 'bookingModification.created', data: modification },
      { kind: 'tripProject.booking.succeeded', data: selected },
      { kind: 'billingOperation.created', data: purchase },
    ]);
    await expect(cancel(outcome)).rejects.toEqual(conflict);
  });

  test.each([
    [130, [['purchase', 30]]],
    [100, []],
    [60, [['refund', 40]]],
    [0, [['refund', 100]]],
  ])('from a price of 100 to %d makes %j', async (price, made) => {
    const outcome = await at.bookTrip([flight(100)]);
    expect(totals(await exchange(outcome, { quote: flight(price) }))).toEqual(made);
  });

  test('refunds the original purchase, also after several exchanges', async () => {
    const outcome = await at.bookTrip([flight(100)]);
    const second = await exchange(outcome, { quote: flight(150) });
    const third = await exchange(second, { quote: flight(80) });
    const given = third.operations.map(({ doc }) => [doc.amount.total, doc.purchaseBillingOperationId]);
    expect(given).toEqual([
      [50, second.operations[0]?.id],
      [20, outcome.operations[0]?.id],
    ]);
    const last = await cancel(third);
    expect(last.operations.map(({ doc }) => [doc.amount.total, doc.purchaseBillingOperationId])).toEqual([
      [80, outcome.operations[0]?.id],
    ]);
    const all = await at.all(`/trip-projects/${outcome.trip.id}/billing-operations`);
    const sum = all.reduce((cents, { amount, transactionKind }) => {
      const part = Math.round(Number((amount as JsonObject)['total']) * 100);
      return cents + (transactionKind === 'purchase' ? part : -part);
    }, 0);
    expect(sum).toBe(0);
  });

  test('of some travelers and segments leaves the rest', async () => {
    const [first = '', second = ''] = [await at.traveler(), await at.traveler()];
    const outcome = await at.bookTrip([roundTrip(300)], [first, second]);
    const [one = '', two = '', back = ''] = (await segmentsOf(outcome)).map(({ id }) => String(id));
    const done = await exchange(outcome, {
      travelerIds: [second],
      transportSegmentIds: [back],
      quote: flight(70),
    });
    expect(totals(done)).toEqual([['purchase', 20]]);
    expect((await segmentsOf(outcome)).map(({ exchanged }) => exchanged)).toEqual([
      ...[false, false, false],
      false,
    ]);
    await exchange(outcome, { travelerIds: [first], transportSegmentIds: [back], quote: flight(50) });
    expect((await segmentsOf(outcome)).map(({ exchanged }) => exchanged).slice(0, 3)).toEqual([
      false,
      false,
      true,
    ]);
    const whole = exchange(outcome, { transportSegmentIds: [one, back], quote: flight(1) });
    await expect(whole).rejects.toEqual(conflict);
    await cancel(outcome, { travelerIds: [second], transportSegmentIds: [one] });
    const mixed = exchange(outcome, { transportSegmentIds: [one, two], quote: flight(1) });
    await expect(mixed).rejects.toEqual(conflict);
    const rest = await cancel(outcome);
    expect(totals(rest)).toEqual([
      ['refund', 100],
      ['refund', 50],
    ]);
    expect(await bookingsOf(outcome)).toMatchObject([{ exchanged: true, canceled: false }, {}, {}]);
  });

  test('requires the currency of the exchanged booking', async () => {
    const outcome = await at.bookTrip([flight(100)]);
    await expect(exchange(outcome, { quote: flight(100, 'USD') })).rejects.toEqual(conflict);
  });

  test.each([
    ['hotel', hotel(100)],
    ['car', car(100)],
  ])('is not for a %s', async (_kind, offer) => {
    const outcome = await at.bookTrip([offer]);
    await expect(exchange(outcome, { quote: flight(1) })).rejects.toEqual(conflict);
  });
});
