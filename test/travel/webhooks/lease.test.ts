import type { DeliveryQueue } from '../../../src/travel/webhooks/ports.ts';
import { createWebhooks } from '../../../src/travel/webhooks/webhooks.ts';
import { receivedNames, SECOND, webhookFixture } from './fixture.ts';

const fixture = webhookFixture();

/** A wait without an end of its own. */
function untilAborted(_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));
}

/** A webhook with one event to deliver, and a process whose queue is the given one. */
async function deliveringFixture(
  queueOf: (queue: DeliveryQueue, webhookId: string) => Partial<DeliveryQueue>,
) {
  const { runtime, queue, records } = fixture.fixture;
  const receiver = await fixture.openReceiver();
  const { id } = await fixture.createWebhook({ url: receiver.url, events: ['costCenter.created'] });
  await fixture.createEvent('one');
  const webhooks = createWebhooks({
    travel: { ...runtime, onChange: () => {} },
    queue: { ...queue, ...queueOf(queue, id) },
    records,
    clock: { now: runtime.now, wallClock: runtime.now, wait: untilAborted },
    log: { error: () => {} },
    resolve: async () => [],
    allowPrivate: true,
    random: () => 0.5,
  });
  return { receiver, webhooks, id };
}

test.each([
  [4, 0],
  [6, 1],
])('a lease that began %d s ago is extended %d times before an attempt', async (seconds, times) => {
  const extended: number[] = [];
  const { receiver, webhooks } = await deliveringFixture((queue) => ({
    nextDelivery: async (...query) => {
      const next = await queue.nextDelivery(...query);
      if (next) fixture.fixture.advanceClock(seconds * SECOND);
      return next;
    },
    extendLease: async (lease, now) => {
      extended.push(lease.ms);
      return queue.extendLease(lease, now);
    },
  }));
  await webhooks.deliverAllDue();
  expect(receivedNames(receiver)).toEqual(['one']);
  expect(extended).toEqual(Array.from({ length: times }, () => 20 * SECOND));
});

test('a process that has lost its lease makes no attempt, and the new holder delivers once', async () => {
  let isPaused = false;
  const { receiver, webhooks, id } = await deliveringFixture((queue, webhookId) => ({
    nextDelivery: async (...query) => {
      const next = await queue.nextDelivery(...query);
      if (isPaused) return next;
      isPaused = true;
      fixture.fixture.advanceClock(20 * SECOND);
      const lease = { webhookId, token: 'heir', ms: 20 * SECOND };
      expect(await queue.acquireLease(lease, fixture.fixture.runtime.now())).toBe(true);
      return next;
    },
  }));
  await webhooks.deliverAllDue();
  expect(receiver.received).toEqual([]);
  const { queue, runtime } = fixture.fixture;
  await queue.releaseLeases({ webhookId: id, token: 'heir' }, runtime.now());
  await webhooks.deliverAllDue();
  expect(receivedNames(receiver)).toEqual(['one']);
});
