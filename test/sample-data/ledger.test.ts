import {
  addDispute,
  addPurchase,
  addRefund,
  type Invoice,
  issueInvoice,
  type Operation,
  setStatus,
} from '../../src/sample-data/ledger.ts';
import { type BookingFixture, openBookingFixture } from './fixture.ts';

let at: BookingFixture;
let billingProfileId: string;
beforeEach(async () => {
  at = await openBookingFixture();
  billingProfileId = await at.profile();
  await at.newEvents();
});
afterEach(() => at.fixture.close());

function charge(total = 100, operationType = 'subscription'): Promise<Operation> {
  const doc = {
    amount: { currency: 'EUR', total },
    billingProfileId,
    description: 'December',
    operationType,
  };
  return at.transact((ledger) => addPurchase(ledger, doc));
}

function issue(kind: 'booking' | 'other' | 'subscription' = 'subscription') {
  return at.transact((ledger) => issueInvoice(ledger, billingProfileId, kind));
}

/** Charges and invoices 100 euros. */
async function invoiceCharge(): Promise<{ purchase: Operation; invoice: Invoice }> {
  const purchase = await charge();
  const invoice = await issue();
  if (!invoice) throw new Error('there is a charge');
  await at.newEvents();
  return { purchase, invoice };
}

const end = (invoice: Invoice, status: 'paid' | 'void', paymentReference = 'TR-1') =>
  at.transact((ledger) => setStatus(ledger, 'invoice', invoice, { status, paymentReference }));

test('there is no invoice without a charge', async () => {
  expect(await issue()).toBeUndefined();
  await charge(10);
  expect((await issue())?.doc.amount).toEqual({ currency: 'EUR', total: 10 });
  expect(await issue()).toBeUndefined();
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
    await charge(1, operationType);
  const invoice = await issue(kind);
  const listed = await at.all(`/invoices/${invoice?.id}/billing-operations`);
  expect(listed.map((one) => one['operationType'])).toEqual(types);
});

test('an invoice that is paid appends an update event for every purchase on it', async () => {
  const { purchase, invoice } = await invoiceCharge();
  await end(invoice, 'paid');
  expect(await at.newEvents()).toEqual([
    ['invoice.updated', invoice.id, { paymentReference: null, status: 'open' }],
    ['billingOperation.updated', purchase.id, { status: 'open' }],
  ]);
});

test('a refund that is delayed until its invoice is paid is transferred then', async () => {
  const { purchase, invoice } = await invoiceCharge();
  const before = await at.get(`/invoices/${invoice.id}`);
  const refund = await at.transact((ledger) => addRefund(ledger, purchase, 4000));
  if (!refund) throw new Error('a refund after the invoice has a resource');
  const [operation] = refund.operations;
  expect(await at.newEvents()).toEqual([
    ['refund.created', refund.id],
    ['billingOperation.created', operation?.id],
  ]);
  expect(await at.get(`/invoices/${invoice.id}`)).toEqual(before);
  const start = () => at.transact((ledger) => setStatus(ledger, 'refund', refund, { status: 'pending' }));
  await expect(start()).rejects.toThrow('the refund is delayed: it cannot become pending');
  await end(invoice, 'paid');
  expect((await at.newEvents()).slice(2)).toEqual([
    ['refund.updated', refund.id, { status: 'delayed' }],
    ['billingOperation.updated', operation?.id, { status: 'delayed' }],
  ]);
  await start();
  expect(await at.newEvents()).toEqual([
    ['refund.updated', refund.id, { status: 'waiting' }],
    ['billingOperation.updated', operation?.id, { status: 'waiting' }],
  ]);
});

test('a refund of a void invoice is canceled, and there is no other', async () => {
  const { purchase, invoice } = await invoiceCharge();
  const refund = await at.transact((ledger) => addRefund(ledger, purchase, 100));
  await end(invoice, 'void');
  expect((await at.get(`/billing-operations/${refund?.operations[0]?.id}`))['status']).toBe('canceled');
  expect(await at.transact((ledger) => addRefund(ledger, purchase, 100))).toBeUndefined();
});

test('refunds and disputes never exceed the charge of the invoice', async () => {
  const { purchase, invoice } = await invoiceCharge();
  await end(invoice, 'paid');
  const refunded = async (cents: number) =>
    (await at.transact((ledger) => addRefund(ledger, purchase, cents)))?.doc.amount.total;
  const dispute = (cents: number) =>
    at.transact(async (ledger) => addDispute(ledger, invoice, 'duplicate', cents));
  const first = await dispute(6000);
  expect([await refunded(9999), await refunded(1)]).toEqual([40, undefined]);
  await expect(dispute(1)).rejects.toThrow('0 hundredths of the charge are left');
  await at.transact((ledger) => setStatus(ledger, 'dispute', first, { status: 'won' }));
  expect(await refunded(6000)).toBe(60);
});

test('a dispute has a resource and an operation with their events, and is not on the invoice', async () => {
  const { purchase, invoice } = await invoiceCharge();
  await end(invoice, 'paid');
  await at.newEvents();
  const dispute = await at.transact((ledger) => addDispute(ledger, invoice, 'warningNeedsResponse', 100));
  await at.transact((ledger) => setStatus(ledger, 'dispute', dispute, { status: 'needsResponse' }));
  expect(await at.newEvents()).toEqual([
    ['dispute.created', dispute.id],
    ['billingOperation.created', dispute.operations[0]?.id],
    ['dispute.updated', dispute.id, { status: 'warningNeedsResponse' }],
    ['billingOperation.updated', dispute.operations[0]?.id, { status: 'warningNeedsResponse' }],
  ]);
  const listed = await at.all(`/invoices/${invoice.id}/billing-operations`);
  expect(listed.map(({ id }) => id)).toEqual([purchase.id]);
});
