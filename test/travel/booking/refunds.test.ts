import { conflict, createCharge, createInvoice, createPaidInvoice } from './charges.ts';
import { type BookingFixture, openBookingFixture, summarizeEvents } from './fixture.ts';
import { flight } from './quotes.ts';

let at: BookingFixture;
beforeEach(async () => {
  at = await openBookingFixture();
});
afterEach(() => at.fixture.close());

const status = async (path: string) => (await at.get(path))['status'];
const statusOf = ({ id }: { id: string }) => status(`/billing-operations/${id}`);

describe('a refund', () => {
  test('before the invoice creates no refund resource', async () => {
    const { purchase } = await createCharge(at);
    const refund = await at.transact((service) =>
      service.refundOperation({ billingOperationId: purchase.id }),
    );
    expect(await at.all('/refunds')).toEqual([]);
    const answered = await at.get(`/billing-operations/${refund.id}`);
    expect(answered).toMatchObject({
      amount: { currency: 'EUR', total: 100 },
      operationType: 'subscription',
      purchaseBillingOperationId: purchase.id,
      transactionKind: 'refund',
    });
    expect(answered).not.toHaveProperty('refundId');
    expect(answered).not.toHaveProperty('invoiceId');
    expect(summarizeEvents(await at.newEvents())).toEqual([['billingOperation.created', refund.id]]);
  });

  test('after the invoice creates a refund resource and leaves the invoice unchanged', async () => {
    const { purchase, invoiceId } = await createInvoice(at);
    const before = await at.get(`/invoices/${invoiceId}`);
    const refund = await at.transact((service) =>
      service.refundOperation({ billingOperationId: purchase.id, total: 40 }),
    );
    const answered = await at.get(`/billing-operations/${refund.id}`);
    const refundId = String(answered['refundId']);
    expect(answered).not.toHaveProperty('invoiceId');
    expect(await at.get(`/refunds/${refundId}`)).toMatchObject({
      amount: { currency: 'EUR', total: 40 },
      invoiceId,
      status: 'delayed',
    });
    expect(await at.get(`/invoices/${invoiceId}`)).toEqual(before);
    expect(summarizeEvents(await at.newEvents())).toEqual([
      ['refund.created', refundId],
      ['billingOperation.created', refund.id],
    ]);
  });

  test('that is delayed until its invoice is paid is transferred then', async () => {
    const { purchase, invoiceId } = await createInvoice(at);
    const refund = await at.transact((service) =>
      service.refundOperation({ billingOperationId: purchase.id }),
    );
    const refundId = refund.doc.refundId ?? '';
    for (const outcome of ['succeeded', 'canceled'] as const) {
      await expect(at.transact((service) => service.endTransfer(refundId, outcome))).rejects.toEqual(
        conflict,
      );
    }
    await expect(at.transact((service) => service.startTransfer(refundId))).rejects.toEqual(conflict);
    await at.newEvents();
    await at.transact((service) => service.payInvoice(invoiceId));
    expect(summarizeEvents(await at.newEvents())).toEqual([
      ['invoice.updated', invoiceId, { status: 'open' }],
      ['billingOperation.updated', purchase.id, { status: 'open' }],
      ['refund.updated', refundId, { status: 'delayed' }],
      ['billingOperation.updated', refund.id, { status: 'delayed' }],
    ]);
    await at.transact((service) => service.startTransfer(refundId));
    await at.transact((service) => service.endTransfer(refundId, 'succeeded'));
    expect(summarizeEvents(await at.newEvents())).toEqual([
      ['refund.updated', refundId, { status: 'waiting' }],
      ['billingOperation.updated', refund.id, { status: 'waiting' }],
      ['refund.updated', refundId, { status: 'pending' }],
      ['billingOperation.updated', refund.id, { status: 'pending' }],
    ]);
  });

  test('of a voided invoice is canceled', async () => {
    const { purchase, invoiceId } = await createInvoice(at);
    const refund = await at.transact((service) =>
      service.refundOperation({ billingOperationId: purchase.id, total: 1 }),
    );
    await at.newEvents();
    await at.transact((service) => service.voidInvoice(invoiceId));
    expect(summarizeEvents(await at.newEvents())).toEqual([
      ['invoice.updated', invoiceId, { status: 'open' }],
      ['billingOperation.updated', purchase.id, { status: 'open' }],
      ['refund.updated', refund.doc.refundId, { status: 'delayed' }],
      ['billingOperation.updated', refund.id, { status: 'delayed' }],
    ]);
    expect(await statusOf(refund)).toBe('canceled');
    const again = at.transact((service) => service.refundOperation({ billingOperationId: purchase.id }));
    await expect(again).rejects.toEqual(conflict);
  });

  test('never exceeds what is left of its purchase', async () => {
    const { purchase } = await createCharge(at);
    const give = (total?: number) =>
      at.transact((service) =>
        service.refundOperation({
          billingOperationId: purchase.id,
          ...(total === undefined ? {} : { total }),
        }),
      );
    for (const total of [100.01, 0, -1, 0.001, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(give(total)).rejects.toEqual(conflict);
    }
    await give(99.99);
    await expect(give(0.02)).rejects.toEqual(conflict);
    expect((await give()).doc.amount.total).toBe(0.01);
    await expect(give()).rejects.toEqual(conflict);
  });

  test('by hand never exceeds what disputes leave of the charge', async () => {
    const { purchase, invoiceId } = await createPaidInvoice(at);
    const { dispute } = await at.transact((service) =>
      service.disputeInvoice({ invoiceId, reason: 'duplicate', total: 60 }),
    );
    const give = (total?: number) =>
      at.transact((service) =>
        service.refundOperation({
          billingOperationId: purchase.id,
          ...(total === undefined ? {} : { total }),
        }),
      );
    await expect(give(40.01)).rejects.toEqual(conflict);
    expect((await give(15)).doc.amount.total).toBe(15);
    expect((await give()).doc.amount.total).toBe(25);
    await expect(give(0.01)).rejects.toEqual(conflict);
    await at.transact((service) => service.setDisputeStatus(dispute.id, 'won'));
    await expect(give(60.01)).rejects.toEqual(conflict);
    expect((await give()).doc.amount.total).toBe(60);
  });

  test('of a cancellation is limited to what disputes leave of the charge, over all purchases of the invoice', async () => {
    const billingProfileId = await at.profile();
    const travelerId = await at.traveler({ billingProfileId });
    const { trip, bookings } = await at.bookTrip([flight(100), flight(50)], [travelerId]);
    const [invoice = { id: '' }] = await at.transact((service) =>
      service.invoiceProfile({ billingProfileId, kind: 'booking' }),
    );
    await at.transact((service) => service.payInvoice(invoice.id));
    await at.transact((service) =>
      service.disputeInvoice({ invoiceId: invoice.id, reason: 'fraudulent', total: 70 }),
    );
    const given = [];
    for (const { id: bookingId } of bookings) {
      const { operations } = await at.transact((service) =>
        service.cancelBooking({ tripProjectId: trip.id, bookingId }),
      );
      given.push(operations.map(({ doc }) => doc.amount.total));
    }
    expect(given).toEqual([[80], []]);
  });

  test('that failed can be issued again', async () => {
    const { purchase } = await createPaidInvoice(at);
    const give = () => at.transact((service) => service.refundOperation({ billingOperationId: purchase.id }));
    const first = await give();
    await expect(give()).rejects.toEqual(conflict);
    await at.transact((service) => service.startTransfer(first.doc.refundId ?? ''));
    await at.transact((service) => service.endTransfer(first.doc.refundId ?? '', 'failed'));
    expect((await give()).doc.amount).toEqual({ currency: 'EUR', total: 100 });
  });

  test('is of a purchase only', async () => {
    const { purchase } = await createCharge(at);
    const refund = await at.transact((service) =>
      service.refundOperation({ billingOperationId: purchase.id }),
    );
    const again = at.transact((service) => service.refundOperation({ billingOperationId: refund.id }));
    await expect(again).rejects.toEqual(conflict);
    const unknown = at.transact((service) => service.refundOperation({ billingOperationId: 'f'.repeat(24) }));
    await expect(unknown).rejects.toMatchObject({ code: 'notFound' });
  });

  const followers = Object.entries({
    delayed: [],
    waiting: ['pending', 'canceled'],
    pending: ['succeeded', 'failed', 'canceled'],
    succeeded: [],
    failed: [],
    canceled: [],
  });
  const transfer = followers.flatMap(([from, next]) =>
    ['pending', 'succeeded', 'failed', 'canceled'].map(
      (to) => [from, to, next.some((one) => one === to)] as const,
    ),
  );
  test.each(transfer)('can change from %s to %s: %s', async (from, to, legal) => {
    const { purchase } = await (from === 'delayed' ? createInvoice(at) : createPaidInvoice(at));
    const refund = await at.transact((service) =>
      service.refundOperation({ billingOperationId: purchase.id }),
    );
    const id = refund.doc.refundId ?? '';
    const move = (state: string) =>
      at.transact((service) =>
        state === 'pending'
          ? service.startTransfer(id)
          : service.endTransfer(id, state as 'succeeded' | 'failed' | 'canceled'),
      );
    if (!['delayed', 'waiting'].includes(from)) await move('pending');
    if (!['delayed', 'waiting', 'pending'].includes(from)) await move(from);
    expect(await status(`/refunds/${id}`)).toBe(from);
    if (legal) expect((await move(to)).doc.status).toBe(to);
    else await expect(move(to)).rejects.toEqual(conflict);
  });
});
