import type { Database } from '../../../src/store/database.ts';
import { nameMatcher } from '../../../src/store/erasure/matchers.ts';
import { redactLoggedRequests, requestLog } from '../../../src/store/request-log.ts';
import type { LoggedRequest, RequestLog, RequestLogQuery } from '../../../src/travel/ports.ts';
import { NOW, type OpenDatabase } from '../../fixtures/store.ts';

/** A logged request. */
export function logged(requestId: string, data: Partial<LoggedRequest> = {}): LoggedRequest {
  return {
    time: NOW,
    ms: 3,
    method: 'GET',
    path: '/api/users/u1?x=1',
    status: 200,
    userId: 'admin',
    credential: 'apiKey:k1',
    requestId,
    requestBody: undefined,
    responseBody: { text: '{"data":{}}', cut: false },
    ...data,
  };
}

/** The request ids of all results, read page by page. */
async function walk(log: RequestLog, query: Omit<RequestLogQuery, 'after'>): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < 1_000; pages += 1) {
    const page = await log.list(after === undefined ? query : { ...query, after });
    names.push(...page.requests.map(({ requestId }) => requestId));
    after = page.next;
    if (after === undefined) return names;
  }
  throw new Error('the walk never ends');
}

/** Conformance tests of the request log, for any database. */
export function describeRequestLog(open: OpenDatabase): void {
  describe('the request log', () => {
    it('returns requests as they were recorded', async () => {
      const log = requestLog(await open());
      const full = logged('a', {
        method: 'PATCH',
        status: 422,
        requestBody: { text: 'É"🛫\\', cut: true },
        responseBody: { text: '', cut: false },
      });
      const bare = logged('b', {
        time: NOW - 1,
        status: 401,
        userId: undefined,
        credential: undefined,
        responseBody: undefined,
      });
      await log.append([full, bare]);
      expect(await log.list({ limit: 10 })).toEqual({ requests: [full, bare], next: undefined });
    });

    it('loses two people who are erased at the same time', async () => {
      const database = await open();
      const log = requestLog(database);
      await log.append([logged('a', { path: '/api/users/ada@x.example/delegates/grace@x.example' })]);
      const personOf = (name: string) => ({
        travelIds: [],
        matcher: nameMatcher({ unique: [name], whole: [] }),
      });
      let other: Promise<unknown> | undefined;
      const transaction: Database['transaction'] = async (work, options) => {
        // Grace is erased after the erasure of Ada has read the log, and before it writes.
        other ??= redactLoggedRequests(database, personOf('grace@x.example'));
        await other;
        return database.transaction(work, options);
      };
      await redactLoggedRequests({ ...database, transaction }, personOf('ada@x.example'));
      const { requests } = await log.list({ limit: 10 });
      expect(requests.map(({ path }) => path)).toEqual(['/api/users/:erased/delegates/:erased']);
    });

    it('is empty at first, and accepts an empty list', async () => {
      const log = requestLog(await open());
      await log.append([]);
      expect(await log.list({ limit: 10 })).toEqual({ requests: [], next: undefined });
    });

    it('is read newest first, and among equal times last recorded first', async () => {
      const log = requestLog(await open());
      await log.append([logged('b'), logged('d', { time: NOW + 1 })]);
      await log.append([logged('c'), logged('a', { time: NOW - 1 })]);
      expect(await walk(log, { limit: 10 })).toEqual(['d', 'c', 'b', 'a']);
    });

    it('is read page by page, each request once, whatever is recorded meanwhile', async () => {
      const log = requestLog(await open());
      const many = Array.from({ length: 23 }, (_, n) => logged(`${n}`, { time: NOW + Math.floor(n / 5) }));
      await log.append(many);
      const first = await log.list({ limit: 4 });
      await log.append([logged('new', { time: NOW + 100 })]);
      const names = first.requests.map(({ requestId }) => requestId);
      for (let after = first.next; after !== undefined; ) {
        const page = await log.list({ limit: 4, after });
        expect(page.requests.length).toBeLessThanOrEqual(4);
        names.push(...page.requests.map(({ requestId }) => requestId));
        after = page.next;
      }
      expect(names).toEqual(many.map(({ requestId }) => requestId).reverse());
    });

    it('is searched from one time on, and before another', async () => {
      const log = requestLog(await open());
      await log.append([0, 1, 2, 3].map((n) => logged(`${n}`, { time: NOW + n })));
      expect(await walk(log, { limit: 10, since: NOW + 2 })).toEqual(['3', '2']);
      expect(await walk(log, { limit: 10, until: NOW + 2 })).toEqual(['1', '0']);
      expect(await walk(log, { limit: 1, since: NOW + 1, until: NOW + 3 })).toEqual(['2', '1']);
    });

    it('is searched by status, exactly or by class', async () => {
      const log = requestLog(await open());
      await log.append([200, 400, 404, 499, 500].map((status) => logged(`${status}`, { status })));
      expect(await walk(log, { limit: 10, statuses: { from: 404, to: 404 } })).toEqual(['404']);
      expect(await walk(log, { limit: 10, statuses: { from: 400, to: 499 } })).toEqual(['499', '404', '400']);
      expect(await walk(log, { limit: 10, statuses: { from: 300, to: 399 } })).toEqual([]);
    });

    it('is searched by user', async () => {
      const log = requestLog(await open());
      await log.append([logged('a', { userId: 'ada' }), logged('b', { userId: undefined }), logged('c')]);
      expect(await walk(log, { limit: 10, userId: 'ada' })).toEqual(['a']);
      expect(await walk(log, { limit: 10, userId: 'nobody' })).toEqual([]);
    });

    it('is searched by path prefix, regardless of case and query', async () => {
      const log = requestLog(await open());
      const paths = [
        '/api/users',
        '/api/users?limit=1',
        '/API/Users/A',
        '/api/users/a/',
        '/api/users/ab',
        '/api/users-x',
        '/api/users/a/b/c?token=1',
        '/api/webhooks/api/users',
      ];
      await log.append(paths.map((path, n) => logged(path, { path, time: NOW - n })));
      const found = (path: string) => walk(log, { limit: 10, path });
      expect(await found('/api/users')).toEqual(paths.filter((path) => /^\/api\/users([/?]|$)/i.test(path)));
      expect(await found('/api/users/a')).toEqual([
        '/API/Users/A',
        '/api/users/a/',
        '/api/users/a/b/c?token=1',
      ]);
      expect(await found('/api/users/a/b/')).toEqual(['/api/users/a/b/c?token=1']);
      expect(await found('/api')).toEqual(paths);
      expect(await found('/')).toEqual(paths);
      expect(await found('/api/user%')).toEqual([]);
    });

    it('is searched by all of that at once', async () => {
      const log = requestLog(await open());
      const right = { status: 404, path: '/api/users/a', userId: 'ada', time: NOW + 5 };
      await log.append([
        logged('right', right),
        logged('status', { ...right, status: 200 }),
        logged('path', { ...right, path: '/api/users/b' }),
        logged('user', { ...right, userId: 'bob' }),
        logged('time', { ...right, time: NOW + 6 }),
      ]);
      const query = { statuses: { from: 400, to: 499 }, path: '/api/users/a', userId: 'ada', until: NOW + 6 };
      expect(await walk(log, { ...query, limit: 1 })).toEqual(['right']);
    });

    it('finds rare entries in a long log in bounded steps', async () => {
      const log = requestLog(await open());
      const times = Array.from({ length: 24_000 }, (_, n) => NOW + n);
      await log.append([logged('rare', { status: 500, time: NOW - 1 })]);
      for (let at = 0; at < times.length; at += 4_000) {
        await log.append(
          times.slice(at, at + 4_000).map((time) => logged(`${time}`, { time, responseBody: undefined })),
        );
      }
      const query = { limit: 10, statuses: { from: 500, to: 500 } };
      const first = await log.list(query);
      expect(first).toEqual({ requests: [], next: expect.any(String) });
      expect(await walk(log, query)).toEqual(['rare']);
    });

    it('deletes its oldest entries in batches', async () => {
      const log = requestLog(await open());
      await log.append([0, 1, 2, 3].map((n) => logged(`${n}`, { time: NOW - n })));
      expect(await log.deleteOlderThan(NOW - 1, 1)).toBe(1);
      expect(await walk(log, { limit: 10 })).toEqual(['0', '1', '2']);
      expect(await log.deleteOlderThan(NOW - 1, 5)).toBe(1);
      expect(await log.deleteOlderThan(NOW - 1, 5)).toBe(0);
      expect(await walk(log, { limit: 10 })).toEqual(['0', '1']);
    });
  });
}
