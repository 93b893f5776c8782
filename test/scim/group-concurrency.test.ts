import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { KyselyPlugin } from 'kysely';
import { MAX_WAITING } from '../../src/provisioning/groups/groups.ts';
import { urns } from '../../src/schema/resource.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type patchOp, type ScimFixture, scimFixture } from '../fixtures/scim.ts';
import { add, names, testConcurrentWriters, valuesIn } from './group-writers.ts';

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

// The slow test of the same name has sixty.
describe('ten concurrent writers of one group all succeed', () => testConcurrentWriters(10));

describe('while one write of a group is in progress', () => {
  let fixture: ScimFixture;
  let database: ReturnType<typeof gate>;
  const patch = (body: ReturnType<typeof patchOp>, headers: Record<string, string> = {}) =>
    fixture.send('PATCH', '/Groups/g1', body, headers);
  const createGroup = (members: string[] = []) =>
    fixture.send('POST', '/Groups', { schemas: [urns.group], displayName: 'Team', members });
  const readGroup = async () => (await fixture.send('GET', '/Groups/g1')).body;

  /** The write in progress, which the closed gate blocks. */
  let first: Promise<{ status: number }>;
  /** The number of requests that the server has received since. */
  let received: number;
  const count = () => {
    received += 1;
  };
  beforeEach(async () => {
    database = gate();
    fixture = await scimFixture({ watcher: database.watcher });
    await createGroup();
    const reached = database.close();
    first = patch(add('first'));
    await reached;
    received = 0;
    subscribe('http.server.request.start', count);
  });
  afterEach(async () => {
    unsubscribe('http.server.request.start', count);
    database.open();
    await fixture.close();
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
