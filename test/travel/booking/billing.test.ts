import { conflict, createCharge, createInvoice, createPaidInvoice } from './charges.ts';
import { type BookingFixture, openBookingFixture } from './fixture.ts';
import { flight } from './quotes.ts';

let at: BookingFixture;
beforeEach(async () => {
  at = await openBookingFixture();
});
afterEach(() => at.fixture.close());

const status = async (path: string) => (await at.get(path))['status'];
const statusOf = ({ id }: { id: string }) => status(`/billing-operations/${id}`);

describe('the status of a billing operation is derived', () => {
  test('purchase, no invoice emitted yet: `delayed`', async () => {
    const { purchase } = await createCharge(at);
    expect(await statusOf(purchase)).toBe('delayed');
  });

  test('purchase, an invoice exists: the status of that invoice', async () => {
    const { purchase, invoiceId } = await createInvoice(at);
    expect(await statusOf(purchase)).toBe('open');
    await at.transact((service) => service.markInvoiceUncollectible(invoiceId));
    expect(await statusOf(purchase)).toBe('uncollectible');
    await at.transact((service) => service.payInvoice(invoiceId));
    expect(await statusOf(purchase)).toBe('paid');
    const other = await createInvoice(at);
    await at.transact((service) => service.voidInvoice(other.invoiceId));
    expect(await statusOf(other.purchase)).toBe('void');
  });

  test('refund, no invoice emitted yet: `succeeded`, also when the purchase is invoiced and paid later', async () => {
    const { purchase, profileId } = await createCharge(at);
    const refund = await at.transact((service) =>
      service.refundOperation({ billingOperationId: purchase.id, total: 30 }),
    );
    expect(await statusOf(refund)).toBe('succeeded');
    const [invoice] = await at.transact((service) =>
      service.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' }),
    );
    expect(await statusOf(refund)).toBe('succeeded');
    await at.transact((service) => service.payInvoice(invoice?.id ?? ''));
    expect(await statusOf(refund)).toBe('succeeded');
  });

  test('refund performed while the invoice is still `open`: `delayed`', async () => {
    const { purchase, invoiceId } = await createInvoice(at);
    const refund = await at.transact((service) =>
      service.refundOperation({ billingOperationId: purchase.id }),
    );
    expect(await statusOf(refund)).toBe('delayed');
    await at.transact((service) => service.markInvoiceUncollectible(invoiceId));
    expect(await statusOf(refund)).toBe('delayed');
  });

  test('refund, the corresponding invoice is `paid`: the status of the refund resource', async () => {
    const { purchase } = await createPaidInvoice(at);
    const refund = await at.transact((service) =>
      service.refundOperation({ billingOperationId: purchase.id }),
    );
    const refundId = refund.doc.refundId ?? '';
    const both = async () => [await statusOf(refund), await status(`/refunds/${refundId}`)];
    expect(await both()).toEqual(['waiting', 'waiting']);
    await at.transact((service) => service.startTransfer(refundId));
    expect(await both()).toEqual(['pending', 'pending']);
    await at.transact((service) => service.endTransfer(refundId, 'failed'));
    expect(await both()).toEqual(['failed', 'failed']);
  });

  test('dispute, always: the status of the dispute resource', async () => {
    const { invoiceId } = await createPaidInvoice(at);
    const { dispute, operation } = await at.transact((service) =>
      service.disputeInvoice({ invoiceId, reason: 'fraudulent' }),
    );
    for (const next of ['underReview', 'lost', 'solved'] as const) {
      await at.transact((service) => service.setDisputeStatus(dispute.id, next));
      expect([await statusOf(operation), await status(`/disputes/${dispute.id}`)]).toEqual([next, next]);
    }
  });

  test('is not stored', async () => {
    const { purchase } = await createInvoice(at);
    const [kept] = await at.fixture.runtime.store.read([{ type: 'billingOperation', id: purchase.id }]);
    expect(kept?.doc).not.toHaveProperty('status');
  });
});

test('the operations of one transaction succeed or fail together', async () => {
  const { profileId } = await createCharge(at);
  at.fixture.changes.length = 0;
  const work = at.transact(async (service) => {
    const [invoice] = await service.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' });
    await service.payInvoice(invoice?.id ?? '');
    await service.payInvoice(invoice?.id ?? '');
  });
  await expect(work).rejects.toEqual(conflict);
  expect([await at.all('/invoices'), await at.newEvents(), at.fixture.changes]).toEqual([[], [], []]);
});

test('a change is reported after its commit', async () => {
  at.fixture.changes.length = 0;
  const { trip, operations } = await at.bookTrip([flight(10)]);
  expect(at.fixture.changes).toEqual(
    expect.arrayContaining([`tripProject ${trip.id}`, `billingOperation ${operations[0]?.id}`]),
  );
});

describe('concurrent transactions', () => {
  const settledAs = (outcomes: PromiseSettledResult<unknown>[]) =>
    outcomes.map(({ status: outcome }) => outcome).sort();

  test('refund a purchase once', async () => {
    const { purchase } = await createPaidInvoice(at);
    const give = () => at.transact((service) => service.refundOperation({ billingOperationId: purchase.id }));
    const outcomes = await Promise.allSettled([give(), give(), give()]);
    expect(settledAs(outcomes)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await at.all('/refunds')).toHaveLength(1);
  });

  test('invoice a purchase once', async () => {
    const { profileId } = await createCharge(at);
    const emit = () =>
      at.transact((service) => service.invoiceProfile({ billingProfileId: profileId, kind: 'subscription' }));
    const emitted = await Promise.all([emit(), emit(), emit()]);
    expect(emitted.flat()).toHaveLength(1);
    expect(await at.all('/invoices')).toHaveLength(1);
  });

  test('end an invoice in one way', async () => {
    const { invoiceId, purchase } = await createInvoice(at);
    const outcomes = await Promise.allSettled([
      at.transact((service) => service.payInvoice(invoiceId)),
      at.transact((service) => service.voidInvoice(invoiceId)),
    ]);
    expect(settledAs(outcomes)).toEqual(['fulfilled', 'rejected']);
    expect(await statusOf(purchase)).toBe(await status(`/invoices/${invoiceId}`));
    expect(await at.newEvents()).toHaveLength(2);
  });
});
