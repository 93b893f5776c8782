import { readFileSync } from 'node:fs';
import { certificateFiles } from '../../fixtures/certificate.ts';
import { NOON } from '../../fixtures/travel.ts';
import { DAY, HOUR, MINUTE, receivedNames, SECOND, webhookFixture } from './fixture.ts';
import { openReceiver, type ReceiverBehaviour } from './receiver.ts';

const fixture = webhookFixture();
const created = { events: ['costCenter.created'] };

/** Creates a receiver with this behaviour, its webhook, and an event that was attempted once. */
async function tried(mood: ReceiverBehaviour) {
  const receiver = await fixture.openReceiver();
  receiver.behave(mood);
  const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
  await fixture.createEvent('one');
  await fixture.deliverAll();
  return { id, receiver };
}

async function only(id: string) {
  const [delivery, ...more] = await fixture.listDeliveries(id);
  if (!delivery) throw new Error('there is no delivery');
  expect(more).toEqual([]);
  return delivery;
}

describe('only 2xx is a success', () => {
  test.each([200, 201, 202, 204, 299])('%d', async (status) => {
    const { id } = await tried(status);
    expect(await only(id)).toMatchObject({ status: 'succeeded', attempts: [{ status }] });
    expect((await only(id)).attempts[0]).not.toHaveProperty('error');
    expect(await only(id)).not.toHaveProperty('nextAttemptAt');
  });

  test.each([
    [301, 'redirects are not followed'],
    [302, 'redirects are not followed'],
    [307, 'redirects are not followed'],
    [308, 'redirects are not followed'],
    [304, 'redirects are not followed'],
    [400, 'the endpoint answered 400'],
    [401, 'the endpoint answered 401'],
    [404, 'the endpoint answered 404'],
    [409, 'the endpoint answered 409'],
    [429, 'the endpoint answered 429'],
    [500, 'the endpoint answered 500'],
    [503, 'the endpoint answered 503'],
  ])('%d', async (status, error) => {
    const target = await fixture.openReceiver();
    const { id, receiver } = await tried({ status, headers: { location: target.url } });
    expect(await only(id)).toMatchObject({ status: 'pending', attempts: [{ status, error }] });
    expect([receiver.received.length, target.received.length]).toEqual([1, 0]);
  });

  test.each([
    ['close', 'the connection was closed without an answer'],
    ['noise', 'the answer is no HTTP'],
  ] as const)('a receiver that makes %s', async (mood, error) => {
    const { id } = await tried(mood);
    const { status, attempts } = await only(id);
    expect([status, attempts]).toEqual(['pending', [{ at: expect.any(String), latencyMs: 0, error }]]);
  });

  test('a refused connection is a failure', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url.replace(/:\d+/, ':1'), ...created });
    await fixture.createEvent('one');
    await fixture.deliverAll();
    expect((await only(id)).attempts).toMatchObject([{ error: 'the connection was refused' }]);
  });

  test('a receiver without TLS under an https URL is a failure', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url.replace('http:', 'https:'), ...created });
    await fixture.createEvent('one');
    await fixture.deliverAll();
    const [attempt] = (await only(id)).attempts;
    expect(attempt?.error).toMatch(/^the certificate or the encryption is not accepted \(\w+\)$/);
  });

  test('an untrusted certificate is a failure', async () => {
    const files = await certificateFiles();
    const [cert, key] = [readFileSync(files.cert, 'utf8'), readFileSync(files.key, 'utf8')];
    const receiver = await openReceiver({ cert, key });
    const { id } = await fixture.createWebhook({
      url: receiver.url.replace('localhost', '127.0.0.1'),
      ...created,
    });
    await fixture.createEvent('one');
    await fixture.deliverAll();
    const [attempt] = (await only(id)).attempts;
    expect(attempt?.error).toBe(
      'the certificate or the encryption is not accepted (DEPTH_ZERO_SELF_SIGNED_CERT)',
    );
    expect(receiver.received).toEqual([]);
    await receiver.close();
    files.remove();
  });

  test('of an endless response only a little is read, and its status counts', async () => {
    const { id } = await tried('endless');
    expect(await only(id)).toMatchObject({ status: 'succeeded', attempts: [{ status: 200 }] });
  });

  test('no response within ten seconds is a failure', async () => {
    const receiver = await fixture.openReceiver();
    receiver.behave('hang');
    const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
    await fixture.createEvent('one');
    const settled = fixture.deliverAll();
    await receiver.waitFor(1);
    fixture.fixture.advanceClock(10 * SECOND - 1);
    expect(await fixture.fixture.webhooks.dispatchDue()).toBe(1);
    fixture.fixture.advanceClock(1);
    await settled;
    expect((await only(id)).attempts).toMatchObject([
      { latencyMs: 10_000, error: 'no complete answer within 10 seconds' },
    ]);
  });
});

describe('a failed delivery is retried', () => {
  /** A random number of 0.5 means no jitter. */
  const waits = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR];

  test('after exactly 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, and then every 2 h', async () => {
    const { id, receiver } = await tried(500);
    let attempts = 1;
    for (const wait of [...waits, 2 * HOUR, 2 * HOUR]) {
      const { nextAttemptAt } = await only(id);
      const due = fixture.fixture.runtime.now() + wait;
      expect(nextAttemptAt).toBe(`${new Date(due).toISOString().slice(0, 19)}Z`);
      fixture.fixture.advanceClock(wait - 1);
      await fixture.deliverAll();
      expect(receiver.received).toHaveLength(attempts);
      fixture.fixture.advanceClock(1);
      await fixture.deliverAll();
      attempts += 1;
      expect(receiver.received).toHaveLength(attempts);
    }
    receiver.behave(204);
    fixture.fixture.advanceClock(2 * HOUR);
    await fixture.deliverAll();
    expect(await only(id)).toMatchObject({ status: 'succeeded' });
    expect((await only(id)).attempts).toHaveLength(attempts + 1);
  });

  test('for 24 hours from the first attempt; then it is failed, and the next in order follows', async () => {
    const { id, receiver } = await tried(500);
    await fixture.createEvent('two');
    const begun = fixture.fixture.runtime.now();
    while (fixture.fixture.runtime.now() <= begun + 24 * HOUR) {
      const [first] = await fixture.listDeliveries(id);
      if (first?.nextAttemptAt === undefined) break;
      // Times are given in whole seconds.
      fixture.fixture.advanceClock(Date.parse(first.nextAttemptAt) + SECOND - fixture.fixture.runtime.now());
      await fixture.deliverAll();
    }
    const [one, two] = await fixture.listDeliveries(id);
    expect(one).toMatchObject({ status: 'failed' });
    expect(one).not.toHaveProperty('nextAttemptAt');
    expect(one?.attempts.length).toBeGreaterThan(15);
    const last = Date.parse(one?.attempts.at(-1)?.at ?? '') - begun;
    expect(last).toBeGreaterThan(21 * HOUR);
    expect(last).toBeLessThanOrEqual(24 * HOUR);
    expect(two?.attempts).toHaveLength(1);
    expect(receivedNames(receiver).at(-1)).toBe('two');
  });

  test('at once when the webhook is changed', async () => {
    const { id, receiver } = await tried(500);
    await fixture.createEvent('two');
    const mended = await fixture.openReceiver();
    await fixture.fixture.send('patch', `/webhooks/${id}`, { data: { url: mended.url } });
    await fixture.deliverAll();
    expect([receivedNames(receiver), receivedNames(mended)]).toEqual([['one'], ['one', 'two']]);
  });

  test.each([
    ['as many seconds', '3600', HOUR],
    ['a date', new Date(Date.UTC(2026, 10, 20, 12, 30)).toUTCString(), 30 * MINUTE - 789],
    ['more than two hours, which is too much', '999999', 2 * HOUR],
    ['less than it is waited anyway', '1', 5 * SECOND],
    ['the past', new Date(0).toUTCString(), 5 * SECOND],
    ['nonsense', 'soon', 5 * SECOND],
  ])('Retry-After is respected: %s', async (_, retryAfter, wait) => {
    const { receiver } = await tried({ status: 503, headers: { 'retry-after': retryAfter } });
    receiver.behave(204);
    fixture.fixture.advanceClock(wait - 1);
    await fixture.deliverAll();
    expect(receiver.received).toHaveLength(1);
    fixture.fixture.advanceClock(1);
    await fixture.deliverAll();
    expect(receiver.received).toHaveLength(2);
  });
});

describe('a webhook is disabled', () => {
  const disabledEvents = async () => {
    const { data } = (await fixture.fixture.send('get', '/events?limit=100')).body;
    return data.filter(({ kind }: { kind: string }) => kind === 'webhook.updated');
  };
  const isDisabled = async (id: string) =>
    (await fixture.fixture.send('get', `/webhooks/${id}`)).body.data.disabled;

  test('after five days without a success, with an event; waiting deliveries are canceled', async () => {
    const { id, receiver } = await tried(500);
    // One delivery is attempted for a day, so with one per day an attempt always fails.
    await fixture.createEvents(['two', 'three', 'four', 'five', 'six', 'seven']);
    const watcher = await fixture.openReceiver();
    await fixture.createWebhook({ url: watcher.url, events: ['webhook.updated'] });
    // Retries are at most two hours apart.
    for (let passed = 0; passed < 5 * DAY - 2 * HOUR; passed += 2 * HOUR) {
      fixture.fixture.advanceClock(2 * HOUR);
      await fixture.deliverAll();
    }
    expect(await isDisabled(id)).toBe(false);
    fixture.fixture.advanceClock(2 * HOUR);
    await fixture.deliverAll();
    fixture.fixture.advanceClock(2 * HOUR);
    await fixture.deliverAll();
    expect(await isDisabled(id)).toBe(true);
    const [event] = await disabledEvents();
    expect(event).toMatchObject({ data: { id, disabled: true }, previousAttributes: { disabled: false } });
    expect(watcher.received.map((one) => one.event)).toEqual([event]);
    const statuses = (await fixture.listDeliveries(id)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(['failed', 'canceled']));
    const before = receiver.received.length;
    await fixture.createEvent('eight');
    fixture.fixture.advanceClock(DAY);
    await fixture.deliverAll();
    expect(receiver.received).toHaveLength(before);
    expect(fixture.fixture.changes.at(-2)).toBe(`webhook ${id}`);
  });

  test('not after five days with a success', async () => {
    const { id, receiver } = await tried(500);
    for (let day = 0; day < 8; day++) {
      for (let hour = 0; hour < 24; hour += 2) {
        fixture.fixture.advanceClock(2 * HOUR);
        await fixture.deliverAll();
      }
      receiver.behave(day % 2 === 0 ? 204 : 500);
      await fixture.createEvent(`day ${day}`);
    }
    expect(await isDisabled(id)).toBe(false);
  });

  test('at once by 410 Gone; an admin can enable it again, and later events are delivered', async () => {
    const { id, receiver } = await tried(500);
    await fixture.createEvent('two');
    receiver.behave(410);
    fixture.fixture.advanceClock(5 * SECOND);
    await fixture.deliverAll();
    expect(await isDisabled(id)).toBe(true);
    expect(await disabledEvents()).toHaveLength(1);
    expect((await fixture.listDeliveries(id)).map(({ status }) => status)).toEqual(['failed', 'canceled']);
    await fixture.createEvent('three');
    receiver.behave(204);
    await fixture.fixture.send('patch', `/webhooks/${id}`, { data: { disabled: false } });
    await fixture.createEvent('four');
    fixture.fixture.advanceClock(DAY);
    await fixture.deliverAll();
    expect(receivedNames(receiver)).toEqual(['one', 'one', 'four']);
  });

  test('not by a 410 from a URL that has been changed meanwhile', async () => {
    const [old, other] = [await fixture.openReceiver(), await fixture.openReceiver()];
    const { id } = await fixture.createWebhook({ url: old.url, ...created });
    old.behave(async () => {
      await fixture.fixture.send('patch', `/webhooks/${id}`, { data: { url: other.url } });
      return 410;
    });
    await fixture.createEvents(['one', 'two']);
    await fixture.deliverAll();
    expect(await isDisabled(id)).toBe(false);
    expect([receivedNames(old), receivedNames(other)]).toEqual([['one'], ['two']]);
  });

  test('by an admin: waiting deliveries are canceled before their next attempt, and the webhook does not count as failing', async () => {
    const { id, receiver } = await tried(500);
    await fixture.createEvent('two');
    await fixture.fixture.send('patch', `/webhooks/${id}`, { data: { disabled: true } });
    await fixture.deliverAll();
    expect((await fixture.listDeliveries(id)).map(({ status }) => status)).toEqual(['canceled', 'canceled']);
    await fixture.fixture.send('patch', `/webhooks/${id}`, { data: { disabled: false } });
    fixture.fixture.advanceClock(6 * DAY);
    await fixture.createEvent('three');
    await fixture.deliverAll();
    expect(await isDisabled(id)).toBe(false);
    expect(receivedNames(receiver)).toEqual(['one', 'three']);
  });

  test.each([204, 500])(
    'during an attempt, which has ended (%d) before it is enabled again',
    async (status) => {
      const receiver = await fixture.openReceiver();
      const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
      const set = (disabled: boolean) =>
        fixture.fixture.send('patch', `/webhooks/${id}`, { data: { disabled } });
      receiver.behave(async () => {
        await set(true);
        await fixture.fixture.webhooks.dispatchDue();
        return status;
      });
      await fixture.createEvents(['one', 'two']);
      await fixture.deliverAll();
      const one = status === 204 ? 'succeeded' : 'canceled';
      expect((await fixture.listDeliveries(id)).map((each) => [each.status, each.attempts.length])).toEqual([
        [one, 1],
        ['canceled', 0],
      ]);
      receiver.behave(204);
      await set(false);
      await fixture.createEvent('three');
      await fixture.deliverAll();
      expect(receivedNames(receiver)).toEqual(['one', 'three']);
      expect((await fixture.listDeliveries(id)).map((each) => each.status)).toEqual([
        one,
        'canceled',
        'succeeded',
      ]);
      const { meta } = (await fixture.fixture.send('get', `/webhooks/${id}/deliveries?status=pending`)).body;
      expect(meta.total).toBe(0);
    },
  );

  test('and when it is deleted, nothing is sent to it any more', async () => {
    const { id, receiver } = await tried(500);
    await fixture.fixture.send('delete', `/webhooks/${id}`);
    fixture.fixture.advanceClock(DAY);
    await fixture.deliverAll();
    expect(receiver.received).toHaveLength(1);
    expect((await fixture.fixture.send('get', `/webhooks/${id}/deliveries`)).status).toBe(404);
  });
});

describe('when the wall clock is set', () => {
  test.each([DAY, -DAY])('by %d ms, what is tried again is tried in its time', async (byMs) => {
    const { id, receiver } = await tried(500);
    receiver.behave(204);
    fixture.fixture.setWallClock(byMs);
    await fixture.createEvent('two');
    await fixture.deliverAll();
    expect(receiver.received).toHaveLength(1);
    fixture.fixture.advanceClock(5 * SECOND);
    await fixture.deliverAll();
    expect(receivedNames(receiver)).toEqual(['one', 'one', 'two']);
    expect((await fixture.listDeliveries(id)).map(({ status }) => status)).toEqual([
      'succeeded',
      'succeeded',
    ]);
  });

  test('back between two attempts, the next wait is as long as usual', async () => {
    const { receiver } = await tried(500);
    fixture.fixture.setWallClock(-DAY);
    fixture.fixture.advanceClock(5 * SECOND);
    await fixture.deliverAll();
    receiver.behave(204);
    fixture.fixture.advanceClock(29 * SECOND);
    await fixture.deliverAll();
    expect(receiver.received).toHaveLength(2);
    fixture.fixture.advanceClock(SECOND);
    await fixture.deliverAll();
    expect(receiver.received).toHaveLength(3);
  });

  test('back between two runs of the service, waiting deliveries are due at the start', async () => {
    const { id } = await tried(500);
    const { queue } = fixture.fixture;
    const due = async (now: number) => (await queue.dueWebhooks({ now, healthy: 0, failing: 1 })).failing;
    expect(await due(NOON)).toEqual([]);
    expect(await due(NOON - DAY)).toEqual([id]);
    expect(await queue.nextDelivery(id, NOON - DAY)).toBeDefined();
  });
});
