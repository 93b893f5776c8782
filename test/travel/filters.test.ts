import { catalog } from '../../src/travel/catalog.ts';
import { indexKeys, type Resource } from '../../src/travel/declaration/resource.ts';
import type { JsonObject } from '../../src/travel/json.ts';
import { billingOperation, dispute, invoice, refund } from '../../src/travel/resources/billing.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';
import { answeredExample } from './examples.ts';

const profiles = ['66b0c1d2e3f4a5b6c7d8e901', '66b0c1d2e3f4a5b6c7d8e902'];
const idOf = (number: number) => number.toString(16).padStart(24, '0');
const one = <T>(values: readonly T[], number: number) => values[number % values.length] as T;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
  for (const number of Array(24).keys()) {
    fixture.advanceClock(3_600_000);
    const billingProfileId = one(profiles, number);
    const invoiced = { status: one(['open', 'paid', 'void'], number), billingProfileId };
    const kind = one(['booking', 'other', 'subscription'], number >> 1);
    await store(invoice, number, { ...invoiced, kind });
    const invoiceId = idOf(number);
    await store(refund, number, { status: one(['waiting', 'succeeded', 'failed'], number), invoiceId });
    const reason = one(['duplicate', 'general', 'fraudulent'], number);
    await store(dispute, number, { status: one(['won', 'lost'], number), reason, invoiceId });
    await store(billingOperation, number, operation(number));
  }
  // An event of each: two cost centers are created, one is changed and one deleted.
  const { id } = await fixture.make('/cost-centers', { name: 'Research' });
  const sales = await fixture.make('/cost-centers', { name: 'Sales' });
  fixture.advanceClock(3_600_000);
  await fixture.send('patch', `/cost-centers/${id}`, { data: { name: 'Development' } });
  await fixture.send('delete', `/cost-centers/${sales.id}`);
});
afterAll(() => fixture.close());

/** Purchases, refunds and disputes, each with and without the resource from which its status follows. */
function operation(number: number): JsonObject {
  const kinds = ['purchase', 'refund', 'dispute', 'purchase', 'refund'];
  const transactionKind = one(kinds, number);
  const source = { purchase: 'invoiceId', refund: 'refundId', dispute: 'disputeId' }[transactionKind] ?? '';
  return {
    ...{ transactionKind, operationType: one(['flight', 'hotel', 'rail'], number) },
    ...(number % 5 < 3 && { [source]: idOf(number) }),
    ...{ billingProfileId: one(profiles, number), date: `2026-11-${10 + (number % 15)}T08:00:00Z` },
    ...(number % 2 === 0 && { costCenterId: one(profiles, number >> 1) }),
  };
}

async function store(resource: Resource, number: number, doc: JsonObject): Promise<void> {
  const { id: _id, type, createdAt: _at, ...example } = answeredExample(resource);
  const isStored = ([name]: [string, unknown]) => Object.hasOwn(resource.schema.shape, name);
  const { invoiceId: _invoice, costCenterId: _center, ...rest } = example;
  const whole = Object.fromEntries(Object.entries({ ...rest, ...doc }).filter(isStored)) as JsonObject;
  const createdAt = fixture.runtime.now();
  const stored = { type: String(type), id: idOf(number), parentId: '', createdAt, doc: whole };
  const keys = { ...indexKeys(resource, stored), references: [] };
  await fixture.runtime.store.write([], (within) => within.insert(stored, keys));
}

const filtered = catalog.filter(({ filterBy }) => filterBy !== undefined);

test('operations, invoices, refunds, disputes and events can be filtered', () => {
  expect(filtered.map(({ type }) => type)).toEqual([
    ...['billingOperation', 'invoice', 'refund', 'dispute', 'event'],
  ]);
});

describe.each(filtered.map((resource): [string, Resource] => [resource.type, resource]))(
  'a list of %s',
  (_type, { path, cursor, filterBy = {}, sortBy }) => {
    const read = async (
      query: string,
    ): Promise<{ data: (JsonObject & { id: string })[]; meta: JsonObject }> => {
      const { status, body } = await fixture.send('get', `/${path}?limit=100&${query}`);
      expect([query, status]).toEqual([query, 200]);
      return body;
    };
    const { date, ...columns } = filterBy as Record<string, string>;
    const fields = Object.values(columns);
    const times = ['created', ...(date === undefined ? [] : ['date'])];

    test('has what a filter by each of its fields wants, and counts it, in the same order', async () => {
      const { data: all } = await read('');
      expect(all.length).toBeGreaterThan(3);
      for (const field of fields) {
        const values = [...new Set(all.map((item) => item[field]).filter((value) => value !== undefined))];
        expect([field, values.length > 1]).toEqual([field, true]);
        for (const wanted of [...values.map((value) => [value]), values.slice(0, 2)])
          for (const order of ['', ...sortBy.map((name) => `&sortBy=${name}&order=desc`)]) {
            const { data: sorted } = await read(order);
            const expected = sorted.filter((item) => wanted.includes(item[field] ?? null));
            const { data, meta } = await read(`${field}=${wanted.join(',')}${order}`);
            expect([field, wanted, data]).toEqual([field, wanted, expected]);
            expect(meta['total']).toBe(expected.length);
          }
      }
    });

    test('has what a filter by a time wants: its beginning, and not its end', async () => {
      const { data: all } = await read('');
      for (const name of times) {
        const timeOf = (item: JsonObject) => String(item[name === 'created' ? 'createdAt' : name]);
        const sorted = all.map(timeOf).sort();
        const [from = '', to = ''] = [sorted[Math.floor(all.length / 3)], sorted.at(-1)];
        const inside = all.filter((item) => timeOf(item) >= from && timeOf(item) < to);
        expect(inside.length).toBeGreaterThan(0);
        expect((await read(`${name}From=${from}&${name}To=${to}`)).data).toEqual(inside);
        const later = all.filter((item) => timeOf(item) >= '2026-11-21T00:00:00Z');
        expect((await read(`${name}From=2026-11-21`)).data).toEqual(later);
      }
    });

    test('is paged by cursor with its filter, which belongs to the cursor', async () => {
      if (!cursor) return;
      const [field = ''] = fields;
      const { data: all } = await read('');
      const value = all[0]?.[field];
      const expected = all.filter((item) => item[field] === value);
      const filter = `${field}=${value}&pageKind=cursor`;
      const found: JsonObject[] = [];
      let after: unknown;
      do {
        const query = `${filter}&limit=1${after === undefined ? '' : `&after=${after}`}`;
        const { body } = await fixture.send('get', `/${path}?${query}`);
        found.push(...body.data);
        after = body.meta.nextAfter;
        if (after !== undefined)
          expect((await fixture.send('get', `/${path}?pageKind=cursor&after=${after}`)).status).toBe(400);
      } while (after !== undefined);
      expect(found).toEqual(expected);
    });

    test.each([...fields, ...times.flatMap((name) => [`${name}From`, `${name}To`])])(
      'is 400 with a value of %s that it cannot have',
      async (name) => {
        const times = name.endsWith('Id') ? [] : ['2026-13-01', '2026-11-01T00:00:00'];
        for (const value of ['', 'nonsense or worse', 'a,,b', '%00', ...times]) {
          const { status, body } = await fixture.send('get', `/${path}?${name}=${value}`);
          expect([value, status, body.code]).toEqual([value, 400, 'invalidParam']);
        }
      },
    );
  },
);
