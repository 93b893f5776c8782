import { CompiledQuery, createQueryId, type KyselyPlugin, type RootOperationNode } from 'kysely';
import type { Database } from '../../src/store/database.ts';
import { requestLog } from '../../src/store/request-log.ts';
import type { RequestLog } from '../../src/travel/ports.ts';
import { NOW } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { withPlugin } from '../fixtures/with-plugin.ts';
import { describeRequestLog, logged } from './conformance/request-log.ts';

const databases = temporaryDatabases('jetbridge-request-log-');
const open = () => databases.open();

describe('the embedded database', () => describeRequestLog(open));

const bounded = { limit: 10, since: NOW - 1, until: NOW + 1, after: 'a-1' };

/** All calls of the request log. */
const calls: [string, (log: RequestLog) => Promise<unknown>][] = [
  ['the newest', (log) => log.list({ limit: 10 })],
  ['a status', (log) => log.list({ ...bounded, statuses: { from: 500, to: 500 } })],
  ['a path', (log) => log.list({ ...bounded, path: '/api/users/u2' })],
  ['a user', (log) => log.list({ ...bounded, userId: 'nobody' })],
  ['sweeping', (log) => log.deleteOlderThan(NOW + 1, 1)],
];

it.each(calls)('%s: the query scans one index, and fetches rows by their number', async (_title, call) => {
  const database = await open();
  await requestLog(database).append([logged('a'), logged('b')]);
  const plans = await plansOf(database, (spied) => call(requestLog(spied)));
  expect(plans.length).toBeGreaterThan(0);
  const quick =
    /^(SEARCH|SCAN) request_log USING COVERING INDEX request_log_search|^SEARCH request_log USING INTEGER PRIMARY KEY|^SCAN looked_at$|^CO-ROUTINE|^LIST SUBQUERY|^USE TEMP B-TREE FOR ORDER BY$/;
  expect(plans.filter((plan) => !quick.test(plan))).toEqual([]);
});

/** The query plans of a call. */
async function plansOf(database: Database, call: (spied: Database) => Promise<unknown>): Promise<string[]> {
  const queries: RootOperationNode[] = [];
  const spy: KyselyPlugin = {
    transformQuery: ({ node }) => {
      queries.push(node);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  await call(withPlugin(database, spy));
  const plans: string[] = [];
  for (const node of queries) {
    const { sql, parameters } = database.db.getExecutor().compileQuery(node, createQueryId());
    const explained = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]);
    const { rows } = await database.db.executeQuery<{ detail: string }>(explained);
    plans.push(...rows.map(({ detail }) => detail));
  }
  return plans;
}
