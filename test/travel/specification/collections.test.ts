import type { JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';
import { fillCollections } from './fill-collections.ts';
import { sectionsOf } from './statements.ts';

/** A row of the specification's table. */
interface List {
  statement: string;
  path: string;
  cursor: boolean;
  sortBy: string[];
  filters: string[];
}

const lists = sectionsOf<Partial<List>>('collections.test.ts')
  .flatMap(({ statements }) => statements)
  .filter((one): one is List => one.path !== undefined);

/** All tests share one account, which they do not change. */
let fixture: Fixture;
let at: (path: string) => string;
beforeAll(async () => {
  fixture = await openFixture();
  at = await fillCollections(fixture);
});
afterAll(() => fixture.close());

const refusal = (field: string) => [
  400,
  {
    code: 'invalidParam',
    message: expect.any(String),
    invalid: [expect.objectContaining({ field, code: 'paramValue' })],
  },
];

test.each(lists)('$statement', async (list) => {
  const get = (query: string) => fixture.send('get', `${at(list.path)}?${query}`);
  const { status, body } = await get('limit=100');
  expect([status, Object.keys(body)]).toEqual([200, ['data', 'meta']]);
  expect(body.meta).toMatchObject({ pageKind: 'offset', sortBy: 'createdAt', total: body.data.length });
  expect(body.data.length).toBeGreaterThan(1);
  await isPagedByOffset(get, body.data);
  if (list.cursor) await isPagedByCursor(get, list);
  else expect(seen(await get('pageKind=cursor'))).toEqual(refusal('pageKind'));
  for (const field of list.sortBy) await isSortedBy(get, field, body.data.length);
  for (const field of ['createdAt', 'date', 'name', 'code', 'email', 'id']) {
    if (!list.sortBy.includes(field)) expect(seen(await get(`sortBy=${field}`))).toEqual(refusal('sortBy'));
  }
  await isFiltered(get, list, body.data);
});

test('sub-collections hold what belongs to their item: all of it, and nothing else', async () => {
  const every = (await fixture.send('get', '/billing-operations?limit=100')).body.data;
  for (const [path, field] of [
    ['invoices', 'invoiceId'],
    ['trip-projects', 'tripProjectId'],
  ]) {
    for (const { id } of (await fixture.send('get', `/${path}?limit=100`)).body.data) {
      const { data } = (await fixture.send('get', `/${path}/${id}/billing-operations?limit=100`)).body;
      expect(data).toEqual(every.filter((one: JsonObject) => one[field ?? ''] === id));
    }
  }
  for (const { id, travelerIds } of (await fixture.send('get', '/trip-projects')).body.data) {
    const { data } = (await fixture.send('get', `/trip-projects/${id}/users`)).body;
    expect(ids(data).sort()).toEqual([...travelerIds].sort());
  }
});

type Get = (query: string) => ReturnType<Fixture['send']>;

const seen = ({ status, body }: { status: number; body: unknown }) => [status, body];
const ids = (data: JsonObject[]) => data.map(({ id }) => id);

async function isPagedByOffset(get: Get, all: JsonObject[]): Promise<void> {
  expect((await get('limit=1&offset=1')).body.data).toEqual(all.slice(1, 2));
  expect(ids((await get('limit=100&order=desc')).body.data)).toEqual(ids(all).reverse());
  const times = all.map(({ createdAt }) => createdAt);
  expect(times).toEqual([...times].sort());
}

/** Checks that cursor pages show every item exactly once, in both orders and directions and by every sort field. */
async function isPagedByCursor(get: Get, { sortBy }: List): Promise<void> {
  for (const order of ['asc', 'desc']) {
    for (const sort of ['', ...sortBy.map((field) => `&sortBy=${field}`)]) {
      const query = `limit=7&order=${order}${sort}`;
      const sorted = (await get(query.replace('limit=7', 'limit=100'))).body.data;
      const walked = await walk(get, query, 'after');
      expect(walked.items).toEqual(sorted);
      const back = await walk(get, query, 'before', walked.prevBefore);
      expect(back.items).toEqual(sorted.slice(0, back.items.length));
      expect(back.items.length).toBeGreaterThanOrEqual(sorted.length - 7);
    }
  }
}

/** Pages in one direction to the end, in list order, and the `prevBefore` of the last page. */
async function walk(get: Get, query: string, direction: 'after' | 'before', from?: string) {
  let items: JsonObject[] = [];
  let cursor = from;
  let prevBefore: string | undefined;
  if (direction === 'before' && from === undefined) return { items, prevBefore };
  do {
    const place = cursor === undefined ? '' : `&${direction}=${cursor}`;
    const { data, meta } = (await get(`pageKind=cursor&${query}${place}`)).body;
    items = direction === 'after' ? [...items, ...data] : [...data, ...items];
    prevBefore = meta.prevBefore;
    cursor = direction === 'after' ? meta.nextAfter : meta.prevBefore;
  } while (cursor !== undefined && items.length < 1000);
  return { items, prevBefore };
}

async function isSortedBy(get: Get, field: string, count: number): Promise<void> {
  const { body } = await get(`limit=100&sortBy=${field}`);
  const values = body.data.map((one: JsonObject) => String(one[field]).toLowerCase());
  expect([body.meta.sortBy, values]).toEqual([field, [...values].sort()]);
  expect(values).toHaveLength(count);
}

/** A filter that a list does not offer is refused like an unknown parameter. */
async function isFiltered(get: Get, { filters }: List, all: JsonObject[]): Promise<void> {
  const unknown = { status: 400, body: { code: 'invalidParam' } };
  for (const archived of [true, false]) {
    const answer = await get(`limit=100&archived=${archived}`);
    if (!filters.includes('archived')) {
      expect(answer).toMatchObject(unknown);
      continue;
    }
    const expected = all.filter((one) => one['archived'] === archived);
    expect(answer.body.data).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
  }
  const answer = await get('limit=100&emails=ada@example.com');
  if (!filters.includes('emails')) expect(answer).toMatchObject(unknown);
  else expect(answer.body.data).toEqual(all.filter(({ email }) => email === 'ada@example.com'));
}
