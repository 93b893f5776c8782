import type { Resource } from '../../../src/travel/declaration/resource.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { SAMPLE_COUNT } from '../samples.ts';
import { matchError, type ResourceFixture, resourceFixture, restoredFixture } from './resource-fixture.ts';

/** Tests the pages, the sort orders and the filters of the list. */
export function describeLists(resource: Resource): void {
  describe('that is read', () => describeReading(resource));
  describe('that changes', () => describeChanges(resource));
}

type Made = JsonObject & { id: string };

const ids = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id);

/** Creates all samples, and returns them with the total that the list has then. */
async function fill({ fixture, path, make }: ResourceFixture): Promise<{ total: number; made: Made[] }> {
  const made = [];
  for (let number = 0; number < SAMPLE_COUNT; number++) {
    // Several resources share a second, so that the order within a second is tested too.
    if (number % 3 === 0) fixture.advanceClock(1000);
    made.push(await make(number));
  }
  return { made, total: (await fixture.send('get', path)).body.meta.total };
}

function describeReading(resource: Resource): void {
  const view = resourceFixture(resource);
  const get = async (query = '') => view.fixture.send('get', `${view.path}${query}`);
  let already = 0;
  let total = 0;
  let made: Made[] = [];
  beforeAll(async () => {
    already = (await get()).body.meta.total;
    ({ made, total } = await fill(view));
  });

  test('has ten to a page, oldest first, with an exact total', async () => {
    expect(total).toBe(already + made.length);
    const first = await get();
    expect(first.status).toBe(200);
    expect(first.body.meta).toEqual({
      pageKind: 'offset',
      limit: 10,
      offset: 0,
      total,
      order: 'asc',
      sortBy: 'createdAt',
    });
    expect(first.body.data).toHaveLength(10);
    expect(first.body.data.slice(already)).toEqual(made.slice(0, 10 - already));
  });

  test('shows every resource once, page by page, in either order', async () => {
    const all = ids(await get('?limit=100'));
    expect(new Set(all).size).toBe(total);
    const paged = [];
    for (let offset = 0; offset < total; offset += 4)
      paged.push(...ids(await get(`?limit=4&offset=${offset}`)));
    expect(paged).toEqual(all);
    expect(ids(await get('?limit=100&order=desc'))).toEqual([...all].reverse());
    expect(ids(await get('?offset=2147483647'))).toEqual([]);
  });

  for (const field of resource.sortBy)
    test(`is sorted by ${field} without case`, async () => {
      const sorted = await get(`?limit=100&sortBy=${field}`);
      const values = sorted.body.data.map((one: JsonObject) => String(one[field]).toLowerCase());
      expect(values).toEqual([...values].sort());
      expect(values).toHaveLength(total);
      expect(sorted.body.meta.sortBy).toBe(field);
      expect(ids(await get(`?limit=100&sortBy=${field}&order=desc`))).toEqual(ids(sorted).reverse());
      expect(ids(await get(`?limit=3&offset=3&sortBy=${field}`))).toEqual(ids(sorted).slice(3, 6));
    });

  test('refuses parameters that are not allowed', async () => {
    const wrong = [
      'limit=0',
      'limit=101',
      'limit=-1',
      'limit=1.5',
      'limit=ten',
      'limit=',
      'limit=1&limit=2',
      'offset=-1',
      'offset=2147483648',
      'order=up',
      'sortBy=id',
      'pageKind=cursor',
      'pageKind=x',
    ];
    if (resource.sortBy.length === 0) wrong.push('sortBy=createdAt');
    if (resource.filters.includes('archived')) wrong.push('archived=yes', 'archived=');
    for (const query of wrong) {
      const [field = ''] = query.split('=');
      const answer = await get(`?${query}`);
      const invalid = [expect.objectContaining({ field, code: 'paramValue', message: expect.any(String) })];
      expect([query, answer.status, answer.body]).toEqual([query, 400, matchError('invalidParam', invalid)]);
    }
  });

  test('refuses unknown parameters and lists the known ones', async () => {
    for (const [query, fields] of [
      ['?color=red', ['color']],
      ['?after=x', ['after']],
      ['?__proto__=x&toString=1', ['__proto__', 'toString']],
    ] as const) {
      const { status, body } = await get(query);
      expect([status, body.code]).toEqual([400, 'invalidParam']);
      expect(body.invalid.map(({ field }: JsonObject) => field)).toEqual(fields);
      for (const { message } of body.invalid)
        expect(message).toContain('known here: pageKind, limit, offset');
    }
  });
}

function describeChanges(resource: Resource): void {
  const view = restoredFixture(resource);
  const get = async (query = '') => view.fixture.send('get', `${view.path}${query}`);

  test('follows a change of its sort field', async () => {
    const { made } = await fill(view);
    const [field] = resource.sortBy;
    if (!field) return;
    const value = field === 'email' ? '0@example.com' : '0';
    await view.fixture.send('patch', `${view.path}/${made[4]?.id}`, { data: { [field]: value } });
    expect(ids(await get(`?limit=1&sortBy=${field}`))).toEqual([made[4]?.id]);
  });

  if (resource.filters.includes('archived')) {
    test('filters by `archived`, with a total of its own', async () => {
      const { made, total } = await fill(view);
      const gone = made.filter((_one, position) => position % 4 === 0);
      for (const { id } of gone)
        await view.fixture.send('patch', `${view.path}/${id}`, { data: { archived: true } });
      const archived = await get('?archived=true&limit=2');
      expect(ids(archived)).toEqual(gone.slice(0, 2).map(({ id }) => id));
      expect(archived.body.meta.total).toBe(gone.length);
      const others = await get('?archived=false&limit=100');
      expect(others.body.meta.total).toBe(total - gone.length);
      expect(ids(others)).toHaveLength(total - gone.length);
      const [field] = resource.sortBy;
      const sorted = ids(await get(`?archived=true&sortBy=${field}&order=desc`));
      expect(new Set(sorted)).toEqual(new Set(gone.map(({ id }) => id)));
      await view.fixture.send('delete', `${view.path}/${gone[0]?.id}`);
      expect((await get('?archived=true')).body.meta.total).toBe(gone.length - 1);
      expect((await get()).body.meta.total).toBe(total - 1);
    });
  }
}
