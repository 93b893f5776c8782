import { eventually } from '../../fixtures/eventually.ts';
import { deskOf, names, SECOND } from './desk.ts';

const desk = deskOf();
const created = { events: ['costCenter.created'] };

/** Ends the waits of the loop until the check passes; each wait advances the clock a little. */
async function soon(check: () => void): Promise<void> {
  await eventually(async () => {
    desk.fixture.pass(20);
    check();
  }, 5_000);
}

test('the dispatcher delivers by itself what is told to it, and ends what it does when it is stopped', async () => {
  const receiver = await desk.receiver();
  const { id } = await desk.webhook({ url: receiver.url, ...created });
  const running = desk.fixture.webhooks.run();
  await desk.happen('one');
  await soon(() => expect(names(receiver)).toEqual(['one']));
  receiver.feel('hang');
  await desk.happen('two');
  await soon(() => expect(names(receiver)).toEqual(['one', 'two']));
  const stopping = running.stop();
  desk.fixture.pass(3 * SECOND);
  await stopping;
  // The result is unknown: the event is sent again, and the failure is not counted.
  const [, two] = await desk.deliveries(id);
  expect(two).toMatchObject({ status: 'pending', attempts: [] });
  const due = await desk.fixture.queue.dueWebhooks({
    now: desk.fixture.runtime.now(),
    failing: false,
    limit: 9,
  });
  expect(due).toEqual([id]);
});

test('what is told by nobody is found all the same, as somebody else may have written it', async () => {
  const receiver = await desk.receiver();
  await desk.webhook({ url: receiver.url, ...created });
  const running = desk.fixture.webhooks.run();
  await desk.happenAtOnce(['one']);
  await eventually(async () => {
    desk.fixture.pass(SECOND);
    expect(names(receiver)).toEqual(['one']);
  }, 5_000);
  await running.stop();
});

test('a database that fails is logged and waited out', async () => {
  const receiver = await desk.receiver();
  await desk.webhook({ url: receiver.url, ...created });
  await desk.happen('one');
  const { queue } = desk.fixture;
  const { dueWebhooks: due, nextDelivery: next } = queue;
  let faults = 0;
  const fail = async () => {
    faults += 1;
    throw new Error('disk on fire');
  };
  queue.dueWebhooks = fail;
  const running = desk.fixture.webhooks.run();
  await soon(() => expect(faults).toBe(1));
  queue.dueWebhooks = due;
  queue.nextDelivery = fail;
  await eventually(async () => {
    desk.fixture.pass(5 * SECOND);
    expect(faults).toBeGreaterThan(1);
  }, 5_000);
  queue.nextDelivery = next;
  await eventually(async () => {
    desk.fixture.pass(5 * SECOND);
    expect(names(receiver)).toEqual(['one']);
  }, 5_000);
  expect(new Set(desk.fixture.logged)).toEqual(new Set(['Error: disk on fire']));
  await running.stop();
});

test('a stop ends the waits of the loop, however far they have come', async () => {
  const receiver = await desk.receiver();
  const { id } = await desk.webhook({ url: receiver.url, ...created });
  await desk.happen('one');
  const running = desk.fixture.webhooks.run();
  // The end of the delivery wakes the loop, which then waits to batch further notifications.
  await eventually(
    async () => expect(await desk.deliveries(id)).toMatchObject([{ status: 'succeeded' }]),
    5_000,
  );
  for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
  await running.stop();
  expect(names(receiver)).toEqual(['one']);
});

test('a stop does not wait for a database that fails', async () => {
  await desk.webhook({ url: (await desk.receiver()).url, ...created });
  let faults = 0;
  desk.fixture.queue.dueWebhooks = async () => {
    faults += 1;
    throw new Error('disk on fire');
  };
  const running = desk.fixture.webhooks.run();
  await eventually(async () => expect(faults).toBe(1), 5_000);
  await running.stop();
});
