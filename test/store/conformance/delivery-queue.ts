import { randomBytes } from 'node:crypto';
import { encryption } from '../../../src/store/credentials/encryption.ts';
import { shortenLeases } from '../../../src/store/queues/shorten-leases.ts';
import { countAllDeliveries } from '../../../src/store/travel/delivery-counts.ts';
import { deliveryQueue } from '../../../src/store/travel/delivery-queue.ts';
import { travelStore } from '../../../src/store/travel/travel-writes.ts';
import { webhookRecords } from '../../../src/store/travel/webhook-deliveries.ts';
import type { IndexKeys, StoredResource } from '../../../src/travel/ports.ts';
import {
  type Attempt,
  type DeliveryOutcome,
  type DeliveryStatus,
  deliveryStatuses,
} from '../../../src/travel/webhooks/ports.ts';
import { NOW, type OpenDatabase } from '../../fixtures/store.ts';

const HOUR = 3_600_000;
const bare: IndexKeys = { archived: false, unique: [], index: [], references: [] };

function resource(type: string, id: string): StoredResource {
  return { type, id, parentId: '', createdAt: NOW, doc: {} };
}

/** A store with events and webhooks that subscribe to them. */
async function deliveryFixture(open: OpenDatabase) {
  const database = await open();
  const sealed = encryption(randomBytes(32));
  const store = travelStore(database, sealed);
  const queue = deliveryQueue(database);
  let ids = 0;
  /** The kinds of events that each webhook selects. */
  const selected = new Map<string, string[]>();
  const keysFor = (kinds: string[]) => ({ ...bare, index: kinds.map((value) => ({ name: 'kind', value })) });
  const list = { type: 'webhookDelivery', order: 'asc' as const, limit: 100, offset: 0 };
  return {
    database,
    store,
    queue,
    records: webhookRecords(database, sealed),
    webhook: async (id: string, ...kinds: string[]) => {
      await store.write(['webhook'], (within) => within.insert(resource('webhook', id), keysFor(kinds)));
      selected.set(id, kinds);
    },
    select: async (id: string, ...kinds: string[]) => {
      const before = keysFor(selected.get(id) ?? []);
      await store.write(['webhook'], (within) =>
        within.replace(resource('webhook', id), keysFor(kinds), before),
      );
      selected.set(id, kinds);
    },
    remove: (id: string) =>
      store.write(['webhook'], (within) =>
        within.remove(resource('webhook', id), keysFor(selected.get(id) ?? [])),
      ),
    happen: (kind: string, id: string, createdAt = NOW) =>
      store.write([], async (within) =>
        within.append({ ...resource('event', id), createdAt }, { kind, newId: () => `d${++ids}` }),
      ),
    page: async (parentId: string, status?: string) =>
      store.page({ ...list, parentId, ...(status === undefined ? {} : { status }) }),
    /** The counters of deliveries by state, which must equal the number of rows. */
    counts: async (parentId: string) => {
      const counts: Partial<Record<DeliveryStatus, number>> = {};
      for (const status of deliveryStatuses) {
        const { total, resources } = await store.page({ ...list, parentId, status });
        expect([status, total]).toEqual([status, resources.length]);
        if (total > 0) counts[status] = total;
      }
      return counts;
    },
    states: async (parentId: string) =>
      (await store.page({ ...list, parentId })).resources.map(({ doc }) => [doc['eventId'], doc['status']]),
    /** Takes the lease, which must be free. */
    take: async (webhookId: string, token = 'mine', now = NOW) => {
      const lease = { webhookId, token, ms: 1000 };
      expect(await queue.acquireLease(lease, now)).toBe(true);
      return lease;
    },
  };
}

const attempt = (at: number, error?: string): Attempt =>
  error === undefined ? { at, latencyMs: 1, status: 200 } : { at, latencyMs: 1, error };
const arrived = (at = NOW): DeliveryOutcome => ({ status: 'succeeded', attempts: [attempt(at)] });
const later = (at: number, nextAttemptAt: number): DeliveryOutcome => ({
  status: 'pending',
  attempts: [attempt(at, 'x')],
  nextAttemptAt,
});

/** Conformance tests of deliveries, for any database. */
export function describeDeliveryQueue(open: OpenDatabase): void {
  describe('an event', () => {
    it('is delivered to the webhooks that select its kind, or every kind, and to no others', async () => {
      const { webhook, happen, states, page } = await deliveryFixture(open);
      await webhook('some', 'a', 'b');
      await webhook('all', '*');
      await webhook('disabled');
      await happen('a', 'e1');
      await happen('c', 'e2');
      await happen('b', 'e3');
      const both = [
        ['e1', 'pending'],
        ['e3', 'pending'],
      ];
      expect(await states('some')).toEqual(both);
      expect(await states('all')).toEqual([both[0], ['e2', 'pending'], both[1]]);
      expect((await page('disabled')).total).toBe(0);
    });

    it('has no deliveries if its transaction is rolled back', async () => {
      const { webhook, store, page, queue } = await deliveryFixture(open);
      await webhook('w', '*');
      const undone = store.write([], async (within) => {
        within.append(resource('event', 'e'), { kind: 'a', newId: () => 'd' });
        throw new Error('no');
      });
      await expect(undone).rejects.toThrow('no');
      expect((await page('w')).total).toBe(0);
      expect((await queue.dueWebhooks({ now: NOW, healthy: 9, failing: 9 })).healthy).toEqual([]);
    });
  });

  describe('a delivery queue', () => {
    it('is counted with all others, with the time of the oldest event that waits', async () => {
      const { database, webhook, happen, queue, take } = await deliveryFixture(open);
      expect(await countAllDeliveries(database)).toEqual({
        byStatus: { pending: 0, succeeded: 0, failed: 0, canceled: 0 },
        ...{ oldestPendingAt: undefined, failingWebhooks: 0 },
      });
      for (const id of ['some', 'all']) await webhook(id, '*');
      await happen('a', 'e1', NOW - 9_000);
      await happen('a', 'e2', NOW - 5_000);
      const pendingOf = async () => {
        const { byStatus, ...rest } = await countAllDeliveries(database);
        return { pending: byStatus.pending, succeeded: byStatus.succeeded, ...rest };
      };
      const all = { pending: 4, succeeded: 0, oldestPendingAt: NOW - 9_000, failingWebhooks: 0 };
      expect(await pendingOf()).toEqual(all);
      for (const id of ['some', 'all']) {
        const lease = await take(id);
        const first = await queue.nextDelivery(id, NOW);
        await queue.saveOutcome(lease, { id: first?.id ?? '', outcome: arrived() }, NOW);
      }
      expect(await pendingOf()).toEqual({ ...all, pending: 2, succeeded: 2, oldestPendingAt: NOW - 5_000 });
      const next = await queue.nextDelivery('all', NOW);
      const outcome = later(NOW, NOW + HOUR);
      await queue.saveOutcome(
        { webhookId: 'all', token: 'mine', ms: 1000 },
        { id: next?.id ?? '', outcome },
        NOW,
      );
      expect(await pendingOf()).toMatchObject({ pending: 2, failingWebhooks: 1 });
    });

    it('returns its deliveries in order, one at a time, to the holder of the lease', async () => {
      const { webhook, happen, queue, take, states } = await deliveryFixture(open);
      await webhook('w', '*');
      await happen('a', 'e1');
      await happen('a', 'e2');
      expect((await queue.dueWebhooks({ now: NOW, healthy: 9, failing: 9 })).healthy).toEqual(['w']);
      const lease = await take('w');
      expect((await queue.dueWebhooks({ now: NOW, healthy: 9, failing: 9 })).healthy).toEqual([]);
      expect(await queue.acquireLease({ ...lease, token: 'yours' }, NOW)).toBe(false);
      expect(await queue.nextDelivery('w', NOW)).toEqual({
        id: 'd1',
        webhookId: 'w',
        eventId: 'e1',
        attempts: [],
      });
      expect(await queue.saveOutcome(lease, { id: 'd1', outcome: arrived() }, NOW)).toEqual({
        failingSince: undefined,
      });
      expect(await queue.nextDelivery('w', NOW)).toMatchObject({ eventId: 'e2' });
      await queue.releaseLeases(lease, NOW);
      expect((await queue.dueWebhooks({ now: NOW, healthy: 9, failing: 9 })).healthy).toEqual(['w']);
      expect(await states('w')).toEqual([
        ['e1', 'succeeded'],
        ['e2', 'pending'],
      ]);
    });

    it('never skips the first delivery, even before its retry is due, and reports since when attempts fail', async () => {
      const { webhook, happen, queue, take } = await deliveryFixture(open);
      await webhook('w', '*');
      await happen('a', 'e1');
      await happen('a', 'e2');
      const lease = await take('w');
      expect(await queue.saveOutcome(lease, { id: 'd1', outcome: later(NOW, NOW + 50) }, NOW)).toEqual({
        failingSince: NOW,
      });
      expect(await queue.nextDelivery('w', NOW + 49)).toBeUndefined();
      await queue.releaseLeases(lease, NOW);
      expect((await queue.dueWebhooks({ now: NOW + 49, healthy: 9, failing: 9 })).failing).toEqual([]);
      expect((await queue.dueWebhooks({ now: NOW + 50, healthy: 9, failing: 9 })).failing).toEqual(['w']);
      expect((await queue.dueWebhooks({ now: NOW + 50, healthy: 9, failing: 9 })).healthy).toEqual([]);
      const again = await take('w', 'again', NOW + 50);
      expect((await queue.nextDelivery('w', NOW + 50))?.attempts).toEqual([attempt(NOW, 'x')]);
      expect(await queue.saveOutcome(again, { id: 'd1', outcome: later(NOW + 50, NOW + 90) }, NOW)).toEqual({
        failingSince: NOW,
      });
      expect(await queue.saveOutcome(again, { id: 'd1', outcome: arrived() }, NOW)).toEqual({
        failingSince: undefined,
      });
      expect(await queue.nextDelivery('w', NOW + 50)).toMatchObject({ eventId: 'e2' });
    });

    it('can be leased again when the lease has expired; outcomes of the former holder are refused', async () => {
      const { webhook, happen, queue, take, states } = await deliveryFixture(open);
      await webhook('w', '*');
      await happen('a', 'e1');
      const dead = await take('w', 'dead');
      expect((await queue.dueWebhooks({ now: NOW + 999, healthy: 9, failing: 9 })).healthy).toEqual([]);
      expect((await queue.dueWebhooks({ now: NOW + 1000, healthy: 9, failing: 9 })).healthy).toEqual(['w']);
      await take('w', 'heir', NOW + 1000);
      expect(await queue.saveOutcome(dead, { id: 'd1', outcome: arrived() }, NOW)).toBe('lost');
      await queue.releaseLeases(dead, NOW + 1000);
      expect((await queue.dueWebhooks({ now: NOW + 1001, healthy: 9, failing: 9 })).healthy).toEqual([]);
      expect(await states('w')).toEqual([['e1', 'pending']]);
    });

    it('keeps its holder when the lease is extended, which only the holder can do', async () => {
      const { webhook, happen, queue, take } = await deliveryFixture(open);
      await webhook('w', '*');
      await happen('a', 'e1');
      const lease = await take('w');
      expect(await queue.extendLease(lease, NOW + 900)).toBe(true);
      const yours = { ...lease, token: 'yours' };
      expect(await queue.acquireLease(yours, NOW + 1899)).toBe(false);
      expect(await queue.acquireLease(yours, NOW + 1900)).toBe(true);
      expect(await queue.extendLease(lease, NOW + 1900)).toBe(false);
    });

    it('of a dead holder is free after its longest lease, once the clock of the database was set back', async () => {
      const { database, webhook, happen, queue, take } = await deliveryFixture(open);
      const behind = NOW - 600_000;
      await webhook('w', '*');
      await happen('a', 'e1', behind);
      await take('w', 'dead');
      await shortenLeases(database, behind, { leaseMs: {}, queueLeaseMs: 1_000 });
      const heir = { webhookId: 'w', token: 'heir', ms: 1_000 };
      expect(await queue.acquireLease(heir, behind + 999)).toBe(false);
      expect(await queue.acquireLease(heir, behind + 1_000)).toBe(true);
    });

    it('is free again when all leases are released, as after a crash', async () => {
      const { webhook, happen, queue, take } = await deliveryFixture(open);
      await webhook('w', '*');
      await happen('a', 'e1');
      await take('w');
      await queue.releaseLeases('all', NOW);
      expect((await queue.dueWebhooks({ now: NOW, healthy: 9, failing: 9 })).healthy).toEqual(['w']);
    });

    it('is due before queues that were served more recently', async () => {
      const { webhook, happen, queue, take } = await deliveryFixture(open);
      for (const id of ['v', 'w', 'x']) await webhook(id, '*');
      await happen('a', 'e1');
      await queue.releaseLeases(await take('v', 'mine', NOW + 5), NOW + 5);
      await queue.releaseLeases(await take('w', 'mine', NOW + 2), NOW + 2);
      expect((await queue.dueWebhooks({ now: NOW + 9, healthy: 9, failing: 9 })).healthy).toEqual([
        'x',
        'w',
        'v',
      ]);
      expect((await queue.dueWebhooks({ now: NOW + 9, healthy: 1, failing: 1 })).healthy).toEqual(['x']);
    });

    it('returns due redeliveries before pending events', async () => {
      const { webhook, happen, queue, take, records } = await deliveryFixture(open);
      await webhook('w', '*');
      await happen('a', 'e1');
      const lease = await take('w');
      await queue.saveOutcome(lease, { id: 'd1', outcome: later(NOW, NOW + HOUR) }, NOW);
      await queue.releaseLeases(lease, NOW);
      expect((await queue.dueWebhooks({ now: NOW, healthy: 9, failing: 9 })).failing).toEqual([]);
      await records.redeliver({ id: 'r', webhookId: 'w', eventId: 'e0', kind: 'a', createdAt: NOW });
      expect((await queue.dueWebhooks({ now: NOW, healthy: 9, failing: 9 })).failing).toEqual(['w']);
      expect(await queue.nextDelivery('w', NOW)).toMatchObject({ id: 'r', eventId: 'e0' });
      const again = await take('w', 'again');
      await queue.saveOutcome(again, { id: 'r', outcome: later(NOW, NOW + 2 * HOUR) }, NOW);
      await queue.releaseLeases(again, NOW);
      expect((await queue.dueWebhooks({ now: NOW + HOUR - 1, healthy: 9, failing: 9 })).failing).toEqual([]);
      expect(await queue.nextDelivery('w', NOW + HOUR)).toMatchObject({ id: 'd1' });
      expect(await queue.nextDelivery('w', NOW + 2 * HOUR)).toMatchObject({ id: 'r' });
    });

    it('returns new deliveries at once, even if the clock was ahead when they were created', async () => {
      const { webhook, happen, queue, take, records } = await deliveryFixture(open);
      await webhook('v', '*');
      await happen('a', 'e1', NOW + HOUR);
      await webhook('w');
      const asked = { id: 'r', webhookId: 'w', eventId: 'e0', kind: 'a', createdAt: NOW + HOUR };
      await records.redeliver(asked);
      expect((await queue.dueWebhooks({ now: NOW, healthy: 9, failing: 9 })).healthy.toSorted()).toEqual([
        'v',
        'w',
      ]);
      for (const [id, eventId] of [
        ['v', 'e1'],
        ['w', 'e0'],
      ] as const) {
        await take(id);
        expect(await queue.nextDelivery(id, NOW)).toMatchObject({ eventId });
      }
    });

    it('is due at once when its webhook is changed and enabled, with its first event and its redeliveries', async () => {
      const { webhook, happen, queue, take, records } = await deliveryFixture(open);
      await webhook('w', '*');
      await happen('a', 'e1');
      await happen('a', 'e2');
      await records.redeliver({ id: 'r', webhookId: 'w', eventId: 'e0', kind: 'a', createdAt: NOW });
      const lease = await take('w');
      await queue.saveOutcome(lease, { id: 'd1', outcome: later(NOW, NOW + HOUR) }, NOW);
      await queue.saveOutcome(lease, { id: 'r', outcome: later(NOW, NOW + HOUR) }, NOW);
      expect(await queue.nextDelivery('w', NOW + 1)).toBeUndefined();
      expect(await queue.applyWebhookChange('w', NOW + 1, 9)).toBe(0);
      expect(await queue.nextDelivery('w', NOW + 1)).toMatchObject({ id: 'r' });
      await queue.saveOutcome(lease, { id: 'r', outcome: arrived() }, NOW);
      expect(await queue.nextDelivery('w', NOW + 1)).toMatchObject({ id: 'd1' });
    });

    it('is canceled in batches, only while its webhook is disabled or deleted', async () => {
      const { webhook, select, remove, happen, queue, page } = await deliveryFixture(open);
      await webhook('w', '*');
      for (const id of ['e1', 'e2', 'e3']) await happen('a', id);
      expect(await queue.applyWebhookChange('w', NOW, 2)).toBe(0);
      await select('w');
      expect([
        await queue.applyWebhookChange('w', NOW, 2),
        await queue.applyWebhookChange('w', NOW, 2),
        await queue.applyWebhookChange('w', NOW, 2),
      ]).toEqual([2, 1, 0]);
      expect([(await page('w', 'canceled')).total, (await page('w', 'pending')).total]).toEqual([3, 0]);
      expect((await queue.dueWebhooks({ now: NOW, healthy: 9, failing: 9 })).healthy).toEqual([]);
      await select('w', '*');
      await happen('a', 'e4');
      await remove('w');
      expect(await queue.applyWebhookChange('w', NOW, 9)).toBe(1);
    });
  });

  describe('a delivery that was canceled during its attempt', () => {
    async function underWay(open: OpenDatabase) {
      const { webhook, select, happen, queue, take, ...rest } = await deliveryFixture(open);
      await webhook('w', '*');
      for (const id of ['e1', 'e2']) await happen('a', id);
      const lease = await take('w');
      await select('w');
      expect(await queue.applyWebhookChange('w', NOW, 9)).toBe(2);
      return { select, happen, queue, lease, take, ...rest };
    }

    it('has succeeded if the attempt succeeded', async () => {
      const { queue, lease, states, counts } = await underWay(open);
      expect(await queue.saveOutcome(lease, { id: 'd1', outcome: arrived() }, NOW)).toEqual({
        failingSince: undefined,
      });
      expect(await states('w')).toEqual([
        ['e1', 'succeeded'],
        ['e2', 'canceled'],
      ]);
      expect(await counts('w')).toEqual({ succeeded: 1, canceled: 1 });
    });

    it.each([later(NOW, NOW + 50), { status: 'failed' as const, attempts: [attempt(NOW, 'x')] }])(
      'stays canceled if the attempt failed ($status), which does not count as failing',
      async (outcome) => {
        const { queue, lease, store, counts } = await underWay(open);
        expect(await queue.saveOutcome(lease, { id: 'd1', outcome }, NOW)).toEqual({
          failingSince: undefined,
        });
        const [found] = await store.read([{ type: 'webhookDelivery', id: 'd1' }]);
        expect(found?.doc).toEqual({
          ...{ attempts: outcome.attempts, eventId: 'e1', kind: 'a', status: 'canceled' },
        });
        expect(await counts('w')).toEqual({ canceled: 2 });
      },
    );

    it.each([arrived(), later(NOW, NOW + 50)])(
      'does not delay later deliveries when the webhook is enabled again ($status)',
      async (outcome) => {
        const { select, happen, queue, lease, counts } = await underWay(open);
        await select('w', '*');
        await happen('a', 'e3');
        await queue.saveOutcome(lease, { id: 'd1', outcome }, NOW);
        expect(await queue.nextDelivery('w', NOW)).toMatchObject({ eventId: 'e3' });
        await queue.releaseLeases(lease, NOW);
        expect((await queue.dueWebhooks({ now: NOW, healthy: 9, failing: 9 })).healthy).toEqual(['w']);
        expect(await counts('w')).toMatchObject({ pending: 1 });
      },
    );

    it('is not counted again after its deletion', async () => {
      const { queue, lease, records, counts } = await underWay(open);
      expect(await records.deleteOldDeliveries(NOW + 1, 9)).toBe(2);
      expect(await queue.saveOutcome(lease, { id: 'd1', outcome: arrived() }, NOW)).toEqual({
        failingSince: undefined,
      });
      expect(await counts('w')).toEqual({});
    });
  });

  describe('expired deliveries', () => {
    it('are deleted oldest first, in batches, and subtracted from the counters', async () => {
      const { webhook, happen, records, page, states } = await deliveryFixture(open);
      await webhook('v', '*');
      await webhook('w', '*');
      for (const [at, id] of ['e1', 'e2', 'e3', 'e4'].entries()) await happen('a', id, NOW + at);
      expect(await records.deleteOldDeliveries(NOW + 2, 3)).toBe(3);
      expect(await records.deleteOldDeliveries(NOW + 2, 3)).toBe(1);
      expect(await records.deleteOldDeliveries(NOW + 2, 3)).toBe(0);
      expect(await states('v')).toEqual(await states('w'));
      expect([(await page('v')).total, (await page('w', 'pending')).total]).toEqual([2, 2]);
    });

    it('of deleted webhooks leave no records', async () => {
      const { webhook, remove, happen, records, page, queue } = await deliveryFixture(open);
      await webhook('w', '*');
      for (const id of ['e1', 'e2', 'e3']) await happen('a', id);
      await remove('w');
      expect(await records.deleteOldDeliveries(0, 2)).toBe(2);
      expect(await records.deleteOldDeliveries(0, 2)).toBe(1);
      expect(await records.deleteOldDeliveries(0, 2)).toBe(0);
      expect((await page('w')).total).toBe(0);
      expect(await queue.acquireLease({ webhookId: 'w', token: 't', ms: 0 }, NOW)).toBe(false);
    });
  });
}
