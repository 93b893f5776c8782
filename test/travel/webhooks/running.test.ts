import { eventually } from '../../fixtures/eventually.ts';
import { waitUntilIdle } from '../../fixtures/idle.ts';
import { receivedNames, SECOND, webhookFixture } from './fixture.ts';

const fixture = webhookFixture();
const created = { events: ['costCenter.created'] };

/** Ends the waits of the loop until the check passes; each wait advances the clock a little. */
async function soon(check: () => void): Promise<void> {
  await eventually(async () => {
    fixture.fixture.advanceClock(20);
    check();
  });
}

test('the dispatcher delivers on notification, and finishes running deliveries when it is stopped', async () => {
  const receiver = await fixture.openReceiver();
  const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
  const running = fixture.fixture.webhooks.run();
  await fixture.createEvent('one');
  await soon(() => expect(receivedNames(receiver)).toEqual(['one']));
  receiver.behave('hang');
  await fixture.createEvent('two');
  await soon(() => expect(receivedNames(receiver)).toEqual(['one', 'two']));
  const stopping = running.stop();
  fixture.fixture.advanceClock(3 * SECOND);
  await stopping;
  // The result is unknown: the event is sent again, and the failure is not counted.
  const [, two] = await fixture.listDeliveries(id);
  expect(two).toMatchObject({ status: 'pending', attempts: [] });
  const due = await fixture.fixture.queue.dueWebhooks({
    now: fixture.fixture.runtime.now(),
    healthy: 9,
    failing: 9,
  });
  expect(due).toEqual({ healthy: [id], failing: [] });
});

test('deliveries without a notification, e.g. of another process, are found by polling', async () => {
  const receiver = await fixture.openReceiver();
  await fixture.createWebhook({ url: receiver.url, ...created });
  const running = fixture.fixture.webhooks.run();
  await fixture.createEvents(['one']);
  await eventually(async () => {
    fixture.fixture.advanceClock(SECOND);
    expect(receivedNames(receiver)).toEqual(['one']);
  });
  await running.stop();
});

test('a database failure is logged, and the dispatcher waits before it continues', async () => {
  const receiver = await fixture.openReceiver();
  await fixture.createWebhook({ url: receiver.url, ...created });
  await fixture.createEvent('one');
  const { queue } = fixture.fixture;
  const { dueWebhooks: due, nextDelivery: next } = queue;
  let faults = 0;
  const fail = async () => {
    faults += 1;
    throw new Error('disk on fire');
  };
  queue.dueWebhooks = fail;
  const running = fixture.fixture.webhooks.run();
  await soon(() => expect(faults).toBe(1));
  queue.dueWebhooks = due;
  queue.nextDelivery = fail;
  await eventually(async () => {
    fixture.fixture.advanceClock(5 * SECOND);
    expect(faults).toBeGreaterThan(1);
  });
  queue.nextDelivery = next;
  await eventually(async () => {
    fixture.fixture.advanceClock(5 * SECOND);
    expect(receivedNames(receiver)).toEqual(['one']);
  });
  expect(new Set(fixture.fixture.logged)).toEqual(new Set(['Error: disk on fire']));
  await running.stop();
});

test('a stop ends the waits of the loop, however far they have come', async () => {
  const receiver = await fixture.openReceiver();
  const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
  await fixture.createEvent('one');
  const running = fixture.fixture.webhooks.run();
  // The end of the delivery wakes the loop, which then waits to batch further notifications.
  await eventually(
    async () => expect(await fixture.listDeliveries(id)).toMatchObject([{ status: 'succeeded' }]),
    5_000,
  );
  await waitUntilIdle(100);
  await running.stop();
  expect(receivedNames(receiver)).toEqual(['one']);
});

test('a stop does not wait for a database that fails', async () => {
  await fixture.createWebhook({ url: (await fixture.openReceiver()).url, ...created });
  let faults = 0;
  fixture.fixture.queue.dueWebhooks = async () => {
    faults += 1;
    throw new Error('disk on fire');
  };
  const running = fixture.fixture.webhooks.run();
  await eventually(async () => expect(faults).toBe(1));
  await running.stop();
});
