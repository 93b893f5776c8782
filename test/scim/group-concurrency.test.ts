import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { KyselyPlugin } from 'kysely';
import { MAX_WAITING } from '../../src/provisioning/groups/groups.ts';
import { urns } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import { patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';

/** After `close`, blocks the result of the next database statement until `open`. */
function gate() {
  let isClosed = false;
  let reached = () => {};
  let open = () => {};
  const watcher: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (isClosed) {
        isClosed = false;
        const opened = new Promise<void>((resolve) => {
          open = resolve;
        });
        reached();
        await opened;
      }
      return result;
    },
  };
  return {
    watcher,
    close: () => {
      isClosed = true;
      return new Promise<void>((resolve) => {
        reached = resolve;
      });
    },
    open: () => open(),
  };
}

let fixture: ScimFixture;
let database: ReturnType<typeof gate>;
beforeEach(async () => {
  database = gate();
  fixture = await scimFixture({ watcher: database.watcher });
});
afterEach(async () => {
  database.open();
  await fixture.close();
});

const add = (value: string) => patchOp({ op: 'add', path: 'members', value: [{ value }] });
const remove = (value: string) => patchOp({ op: 'remove', path: `members[value eq "${value}"]` });
const patch = (body: ReturnType<typeof patchOp>, headers: Record<string, string> = {}) =>
  fixture.send('PATCH', '/Groups/g1', body, headers);
const createGroup = (members: string[] = []) =>
  fixture.send('POST', '/Groups', { schemas: [urns.group], displayName: 'Team', members });
const readGroup = async () => (await fixture.send('GET', '/Groups/g1')).body;
const valuesIn = (body: { members?: { value: string }[] }) => (body.members ?? []).map(({ value }) => value);
const names = (count: number, prefix = 'm') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const statusesOf = async (answers: Promise<{ status: number }>[]) => [
  ...new Set((await Promise.all(answers)).map(({ status }) => status)),
];

describe('sixty concurrent writers of one group all succeed', () => {
  test('when they add and remove members', async () => {
    await createGroup(names(30, 'old'));
    const added = names(30).map((one) => patch(add(one)));
    const removed = names(30, 'old').map((one) => patch(remove(one)));
    expect(await statusesOf([...added, ...removed])).toEqual([200]);
    const { members, meta } = await readGroup();
    expect(valuesIn({ members }).toSorted()).toEqual(names(30).toSorted());
    expect(meta.version).toBe('W/"61"');
  });

  test('when they replace it, and each response has the data of its own request', async () => {
    await createGroup();
    const answers = await Promise.all(
      names(60).map((one) => fixture.send('PUT', '/Groups/g1', { displayName: one, members: [one] })),
    );
    for (const [index, { status, body }] of answers.entries()) {
      expect([status, body.displayName, valuesIn(body)]).toEqual([200, `m${index}`, [`m${index}`]]);
    }
    expect(new Set(answers.map(({ headers }) => headers.get('etag'))).size).toBe(60);
  });

  test('while readers read it, and each reader sees one whole version', async () => {
    const halves = [names(1100, 'a'), names(1100, 'b')];
    await createGroup(halves[0]);
    const replace = (members: string[] = []) =>
      patch(patchOp({ op: 'replace', path: 'members', value: members }));
    const writers = names(60).map((_, index) => replace(halves[index % 2]));
    const readers = names(10).flatMap((_, index) => [
      fixture.send('GET', '/Groups/g1'),
      fixture.send('GET', `/Groups?startIndex=1&count=${index + 1}`),
    ]);
    expect(await statusesOf(writers)).toEqual([204]);
    for (const { status, body } of await Promise.all(readers)) {
      expect(status).toBe(200);
      const group = body.Resources?.[0] ?? body;
      expect(halves).toContainEqual(valuesIn(group));
    }
  });

  test('while its members are deleted one by one', async () => {
    const users = await Promise.all(
      names(60).map(async (userName) => (await fixture.send('POST', '/Users', { userName })).body.id),
    );
    await createGroup(users);
    const removals = users.map((id) => fixture.send('DELETE', `/Users/${id}`));
    const writers = names(60).map((one) => patch(add(one)));
    expect(await statusesOf(removals)).toEqual([204]);
    expect(await statusesOf(writers)).toEqual([200]);
    expect(valuesIn(await readGroup()).toSorted()).toEqual(names(60).toSorted());
  });

  // RFC 7644 §3.5.2.2 has no error for a filter that selects nothing.
  test('while they remove members by a filter whose users are deleted at the same moment', async () => {
    const users = await Promise.all(
      names(60).map(async (userName) => (await fixture.send('POST', '/Users', { userName })).body.id),
    );
    await createGroup([...users, 'other']);
    const removals = users.map((id) => fixture.send('DELETE', `/Users/${id}`));
    const writers = users.map((id) => patch(remove(id)));
    expect(await statusesOf(removals)).toEqual([204]);
    expect(await statusesOf([...writers, patch(remove('nobody'))])).toEqual([200]);
    expect(valuesIn(await readGroup())).toEqual(['other']);
  });

  test('or get 404 if they come after a DELETE', async () => {
    await createGroup();
    const before = names(30).map((one) => patch(add(one)));
    const removal = fixture.send('DELETE', '/Groups/g1');
    const after = names(30).map((one) => patch(add(one)));
    expect(await statusesOf([removal])).toEqual([204]);
    for (const status of await statusesOf([...before, ...after])) expect([200, 404]).toContain(status);
    expect((await fixture.send('GET', '/Groups/g1')).status).toBe(404);
    expect((await createGroup()).status).toBe(201);
  });
});

describe('while one write of a group is in progress', () => {
  /** The write in progress, which the closed gate blocks. */
  let first: Promise<{ status: number }>;
  /** The number of requests that the server has received since. */
  let received: number;
  const count = () => {
    received += 1;
  };
  beforeEach(async () => {
    await createGroup();
    const reached = database.close();
    first = patch(add('first'));
    await reached;
    received = 0;
    subscribe('http.server.request.start', count);
  });
  afterEach(() => {
    unsubscribe('http.server.request.start', count);
  });
  const answered = (wanted: number) => fixture.lines.filter(({ status }) => status === wanted).length;

  test('a write that finds the queue full is 503 with Retry-After, and those in the queue succeed', async () => {
    const answers = names(MAX_WAITING + 5).map((one) => patch(add(one)));
    await eventually(async () => expect(answered(503)).toBe(5));
    database.open();
    expect((await first).status).toBe(200);
    const all = await Promise.all(answers);
    expect(all.filter(({ status }) => status === 200)).toHaveLength(MAX_WAITING);
    const tooMany = all.filter(({ status }) => status === 503);
    expect(tooMany).toHaveLength(5);
    for (const { headers, body } of tooMany) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(body).toMatchObject({ status: '503' });
    }
    expect(valuesIn(await readGroup())).toHaveLength(MAX_WAITING + 1);
  });

  test('If-Match is compared when a queued write begins', async () => {
    const stale = patch(add('stale'), { 'If-Match': 'W/"1"' });
    const matching = patch(add('matching'), { 'If-Match': 'W/"2"' });
    database.open();
    expect((await first).status).toBe(200);
    expect((await stale).status).toBe(412);
    expect((await matching).status).toBe(200);
    expect(valuesIn(await readGroup())).toEqual(['first', 'matching']);
  });

  test('a client that closes its connection leaves the queue, and its change is not made', async () => {
    const client = new AbortController();
    const gone = fetch(`http://127.0.0.1:${fixture.port}/scim/v2/Groups/g1`, {
      method: 'PATCH',
      headers: { Authorization: 'Bearer good', 'Content-Type': 'application/scim+json' },
      body: JSON.stringify(add('gone')),
      signal: client.signal,
    });
    const outcome = expect(gone).rejects.toThrow();
    const next = patch(add('next'));
    await eventually(async () => expect(received).toBe(2));
    client.abort();
    await outcome;
    await eventually(async () => expect(answered(499)).toBe(1));
    database.open();
    expect([(await first).status, (await next).status]).toEqual([200, 200]);
    expect(valuesIn(await readGroup())).toEqual(['first', 'next']);
    expect(fixture.lines.filter(({ level }) => level === 50)).toEqual([]);
  });
});
