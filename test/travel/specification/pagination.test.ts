import { type Fixture, openFixture } from '../../fixtures/travel.ts';
import { bookTrip, openCompany } from './company.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const get = async (path: string) => (await fixture.send('get', path)).body;
const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

/** Creates cost centers, one per second, and returns their ids. */
async function centers(count: number): Promise<string[]> {
  const made = [];
  for (let number = 0; number < count; number++) {
    fixture.advanceClock(1000);
    made.push((await fixture.make('/cost-centers', { name: `center ${number}` })).id);
  }
  return made;
}

async function isRefused(path: string, field: string): Promise<void> {
  const answer = await fixture.send('get', path);
  const invalid = [expect.objectContaining({ field, code: 'paramValue', message: expect.any(String) })];
  const body = { code: 'invalidParam', message: expect.any(String), invalid };
  expect([path, answer.status, answer.body]).toEqual([path, 400, body]);
}

test('every collection endpoint is paginated, by offset unless asked otherwise', async () => {
  await centers(12);
  for (const path of ['/cost-centers', '/events', '/users', '/billing-operations']) {
    const { meta } = await get(path);
    expect([path, meta]).toMatchObject([path, { pageKind: 'offset', limit: 10, offset: 0 }]);
  }
  expect((await get('/cost-centers')).data).toHaveLength(10);
});

test('pageKind: string, `offset` by default; `cursor` only where supported, anything else is 400', async () => {
  expect(await get('/events?pageKind=offset')).toEqual(await get('/events'));
  expect((await get('/events?pageKind=cursor')).meta.pageKind).toBe('cursor');
  await isRefused('/users?pageKind=cursor', 'pageKind');
  await isRefused('/events?pageKind=page', 'pageKind');
});

test('limit: int32, 10 by default, 1 to 100 inclusive', async () => {
  const made = await centers(101);
  for (const [query, count] of [
    ['', 10],
    ['?limit=1', 1],
    ['?limit=100', 100],
  ] as const) {
    const { data, meta } = await get(`/cost-centers${query}`);
    expect([data.length, meta.limit, meta.total]).toEqual([count, count, made.length]);
  }
});

test('limit: outside that range is 400 `invalidParam` with an `invalid` item (`code` paramValue, `field` limit)', async () => {
  for (const limit of ['0', '101', '-1', '1.5', 'ten', '', '99999999999']) {
    await isRefused(`/users?limit=${limit}`, 'limit');
    await isRefused(`/events?pageKind=cursor&limit=${limit}`, 'limit');
  }
  const { invalid } = await get('/users?limit=101');
  expect(invalid[0].value).toBe(101);
});

test('offset: int32, 0 by default', async () => {
  const made = await centers(5);
  expect((await get('/cost-centers')).meta.offset).toBe(0);
  const page = await get('/cost-centers?offset=3');
  expect([ids(page), page.meta.offset, page.meta.total]).toEqual([made.slice(3), 3, 5]);
  expect((await get('/cost-centers?offset=2147483647')).data).toEqual([]);
  for (const offset of ['-1', '2147483648', 'x', '']) await isRefused(`/users?offset=${offset}`, 'offset');
});

test('offset: offset pagination only', async () => {
  await centers(3);
  const page = await get('/events?pageKind=cursor&offset=2');
  expect(page.data).toEqual((await get('/events?pageKind=cursor')).data);
  expect(page.meta).not.toHaveProperty('offset');
});

test('after: the cursor of the first item to retrieve', async () => {
  await centers(5);
  const all = ids(await get('/events'));
  const { nextAfter } = (await get('/events?pageKind=cursor&limit=2')).meta;
  expect(ids(await get(`/events?pageKind=cursor&limit=2&after=${nextAfter}`))).toEqual(all.slice(2, 4));
  await isRefused('/events?pageKind=cursor&after=nothing', 'after');
});

test('after: mutually exclusive with `before`', async () => {
  await centers(3);
  const { nextAfter } = (await get('/events?pageKind=cursor&limit=2')).meta;
  await isRefused(`/events?pageKind=cursor&after=${nextAfter}&before=${nextAfter}`, 'before');
});

test('before: the cursor of the last item to retrieve', async () => {
  await centers(5);
  const all = ids(await get('/events'));
  const { nextAfter } = (await get('/events?pageKind=cursor&limit=3')).meta;
  expect(ids(await get(`/events?pageKind=cursor&limit=2&before=${nextAfter}`))).toEqual(all.slice(2, 4));
  const { prevBefore } = (await get(`/events?pageKind=cursor&limit=2&after=${nextAfter}`)).meta;
  expect(ids(await get(`/events?pageKind=cursor&limit=2&before=${prevBefore}`))).toEqual(all.slice(1, 3));
  await isRefused('/events?pageKind=cursor&before=nothing', 'before');
});

test('order: `asc` by default, or `desc`', async () => {
  const made = await centers(5);
  expect((await get('/cost-centers')).meta.order).toBe('asc');
  expect(ids(await get('/cost-centers?order=asc'))).toEqual(made);
  const down = await get('/cost-centers?order=desc');
  expect([ids(down), down.meta.order]).toEqual([[...made].reverse(), 'desc']);
  const events = ids(await get('/events'));
  expect(ids(await get('/events?pageKind=cursor&order=desc'))).toEqual([...events].reverse());
  await isRefused('/cost-centers?order=down', 'order');
});

test('sortBy: `createdAt` by default; the allowed values depend on the endpoint', async () => {
  await fixture.make('/cost-centers', { name: 'beta' });
  await fixture.make('/cost-centers', { name: 'Alpha' });
  expect((await get('/cost-centers')).meta.sortBy).toBe('createdAt');
  const names = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name);
  expect(names(await get('/cost-centers?sortBy=createdAt'))).toEqual(['beta', 'Alpha']);
  const sorted = await get('/cost-centers?sortBy=name');
  expect([names(sorted), sorted.meta.sortBy]).toEqual([['Alpha', 'beta'], 'name']);
  await isRefused('/cost-centers?sortBy=email', 'sortBy');
  await isRefused('/users?sortBy=name', 'sortBy');
});

test('archived: only archived or only non-archived resources', async () => {
  const [first = '', ...others] = await centers(4);
  await fixture.send('patch', `/cost-centers/${first}`, { data: { archived: true } });
  const gone = await get('/cost-centers?archived=true');
  expect([ids(gone), gone.meta.total]).toEqual([[first], 1]);
  const here = await get('/cost-centers?archived=false&limit=2');
  expect([ids(here), here.meta.total]).toEqual([others.slice(0, 2), 3]);
  expect((await get('/cost-centers')).meta.total).toBe(4);
  await isRefused('/cost-centers?archived=maybe', 'archived');
});

test('emails: users only; a comma-separated list of addresses, only matching users', async () => {
  const made = [];
  for (const name of ['ada', 'bob', 'eve']) {
    made.push((await fixture.make('/users', { email: `${name}@example.com` })).id);
  }
  const page = await get('/users?emails=eve@example.com,ADA@example.com,nobody@example.com');
  expect([ids(page), page.meta.total]).toEqual([[made[0], made[2]], 2]);
  expect((await get('/users?emails=nobody@example.com')).data).toEqual([]);
  const { id: tagged } = await fixture.make('/users', { email: 'ada+travel@example.com' });
  for (const plus of ['+', '%2B']) {
    expect(ids(await get(`/users?emails=eve@example.com,%20ada${plus}travel@example.com`))).toEqual([
      made[2],
      tagged,
    ]);
  }
  await isRefused('/cost-centers?emails=nobody@example.com', 'emails');
});

test('meta of an offset page: `pageKind` (`offset`), `limit`, `offset`, `total` (number of items on the server), `order`, `sortBy`', async () => {
  await centers(7);
  const { meta } = await get('/cost-centers?limit=2&offset=4&order=desc&sortBy=name');
  const asked = { limit: 2, offset: 4, order: 'desc', sortBy: 'name' };
  expect(meta).toEqual({ pageKind: 'offset', total: 7, ...asked });
});

test('meta of a cursor page: `pageKind` (`cursor`), `limit`, `after`, `before`, `nextAfter`, `prevBefore`, `order`, `sortBy`', async () => {
  const company = await openCompany(fixture);
  await company.transact((desk) => bookTrip(desk, company));
  const path = '/billing-operations?pageKind=cursor&sortBy=date&limit=1';
  const { meta: first } = await get(path);
  const asked = { pageKind: 'cursor', limit: 1, order: 'asc', sortBy: 'date' };
  expect(first).toEqual({ ...asked, nextAfter: expect.any(String) });
  const { meta: second } = await get(`${path}&after=${first.nextAfter}`);
  const around = { nextAfter: expect.any(String), prevBefore: expect.any(String) };
  expect(second).toEqual({ ...asked, after: first.nextAfter, ...around });
  const { meta: back } = await get(`${path}&before=${second.prevBefore}`);
  expect(back).toEqual({ ...asked, before: second.prevBefore, nextAfter: expect.any(String) });
});

test('meta of events and invoices by cursor shows `order` without `sortBy`', async () => {
  for (const path of ['/events', '/invoices']) {
    const { meta } = await get(`${path}?pageKind=cursor`);
    expect([path, meta]).toEqual([path, { pageKind: 'cursor', limit: 10, order: 'asc' }]);
  }
});

test('the default order is oldest first by creation time', async () => {
  const made = await centers(4);
  await fixture.send('patch', `/cost-centers/${made[0]}`, { data: { name: 'changed last' } });
  const { data } = await get('/cost-centers');
  expect(ids({ data })).toEqual(made);
  const times = data.map(({ createdAt }: { createdAt: string }) => createdAt);
  expect(times).toEqual([...times].sort());
});
