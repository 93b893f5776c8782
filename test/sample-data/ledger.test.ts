import type { IssuedInvoice, Operation } from '../../src/sample-data/ledger.ts';
import { type BookingFixture, openBookingFixture } from './fixture.ts';

let at: BookingFixture;
let billingProfileId: string;
beforeEach(async () => {
  at = await openBookingFixture();
  billingProfileId = await at.profile();
  await at.newEvents();
});
afterEach(() => at.fixture.close());

function charge(total = 100, { operationType = 'subscription', currency = 'EUR' } = {}): Promise<Operation> {
  const doc = { amount: { currency, total }, billingProfileId, description: 'December', operationType };
  return at.transact(({ ledger }) => ledger.purchase(doc));
}

function issueInvoices(kind: 'booking' | 'other' | 'subscription' = 'subscription') {
  return at.transact(({ ledger }) => ledger.issueInvoices(billingProfileId, kind));
}

/** Charges and invoices 100 euros. */
async function invoiceCharge(): Promise<{ purchase: Operation; invoice: IssuedInvoice }> {
  const purchase = await charge();
  const [invoice] = await issueInvoices();
  if (!invoice) throw new Error('there is a charge');
  await at.newEvents();
  return { purchase, invoice };
}

const setStatus = (invoice: IssuedInvoice, status: 'paid' | 'void', paymentReference = 'TR-1') =>
  at.transact(({ ledger }) => ledger.setInvoiceStatus(invoice, { status, paymentReference }));

test('an invoice contains a single currency', async () => {
  await charge(10);
  await charge(20, { currency: 'USD' });
  const invoices = await issueInvoices();
  expect(invoices.map(({ doc }) => doc.amount)).toEqual([
    { currency: 'EUR', total: 10 },
    { currency: 'USD', total: 20 },
  ]);
  expect(await issueInvoices()).toEqual([]);
});

test.each([
  ['booking', ['booking', 'car', 'flight', 'hotel', 'rail', 'seminar']],
  ['other', ['other']],
  ['subscription', ['subscription']],
] as const)('an invoice of the kind %s takes the operations %j', async (kind, types) => {
  for (const operationType of [
    'booking',
    'car',
    'flight',
    'hotel',
    'rail',
    'seminar',
    'other',
    'subscription',
  ])
    await charge(1, { operationType });
  const [invoice] = await issueInvoices(kind);
  const listed = await at.all(`/invoices/${invoice?.id}/billing-operations`);
  expect(listed.map((one) => one['operationType'])).toEqual(types);
});

test('an invoice that is paid appends an update event for every purchase on it', async () => {
  const { purchase, invoice } = await invoiceCharge();
  await setStatus(invoice, 'paid');
  expect(await at.newEvents()).toEqual([
    ['invoice.updated', invoice.id, { paymentReference: null, status: 'open' }],
    ['billingOperation.updated', purchase.id, { status: 'open' }],
  ]);
});

test('a refund that is delayed until its invoice is paid is transferred then', async () => {
  const { purchase, invoice } = await invoiceCharge();
  const before = await at.get(`/invoices/${invoice.id}`);
  const refund = await at.transact(({ ledger }) => ledger.refund(purchase, 4000));
  if (!refund) throw new Error('a refund after the invoice has a resource');
  const { operation } = refund;
  expect(await at.newEvents()).toEqual([
    ['refund.created', refund.id],
    ['billingOperation.created', operation.id],
  ]);
  expect(await at.get(`/invoices/${invoice.id}`)).toEqual(before);
  const start = () => at.transact(({ ledger }) => ledger.setRefundStatus(refund, 'pending'));
  await expect(start()).rejects.toThrow('the refund is delayed: it cannot become pending');
  await setStatus(invoice, 'paid');
  expect((await at.newEvents()).slice(2)).toEqual([
    ['refund.updated', refund.id, { status: 'delayed' }],
    ['billingOperation.updated', operation.id, { status: 'delayed' }],
  ]);
  await start();
  expect(await at.newEvents()).toEqual([
    ['refund.updated', refund.id, { status: 'waiting' }],
    ['billingOperation.updated', operation.id, { status: 'waiting' }],
  ]);
});

test('a refund of a void invoice is canceled, and there is no other', async () => {
  const { purchase, invoice } = await invoiceCharge();
  const refund = await at.transact(({ ledger }) => ledger.refund(purchase, 100));
  await setStatus(invoice, 'void');
  expect((await at.get(`/billing-operations/${refund?.operation.id}`))['status']).toBe('canceled');
  expect(await at.transact(async ({ ledger }) => ledger.refundableCents(purchase))).toBe(0);
});

test('refunds and disputes never exceed the purchase and the charge of the invoice', async () => {
  const { purchase, invoice } = await invoiceCharge();
  await setStatus(invoice, 'paid');
  const refunded = async (cents: number) =>
    (await at.transact(({ ledger }) => ledger.refund(purchase, cents)))?.doc.amount.total;
  const dispute = await at.transact(({ ledger }) => ledger.dispute(invoice, 'duplicate', 6000));
  expect([await refunded(1500), await refunded(9999), await refunded(1)]).toEqual([15, 25, undefined]);
  const again = at.transact(({ ledger }) => ledger.dispute(invoice, 'duplicate', 1));
  await expect(again).rejects.toThrow('0 hundredths of the charge are left');
  await at.transact(({ ledger }) => ledger.setDisputeStatus(dispute, 'won'));
  expect(await refunded(9999)).toBe(60);
});

test('a refund that failed can be issued again', async () => {
  const { purchase, invoice } = await invoiceCharge();
  await setStatus(invoice, 'paid');
  await at.transact(async ({ ledger }) => {
    const refund = await ledger.refund(purchase, 10_000);
    expect(ledger.refundableCents(purchase)).toBe(0);
    for (const status of ['pending', 'failed'] as const)
      if (refund) await ledger.setRefundStatus(refund, status);
    expect(ledger.refundableCents(purchase)).toBe(10_000);
  });
});

test('a dispute has a resource and an operation with their events, and is not on the invoice', async () => {
  const { purchase, invoice } = await invoiceCharge();
  await setStatus(invoice, 'paid');
  await at.newEvents();
  const dispute = await at.transact(({ ledger }) => ledger.dispute(invoice, 'warningNeedsResponse', 100));
  await at.transact(({ ledger }) => ledger.setDisputeStatus(dispute, 'needsResponse'));
  expect(await at.newEvents()).toEqual([
    ['dispute.created', dispute.id],
    ['billingOperation.created', dispute.operation.id],
    ['dispute.updated', dispute.id, { status: 'warningNeedsResponse' }],
    ['billingOperation.updated', dispute.operation.id, { status: 'warningNeedsResponse' }],
  ]);
  const listed = await at.all(`/invoices/${invoice.id}/billing-operations`);
  expect(listed.map(({ id }) => id)).toEqual([purchase.id]);
});
