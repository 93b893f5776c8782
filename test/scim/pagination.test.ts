import fc from 'fast-check';
import { runs } from '../fixtures/runs.ts';
import { type ScimFixture, scimFixture } from '../fixtures/scim.ts';
import { visibleCharacter } from '../fixtures/unicode.ts';

let fixture: ScimFixture;
const open = async () => {
  fixture = await scimFixture();
};
const close = () => fixture.close();

async function populate(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await fixture.send('POST', '/Users', { userName: `user${at}`, title: at % 2 ? 'odd' : 'even' });
  }
}

interface User {
  id: string;
  userName: string;
}
const namesIn = (body: { Resources: User[] }) => body.Resources.map(({ userName }) => userName);

describe('cursors (RFC 9865)', () => {
  beforeEach(open);
  afterEach(close);

  test('an empty cursor requests the first page, and the last page has no nextCursor', async () => {
    await populate(5);
    const first = await fixture.send('GET', '/Users?cursor&count=2');
    expect(first.status).toBe(200);
    expect(Object.keys(first.body).sort()).toEqual([
      'Resources',
      'itemsPerPage',
      'nextCursor',
      'schemas',
      'totalResults',
    ]);
    expect(first.body).toMatchObject({ totalResults: 5, itemsPerPage: 2 });
    expect(first.body.nextCursor).toMatch(/^[\w-]+$/);
    const second = await fixture.send('GET', `/Users?cursor=${first.body.nextCursor}&count=2`);
    const third = await fixture.send('GET', `/Users?cursor=${second.body.nextCursor}&count=2`);
    expect([first, second, third].map(({ body }) => namesIn(body))).toEqual([
      ['user0', 'user1'],
      ['user2', 'user3'],
      ['user4'],
    ]);
    expect(third.body).toMatchObject({ totalResults: 5, itemsPerPage: 1 });
    expect('nextCursor' in third.body).toBe(false);
  });

  test('a page that ends with the list has no nextCursor, and neither has an empty list', async () => {
    expect('nextCursor' in (await fixture.send('GET', '/Users?cursor=')).body).toBe(false);
    await populate(2);
    const { body } = await fixture.send('GET', '/Users?cursor=&count=2');
    expect(namesIn(body)).toHaveLength(2);
    expect('nextCursor' in body).toBe(false);
  });

  test('a request without a cursor is paged by index', async () => {
    await populate(3);
    const { body } = await fixture.send('GET', '/Users?count=2');
    expect(body).toMatchObject({ startIndex: 1, itemsPerPage: 2 });
    expect('nextCursor' in body).toBe(false);
  });

  test.each([
    'filter=title+eq+%22odd%22',
    'sortBy=userName&sortOrder=descending',
    'filter=meta.created+gt+%222026-11-20T10:00:03Z%22&sortBy=externalId',
    'attributes=userName',
  ])('the pages together are the whole list: %s', async (query) => {
    await populate(7);
    const whole = namesIn((await fixture.send('GET', `/Users?${query}`)).body);
    const names: string[] = [];
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const { body } = await fixture.send('GET', `/Users?${query}&cursor=${cursor}&count=2`);
      expect(body.totalResults).toBe(whole.length);
      names.push(...namesIn(body));
      cursor = body.nextCursor;
    }
    expect(names).toEqual(whole);
  });

  test('a cursor works in the body of a search, and for groups', async () => {
    for (const displayName of ['a', 'b']) await fixture.send('POST', '/Groups', { displayName });
    const search = (cursor: string) =>
      fixture.send('POST', '/Groups/.search', {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
        cursor,
        count: 1,
      });
    const first = await search('');
    expect(first.body).toMatchObject({ totalResults: 2, Resources: [{ displayName: 'a' }] });
    const { body } = await search(first.body.nextCursor);
    expect(body).toMatchObject({ totalResults: 2, Resources: [{ displayName: 'b' }] });
    expect('nextCursor' in body).toBe(false);
  });
});

describe('a cursor is valid only in its list', () => {
  beforeAll(async () => {
    await open();
    await populate(3);
  });
  afterAll(close);

  const others: [string, string][] = [
    ['another filter', '/Users?filter=title+eq+%22odd%22&'],
    ['another order', '/Users?sortBy=userName&'],
    ['another kind of resource', '/Groups?'],
    ['users and groups', '/?'],
  ];
  test.each(others)('with %s it is 400 invalidCursor', async (_, path) => {
    const { body } = await fixture.send('GET', '/Users?cursor=&count=1');
    const answer = await fixture.send('GET', `${path}cursor=${body.nextCursor}`);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidCursor' } });
  });

  test('in another connection it is 400 invalidCursor', async () => {
    const { body } = await fixture.send('GET', '/Users?cursor=&count=1');
    const path = `/Users?cursor=${body.nextCursor}`;
    const other = await fixture.send('GET', path, undefined, { Authorization: 'Bearer other' });
    expect(other).toMatchObject({ status: 400, body: { scimType: 'invalidCursor' } });
    expect((await fixture.send('GET', path)).status).toBe(200);
  });

  test('any other text is 400 invalidCursor, never 500', async () => {
    const { body } = await fixture.send('GET', '/Users?cursor=&count=1&sortBy=userName');
    const real: string = body.nextCursor;
    const changed = fc
      .tuple(fc.nat(real.length - 1), fc.constantFrom(...'AZaz09-_'))
      .map(([at, letter]) => `${real.slice(0, at)}${letter}${real.slice(at + 1)}`);
    const cut = fc.nat(real.length - 1).map((length) => real.slice(0, length));
    const any = fc.oneof(fc.string({ unit: visibleCharacter }), changed, cut, fc.constant(`${real}A`));
    await fc.assert(
      fc.asyncProperty(
        any.filter((text) => text !== '' && text !== real),
        async (text) => {
          const path = `/Users?sortBy=userName&cursor=${encodeURIComponent(text)}`;
          const answer = await fixture.send('GET', path);
          expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidCursor' } });
        },
      ),
      runs(150),
    );
  });

  const wrong: [string, string][] = [
    ['cursor=&startIndex=1', 'invalidValue'],
    ['cursor=&cursor=', 'invalidCursor'],
    ['cursor=&count=abc', 'invalidCount'],
    ['cursor=&count=0', 'invalidCount'],
    ['cursor=&count=-1', 'invalidCount'],
  ];
  test.each(wrong)('%s is 400 %s', async (query, scimType) => {
    const answer = await fixture.send('GET', `/Users?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { scimType } });
  });

  test('an empty startIndex and an empty count count as absent', async () => {
    const answer = await fixture.send('GET', '/Users?cursor=&startIndex=&count=');
    expect(answer).toMatchObject({ status: 200, body: { itemsPerPage: expect.any(Number) } });
  });

  test('count is limited with a cursor as well', async () => {
    expect((await fixture.send('GET', '/Users?cursor=&count=100000')).status).toBe(200);
  });
});

test('a user who exists throughout is returned exactly once, while others are created and deleted', async () => {
  await open();
  const name = { givenName: 'A', familyName: 'B' };
  const emails = [{ value: 'a@corp.example' }];
  let last = 0;
  const create = async () => {
    last += 1;
    // Complete and incomplete users are added to different ends of the list.
    const body = last % 3 === 0 ? { userName: `n${last}` } : { userName: `n${last}`, name, emails };
    return (await fixture.send('POST', '/Users', body)).body.id as string;
  };
  const orders = ['', '&sortBy=userName', '&sortBy=id&sortOrder=descending', '&sortBy=meta.created'];
  const action = fc.constantFrom<'create' | 'delete'>('create', 'delete');
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...orders),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.tuple(action, fc.nat()), { maxLength: 8 }),
      async (order, count, events) => {
        const before = new Set<string>();
        for (let at = 0; at < 8; at += 1) before.add(await create());
        const seen: string[] = [];
        const queue = [...events];
        let cursor: string | undefined = '';
        while (cursor !== undefined) {
          const { body } = await fixture.send('GET', `/Users?cursor=${cursor}&count=${count}${order}`);
          seen.push(...body.Resources.map(({ id }: User) => id));
          cursor = body.nextCursor;
          const [event, index] = queue.shift() ?? [];
          if (event === 'create') await create();
          const deleted = [...before][(index ?? 0) % before.size];
          if (event !== 'delete' || deleted === undefined) continue;
          before.delete(deleted);
          await fixture.send('DELETE', `/Users/${deleted}`);
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect([...before].filter((id) => !seen.includes(id))).toEqual([]);
        for (const id of before) await fixture.send('DELETE', `/Users/${id}`);
      },
    ),
    runs(25),
  );
  await close();
});

const users = [
  { userName: 'cem', externalId: 'b', displayName: 'élan' },
  { userName: 'ADA', externalId: 'B', displayName: 'Zoe' },
  { userName: 'bob', displayName: 'Élan' },
  { userName: 'Dia', externalId: 'a' },
];

async function createSortedUsers(): Promise<void> {
  for (const user of users) await fixture.send('POST', '/Users', user);
  // This makes the oldest user the one that was modified last.
  await fixture.send('PATCH', '/Users/u1', {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'title', value: 'CEO' }],
  });
}

describe('sortBy and sortOrder (RFC 7644 §3.4.2.3)', () => {
  beforeAll(async () => {
    await open();
    await createSortedUsers();
  });
  afterAll(close);

  const cases: [string, string[]][] = [
    ['sortBy=userName', ['ADA', 'bob', 'cem', 'Dia']],
    ['sortBy=USERNAME&sortOrder=Descending', ['Dia', 'cem', 'bob', 'ADA']],
    ['sortBy=urn:ietf:params:scim:schemas:core:2.0:User:userName', ['ADA', 'bob', 'cem', 'Dia']],
    ['sortBy=userName&sortOrder=upwards', ['ADA', 'bob', 'cem', 'Dia']],
    ['sortBy=id&sortOrder=descending', ['Dia', 'bob', 'ADA', 'cem']],
    // Case-sensitive; resources without a value come last, and first in descending order.
    ['sortBy=externalId', ['ADA', 'Dia', 'cem', 'bob']],
    ['sortBy=externalId&sortOrder=descending', ['bob', 'cem', 'Dia', 'ADA']],
    // Case-insensitive; equal values are in the order of creation.
    ['sortBy=displayName', ['ADA', 'cem', 'bob', 'Dia']],
    ['sortBy=displayName&sortOrder=descending', ['Dia', 'bob', 'cem', 'ADA']],
    ['sortBy=meta.created&sortOrder=descending', ['Dia', 'bob', 'ADA', 'cem']],
    ['sortBy=meta.lastModified', ['ADA', 'bob', 'Dia', 'cem']],
    // These have no index, so sortBy is ignored.
    ['sortBy=title', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=emails.value&sortOrder=descending', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=nothing.of.the.kind', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=constructor', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=userName&sortBy=id', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortOrder=descending', ['cem', 'ADA', 'bob', 'Dia']],
    ['sortBy=userName&startIndex=2&count=2', ['bob', 'cem']],
    ['sortBy=userName&filter=title+pr+or+displayName+pr', ['ADA', 'bob', 'cem']],
    ['sortBy=userName&sortOrder=descending&filter=userName+eq+%22BOB%22+or+id+eq+%22u1%22', ['cem', 'bob']],
  ];
  test.each(cases)('%s', async (query, names) => {
    const { status, body } = await fixture.send('GET', `/Users?${query}`);
    expect(status).toBe(200);
    expect(body.Resources.map(({ userName }: { userName: string }) => userName)).toEqual(names);
  });

  test('groups are sorted by displayName without case', async () => {
    for (const displayName of ['b', 'C', 'a']) await fixture.send('POST', '/Groups', { displayName });
    const { body } = await fixture.send('GET', '/Groups?sortBy=displayName&sortOrder=descending');
    expect(body.Resources.map(({ displayName }: { displayName: string }) => displayName)).toEqual([
      'C',
      'b',
      'a',
    ]);
  });
});
