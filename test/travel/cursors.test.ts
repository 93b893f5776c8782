import { type Fixture, openFixture } from '../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

async function page(query: string) {
  return (await fixture.send('get', `/events?pageKind=cursor&${query}`)).body;
}

/** Creates this many events. */
async function happen(count: number): Promise<void> {
  for (let number = 0; number < count; number++) await fixture.make('/cost-centers', { name: `c${number}` });
}

const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

test('a page contains the cursors of its neighbours and the parameters of its request', async () => {
  await happen(4);
  const first = await page('limit=2');
  expect(first.meta).toEqual({ pageKind: 'cursor', limit: 2, order: 'asc', nextAfter: expect.any(String) });
  const { nextAfter } = first.meta;
  const second = await page(`limit=2&after=${nextAfter}`);
  expect(second.meta).toEqual({
    pageKind: 'cursor',
    limit: 2,
    order: 'asc',
    after: nextAfter,
    nextAfter: expect.any(String),
    prevBefore: expect.any(String),
  });
  const last = await page(`limit=2&after=${second.meta.nextAfter}`);
  expect(last.meta).not.toHaveProperty('nextAfter');
  const all = ids((await fixture.send('get', '/events?limit=100')).body);
  expect([...ids(first), ...ids(second), ...ids(last)]).toEqual(all);
  const back = await page(`limit=2&before=${second.meta.prevBefore}`);
  expect([ids(back), back.meta]).toEqual([
    ids(first),
    { pageKind: 'cursor', limit: 2, order: 'asc', before: second.meta.prevBefore, nextAfter },
  ]);
});

test('`after` is the first item to retrieve, `before` the last', async () => {
  await happen(5);
  const { nextAfter } = (await page('limit=2')).meta;
  const all = ids(await page('limit=100'));
  expect(ids(await page(`limit=1&after=${nextAfter}`))).toEqual([all[2]]);
  expect(ids(await page(`limit=2&before=${nextAfter}`))).toEqual([all[1], all[2]]);
});

test('both orders show every item once while new items arrive', async () => {
  await happen(7);
  for (const order of ['asc', 'desc']) {
    const before = ids(await page(`limit=100&order=${order}`));
    const seen: string[] = [];
    let after = '';
    for (let pages = 0; pages < 20; pages++) {
      const answer = await page(`limit=3&order=${order}${after}`);
      seen.push(...ids(answer));
      await fixture.make('/cost-centers', { name: `late ${order} ${pages}` });
      if (!answer.meta.nextAfter || pages > 4) break;
      after = `&after=${answer.meta.nextAfter}`;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.slice(0, before.length)).toEqual(before);
  }
});

test('a client that continues from its last cursor sees all later items', async () => {
  await happen(3);
  const first = await page('limit=3');
  const after = `limit=100&after=${first.meta.nextAfter}`;
  const known = ids(await page(after));
  await happen(2);
  const now = ids(await page(after));
  expect(now.slice(0, known.length)).toEqual(known);
  expect(now).toHaveLength(known.length + 2);
});

test('a broken cursor, one of another order or list, or both at once are 400', async () => {
  await happen(3);
  const { nextAfter } = (await page('limit=1')).meta;
  const place = (value: unknown, seq: number) =>
    Buffer.from(JSON.stringify(['event    asc createdAt', value, seq])).toString('base64url');
  expect((await fixture.send('get', `/events?pageKind=cursor&after=${place(1, 1)}`)).status).toBe(200);
  const foreign = Buffer.from(JSON.stringify(['invoice     asc createdAt', 1, 1])).toString('base64url');
  for (const [field, query] of [
    ['after', 'after=x'],
    ['after', 'after='],
    ['before', `before=${Buffer.from('[]').toString('base64url')}`],
    ['after', `after=${nextAfter}&order=desc`],
    ['after', `after=${foreign}`],
    ['after', `after=${nextAfter}!!`],
    ['after', `after=${place('a', 1)}`],
    ['after', `after=${place(1, -1)}`],
    ['after', `after=${place(1, 2 ** 53)}`],
    ['after', `after=${place(1.5, 1)}`],
    ['before', `before=${place([1], 1)}`],
    ['after', `after=${nextAfter}&after=${nextAfter}`],
    ['before', `after=${nextAfter}&before=${nextAfter}`],
    ['sortBy', 'sortBy=createdAt'],
    ['limit', 'limit=101'],
  ]) {
    const answer = await fixture.send('get', `/events?pageKind=cursor&${query}`);
    const invalid = [expect.objectContaining({ field, code: 'paramValue' })];
    expect([query, answer.status, answer.body]).toEqual([
      query,
      400,
      { code: 'invalidParam', message: expect.any(String), invalid },
    ]);
  }
});

test('collections without cursor pages in the specification refuse cursors', async () => {
  for (const path of ['/users', '/cost-centers', '/custom-fields', '/scim-user-mappings']) {
    const answer = await fixture.send('get', `${path}?pageKind=cursor`);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalidParam']);
  }
});
