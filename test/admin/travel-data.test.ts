import { cancelBooking } from '../../src/sample-data/bookings.ts';
import { addRefund, issueInvoice, setStatus } from '../../src/sample-data/ledger.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { openDatabase } from '../../src/store/sql/open-database.ts';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { type BookingTransaction, bookAll, bookingTransactionsOf, searchFor } from '../fixtures/bookings.ts';
import { hotel, lisbon, paris, roundTrip } from '../fixtures/quotes.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type TravelAdmin, travelAdmin } from '../fixtures/travel-admin.ts';

let fixture: AdminFixture;
let database: Database;
let travel: TravelAdmin;
/** Books trips and invoices them, which no client of the travel API can do. */
let transact: BookingTransaction;
let graceId: string;
let profileId: string;
beforeAll(async () => {
  fixture = await startAdmin();
  const { service } = fixture;
  database = await openDatabase(service.settings, { exclusive: false });
  transact = bookingTransactionsOf(database);
  travel = travelAdmin(service.url, service.travelApiKey);
  profileId = await travel.make('/billing-profiles', {
    ...{ email: 'billing@corp.example', lang: 'en', name: 'Headquarters' },
  });
  const created = await scimClient(service.url, service.scimToken).send('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'grace@corp.example',
    name: { givenName: 'Grace', familyName: 'Hopper' },
    emails: [{ value: 'grace@corp.example', type: 'work' }],
  });
  graceId = created.body.id;
});
afterAll(async () => {
  await database.close();
  await fixture.close();
});

/** The id of Grace in the travel service. */
async function travelIdOfGrace(): Promise<string> {
  const all = await travel.travelers();
  return all.find(({ email }) => email === 'grace@corp.example')?.id ?? '';
}

/** Books a round trip with a hotel for Grace and a colleague whom no identity provider sends. */
async function bookTrip(total: number) {
  const guest = { email: `guest${total}@corp.example`, firstName: 'Ada', lastName: 'Guest' };
  const travelerIds = [
    await travel.make('/users', { ...guest, billingProfileId: profileId }),
    await travelIdOfGrace(),
  ];
  return transact(async (ledger) => {
    const search = {
      ...{ kind: 'roundTripWithHotel', departurePlace: paris, arrivalPlace: lisbon },
      departureLocaleDateTime: '2026-12-01T09:30:00',
    };
    const trip = await searchFor(ledger, travelerIds, [roundTrip(total), hotel(140)], { search });
    const bookings = await bookAll(ledger, trip);
    return { id: trip.stored.id, trip, bookings };
  });
}

test('trips are listed, the newest first, and one is shown with its parts and the person who travels', async () => {
  const { id } = await bookTrip(300);
  const newest = await bookTrip(200);
  const first = await fixture.viewer('GET', '/travel/trips?limit=1');
  expect(first.body.trips).toMatchObject([
    {
      id: newest.id,
      title: 'Paris → Lisbon',
      startsAt: '2026-12-01T09:30:00',
      state: 'booked',
      prices: [{ currency: 'EUR', total: 340 }],
      travelers: [{ name: 'Ada Guest' }, { name: 'Grace Hopper' }],
    },
  ]);
  const second = await fixture.viewer('GET', `/travel/trips?limit=1&after=${first.body.next}`);
  expect(second.body.trips.map(({ id }: { id: string }) => id)).toEqual([id]);
  expect(second.body.next).toBeUndefined();

  const { body } = await fixture.viewer('GET', `/travel/trips/${id}`);
  expect(body.travelers).toEqual([
    { id: expect.any(String), name: 'Ada Guest' },
    {
      id: expect.any(String),
      name: 'Grace Hopper',
      person: { connection: 'default', id: graceId },
    },
  ]);
  expect(
    body.parts.map(({ kind, from, to, state }: Record<string, string>) => [kind, from, to, state]),
  ).toEqual([
    ['flight', 'Paris', 'Madrid', 'booked'],
    ['flight', 'Madrid', 'Lisbon', 'booked'],
    ['hotel', 'Hotel Tejo', undefined, 'booked'],
    ['flight', 'Lisbon', 'Paris', 'booked'],
  ]);
  expect(body.resource).toMatchObject({
    id,
    type: 'tripProject',
    search: { kind: 'roundTripWithHotel' },
  });
  const { operations } = (await fixture.viewer('GET', `/travel/trips/${id}/billing-operations`)).body;
  expect(operations).toHaveLength(2);
  expect(operations).toContainEqual(
    expect.objectContaining({ operationType: 'hotel', status: 'delayed', tripId: id }),
  );
});

test('a canceled trip says so, and the part of a canceled booking too', async () => {
  const { id, trip, bookings } = await bookTrip(100);
  await transact(async (ledger) => {
    for (const booking of bookings.filter(({ kind }) => kind === 'flight'))
      await cancelBooking(ledger, trip, booking, 100);
  });
  const partly = (await fixture.viewer('GET', `/travel/trips/${id}`)).body;
  expect([partly.state, partly.prices]).toEqual(['booked', [{ currency: 'EUR', total: 140 }]]);
  expect(partly.parts.map(({ kind, state }: Record<string, string>) => `${kind} ${state}`)).toEqual([
    ...['flight canceled', 'flight canceled', 'hotel booked', 'flight canceled'],
  ]);
});

test('invoices are listed, the newest first, and one is shown with its operations and refunds', async () => {
  await transact((ledger) => issueInvoice(ledger, profileId, 'booking'));
  await bookTrip(80);
  const invoice = await transact((ledger) => issueInvoice(ledger, profileId, 'booking'));
  if (!invoice) throw new Error('a trip is booked');
  const { id } = invoice;
  const first = await fixture.viewer('GET', '/travel/invoices?limit=1');
  expect(first.body.invoices).toMatchObject([
    { id, status: 'open', customer: 'Headquarters', amount: { currency: 'EUR', total: 220 } },
  ]);
  const second = await fixture.viewer('GET', `/travel/invoices?limit=1&after=${first.body.next}`);
  expect(second.body.invoices).toHaveLength(1);

  await transact((ledger) => setStatus(ledger, 'invoice', invoice, { status: 'paid' }));
  const { operations } = (await fixture.viewer('GET', `/travel/invoices/${id}/billing-operations`)).body;
  expect(operations).toContainEqual(
    expect.objectContaining({
      status: 'paid',
      invoiceId: id,
      traveler: expect.objectContaining({ name: 'Ada Guest' }),
    }),
  );
  await transact(async (ledger) => {
    for (const operation of invoice.operations.slice(0, 1)) await addRefund(ledger, operation, 1000);
  });
  const { body } = await fixture.viewer('GET', `/travel/invoices/${id}`);
  expect(body).toMatchObject({
    status: 'paid',
    refunds: [{ status: 'waiting', amount: { currency: 'EUR', total: 10 } }],
    disputes: [],
    resource: { id, type: 'invoice' },
  });
});

test('an unknown trip or invoice is answered 404, and a page that no list has issued 422', async () => {
  for (const path of ['trips', 'invoices']) {
    expect((await fixture.viewer('GET', `/travel/${path}/nosuch`)).status).toBe(404);
    expect((await fixture.viewer('GET', `/travel/${path}/nosuch/billing-operations`)).status).toBe(404);
    expect((await fixture.viewer('GET', `/travel/${path}?after=nonsense`)).status).toBe(422);
  }
});

test('sample data that is not there cannot be removed', async () => {
  const { body } = await fixture.viewer('GET', '/travel/sample-data');
  expect(body).toEqual({
    ...{ company: 'Corvanne', domain: 'corvanne.example', isPresent: false, users: 200, trips: 500 },
  });
  const removal = await fixture.admin('DELETE', '/travel/sample-data');
  expect([removal.status, removal.body.message]).toEqual([404, 'Corvanne is not in the travel service.']);
});
