import { Webhook } from 'standardwebhooks';
import { HOUR, MINUTE, receivedNames, SECOND, webhookFixture } from './fixture.ts';
import { signatureByHand } from './receiver.ts';

const fixture = webhookFixture();
const few = webhookFixture({ slots: { healthy: 1, failing: 16 } });
const created = { events: ['costCenter.created'] };

describe('a delivery', () => {
  test('is the event as the API returns it, by POST, as JSON, without an envelope', async () => {
    const receiver = await fixture.openReceiver();
    await fixture.createWebhook({ url: receiver.url, ...created });
    const { id } = await fixture.createEvent('Forschung & Entwicklung — 研究');
    await fixture.deliverAll();
    const [event] = (await fixture.fixture.send('get', '/events?pageKind=cursor&order=desc&limit=1')).body
      .data;
    expect(receiver.received).toHaveLength(1);
    const [sent] = receiver.received;
    expect(sent?.event).toEqual(event);
    expect(sent?.event).toMatchObject({ kind: 'costCenter.created', data: { id } });
    expect([sent?.method, sent?.path]).toEqual(['POST', '/events?from=travel']);
    expect(sent?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(sent?.body ?? '')),
      'user-agent': 'Jetbridge-Webhooks',
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(fixture.fixture.runtime.now() / 1000)),
    });
  });

  test('is sent at once, even if the events have future times because the clock was ahead', async () => {
    const receiver = await fixture.openReceiver();
    await fixture.createWebhook({ url: receiver.url, ...created });
    fixture.fixture.advanceClock(40 * 24 * HOUR);
    await fixture.createEvent('tomorrow');
    fixture.fixture.advanceClock(-40 * 24 * HOUR);
    await fixture.createEvent('today');
    await fixture.deliverAll();
    expect(receiver.received).toHaveLength(2);
  });

  test('is signed: the verifier of the Standard Webhooks library and a calculation by hand agree', async () => {
    const receiver = await fixture.openReceiver();
    const { secret } = await fixture.createWebhook({ url: receiver.url, ...created });
    // The verifier compares with the real clock.
    fixture.fixture.advanceClock(Date.now() - fixture.fixture.runtime.now());
    await fixture.createEvent('Research');
    await fixture.deliverAll();
    const [sent] = receiver.received;
    if (!sent) throw new Error('nothing came');
    const headers = Object.fromEntries(
      Object.entries(sent.headers).map(([name, value]) => [name, String(value)]),
    );
    expect(new Webhook(secret).verify(sent.body, headers)).toEqual(sent.event);
    expect(sent.headers['webhook-signature']).toBe(signatureByHand(secret, sent));
    const other = (await fixture.createWebhook({ url: receiver.url, ...created })).secret;
    expect(() => new Webhook(other).verify(sent.body, headers)).toThrow('No matching signature found');
    expect(() => new Webhook(secret).verify(`${sent.body} `, headers)).toThrow('No matching signature found');
  });

  test('goes to webhooks that select the kind, and to those without a selection', async () => {
    const [some, all, others] = [
      await fixture.openReceiver(),
      await fixture.openReceiver(),
      await fixture.openReceiver(),
    ];
    await fixture.createWebhook({ url: some.url, events: ['costCenter.updated', 'costCenter.created'] });
    await fixture.createWebhook({ url: all.url });
    await fixture.createWebhook({ url: others.url, events: ['user.created'] });
    const { id } = await fixture.createEvent('Research');
    await fixture.fixture.send('patch', `/cost-centers/${id}`, { data: { name: 'Lab' } });
    await fixture.fixture.send('delete', `/cost-centers/${id}`);
    await fixture.deliverAll();
    const kinds = ({ received }: typeof all) => received.map(({ event }) => event.kind);
    expect(kinds(some)).toEqual(['costCenter.created', 'costCenter.updated']);
    expect(kinds(all)).toEqual([
      ...['webhook.created', 'webhook.created'],
      ...['costCenter.created', 'costCenter.updated', 'costCenter.deleted'],
    ]);
    expect(kinds(others)).toEqual([]);
  });

  test('follows changes of the selection, of the URL and of `disabled`', async () => {
    const [old, other] = [await fixture.openReceiver(), await fixture.openReceiver()];
    const { id } = await fixture.createWebhook({ url: old.url, events: ['user.created'] });
    const change = (data: object) => fixture.fixture.send('patch', `/webhooks/${id}`, { data });
    await fixture.createEvent('one');
    await change({ events: ['costCenter.created'] });
    await fixture.createEvent('two');
    await fixture.deliverAll();
    await change({ url: other.url });
    await fixture.createEvent('three');
    await fixture.deliverAll();
    await change({ disabled: true });
    await fixture.createEvent('four');
    await fixture.deliverAll();
    await change({ disabled: false });
    await fixture.createEvent('five');
    await fixture.deliverAll();
    expect([receivedNames(old), receivedNames(other)]).toEqual([['two'], ['three', 'five']]);
  });

  test('an empty list of kinds is refused, because an absent list means every kind; null removes the list', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
    const body = { data: { url: receiver.url, events: [] } };
    for (const [method, path] of [
      ['post', '/webhooks'],
      ['put', `/webhooks/${id}`],
      ['patch', `/webhooks/${id}`],
    ] as const) {
      const answer = await fixture.fixture.send(method, path, body);
      expect([answer.status, answer.body.invalid]).toEqual([
        422,
        [
          {
            ...{ field: 'events', value: '[]', code: 'required' },
            message:
              '"events" must name at least one kind: leave it out for every kind, or set "disabled" for none.',
          },
        ],
      ]);
    }
    await fixture.createEvent('one');
    const { body: patched } = await fixture.fixture.send('patch', `/webhooks/${id}`, {
      data: { events: null },
    });
    expect(patched.data).not.toHaveProperty('events');
    await fixture.deliverAll();
    expect(receiver.received.map(({ event }) => event.kind)).toEqual([
      ...['costCenter.created', 'webhook.updated'],
    ]);
  });

  test('is not sent for a refused change or without a change', async () => {
    const receiver = await fixture.openReceiver();
    await fixture.createWebhook({ url: receiver.url, events: ['costCenter.created', 'costCenter.updated'] });
    const { id } = await fixture.createEvent('Research');
    await fixture.fixture.send('patch', `/cost-centers/${id}`, { data: { name: 'Research' } });
    await fixture.fixture.send('patch', `/cost-centers/${id}`, { data: { name: 7 } });
    await fixture.deliverAll();
    expect(receivedNames(receiver)).toEqual(['Research']);
  });

  test('informs a webhook of its own creation and changes, but not of its deletion', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url });
    await fixture.fixture.send('patch', `/webhooks/${id}`, { data: { description: 'ours' } });
    await fixture.deliverAll();
    await fixture.fixture.send('delete', `/webhooks/${id}`);
    await fixture.deliverAll();
    expect(receiver.received.map(({ event }) => event.kind)).toEqual(['webhook.created', 'webhook.updated']);
  });
});

describe('in order', () => {
  test('the next event waits until the previous one has arrived, and uses the same connection', async () => {
    const receiver = await fixture.openReceiver();
    await fixture.createWebhook({ url: receiver.url, ...created });
    const wanted = Array.from({ length: 150 }, (_, number) => `center ${number}`);
    await fixture.createEvents(wanted);
    await fixture.deliverAll();
    expect(receivedNames(receiver)).toEqual(wanted);
    expect(receiver.mostAtOnce()).toBe(1);
    // A worker releases its slot after a hundred deliveries.
    expect(receiver.connections()).toBe(2);
  });

  test('events after a failed one wait until it has arrived', async () => {
    const receiver = await fixture.openReceiver();
    await fixture.createWebhook({ url: receiver.url, ...created });
    receiver.behave(500);
    await fixture.createEvent('one');
    await fixture.deliverAll();
    await fixture.createEvent('two');
    await fixture.deliverAll();
    expect(receivedNames(receiver)).toEqual(['one']);
    receiver.behave(200);
    fixture.fixture.advanceClock(5 * SECOND);
    await fixture.deliverAll();
    expect(receivedNames(receiver)).toEqual(['one', 'one', 'two']);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[1]);
  });
});

describe('a slow or dead receiver delays no other', () => {
  test('a receiver that hangs does not delay others', async () => {
    const [hanging, well] = [await fixture.openReceiver(), await fixture.openReceiver()];
    hanging.behave('hang');
    await fixture.createWebhook({ url: hanging.url, ...created });
    await fixture.createWebhook({ url: well.url, ...created });
    for (const name of ['one', 'two', 'three']) await fixture.createEvent(name);
    await fixture.fixture.webhooks.dispatchDue();
    await Promise.all([hanging.waitFor(1), well.waitFor(3)]);
    expect(receivedNames(well)).toEqual(['one', 'two', 'three']);
    expect(receivedNames(hanging)).toEqual(['one']);
    const settled = fixture.deliverAll();
    fixture.fixture.advanceClock(10 * SECOND);
    await settled;
  });

  test('a slow receiver is not served for long while others wait', async () => {
    const fixture = few;
    const [slow, well] = [await fixture.openReceiver(), await fixture.openReceiver()];
    await fixture.createWebhook({ url: well.url, ...created });
    await fixture.createEvent('zero');
    await fixture.deliverAll();
    // A webhook that was never served comes first.
    await fixture.createWebhook({ url: slow.url, ...created });
    slow.behave(() => {
      fixture.fixture.advanceClock(1500);
      return 200;
    });
    await fixture.createEvents(['one', 'two', 'three', 'four']);
    // Both webhooks share one slot.
    await fixture.fixture.webhooks.dispatchDue();
    await slow.waitFor(2);
    expect(receivedNames(well)).toEqual(['zero']);
    const settled = fixture.deliverAll();
    await well.waitFor(5);
    expect(slow.received.length).toBeLessThan(4);
    await settled;
    expect(['zero', ...receivedNames(slow)]).toEqual(receivedNames(well));
  });

  test('any number of hanging receivers have slots of their own', async () => {
    const fixture = few;
    const [hanging, well] = [await fixture.openReceiver(), await fixture.openReceiver()];
    hanging.behave(500);
    for (let number = 0; number < 20; number++) await fixture.createWebhook({ url: hanging.url, ...created });
    await fixture.createEvent('one');
    await fixture.deliverAll();
    // All twenty fail, and there are sixteen slots for failing webhooks.
    expect(hanging.received).toHaveLength(20);
    hanging.behave('hang');
    fixture.fixture.advanceClock(6 * SECOND);
    expect(await fixture.fixture.webhooks.dispatchDue()).toBe(16);
    await hanging.waitFor(36);
    await fixture.createWebhook({ url: well.url, ...created });
    await fixture.createEvent('two');
    await fixture.fixture.webhooks.dispatchDue();
    await well.waitFor(1);
    expect(receivedNames(well)).toEqual(['two']);
    hanging.behave(200);
    const settled = fixture.deliverAll();
    fixture.fixture.advanceClock(10 * SECOND);
    await settled;
    fixture.fixture.advanceClock(HOUR);
    await fixture.deliverAll();
    expect(receivedNames(hanging).filter((name) => name === 'two')).toHaveLength(20);
  });
});

test('a kept-alive connection that the receiver has closed is not a failure: a new one is opened', async () => {
  const receiver = await fixture.openReceiver();
  const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
  receiver.behave(({ reused }) => (reused ? 'close' : 204));
  for (const name of ['one', 'two']) await fixture.createEvent(name);
  await fixture.deliverAll();
  expect(receivedNames(receiver)).toEqual(['one', 'two', 'two']);
  const attempts = (await fixture.listDeliveries(id)).map(({ attempts: all }) =>
    all.map(({ status }) => status),
  );
  expect(attempts).toEqual([[204], [204]]);
});

test('the delivery of an expired event fails, and the next one follows', async () => {
  const receiver = await fixture.openReceiver();
  const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
  await fixture.createEvent('one');
  fixture.fixture.advanceClock(31 * 24 * HOUR);
  await fixture.fixture.runtime.store.deleteOlderThan('event', fixture.fixture.runtime.now() - MINUTE, 100);
  await fixture.createEvent('two');
  await fixture.deliverAll();
  expect(receivedNames(receiver)).toEqual(['two']);
  const [one] = await fixture.listDeliveries(id);
  expect(one).toMatchObject({ status: 'failed', attempts: [{ error: 'the event is not kept any more' }] });
});
