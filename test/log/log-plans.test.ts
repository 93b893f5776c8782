import { exchangeStore } from '../../src/log/exchange-store.ts';
import { exchangeReader } from '../../src/log/search.ts';
import type { StoredExchange } from '../../src/model/exchange.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { plansOf } from '../fixtures/query-plans.ts';
import { NOW } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-log-plans-');

const exchange: StoredExchange = {
  ...{ direction: 'scim', at: NOW, ms: 1, connection: 'okta', person: 'ada', requestId: 'r', method: 'GET' },
  ...{ path: '/scim/v2/Users', status: 200, error: undefined, requestHeaders: {}, responseHeaders: {} },
};
const reader = (database: Database) => exchangeReader(database);
const range = { since: NOW - 1, until: NOW + 1, before: '9', limit: 10 };

/** The calls of the log of exchanges, each with the reads of all rows that it may make. */
const calls: [string, (database: Database) => Promise<unknown>][] = [
  ['the newest', (database) => reader(database).list({ limit: 10 })],
  ['a time and a status', (database) => reader(database).list({ ...range, status: { from: 500, to: 599 } })],
  ['a person', (database) => reader(database).list({ ...range, person: { id: 'ada', names: ['ada'] } })],
  ['a request', (database) => reader(database).list({ ...range, requestId: 'r' })],
  ['one exchange', (database) => reader(database).get('1')],
  ['a recording', (database) => reader(database).read('okta', { since: NOW - 1 })],
  ['deleting old ones', (database) => exchangeStore(database).deleteOld({ before: NOW, maxEntries: 9 }, 9)],
];

test.each(calls)('%s: the query reads no more rows than it may return or look at', async (_title, call) => {
  const database = await databases.open();
  await exchangeStore(database).append([exchange, exchange]);
  const plans = await plansOf(database, call);
  expect(plans.length).toBeGreaterThan(0);
  // A list walks the positions from one end, and a search by time or person the index.
  const slow = /^SCAN exchange(?! USING INTEGER PRIMARY KEY)(?!$)/;
  expect(plans.filter((plan) => slow.test(plan))).toEqual([]);
});
