import type { Alert, Channel } from '../../src/alerts/channel.ts';
import { slackChannel, teamsChannel } from '../../src/alerts/http-channels.ts';
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
