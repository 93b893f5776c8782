import { addDispute, addRefund, issueInvoice, setStatus } from '../../src/sample-data/ledger.ts';
import { catalog } from '../../src/travel/catalog.ts';
import type { Resource } from '../../src/travel/declaration/resource.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import { bookAll, bookOffline, searchFor } from '../fixtures/bookings.ts';
import { flight, hotel, roundTrip } from '../fixtures/quotes.ts';
import type { Method } from '../fixtures/travel.ts';
import { type BookingFixture, openBookingFixture } from '../sample-data/fixture.ts';
import { hasNull } from './samples.ts';

let at: BookingFixture;
beforeEach(async () => {
  at = await openBookingFixture();
});
afterEach(() => at.fixture.close());

/** The fields of the specification's tables besides `id`, `type` and `createdAt`; required ones first. */
const fields: Record<string, [string[], string[]]> = {
  tripProject: [
    ['rates', 'search', 'travelerIds'],
    [
      ...['approvalStatus', 'bookings', 'carRentals', 'customFields', 'hotelStays', 'projectCodeId'],
      'transportLegs',
    ],
  ],
  billingOperation: [
    ['amount', 'date', 'operationType', 'status', 'transactionKind'],
    [
      ...['billingProfileId', 'bookingSnapshot', 'costCenterId', 'customFields', 'description', 'disputeId'],
      ...['invoiceId', 'projectCodeId', 'purchaseBillingOperationId', 'refundId', 'tripProjectId'],
    ],
  ],
  invoice: [
    ['amount', 'billingOperationsCount', 'billingProfileId', 'description', 'kind', 'status'],
    ['paymentMethodSummary', 'paymentReference', 'pdf', 'reference', 'url'],
  ],
  refund: [
    ['amount', 'invoiceId', 'status'],
    ['pdf', 'reference'],
  ],
  dispute: [['amount', 'invoiceId', 'reason', 'status'], []],
};

const readOnly = catalog.filter(({ type }) => Object.hasOwn(fields, type));
const paths = readOnly.map((resource) => [resource.path, resource] as const);
const answered = ({ schema, readOnly: derived }: Resource) => schema.extend(derived?.shape ?? {});
const unknown = 'abcdefabcdefabcdefabcdef';

test('trip projects, billing operations, invoices, refunds and disputes are declared', () => {
  expect(readOnly.map(({ type }) => type).sort()).toEqual(Object.keys(fields).sort());
});

describe.each(paths)('%s', (path, resource) => {
  test('have the fields of the specification, required ones and others', () => {
    const shape = Object.entries(answered(resource).shape);
    const isOptional = ([, field]: (typeof shape)[number]) => field.safeParse(undefined).success;
    const [required, optional] = fields[resource.type] ?? [[], []];
    expect(
      shape
        .filter((one) => !isOptional(one))
        .map(([name]) => name)
        .sort(),
    ).toEqual([...required].sort());
    expect(
      shape
        .filter(isOptional)
        .map(([name]) => name)
        .sort(),
    ).toEqual([...optional].sort());
  });

  test('have an example that their schema accepts', () => {
    expect(answered(resource).parse(resource.example)).toEqual(resource.example);
  });

  test('are an empty list at first, oldest first', async () => {
    const { status, body } = await at.fixture.send('get', `/${path}`);
    const meta = { pageKind: 'offset', limit: 10, offset: 0, total: 0, order: 'asc', sortBy: 'createdAt' };
    expect([status, body]).toEqual([200, { data: [], meta }]);
  });

  test('are 404 under an unknown id', async () => {
    for (const id of [unknown, 'nothing', '%00', 'x'.repeat(51), '__proto__']) {
      const { status, body } = await at.fixture.send('get', `/${path}/${id}`);
      expect([status, body.code]).toEqual([404, 'notFound']);
    }
  });

  test('cannot be written: 403 forbidden', async () => {
    const subs = (resource.subCollections ?? []).map((sub) => `/${sub.path}/${unknown}/${path}`);
    for (const url of [`/${path}`, `/${path}/${unknown}`, ...subs]) {
      for (const method of ['post', 'put', 'patch', 'delete'] as Method[]) {
        const { status, body } = await at.fixture.send(method, url, { data: resource.example });
        expect([url, method, status, body.code]).toEqual([url, method, 403, 'forbidden']);
      }
    }
  });

  test('are paged by cursor and sorted where the specification says so', async () => {
    const cursor = ['billing-operations', 'invoices'].includes(path);
    const sorted = path === 'billing-operations';
    const statusOf = async (query: string) => (await at.fixture.send('get', `/${path}?${query}`)).status;
    expect(await statusOf('pageKind=cursor')).toBe(cursor ? 200 : 400);
    for (const field of ['createdAt', 'date'])
      expect(await statusOf(`sortBy=${field}`)).toBe(sorted ? 200 : 400);
    for (const field of ['id', 'status']) expect(await statusOf(`sortBy=${field}`)).toBe(400);
    expect(await statusOf('limit=101')).toBe(400);
  });
});

test('responses conform to the schemas at every depth and contain no null', async () => {
  const billingProfileId = await at.profile();
  const travelerId = await at.traveler({ billingProfileId });
  await at.transact(async (ledger) => {
    const trip = await searchFor(ledger, [travelerId], [roundTrip(300), hotel(80)]);
    await bookAll(ledger, trip);
    const invoice = await issueInvoice(ledger, billingProfileId, 'booking');
    if (!invoice) throw new Error('a trip is booked');
    await setStatus(ledger, 'invoice', invoice, { status: 'paid' });
    for (const operation of invoice.operations) await addRefund(ledger, operation, 100);
    await addDispute(ledger, invoice, 'duplicate', 100);
  });
  for (const [path, resource] of paths) {
    const listed = await at.all(`/${path}`);
    expect(listed.length).toBeGreaterThan(0);
    for (const one of listed) {
      const { id, type, createdAt, ...doc } = one;
      expect(answered(resource).parse(doc)).toEqual(doc);
      expect([type, createdAt]).toEqual([resource.type, '2026-11-20T12:00:00Z']);
      expect(String(id)).toMatch(resource.idForm === 'A' ? /^[0-9a-f]{24}$/ : /^[\w@~.-]{1,50}$/);
      expect(hasNull(one)).toBe(false);
      expect(await at.get(`/${path}/${id}`)).toEqual(one);
    }
  }
});

describe('sub-collections', () => {
  const walk = async (path: string): Promise<unknown[]> => {
    const found: unknown[] = [];
    for (let after = ''; ; ) {
      const { body } = await at.fixture.send('get', `${path}&pageKind=cursor&limit=2${after}`);
      found.push(...body.data.map(({ id }: JsonObject) => id));
      if (!body.meta.nextAfter) return found;
      after = `&after=${encodeURIComponent(body.meta.nextAfter)}`;
    }
  };

  test('of an unknown item are 404', async () => {
    for (const path of [
      `/invoices/${unknown}/billing-operations`,
      `/trip-projects/${unknown}/billing-operations`,
      `/trip-projects/${unknown}/users`,
    ]) {
      const { status, body } = await at.fixture.send('get', path);
      expect([status, body.code]).toEqual([404, 'notFound']);
    }
  });

  test('list the billing operations of a trip and of an invoice, by offset and by cursor, sorted by date', async () => {
    const billingProfileId = await at.profile();
    const travelerId = await at.traveler({ billingProfileId });
    const trips = [];
    for (let number = 0; number < 2; number++) {
      at.fixture.advanceClock(1000);
      trips.push(
        await at.transact(async (ledger) => {
          const trip = await searchFor(ledger, [travelerId], [flight(10), flight(20), hotel(30)]);
          await bookAll(ledger, trip);
          return trip;
        }),
      );
    }
    const [first, second] = trips.map(({ purchases }) => purchases.map(({ id }) => id));
    // It has an earlier date than the others.
    const late = await at.transact((ledger) =>
      bookOffline({ ...ledger, now: () => 0 }, travelerId, hotel(1)),
    );
    const invoice = await at.transact((ledger) => issueInvoice(ledger, billingProfileId, 'booking'));
    const ofTrip = `/trip-projects/${trips[0]?.stored.id}/billing-operations`;
    const ofInvoice = `/invoices/${invoice?.id}/billing-operations`;
    const all = [...(first ?? []), ...(second ?? []), late.id];
    const ids = async (path: string) => (await at.all(path)).map(({ id }) => id);
    expect([await ids(ofTrip), await ids(ofInvoice)]).toEqual([first, all]);
    expect(await walk(`${ofTrip}?order=asc`)).toEqual(first);
    expect(await walk(`${ofInvoice}?order=desc`)).toEqual([...all].reverse());
    expect(await walk(`${ofInvoice}?sortBy=date`)).toEqual([late.id, ...all.slice(0, -1)]);
    expect(await walk('/billing-operations?sortBy=date&order=desc')).toEqual([
      ...all.slice(0, -1).reverse(),
      late.id,
    ]);
    const { body } = await at.fixture.send('get', `${ofInvoice}?limit=2&offset=5`);
    expect([body.data.length, body.meta.total]).toEqual([2, 7]);
  });

  test('list the users of a trip, without cursor pages and sorting', async () => {
    const ids = [await at.traveler(), await at.traveler(), await at.traveler()];
    await at.traveler();
    const trip = await at.transact((ledger) => searchFor(ledger, ids, [flight(1)]));
    const path = `/trip-projects/${trip.stored.id}/users`;
    const { body } = await at.fixture.send('get', `${path}?limit=2&offset=1`);
    expect([body.data.length, body.meta.total]).toEqual([2, 3]);
    const listed = await at.all(path);
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(ids));
    expect(listed[0]).toEqual(await at.get(`/users/${listed[0]?.['id']}`));
    for (const query of ['pageKind=cursor', 'sortBy=email']) {
      expect((await at.fixture.send('get', `${path}?${query}`)).status).toBe(400);
    }
  });
});

test('resources that trips and billing operations refer to cannot be deleted', async () => {
  const field = async (resourceType: string) =>
    (await at.fixture.make('/custom-fields', { dataType: 'text', name: resourceType, resourceType })).id;
  const [ofTrip, ofUser] = [await field('tripProject'), await field('user')];
  const costCenterId = (await at.fixture.make('/cost-centers', { name: 'Sales' })).id;
  const projectCodeId = (await at.fixture.make('/project-codes', { code: 'APOLLO' })).id;
  const billingProfileId = await at.profile();
  const travelerId = await at.traveler({
    ...{ billingProfileId, costCenterId },
    customFields: [{ customFieldId: ofUser, values: [{ data: 'x' }] }],
  });
  await at.transact(async (ledger) => {
    const customFields = [{ customFieldId: ofTrip, values: [{ data: 'y' }] }];
    const trip = await searchFor(ledger, [travelerId], [flight(10)], { customFields, projectCodeId });
    await bookAll(ledger, trip);
    await issueInvoice(ledger, billingProfileId, 'booking');
  });
  const freed = { billingProfileId: null, costCenterId: null, customFields: null };
  await at.fixture.send('patch', `/users/${travelerId}`, { data: freed });
  for (const path of [
    `/users/${travelerId}`,
    `/billing-profiles/${billingProfileId}`,
    `/cost-centers/${costCenterId}`,
    `/project-codes/${projectCodeId}`,
    `/custom-fields/${ofTrip}`,
    `/custom-fields/${ofUser}`,
  ]) {
    const { status, body } = await at.fixture.send('delete', path);
    expect([path, status, body.code]).toEqual([path, 409, 'conflict']);
  }
});
