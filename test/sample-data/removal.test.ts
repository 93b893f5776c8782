import { randomBytes, randomUUID } from 'node:crypto';
import { removeSampleData } from '../../src/sample-data/removal.ts';
import { createSampleData } from '../../src/sample-data/sample-data.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { create } from '../../src/travel/changes.ts';
import { invoice } from '../../src/travel/resources/billing.ts';
import { user } from '../../src/travel/resources/user.ts';
import { bookingTransactions } from '../fixtures/bookings.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { hotel, roundTrip } from '../travel/booking/quotes.ts';

const databases = temporaryDatabases('jetbridge-removal-');

const now = Date.UTC(2026, 10, 20);
const seed = 1;

/** A small sample company, and what others do with its billing profile. */
async function openCompany() {
  const store = travelStore(await databases.open());
  const travel = {
    ...{ store, now: () => now, onChange: () => {} },
    newId: (form: 'A' | 'B') => (form === 'A' ? randomBytes(12).toString('hex') : randomUUID()),
  };
  await createSampleData(
    { store, pause: async () => 500, progress: () => {} },
    { users: 8, trips: 15, seed, now },
  );
  const transact = bookingTransactions(travel);
  const idsOf = async (type: string) => {
    const query = { type, parentId: '', order: 'asc', offset: 0, limit: 500 } as const;
    return (await store.page(query)).resources.map(({ id }) => id);
  };
  const [billingProfileId = ''] = await idsOf('billingProfile');
  return {
    ...{ transact, idsOf, billingProfileId },
    read: async (type: string, id: string) => (await store.read([{ type, id }]))[0]?.doc,
    /** Returns a person of the company whose bookings the billing profile pays. */
    findPerson: async () => {
      const people = await store.read((await idsOf('user')).map((id) => ({ type: 'user', id })));
      return people.find(({ doc }) => doc['billingProfileId'] === billingProfileId)?.id ?? '';
    },
    /** Creates a person of another company whose bookings the billing profile pays, and who gets the default policy. */
    addEve: async () => {
      const collection = { resource: user, deps: travel };
      const body = { email: 'eve@corp.example', billingProfileId };
      const made = await create(collection, { parentId: '', id: '', caller: '' }, body);
      return String(made['id']);
    },
    bookTrip: async (travelerId: string) => {
      const search = { kind: 'roundTripWithHotel' as const };
      const wanted = { travelerIds: [travelerId], search, quotes: [roundTrip(300), hotel(140)] };
      const { id } = await transact((desk) => desk.searchTrip(wanted));
      await transact((desk) => desk.bookTrip({ tripProjectId: id }));
      return id;
    },
    invoiceProfile: (kind: 'booking' | 'other' = 'booking') =>
      transact((desk) => desk.invoiceProfile({ billingProfileId, kind })),
    remove: () => removeSampleData({ ...travel, pause: async () => {} }, seed),
  };
}

test('nothing of what others booked on the billing profile of the company is removed', async () => {
  const { addEve, bookTrip, transact, invoiceProfile, idsOf, read, remove, billingProfileId } =
    await openCompany();
  await invoiceProfile();
  const invoicesOfCompany = await idsOf(invoice.type);
  const eve = await addEve();
  const trip = await bookTrip(eve);
  // A booking by telephone has no trip.
  const price = { currency: 'EUR', total: 90, taxRate: 10 };
  await transact((desk) => desk.bookOffline({ travelerId: eve, kind: 'rail', price }));
  const [paid] = await invoiceProfile();
  const invoiceId = paid?.id ?? '';
  await transact((desk) => desk.payInvoice(invoiceId));
  await transact((desk) => desk.disputeInvoice({ invoiceId, reason: 'duplicate' }));

  const { removed, kept } = await remove();
  expect(removed.get('invoice')).toBe(invoicesOfCompany.length);
  expect(Object.fromEntries(kept)).toEqual({ billingProfile: 1, travelPolicy: 1 });
  expect(await idsOf('invoice')).toEqual([invoiceId]);
  expect(await idsOf('tripProject')).toEqual([trip]);
  expect(await idsOf('dispute')).toHaveLength(1);
  expect(await read('billingProfile', billingProfileId)).toBeDefined();
  // The flight, the hotel, the booking by telephone, and the dispute.
  expect(await idsOf('billingOperation')).toHaveLength(4);
});

test('an invoice for others and for people of the company stays without what the latter bought', async () => {
  const { addEve, bookTrip, invoiceProfile, findPerson, idsOf, remove } = await openCompany();
  await invoiceProfile();
  await bookTrip(await findPerson());
  const trip = await bookTrip(await addEve());
  const [mixed] = await invoiceProfile();
  expect(mixed?.doc.billingOperationsCount).toBe(4);
  const { removed, kept } = await remove();
  expect(await idsOf('tripProject')).toEqual([trip]);
  expect(await idsOf('invoice')).toEqual([mixed?.id]);
  expect(await idsOf('billingOperation')).toHaveLength(2);
  expect(removed.get('user')).toBe(8);
  expect(Object.fromEntries(kept)).toEqual({ billingProfile: 1, travelPolicy: 1 });
});
