import { Webhook } from 'standardwebhooks';
import { deskOf, HOUR, MINUTE, names, SECOND } from './desk.ts';
import { signatureByHand } from './receiver.ts';

const desk = deskOf();
const few = deskOf({ places: { well: 1, failing: 16 } });
const created = { events: ['costCenter.created'] };

describe('what is sent', () => {
  test('is the event as it is retrieved, by POST, as JSON, without an envelope', async () => {
    const receiver = await desk.receiver();
    await desk.webhook({ url: receiver.url, ...created });
    const { id } = await desk.happen('Forschung & Entwicklung — 研究');
    await desk.settle();
    const [event] = (await desk.fixture.send('get', '/events?pageKind=cursor&order=desc&limit=1')).body.data;
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
      'webhook-timestamp': String(Math.floor(desk.fixture.runtime.now() / 1000)),
    });
  });

  test('is sent at once, though a clock that was ahead has dated the feed ahead', async () => {
    const receiver = await desk.receiver();
    await desk.webhook({ url: receiver.url, ...created });
    desk.fixture.pass(40 * 24 * HOUR);
    await desk.happen('tomorrow');
    desk.fixture.pass(-40 * 24 * HOUR);
    await desk.happen('today');
    await desk.settle();
    expect(receiver.received).toHaveLength(2);
  });

  test('is signed: the verifier of the Standard Webhooks library and a calculation by hand agree', async () => {
    const receiver = await desk.receiver();
    const { secret } = await desk.webhook({ url: receiver.url, ...created });
    // The verifier compares with the real clock.
    desk.fixture.pass(Date.now() - desk.fixture.runtime.now());
    await desk.happen('Research');
    await desk.settle();
    const [sent] = receiver.received;
    if (!sent) throw new Error('nothing came');
    const headers = Object.fromEntries(
      Object.entries(sent.headers).map(([name, value]) => [name, String(value)]),
    );
    expect(new Webhook(secret).verify(sent.body, headers)).toEqual(sent.event);
    expect(sent.headers['webhook-signature']).toBe(signatureByHand(secret, sent));
    const other = (await desk.webhook({ url: receiver.url, ...created })).secret;
    expect(() => new Webhook(other).verify(sent.body, headers)).toThrow('No matching signature found');
    expect(() => new Webhook(secret).verify(`${sent.body} `, headers)).toThrow('No matching signature found');
  });

  test('goes only to webhooks that select the kind, and to those that select nothing, which get every kind', async () => {
    const [some, all, others] = [await desk.receiver(), await desk.receiver(), await desk.receiver()];
    await desk.webhook({ url: some.url, events: ['costCenter.updated', 'costCenter.created'] });
    await desk.webhook({ url: all.url });
    await desk.webhook({ url: others.url, events: ['user.created'] });
    const { id } = await desk.happen('Research');
    await desk.fixture.send('patch', `/cost-centers/${id}`, { data: { name: 'Lab' } });
    await desk.fixture.send('delete', `/cost-centers/${id}`);
    await desk.settle();
    const kinds = ({ received }: typeof all) => received.map(({ event }) => event.kind);
    expect(kinds(some)).toEqual(['costCenter.created', 'costCenter.updated']);
    expect(kinds(all)).toEqual([
      ...['webhook.created', 'webhook.created'],
      ...['costCenter.created', 'costCenter.updated', 'costCenter.deleted'],
    ]);
    expect(kinds(others)).toEqual([]);
  });

  test('follows a change of what is selected, of the address and of being disabled', async () => {
    const [old, other] = [await desk.receiver(), await desk.receiver()];
    const { id } = await desk.webhook({ url: old.url, events: ['user.created'] });
    const change = (data: object) => desk.fixture.send('patch', `/webhooks/${id}`, { data });
    await desk.happen('one');
    await change({ events: ['costCenter.created'] });
    await desk.happen('two');
    await desk.settle();
    await change({ url: other.url });
    await desk.happen('three');
    await desk.settle();
    await change({ disabled: true });
    await desk.happen('four');
    await desk.settle();
    await change({ disabled: false });
    await desk.happen('five');
    await desk.settle();
    expect([names(old), names(other)]).toEqual([['two'], ['three', 'five']]);
  });

  test('a list of no kinds is refused, as none given means every kind; null gives none', async () => {
    const receiver = await desk.receiver();
    const { id } = await desk.webhook({ url: receiver.url, ...created });
    const body = { data: { url: receiver.url, events: [] } };
    for (const [method, path] of [
      ['post', '/webhooks'],
      ['put', `/webhooks/${id}`],
      ['patch', `/webhooks/${id}`],
    ] as const) {
      const answer = await desk.fixture.send(method, path, body);
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
    await desk.happen('one');
    const { body: patched } = await desk.fixture.send('patch', `/webhooks/${id}`, { data: { events: null } });
    expect(patched.data).not.toHaveProperty('events');
    await desk.settle();
    expect(receiver.received.map(({ event }) => event.kind)).toEqual([
      ...['costCenter.created', 'webhook.updated'],
    ]);
  });

  test('is nothing where the change was refused, or changed nothing', async () => {
    const receiver = await desk.receiver();
    await desk.webhook({ url: receiver.url, events: ['costCenter.created', 'costCenter.updated'] });
    const { id } = await desk.happen('Research');
    await desk.fixture.send('patch', `/cost-centers/${id}`, { data: { name: 'Research' } });
    await desk.fixture.send('patch', `/cost-centers/${id}`, { data: { name: 7 } });
    await desk.settle();
    expect(names(receiver)).toEqual(['Research']);
  });

  test('tells a webhook of its own creation and change, and of no deletion of its own', async () => {
    const receiver = await desk.receiver();
    const { id } = await desk.webhook({ url: receiver.url });
    await desk.fixture.send('patch', `/webhooks/${id}`, { data: { description: 'ours' } });
    await desk.settle();
    await desk.fixture.send('delete', `/webhooks/${id}`);
    await desk.settle();
    expect(receiver.received.map(({ event }) => event.kind)).toEqual(['webhook.created', 'webhook.updated']);
  });
});

describe('in order', () => {
  test('the next event waits until the one before has arrived, and comes over the same connection', async () => {
    const receiver = await desk.receiver();
    await desk.webhook({ url: receiver.url, ...created });
    const wanted = Array.from({ length: 150 }, (_, number) => `center ${number}`);
    await desk.happenAtOnce(wanted);
    await desk.settle();
    expect(names(receiver)).toEqual(wanted);
    expect(receiver.mostAtOnce()).toBe(1);
    // A worker releases its slot after a hundred deliveries.
    expect(receiver.connections()).toBe(2);
  });

  test('events behind one that failed wait until it has arrived', async () => {
    const receiver = await desk.receiver();
    await desk.webhook({ url: receiver.url, ...created });
    receiver.feel(500);
    await desk.happen('one');
    await desk.settle();
    await desk.happen('two');
    await desk.settle();
    expect(names(receiver)).toEqual(['one']);
    receiver.feel(200);
    desk.fixture.pass(5 * SECOND);
    await desk.settle();
    expect(names(receiver)).toEqual(['one', 'one', 'two']);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[1]);
  });
});

describe('a receiver that is slow or dead delays nobody else', () => {
  test('who hangs keeps nobody waiting', async () => {
    const [hanging, well] = [await desk.receiver(), await desk.receiver()];
    hanging.feel('hang');
    await desk.webhook({ url: hanging.url, ...created });
    await desk.webhook({ url: well.url, ...created });
    for (const name of ['one', 'two', 'three']) await desk.happen(name);
    await desk.fixture.webhooks.dispatchDue();
    await Promise.all([hanging.waitFor(1), well.waitFor(3)]);
    expect(names(well)).toEqual(['one', 'two', 'three']);
    expect(names(hanging)).toEqual(['one']);
    const settled = desk.settle();
    desk.fixture.pass(10 * SECOND);
    await settled;
  });

  test('who is slow is not served for long while others wait', async () => {
    const desk = few;
    const [slow, well] = [await desk.receiver(), await desk.receiver()];
    await desk.webhook({ url: slow.url, ...created });
    await desk.webhook({ url: well.url, ...created });
    slow.feel(() => {
      desk.fixture.pass(1500);
      return 200;
    });
    await desk.happenAtOnce(['one', 'two', 'three', 'four']);
    // Both webhooks share one slot.
    await desk.fixture.webhooks.dispatchDue();
    await slow.waitFor(2);
    expect(well.received).toEqual([]);
    const settled = desk.settle();
    await well.waitFor(4);
    expect(slow.received.length).toBeLessThan(4);
    await settled;
    expect(names(slow)).toEqual(names(well));
  });

  test('however many hang again and again: they have places of their own', async () => {
    const desk = few;
    const [hanging, well] = [await desk.receiver(), await desk.receiver()];
    hanging.feel(500);
    for (let number = 0; number < 20; number++) await desk.webhook({ url: hanging.url, ...created });
    await desk.happen('one');
    await desk.settle();
    // All twenty fail, and there are sixteen slots for failing webhooks.
    expect(hanging.received).toHaveLength(20);
    hanging.feel('hang');
    desk.fixture.pass(6 * SECOND);
    expect(await desk.fixture.webhooks.dispatchDue()).toBe(16);
    await hanging.waitFor(36);
    await desk.webhook({ url: well.url, ...created });
    await desk.happen('two');
    await desk.fixture.webhooks.dispatchDue();
    await well.waitFor(1);
    expect(names(well)).toEqual(['two']);
    hanging.feel(200);
    const settled = desk.settle();
    desk.fixture.pass(10 * SECOND);
    await settled;
    desk.fixture.pass(HOUR);
    await desk.settle();
    expect(names(hanging).filter((name) => name === 'two')).toHaveLength(20);
  });
});

test('a kept connection that the receiver has closed meanwhile is no failure: a new one is tried', async () => {
  const receiver = await desk.receiver();
  const { id } = await desk.webhook({ url: receiver.url, ...created });
  receiver.feel(({ reused }) => (reused ? 'close' : 204));
  for (const name of ['one', 'two']) await desk.happen(name);
  await desk.settle();
  expect(names(receiver)).toEqual(['one', 'two', 'two']);
  const attempts = (await desk.deliveries(id)).map(({ attempts: all }) => all.map(({ status }) => status));
  expect(attempts).toEqual([[204], [204]]);
});

test('an event that is not kept any more fails, and the next goes on', async () => {
  const receiver = await desk.receiver();
  const { id } = await desk.webhook({ url: receiver.url, ...created });
  await desk.happen('one');
  desk.fixture.pass(31 * 24 * HOUR);
  await desk.fixture.runtime.store.deleteOlderThan('event', desk.fixture.runtime.now() - MINUTE, 100);
  await desk.happen('two');
  await desk.settle();
  expect(names(receiver)).toEqual(['two']);
  const [one] = await desk.deliveries(id);
  expect(one).toMatchObject({ status: 'failed', attempts: [{ error: 'the event is not kept any more' }] });
});
