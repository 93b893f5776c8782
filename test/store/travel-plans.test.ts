import { apiKeys } from '../../src/store/credentials/credentials.ts';
import { encryption } from '../../src/store/credentials/encryption.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { countAllDeliveries } from '../../src/store/travel/delivery-counts.ts';
import { deliveryQueue } from '../../src/store/travel/delivery-queue.ts';
import { travelStore } from '../../src/store/travel/travel-writes.ts';
import { webhookRecords } from '../../src/store/travel/webhook-deliveries.ts';
import type { PageQuery, TravelStore } from '../../src/travel/ports.ts';
import { plansOf } from '../fixtures/query-plans.ts';
import { NOW } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-travel-');
const open = () => databases.open();

const user = { type: 'user', id: 'u', parentId: '', createdAt: NOW, doc: {} };
const name = [{ name: 'email', value: 'a' }];
const keys = { archived: false, unique: name, index: name, references: [user] };
const page: PageQuery = { type: 'user', parentId: '', order: 'asc', offset: 0, limit: 10 };
const match = { name: 'email', values: ['a'] };

/** The frequent calls, each with the index searches that stop at the end of a page. */
const calls: [string, (store: TravelStore) => Promise<unknown>, RegExp?][] = [
  ['reading', (store) => store.read([user, { type: 'user', id: 'v' }])],
  ['finding one', (store) => store.find({ type: 'user', ...match })],
  ['finding some', (store) => store.find({ type: 'user', name: 'email', values: ['a', 'b'], limit: 2 })],
  ['a page', (store) => store.page(page), /travel_resource_page \(type=\? AND parent_id=\?\)/],
  [
    'a filtered page',
    (store) => store.page({ ...page, where: [{ column: 'kind', values: ['a'] }] }),
    /travel_resource_kind \(type=\? AND kind=\?/,
  ],
  ['a page backwards', (store) => store.page({ ...page, order: 'desc' }), /travel_resource_page/],
  ['the archived', (store) => store.page({ ...page, archived: true }), /travel_resource_archived/],
  ['a sorted page', (store) => store.page({ ...page, sortBy: 'email' }), /\(type=\? AND name=\?\)/],
  [
    'the archived, sorted',
    (store) => store.page({ ...page, archived: true, sortBy: 'email' }),
    /travel_index_archived/,
  ],
  ['a match', (store) => store.page({ ...page, match })],
  ['a match, sorted', (store) => store.page({ ...page, match, sortBy: 'email', archived: false })],
  ['a page from a place', (store) => store.pageFrom(page, { after: { value: NOW, seq: 1 } })],
  ['a page up to a place', (store) => store.pageFrom(page, { before: { value: NOW, seq: 1 } })],
  [
    'a sorted page from a place',
    (store) => store.pageFrom({ ...page, sortBy: 'email' }, { after: { value: 'a', seq: 1 } }),
  ],
  [
    'the first page of a sub-collection',
    (store) => store.pageFrom({ ...page, within: 'invoiceId/i' }, undefined),
    /\(type=\? AND name=\?\)/,
  ],
  ['expiring', (store) => store.deleteOlderThan('user', NOW, 10)],
  [
    'replacing',
    (store) => store.write(['user'], (within) => within.replace(user, { ...keys, archived: true }, keys)),
  ],
  ['removing', (store) => store.write(['user'], (within) => within.remove(user, keys))],
  ['asking for referrers', (store) => store.write(['user'], (within) => within.isReferenced(user))],
];

it.each(calls.map(([title, call, walk]) => ({ title, call, walk })))(
  '$title uses an index',
  async ({ call, walk }) => {
    const database = await open();
    await travelStore(database).write(['user'], (within) => within.insert(user, keys));
    const plans = await plansOf(database, (spied) => call(travelStore(spied)));
    expect(plans.length).toBeGreaterThan(0);
    // A search by type alone reads the whole collection, and a temporary tree sorts it.
    const slow = /^SCAN (?!page\b)|\(type=\?\)|travel_(?!count)\w+ \(type=\? AND (parent_id|name)=\?\)/;
    expect(plans.filter((plan) => slow.test(plan) && !walk?.test(plan))).toEqual([]);
  },
);

it('deliveries are counted from the counters of the webhooks and the first event of each', async () => {
  const plans = await plansOf(await open(), countAllDeliveries);
  expect(plans).toEqual([
    expect.stringMatching(/^SCAN travel_delivery_queue$/),
    expect.stringMatching(/^CORRELATED SCALAR SUBQUERY/),
    expect.stringMatching(
      /^SEARCH travel_delivery USING INDEX travel_delivery_next \(webhook_id=\? AND redelivery=\?\)$/,
    ),
  ]);
});

it('an API key is found by an index', async () => {
  const plans = await plansOf(await open(), (spied) => apiKeys(spied).findActive('h'));
  expect(plans).toEqual([expect.stringMatching(/^SEARCH travel_api_key USING INDEX \w+ \(hash=\?\)$/)]);
});

const deliveries = { type: 'webhookDelivery', parentId: 'w', order: 'asc', offset: 0, limit: 10 } as const;
const lease = { webhookId: 'w', token: 't', ms: 1 };
const outcome = { status: 'succeeded' as const, attempts: [{ at: NOW, latencyMs: 1, status: 200 }] };

/** The frequent calls about deliveries. There is one queue for each webhook, and all may be scanned. */
const deliveryCalls: [string, (database: Database) => Promise<unknown>][] = [
  ['due', (database) => deliveryQueue(database).dueWebhooks({ now: NOW, healthy: 9, failing: 9 })],
  ['take', (database) => deliveryQueue(database).acquireLease(lease, NOW)],
  ['next', (database) => deliveryQueue(database).nextDelivery('w', NOW)],
  [
    'finish',
    async (database) => {
      await deliveryQueue(database).acquireLease(lease, NOW);
      await deliveryQueue(database).saveOutcome(lease, { id: 'd', outcome }, NOW);
    },
  ],
  ['release', (database) => deliveryQueue(database).releaseLeases(lease, NOW)],
  ['following a change', (database) => deliveryQueue(database).applyWebhookChange('w', NOW, 9)],
  ['canceling', (database) => deliveryQueue(database).applyWebhookChange('gone', NOW, 9)],
  ['a page', (database) => travelStore(database).page(deliveries)],
  ['a page by status', (database) => travelStore(database).page({ ...deliveries, status: 'failed' })],
  [
    'a page from a place, by status',
    (database) =>
      travelStore(database).pageFrom({ ...deliveries, status: 'failed' }, { after: { value: NOW, seq: 1 } }),
  ],
  [
    'what is put on its way',
    (database) =>
      travelStore(database).write([], async (within) =>
        within.append({ ...user, type: 'event' }, { kind: 'a', newId: () => 'd' }),
      ),
  ],
  [
    'removing old ones',
    (database) => webhookRecords(database, encryption(new Uint8Array(32))).deleteOldDeliveries(NOW, 9),
  ],
  ['secrets', (database) => webhookRecords(database, encryption(new Uint8Array(32))).activeSecrets('w', NOW)],
];

it.each(deliveryCalls)('%s of deliveries uses an index', async (_, call) => {
  const database = await open();
  const store = travelStore(database);
  const webhook = { ...user, type: 'webhook', id: 'w' };
  const found = { archived: false, unique: [], index: [{ name: 'kind', value: '*' }], references: [] };
  await store.write(['webhook'], (within) => within.insert(webhook, found));
  await store.write([], async (within) =>
    within.append({ ...user, type: 'event', id: 'e' }, { kind: 'a', newId: () => 'd0' }),
  );
  const plans = await plansOf(database, call);
  expect(plans.length).toBeGreaterThan(0);
  // The list is read in order, from its beginning to the end of the page.
  const slow =
    /^SCAN (?!travel_delivery_queue)|^SEARCH travel_delivery USING INDEX (?!travel_delivery_list)\S+ \(webhook_id=\?\)$|\(type=\?\)/;
  expect(plans.filter((plan) => slow.test(plan))).toEqual([]);
});
