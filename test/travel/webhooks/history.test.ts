import type { JsonObject } from '../../../src/travel/json.ts';
import { eventKinds } from '../../../src/travel/resources/event.ts';
import { schemaFaults } from '../contract.ts';
import { DAY, HOUR, receivedNames, SECOND, webhookFixture } from './fixture.ts';

const fixture = webhookFixture();
const created = { events: ['costCenter.created'] };

describe('the history', () => {
  test('lists each selected event with the result of its delivery', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
    receiver.behave(({ event }) => {
      fixture.fixture.advanceClock(150);
      return (event['data'] as JsonObject)['name'] === 'two' && receiver.received.length === 2 ? 503 : 200;
    });
    await fixture.createEvent('one');
    await fixture.createEvent('two');
    await fixture.createEvent('three');
    await fixture.deliverAll();
    const events = (await fixture.fixture.send('get', '/events?limit=100')).body.data as JsonObject[];
    const [one, two, three] = await fixture.listDeliveries(id);
    const event = events.find(({ kind }) => kind === 'costCenter.created');
    expect(one).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      type: 'webhookDelivery',
      createdAt: '2026-11-20T12:00:00Z',
      attempts: [{ at: '2026-11-20T12:00:00Z', latencyMs: 150, status: 200 }],
      eventId: event?.['id'],
      kind: 'costCenter.created',
      status: 'succeeded',
    });
    expect(two).toMatchObject({
      attempts: [{ status: 503, latencyMs: 150, error: 'the endpoint answered 503' }],
      nextAttemptAt: '2026-11-20T12:00:06Z',
      status: 'pending',
    });
    expect(three).toMatchObject({ attempts: [], nextAttemptAt: '2026-11-20T12:00:00Z', status: 'pending' });
    fixture.fixture.advanceClock(5 * SECOND);
    await fixture.deliverAll();
    const item = `/webhooks/${id}/deliveries/${two?.id}`;
    const { data } = (await fixture.fixture.send('get', item)).body;
    expect(data).toMatchObject({ status: 'succeeded', attempts: [{ status: 503 }, { status: 200 }] });
  });

  test('is paged by offset with an exact total, in either order, and narrowed by status', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
    const other = await fixture.createWebhook({ url: receiver.url, ...created });
    await fixture.createEvents(Array.from({ length: 7 }, (_, number) => `well ${number}`));
    await fixture.deliverAll();
    receiver.behave(500);
    await fixture.createEvents(['late 1', 'late 2', 'late 3']);
    await fixture.deliverAll();
    const list = async (query: string) =>
      (await fixture.fixture.send('get', `/webhooks/${id}/deliveries?${query}`)).body;
    const all = await list('limit=100');
    expect(all.meta).toEqual({
      ...{ pageKind: 'offset', limit: 100, offset: 0, total: 10, order: 'asc', sortBy: 'createdAt' },
    });
    expect((await list('limit=3&offset=4')).data).toEqual(all.data.slice(4, 7));
    expect((await list('limit=100&order=desc')).data).toEqual(all.data.toReversed());
    const pending = await list('status=pending&limit=2');
    expect([pending.meta.total, pending.data]).toEqual([3, all.data.slice(7, 9)]);
    expect((await list('status=succeeded')).meta.total).toBe(7);
    expect((await list('status=failed')).meta.total).toBe(0);
    expect((await list('status=canceled')).data).toEqual([]);
    expect((await fixture.fixture.send('get', `/webhooks/${other.id}/deliveries`)).body.meta.total).toBe(10);
  });

  test.each(['asc', 'desc'])(
    'is paged by cursor from either end (%s), narrowed or not, each delivery once',
    async (order) => {
      const receiver = await fixture.openReceiver();
      const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
      await fixture.createWebhook({ url: receiver.url, ...created });
      await fixture.createEvents(Array.from({ length: 9 }, (_, number) => `center ${number}`));
      await fixture.deliverAll();
      for (const narrowed of ['', '&status=succeeded']) {
        const query = `limit=100&order=${order}${narrowed}`;
        const wanted = (await fixture.listDeliveries(id, query)).map((one) => one.id);
        expect(wanted).toHaveLength(9);
        for (const [edge, step] of [
          ['after', 'nextAfter'],
          ['before', 'prevBefore'],
        ] as const) {
          const page = async (from: string) => {
            const { body } = await fixture.fixture.send(
              'get',
              `/webhooks/${id}/deliveries?pageKind=cursor&limit=4&order=${order}${narrowed}${from}`,
            );
            return { ids: body.data.map((one: JsonObject) => one['id']), next: body.meta[step] };
          };
          const walked: string[] = [];
          // Paging backwards starts at the last item, whose cursor comes from paging forwards.
          let from = edge === 'after' ? '' : `&before=${await lastCursor(id, order, narrowed)}`;
          for (let pages = 0; pages < 10; pages++) {
            const { ids, next } = await page(from);
            if (edge === 'after') walked.push(...ids);
            else walked.unshift(...ids);
            if (next === undefined) break;
            from = `&${edge}=${encodeURIComponent(next)}`;
          }
          expect(walked).toEqual(wanted);
        }
      }
    },
  );

  test('refuses an unknown status and unknown parameters', async () => {
    const { id } = await fixture.createWebhook({ url: 'https://example.com/' });
    for (const query of [
      'status=done',
      'status=',
      'sortBy=createdAt',
      'limit=0',
      'after=x&pageKind=cursor',
    ]) {
      const answer = await fixture.fixture.send('get', `/webhooks/${id}/deliveries?${query}`);
      expect([answer.status, answer.body.code]).toEqual([400, 'invalidParam']);
    }
  });

  test('belongs to one webhook and cannot be written', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
    const other = await fixture.createWebhook({ url: receiver.url, events: ['user.created'] });
    await fixture.createEvent('one');
    const [delivery] = await fixture.listDeliveries(id);
    const own = `/webhooks/${id}/deliveries/${delivery?.id}`;
    expect((await fixture.fixture.send('get', own)).status).toBe(200);
    for (const path of [
      `/webhooks/${other.id}/deliveries/${delivery?.id}`,
      `/webhooks/${id}/deliveries/abcdefabcdefabcdefabcdef`,
      '/webhooks/abcdefabcdefabcdefabcdef/deliveries',
    ]) {
      expect((await fixture.fixture.send('get', path)).status).toBe(404);
    }
    for (const method of ['post', 'put', 'patch', 'delete'] as const) {
      expect((await fixture.fixture.send(method, own, { data: {} })).status).toBe(403);
    }
  });

  test('is hidden at once when the webhook is deleted, as a list and as single deliveries', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
    await fixture.createEvent('one');
    await fixture.deliverAll();
    const [delivery] = await fixture.listDeliveries(id);
    await fixture.fixture.send('delete', `/webhooks/${id}`);
    const list = `/webhooks/${id}/deliveries`;
    for (const path of [list, `${list}?pageKind=cursor`, `${list}/${delivery?.id}`])
      expect((await fixture.fixture.send('get', path)).body).toEqual({
        code: 'notFound',
        message: 'There is no such webhook.',
      });
    expect((await fixture.fixture.send('post', `${list}/${delivery?.id}/redeliver`)).status).toBe(404);
  });
});

/** The cursor of the last delivery in an order. */
async function lastCursor(id: string, order: string, narrowed: string): Promise<string> {
  const list = `/webhooks/${id}/deliveries?pageKind=cursor&order=${order}${narrowed}`;
  const { meta } = (await fixture.fixture.send('get', `${list}&limit=8`)).body;
  return encodeURIComponent(meta.nextAfter);
}

describe('redelivery', () => {
  const again = (id: string, delivery: string | undefined) =>
    fixture.fixture.send('post', `/webhooks/${id}/deliveries/${delivery}/redeliver`);

  test('sends the same event with the same id again, as a delivery of its own', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
    await fixture.createEvent('one');
    await fixture.deliverAll();
    const [delivery] = await fixture.listDeliveries(id);
    const answer = await again(id, delivery?.id);
    expect(answer.status).toBe(201);
    const { id: newId, eventId, kind } = answer.body.data;
    expect([eventId, kind]).toEqual([delivery?.eventId, 'costCenter.created']);
    expect(newId).not.toBe(delivery?.id);
    await fixture.deliverAll();
    const [first, second] = receiver.received;
    expect([second?.body, second?.headers['webhook-id']]).toEqual([
      first?.body,
      first?.headers['webhook-id'],
    ]);
    expect(await fixture.listDeliveries(id)).toMatchObject([
      { id: delivery?.id, status: 'succeeded' },
      { id: newId, status: 'succeeded' },
    ]);
  });

  test('does not wait for other deliveries, and does not delay them', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
    await fixture.createEvent('one');
    await fixture.deliverAll();
    receiver.behave(500);
    await fixture.createEvent('two');
    await fixture.deliverAll();
    const [delivery] = await fixture.listDeliveries(id);
    await again(id, delivery?.id);
    await fixture.deliverAll();
    expect(receivedNames(receiver)).toEqual(['one', 'two', 'one']);
    receiver.behave(({ event }) => ((event['data'] as JsonObject)['name'] === 'one' ? 500 : 200));
    fixture.fixture.advanceClock(5 * SECOND);
    await fixture.deliverAll();
    // Both were due; the requested redelivery fails again, and the other arrives.
    expect(receivedNames(receiver)).toEqual(['one', 'two', 'one', 'one', 'two']);
  });

  test('is refused for a disabled webhook, a deleted event and an unknown delivery', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
    await fixture.createEvent('one');
    await fixture.deliverAll();
    const [delivery] = await fixture.listDeliveries(id);
    expect((await again(id, 'abcdefabcdefabcdefabcdef')).status).toBe(404);
    expect((await again('abcdefabcdefabcdefabcdef', delivery?.id)).status).toBe(404);
    await fixture.fixture.send('patch', `/webhooks/${id}`, { data: { disabled: true } });
    expect((await again(id, delivery?.id)).body.code).toBe('conflict');
    await fixture.fixture.send('patch', `/webhooks/${id}`, { data: { disabled: false } });
    fixture.fixture.advanceClock(31 * DAY);
    await fixture.fixture.runtime.store.deleteOlderThan('event', fixture.fixture.runtime.now() - HOUR, 100);
    expect((await again(id, delivery?.id)).status).toBe(409);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a test delivery', () => {
  test('is sent at once, signed, once, and returns its result; it is in no feed and no history', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, ...created });
    const webhook = (await fixture.fixture.send('get', `/webhooks/${id}`)).body.data;
    receiver.behave(() => {
      fixture.fixture.advanceClock(70);
      return 202;
    });
    const answer = await fixture.fixture.send('post', `/webhooks/${id}/test`);
    expect([answer.status, answer.body]).toEqual([
      200,
      { data: { at: '2026-11-20T12:00:00Z', latencyMs: 70, status: 202 } },
    ]);
    await fixture.deliverAll();
    expect(receiver.received.map(({ event }) => event)).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        type: 'event',
        createdAt: '2026-11-20T12:00:00Z',
        kind: 'webhook.updated',
        data: webhook,
        previousAttributes: {},
      },
    ]);
    const [sent] = receiver.received;
    expect(sent?.headers).toMatchObject({
      'webhook-id': sent?.event.id,
      'webhook-signature': expect.stringMatching(/^v1,/),
    });
    expect((await fixture.fixture.send('get', `/events/${sent?.event.id}`)).status).toBe(404);
    expect(await fixture.listDeliveries(id)).toEqual([]);
  });

  test('a test event of each kind is as the contract says, with an example of the resource', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, disabled: true });
    for (const kind of eventKinds) {
      const answer = await fixture.fixture.send('post', `/webhooks/${id}/test?kind=${kind}`);
      expect([answer.status, answer.body.data.status]).toEqual([200, 204]);
      const { event } = receiver.received.at(-1) ?? {};
      const schema = `#/webhooks/${kind}/post/requestBody/content/application~1json/schema`;
      expect([event?.kind, schemaFaults(schema, event, { closed: true })]).toEqual([kind, []]);
    }
    for (const query of ['kind=user.renamed', 'kind=', 'type=user.created']) {
      const { status, body } = await fixture.fixture.send('post', `/webhooks/${id}/test?${query}`);
      expect([status, body.code]).toEqual([400, 'invalidParam']);
    }
    expect(receiver.received).toHaveLength(eventKinds.length);
  });

  test('returns the reason of a failure, and is sent to a disabled webhook, too', async () => {
    const receiver = await fixture.openReceiver();
    const { id } = await fixture.createWebhook({ url: receiver.url, disabled: true });
    receiver.behave('close');
    const failed = (await fixture.fixture.send('post', `/webhooks/${id}/test`)).body.data;
    expect(failed).toMatchObject({ error: 'the connection was closed without an answer' });
    receiver.behave({ status: 302, headers: { location: receiver.url } });
    const redirected = (await fixture.fixture.send('post', `/webhooks/${id}/test`)).body.data;
    expect(redirected).toMatchObject({ status: 302, error: 'redirects are not followed' });
    expect(receiver.received).toHaveLength(2);
    expect((await fixture.fixture.send('post', '/webhooks/abcdefabcdefabcdefabcdef/test')).status).toBe(404);
    expect((await fixture.fixture.send('get', `/webhooks/${id}/test`)).status).toBe(403);
  });
});
