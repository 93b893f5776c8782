import type { JsonObject } from '../../../src/travel/json.ts';
import { type House, openHouse } from '../house.ts';
import { everything } from './everything.ts';
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

/** One account for all tests: nobody changes it. */
let house: House;
let at: (path: string) => string;
beforeAll(async () => {
  house = await openHouse();
  at = await everything(house);
});
afterAll(() => house.close());

const refusal = (field: string) => [
  400,
  {
    code: 'invalidParam',
    message: expect.any(String),
    invalid: [expect.objectContaining({ field, code: 'paramValue' })],
  },
];

test.each(lists)('$statement', async (list) => {
  const get = (query: string) => house.send('get', `${at(list.path)}?${query}`);
  const { status, body } = await get('limit=100');
  expect([status, Object.keys(body)]).toEqual([200, ['data', 'meta']]);
  expect(body.meta).toMatchObject({ pageKind: 'offset', sortBy: 'createdAt', total: body.data.length });
  expect(body.data.length).toBeGreaterThan(1);
  await isPagedByOffset(get, body.data);
  if (list.cursor) await isPagedByCursor(get, body.data);
  else expect(seen(await get('pageKind=cursor'))).toEqual(refusal('pageKind'));
  for (const field of list.sortBy) await isSortedBy(get, field, body.data.length);
  for (const field of ['createdAt', 'date', 'name', 'code', 'email', 'id']) {
    if (!list.sortBy.includes(field)) expect(seen(await get(`sortBy=${field}`))).toEqual(refusal('sortBy'));
  }
  await isFiltered(get, list, body.data);
});

type Get = (query: string) => ReturnType<House['send']>;

const seen = ({ status, body }: { status: number; body: unknown }) => [status, body];
const ids = (data: JsonObject[]) => data.map(({ id }) => id);

async function isPagedByOffset(get: Get, all: JsonObject[]): Promise<void> {
  expect((await get('limit=1&offset=1')).body.data).toEqual(all.slice(1, 2));
  expect(ids((await get('limit=100&order=desc')).body.data)).toEqual(ids(all).reverse());
  const times = all.map(({ createdAt }) => createdAt);
  expect(times).toEqual([...times].sort());
}

/** Every item exactly once, in both orders. */
async function isPagedByCursor(get: Get, all: JsonObject[]): Promise<void> {
  for (const order of ['asc', 'desc']) {
    const walked: JsonObject[] = [];
    let after = '';
    do {
      const { body } = await get(`pageKind=cursor&limit=7&order=${order}${after}`);
      walked.push(...body.data);
      after = body.meta.nextAfter === undefined ? '' : `&after=${body.meta.nextAfter}`;
    } while (after !== '' && walked.length <= all.length);
    expect(walked).toEqual(order === 'asc' ? all : [...all].reverse());
  }
}

async function isSortedBy(get: Get, field: string, count: number): Promise<void> {
  const { body } = await get(`limit=100&sortBy=${field}`);
  const values = body.data.map((one: JsonObject) => String(one[field]).toLowerCase());
  expect([body.meta.sortBy, values]).toEqual([field, [...values].sort()]);
  expect(values).toHaveLength(count);
}

/** A filter that a list does not have is a parameter that it does not know, and is ignored. */
async function isFiltered(get: Get, { filters }: List, all: JsonObject[]): Promise<void> {
  for (const archived of [true, false]) {
    const expected = filters.includes('archived') ? all.filter((one) => one['archived'] === archived) : all;
    expect((await get(`limit=100&archived=${archived}`)).body.data).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
  }
  const expected = filters.includes('emails') ? all.filter(({ email }) => email === 'ada@example.com') : all;
  expect((await get('limit=100&emails=ada@example.com')).body.data).toEqual(expected);
}
