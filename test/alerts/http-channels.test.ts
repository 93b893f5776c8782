import type { Alert, Channel } from '../../src/alerts/channel.ts';
import { pagerdutyChannel, slackChannel, teamsChannel } from '../../src/alerts/http-channels.ts';
import { type AlertReceiver, alertReceiver } from '../fixtures/alert-receiver.ts';

const alert: Alert = {
  type: 'travelOutage.opened',
  at: Date.UTC(2026, 10, 20, 10),
  severity: 'failing',
  text: 'Connection R&D: the travel API answers <503> to *all* calls, <!channel> and <https://a.example|b>.',
  data: {},
  path: '/people?state=dirty&connection=default',
};

let receiver: AlertReceiver;
beforeEach(async () => {
  receiver = await alertReceiver();
});
afterEach(() => receiver.close());

function deps(publicUrl?: string) {
  return { publicUrl, now: () => Date.UTC(2026, 10, 20, 10) };
}

function deliver(channel: Channel, sent = alert) {
  return channel.deliver({ id: 'msg_1', alert: sent }, new AbortController().signal);
}

function lastBody() {
  return JSON.parse(receiver.received.at(-1)?.body ?? '');
}

describe('the channel of Slack', () => {
  test('posts the severity, the escaped text and a link to the page', async () => {
    receiver.answers.push({ status: 200, body: 'ok' });
    const slack = slackChannel(receiver.url, deps('https://bridge.example.com/'));
    expect(await deliver(slack)).toEqual({ answer: 'status 200 (ok)' });
    expect(receiver.received[0]?.headers['content-type']).toBe('application/json');
    expect(lastBody()).toEqual({
      text: [
        ':red_circle: *Failing*: Connection R&amp;D: the travel API answers &lt;503&gt; to *all* calls, ' +
          '&lt;!channel&gt; and &lt;https://a.example|b&gt;.',
        '<https://bridge.example.com/admin/people?state=dirty&amp;connection=default|Open the admin page>',
      ].join('\n'),
    });
  });

  test('has no link if the public address is not known', async () => {
    await deliver(slackChannel(receiver.url, deps()), { ...alert, severity: 'info', text: 'It has ended.' });
    expect(lastBody()).toEqual({ text: ':large_green_circle: *Information*: It has ended.' });
  });

  test('says with which word Slack refuses an alert', async () => {
    receiver.answers.push({ status: 404, body: 'no_service' });
    expect(await deliver(slackChannel(receiver.url, deps()))).toEqual({
      failure: 'status 404 (no_service)',
      retryAfterMs: 0,
    });
  });

  test('obeys the wait that Slack asks for', async () => {
    receiver.answers.push({ status: 429, headers: { 'Retry-After': '30' }, body: 'rate_limited' });
    expect(await deliver(slackChannel(receiver.url, deps()))).toEqual({
      failure: 'status 429 (rate_limited)',
      retryAfterMs: 30_000,
    });
  });
});

describe('the channel of Teams', () => {
  test('posts an Adaptive Card in the envelope of Workflows', async () => {
    receiver.answers.push(202);
    const teams = teamsChannel(receiver.url, deps('https://bridge.example.com'));
    expect(await deliver(teams)).toEqual({ answer: 'status 202' });
    expect(lastBody()).toEqual({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            type: 'AdaptiveCard',
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            version: '1.4',
            body: [
              { type: 'TextBlock', text: 'Jetbridge: Failing', weight: 'Bolder', color: 'Attention' },
              { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: alert.text }] },
            ],
            actions: [
              {
                type: 'Action.OpenUrl',
                title: 'Open the admin page',
                url: 'https://bridge.example.com/admin/people?state=dirty&connection=default',
              },
            ],
          },
        },
      ],
    });
  });

  test('has no button if the public address is not known', async () => {
    await deliver(teamsChannel(receiver.url, deps()));
    expect(lastBody().attachments[0].content).not.toHaveProperty('actions');
  });

  test('says with which code the workflow refuses an alert', async () => {
    const body = JSON.stringify({ error: { code: 'WorkflowTriggerIsNotEnabled', message: 'It is off.' } });
    receiver.answers.push({ status: 400, body });
    expect(await deliver(teamsChannel(receiver.url, deps()))).toEqual({
      failure: 'status 400 (WorkflowTriggerIsNotEnabled)',
      retryAfterMs: 0,
    });
  });
});

describe('the channel of PagerDuty', () => {
  const opened = { ...alert, incident: { key: 'outage of default', isOver: false } };
  const pagerduty = (publicUrl?: string) =>
    pagerdutyChannel({ url: receiver.url, key: 'a'.repeat(32) }, deps(publicUrl));

  test('triggers an event of the Events API v2 with a link to the page', async () => {
    receiver.answers.push({ status: 202, body: JSON.stringify({ status: 'success', dedup_key: 'x' }) });
    expect(await deliver(pagerduty('https://bridge.example.com'), opened)).toEqual({ answer: 'status 202' });
    const page = 'https://bridge.example.com/admin/people?state=dirty&connection=default';
    expect(lastBody()).toEqual({
      routing_key: 'a'.repeat(32),
      event_action: 'trigger',
      dedup_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      client: 'Jetbridge',
      client_url: page,
      links: [{ href: page, text: 'Open the admin page' }],
      payload: {
        summary: alert.text,
        source: 'https://bridge.example.com',
        severity: 'critical',
        class: 'travelOutage.opened',
        timestamp: '2026-11-20T10:00:00.000Z',
        custom_details: {},
      },
    });
  });

  test('resolves by the key with which it has triggered, which other conditions and services do not have', async () => {
    const cleared = { ...opened, severity: 'info', incident: { ...opened.incident, isOver: true } } as const;
    const other = { ...opened, incident: { key: 'outage of second', isOver: false } };
    await deliver(pagerduty(), opened);
    await deliver(pagerduty(), cleared);
    await deliver(pagerduty(), other);
    await deliver(pagerduty('https://other.example.com'), opened);
    const sent = receiver.received.map(({ body }) => JSON.parse(body));
    expect(sent.map(({ event_action }) => event_action)).toEqual([
      ...['trigger', 'resolve', 'trigger', 'trigger'],
    ]);
    const keys = sent.map(({ dedup_key }) => dedup_key);
    expect(keys[1]).toBe(keys[0]);
    expect(new Set(keys).size).toBe(3);
  });

  test('gets no key for an alert that no other one ends, so that PagerDuty makes one', async () => {
    await deliver(pagerduty(), { ...alert, text: 'x'.repeat(2_000) });
    expect(lastBody()).not.toHaveProperty('dedup_key');
    expect(lastBody().payload.summary).toHaveLength(1_024);
  });
});

describe.each([
  ['Slack', slackChannel],
  ['Teams', teamsChannel],
])('a failure of the channel of %s', (_name, channel) => {
  test('never has a part of the URL, even if the receiver repeats it', async () => {
    receiver.answers.push(...['T0ken', '/hook/T0ken'].map((body) => ({ status: 403, body })));
    const secret = channel(`${receiver.url}/T0ken`, deps());
    for (const _time of [1, 2])
      expect(await deliver(secret)).toEqual({ failure: 'status 403', retryAfterMs: 0 });
  });

  test('is one of the connection if nobody listens', async () => {
    const { url } = receiver;
    await receiver.close();
    expect(await deliver(channel(url, deps()))).toEqual({
      failure: 'the connection was refused',
      retryAfterMs: 0,
    });
  });

  test('ends at once when the sender closes', async () => {
    receiver.answers.push(null);
    const stop = new AbortController();
    const delivery = channel(receiver.url, deps()).deliver({ id: 'msg_1', alert }, stop.signal);
    stop.abort();
    expect(await delivery).toHaveProperty('failure');
  });
});
