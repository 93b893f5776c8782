import { cancelBooking } from '../../../src/sample-data/bookings.ts';
import {
  addDispute,
  addPurchase,
  addRefund,
  type Invoice,
  issueInvoice,
  type Operation,
  setStatus,
} from '../../../src/sample-data/ledger.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';
import { bookHotel, bookTrip, type Company, openCompany, playFullYear } from './company.ts';

let fixture: Fixture;
let company: Company;
beforeEach(async () => {
  fixture = await openFixture();
  company = await openCompany(fixture);
});
afterEach(() => fixture.close());

const get = async (path: string) => (await fixture.send('get', path)).body.data;
const list = async (path: string): Promise<(JsonObject & { id: string })[]> => get(`${path}?limit=100`);
const eur = (total: number) => ({ currency: 'EUR', total });

/** Creates a purchase of 100 euros. */
function purchase(): Promise<Operation> {
  const charge = {
    billingProfileId: company.billingProfile,
    operationType: 'seminar',
    description: 'Retreat',
  };
  return company.transact((ledger) => addPurchase(ledger, { ...charge, amount: eur(100) }));
}

/** Creates an invoice. */
async function invoice(): Promise<Invoice> {
  const first = await company.transact((ledger) => issueInvoice(ledger, company.billingProfile, 'booking'));
  if (!first) throw new Error('there is nothing to invoice');
  return first;
}

const pay = (issued: Invoice) =>
  company.transact((ledger) => setStatus(ledger, 'invoice', issued, { status: 'paid' }));
const refund = (bought: Operation) => company.transact((ledger) => addRefund(ledger, bought, 4000));
const refundOperations = async () =>
  (await list('/billing-operations')).filter((one) => one['transactionKind'] === 'refund');
const statusOf = async ({ id }: { id: string }) => (await get(`/billing-operations/${id}`)).status;

test('a trip project holds the search that created it, rates, bookings, transport legs, hotel stays, car rentals, custom field values and traveler ids', async () => {
  const { id } = (await company.transact((ledger) => bookTrip(ledger, company))).stored;
  const trip = await get(`/trip-projects/${id}`);
  expect(trip).toMatchObject({ search: { kind: 'roundTripWithHotel' }, projectCodeId: company.projectCode });
  const counts = ['rates', 'bookings', 'transportLegs', 'hotelStays', 'carRentals', 'customFields'];
  expect(counts.map((name) => trip[name].length)).toEqual([3, 4, 2, 1, 1, 1]);
  expect(trip.travelerIds).toEqual([company.ada, company.bob]);
});

test('custom field values are embedded in trip projects and billing operations as in users', async () => {
  const { id } = (await company.transact((ledger) => bookTrip(ledger, company))).stored;
  const { customFields: ofTrip } = await get(`/trip-projects/${id}`);
  const { customFields: ofUser } = await get(`/users/${company.ada}`);
  const value = (customFieldId: string, data: string) => ({
    customFieldId,
    name: 'Reason',
    values: [{ data }],
  });
  expect(ofTrip).toEqual([value(company.tripField, 'A fair')]);
  expect(ofUser).toEqual([
    value(company.userField, 'R 42'),
    expect.objectContaining({
      name: 'Team',
      values: [{ customFieldOptionId: expect.any(String), data: 'red', displayName: 'Red team' }],
    }),
  ]);
  const [operation] = await list(`/trip-projects/${id}/billing-operations`);
  expect(operation?.['customFields']).toEqual([...ofTrip, ...ofUser]);
});

test('an invoice aggregates one or several purchase and refund billing operations', async () => {
  const bought = [await purchase(), await purchase()] as const;
  await refund(bought[0]);
  const [given] = await refundOperations();
  const { id: invoiceId } = await invoice();
  expect(await get(`/invoices/${invoiceId}`)).toMatchObject({ amount: eur(160), billingOperationsCount: 3 });
  const operations = await list(`/invoices/${invoiceId}/billing-operations`);
  expect(operations.map(({ id }) => id)).toEqual([...bought.map(({ id }) => id), given?.id]);
  expect(operations.map((one) => one['invoiceId'])).toEqual([invoiceId, invoiceId, invoiceId]);
});

test('purchase status: `delayed`, `open`, `paid`, `uncollectible`, `void`', async () => {
  const seen = [];
  for (const status of ['paid', 'uncollectible', 'void'] as const) {
    const bought = await purchase();
    seen.push(await statusOf(bought));
    const issued = await invoice();
    seen.push(await statusOf(bought));
    await company.transact((ledger) => setStatus(ledger, 'invoice', issued, { status }));
    seen.push(await statusOf(bought));
  }
  const [delayed, open] = ['delayed', 'open'];
  expect(seen).toEqual([delayed, open, 'paid', delayed, open, 'uncollectible', delayed, open, 'void']);
});

test('purchase, no invoice emitted yet: `delayed`', async () => {
  expect(await statusOf(await purchase())).toBe('delayed');
});

test('purchase, an invoice exists: the status of that invoice', async () => {
  const bought = await purchase();
  const issued = await invoice();
  for (const status of ['uncollectible', 'paid'] as const) {
    await company.transact((ledger) => setStatus(ledger, 'invoice', issued, { status }));
    expect([await statusOf(bought), (await get(`/invoices/${issued.id}`)).status]).toEqual([status, status]);
  }
});

test('refund operation status: `delayed`, `waiting`, `pending`, `succeeded`, `failed`, `canceled`', async () => {
  const ends = [];
  for (const end of ['succeeded', 'failed', 'canceled'] as const) {
    const bought = await purchase();
    const issued = await invoice();
    const given = await refund(bought);
    if (!given) throw new Error('a refund after the invoice has a resource');
    const [operation] = given.operations;
    if (!operation) throw new Error('a refund has an operation');
    const seen = [await statusOf(operation)];
    await pay(issued);
    seen.push(await statusOf(operation));
    await company.transact((ledger) => setStatus(ledger, 'refund', given, { status: 'pending' }));
    seen.push(await statusOf(operation));
    expect(seen).toEqual(['delayed', 'waiting', 'pending']);
    await company.transact((ledger) => setStatus(ledger, 'refund', given, { status: end }));
    expect(await statusOf(operation)).toBe((await get(`/refunds/${given.id}`)).status);
    ends.push(await statusOf(operation));
  }
  expect(ends).toEqual(['succeeded', 'failed', 'canceled']);
});

test('refund performed while the invoice is still `open`: `delayed`', async () => {
  const bought = await purchase();
  await invoice();
  await refund(bought);
  expect(await refundOperations()).toMatchObject([{ status: 'delayed' }]);
});

test('refund, the corresponding invoice is `paid`: the status of the refund resource', async () => {
  const bought = await purchase();
  await pay(await invoice());
  const given = await refund(bought);
  const ofResource = (await get(`/refunds/${given?.id}`)).status;
  expect([ofResource, await refundOperations()]).toMatchObject(['waiting', [{ status: 'waiting' }]]);
});

test('refund, no invoice emitted yet: `succeeded`', async () => {
  await refund(await purchase());
  const [before] = await refundOperations();
  await pay(await invoice());
  const [after] = await refundOperations();
  expect([before?.['status'], after?.['status']]).toEqual(['succeeded', 'succeeded']);
});

test('dispute operation status: same as the dispute resource', async () => {
  await purchase();
  const issued = await invoice();
  await pay(issued);
  const opened = await company.transact((ledger) => addDispute(ledger, issued, 'warningNeedsResponse', 100));
  const seen = [await statusOf(opened.operations[0] ?? opened)];
  for (const status of ['needsResponse', 'lost', 'solved'] as const) {
    await company.transact((ledger) => setStatus(ledger, 'dispute', opened, { status: status }));
    expect((await get(`/disputes/${opened.id}`)).status).toBe(status);
    seen.push(await statusOf(opened.operations[0] ?? opened));
  }
  expect(seen).toEqual(['warningNeedsResponse', 'needsResponse', 'lost', 'solved']);
});

test('refund: created when a booking is canceled or a manual refund is issued', async () => {
  await refund(await purchase());
  expect(await refundOperations()).toHaveLength(1);
  const { ada, transact } = company;
  const tripId = await transact(async (ledger) => {
    const trip = await bookHotel(ledger, ada);
    const [booking] = trip.doc.bookings ?? [];
    if (booking) await cancelBooking(ledger, trip, booking, 100);
    return trip.stored.id;
  });
  const operations = await list(`/trip-projects/${tripId}/billing-operations`);
  expect(operations).toMatchObject([
    { transactionKind: 'purchase' },
    { transactionKind: 'refund', purchaseBillingOperationId: operations[0]?.id },
  ]);
});

test('refund, no invoice emitted yet: the invoice balance is adjusted, there is no refund resource and no `refundId`', async () => {
  await refund(await purchase());
  expect((await refundOperations())[0]).not.toHaveProperty('refundId');
  expect(await list('/refunds')).toEqual([]);
  expect(await get(`/invoices/${(await invoice()).id}`)).toMatchObject({ amount: eur(60) });
});

test('refund, an invoice was emitted: money is transferred, there is a refund resource and `refundId` names it', async () => {
  const bought = await purchase();
  const { id: invoiceId } = await invoice();
  await refund(bought);
  const [resource] = await list('/refunds');
  expect(resource).toMatchObject({ amount: eur(40), invoiceId });
  expect(await refundOperations()).toMatchObject([{ refundId: resource?.id }]);
  expect(await get(`/invoices/${invoiceId}`)).toMatchObject({ amount: eur(100), billingOperationsCount: 1 });
});

test('dispute: there is a dispute resource, `refundId` is filled, it does not appear on the invoice, and there is no refund resource', async () => {
  await purchase();
  const issued = await invoice();
  await pay(issued);
  await company.transact((ledger) => addDispute(ledger, issued, 'fraudulent', 4000));
  const [dispute] = await list('/disputes');
  const disputes = (await list('/billing-operations')).filter((one) => one['transactionKind'] === 'dispute');
  expect(disputes).toMatchObject([
    {
      disputeId: dispute?.id,
      refundId: expect.stringMatching(/^[0-9a-f]{24}$/),
      status: dispute?.['status'],
    },
  ]);
  expect(disputes[0]).not.toHaveProperty('invoiceId');
  expect(await list(`/invoices/${issued.id}/billing-operations`)).toHaveLength(1);
  expect(await list('/refunds')).toEqual([]);
});

test('bookingSnapshot: information at booking time, present only for booking-related operations', async () => {
  await fixture.close();
  fixture = await openFixture();
  const { ada } = await playFullYear(fixture);
  const before = await list('/billing-operations');
  for (const one of before) {
    const isBooking = ['booking', 'car', 'flight', 'hotel', 'rail'].includes(String(one['operationType']));
    const expected = isBooking && one['transactionKind'] !== 'dispute';
    expect([one['description'], 'bookingSnapshot' in one]).toEqual([one['description'], expected]);
  }
  await fixture.send('patch', `/users/${ada}`, { data: { email: 'new@example.com', firstName: 'Augusta' } });
  expect(await list('/billing-operations')).toEqual(before);
});

test('tripProjectId: present only for bookings made through the online channel', async () => {
  await fixture.close();
  fixture = await openFixture();
  await playFullYear(fixture);
  const operations = await list('/billing-operations');
  const channels = operations.map((one) => Object(one['bookingSnapshot'])['channel']);
  expect(new Set(channels)).toEqual(new Set(['online', 'offline', undefined]));
  expect(operations.map((one) => 'tripProjectId' in one)).toEqual(channels.map((one) => one === 'online'));
});
