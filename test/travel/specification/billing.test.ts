import type { JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';
import { bookTrip, type Company, hotel, openCompany, playFullYear } from './company.ts';

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
async function purchase(): Promise<string> {
  const { billingProfile: billingProfileId, transact } = company;
  const charge = { billingProfileId, operationType: 'seminar' as const, description: 'Retreat' };
  return (await transact((service) => service.charge({ ...charge, price: eur(100) }))).id;
}

/** Creates an invoice and returns its id. */
async function invoice(): Promise<string> {
  const invoicing = { billingProfileId: company.billingProfile, kind: 'booking' as const };
  const [first] = await company.transact((service) => service.invoiceProfile(invoicing));
  return first?.id ?? '';
}

const refund = (billingOperationId: string) =>
  company.transact((service) => service.refundOperation({ billingOperationId, total: 40 }));
const statusOf = async (id: string) => (await get(`/billing-operations/${id}`)).status;

test('a trip project holds the search that created it, rates, bookings, transport legs, hotel stays, car rentals, custom field values and traveler ids', async () => {
  const id = await company.transact((service) => bookTrip(service, company));
  const trip = await get(`/trip-projects/${id}`);
  expect(trip).toMatchObject({ search: { kind: 'roundTripWithHotel' }, projectCodeId: company.projectCode });
  const counts = ['rates', 'bookings', 'transportLegs', 'hotelStays', 'carRentals', 'customFields'];
  expect(counts.map((name) => trip[name].length)).toEqual([3, 4, 2, 1, 1, 1]);
  expect(trip.travelerIds).toEqual([company.ada, company.bob]);
});

test('custom field values are embedded in trip projects and billing operations as in users', async () => {
  const id = await company.transact((service) => bookTrip(service, company));
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
  const bought = [await purchase(), await purchase()];
  const { id: given } = await refund(bought[0] ?? '');
  const invoiceId = await invoice();
  expect(await get(`/invoices/${invoiceId}`)).toMatchObject({ amount: eur(160), billingOperationsCount: 3 });
  const operations = await list(`/invoices/${invoiceId}/billing-operations`);
  expect(operations.map(({ id }) => id)).toEqual([...bought, given]);
  expect(operations.map((one) => one['invoiceId'])).toEqual([invoiceId, invoiceId, invoiceId]);
});

test('purchase status: `delayed`, `open`, `paid`, `uncollectible`, `void`', async () => {
  const seen = [];
  for (const end of ['payInvoice', 'markInvoiceUncollectible', 'voidInvoice'] as const) {
    const id = await purchase();
    seen.push(await statusOf(id));
    const invoiceId = await invoice();
    seen.push(await statusOf(id));
    await company.transact((service) => service[end](invoiceId));
    seen.push(await statusOf(id));
  }
  const [delayed, open] = ['delayed', 'open'];
  expect(seen).toEqual([delayed, open, 'paid', delayed, open, 'uncollectible', delayed, open, 'void']);
});

test('refund operation status: `delayed`, `waiting`, `pending`, `succeeded`, `failed`, `canceled`', async () => {
  const ends = [];
  for (const end of ['succeeded', 'failed', 'canceled'] as const) {
    const id = await purchase();
    const invoiceId = await invoice();
    const { id: refunded, doc } = await refund(id);
    const refundId = doc.refundId ?? '';
    const seen = [await statusOf(refunded)];
    await company.transact((service) => service.payInvoice(invoiceId));
    seen.push(await statusOf(refunded));
    await company.transact((service) => service.startTransfer(refundId));
    seen.push(await statusOf(refunded));
    expect(seen).toEqual(['delayed', 'waiting', 'pending']);
    await company.transact((service) => service.endTransfer(refundId, end));
    expect(await statusOf(refunded)).toBe((await get(`/refunds/${refundId}`)).status);
    ends.push(await statusOf(refunded));
  }
  expect(ends).toEqual(['succeeded', 'failed', 'canceled']);
});

test('refund: created when a booking is canceled or a manual refund is issued', async () => {
  const { id: manual } = await refund(await purchase());
  expect(await get(`/billing-operations/${manual}`)).toMatchObject({ transactionKind: 'refund' });
  const { ada, transact } = company;
  const [booking] = await transact(async (service) => {
    const { id } = await service.searchTrip({
      travelerIds: [ada],
      search: { kind: 'hotelOnly' },
      quotes: [hotel],
    });
    return (await service.bookTrip({ tripProjectId: id })).bookings;
  });
  const { tripProjectId = '', id: bookingId = '' } = booking ?? {};
  await transact((service) => service.cancelBooking({ tripProjectId, bookingId }));
  const operations = await list(`/trip-projects/${tripProjectId}/billing-operations`);
  expect(operations).toMatchObject([
    { transactionKind: 'purchase' },
    { transactionKind: 'refund', purchaseBillingOperationId: operations[0]?.id },
  ]);
});

test('refund, no invoice emitted yet: the invoice balance is adjusted, there is no refund resource and no `refundId`', async () => {
  const { id } = await refund(await purchase());
  expect(await get(`/billing-operations/${id}`)).not.toHaveProperty('refundId');
  expect(await list('/refunds')).toEqual([]);
  expect(await get(`/invoices/${await invoice()}`)).toMatchObject({ amount: eur(60) });
});

test('refund, an invoice was emitted: money is transferred, there is a refund resource and `refundId` names it', async () => {
  const bought = await purchase();
  const invoiceId = await invoice();
  const { id } = await refund(bought);
  const [resource] = await list('/refunds');
  expect(resource).toMatchObject({ amount: eur(40), invoiceId });
  expect(await get(`/billing-operations/${id}`)).toMatchObject({ refundId: resource?.id });
  expect(await get(`/invoices/${invoiceId}`)).toMatchObject({ amount: eur(100), billingOperationsCount: 1 });
});

test('dispute: there is a dispute resource, `refundId` is filled, it does not appear on the invoice, and there is no refund resource', async () => {
  await purchase();
  const invoiceId = await invoice();
  await company.transact((service) => service.payInvoice(invoiceId));
  await company.transact((service) => service.disputeInvoice({ invoiceId, reason: 'fraudulent' }));
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
  expect(await list(`/invoices/${invoiceId}/billing-operations`)).toHaveLength(1);
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
