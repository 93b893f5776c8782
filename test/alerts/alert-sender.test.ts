import { Webhook } from 'standardwebhooks';
import { type AlertSender, alertChannels, alertSender } from '../../src/alerts/alert-sender.ts';
import type { Alert } from '../../src/alerts/channel.ts';
import type { AlertSettings } from '../../src/config/alert-settings.ts';
import { type AlertReceiver, alertReceiver } from '../fixtures/alert-receiver.ts';
import { type Clock, clock } from '../fixtures/clock.ts';
import { eventually } from '../fixtures/eventually.ts';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
const alert: Alert = {
  ...{ type: 'hold.opened', at: Date.UTC(2026, 10, 20, 10), severity: 'warning', path: '/decisions' },
  text: 'Changes of 3 people are held.',
  data: { connection: 'default', cause: 'safetyValve', count: 3, since: '2026-11-20T09:00:00.000Z' },
};

let receiver: AlertReceiver;
let time: Clock;
let logged: object[];
let sender: AlertSender;
beforeEach(async () => {
  logged = [];
  receiver = await alertReceiver();
  // Receivers refuse an old signature, so the clock starts at the current time.
  time = clock(Date.now());
  sender = senderTo({ webhook: { url: receiver.url, secret } });
});
afterEach(async () => {
  await sender.close();
  await receiver.close();
});

function senderTo(channels: Partial<AlertSettings>): AlertSender {
  const none = {
    webhook: undefined,
    slackUrl: undefined,
    teamsUrl: undefined,
    pagerduty: undefined,
    email: undefined,
  };
  const log = (fields: object) => void logged.push(fields);
  const deps = { publicUrl: undefined, now: time.now };
  return alertSender(alertChannels({ afterMs: 0, ...none, ...channels }, deps), {
    clock: time,
    log: { warn: log, error: log },
  });
}

function arrived(count: number, { received }: AlertReceiver = receiver): Promise<void> {
  return eventually(async () => {
    if (received.length < count) throw new Error(`there are ${received.length}`);
  });
}

/** Waits until the failure is logged, then lets the back-off pass. */
async function failed(count: number, passMs = 120_000): Promise<void> {
  await eventually(async () => {
    if (logged.length < count) throw new Error(`there are ${logged.length}`);
  });
  time.advance(passMs);
}

test('an alert of refused sign-ins tells their number', async () => {
  sender.send({ ...alert, type: 'signIns.refused', data: { attempts: 50 } });
  await arrived(1);
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toEqual({
    type: 'signIns.refused',
    timestamp: '2026-11-20T10:00:00.000Z',
    data: { attempts: 50 },
  });
});

test.each([
  [{ type: 'restore.detected', connection: 'default' }, { connection: 'default' }],
  [
    { type: 'restore.suspected', connection: 'default', people: 3 },
    { connection: 'default', people: 3 },
  ],
] as const)('an alert of a restored database tells the connection: %j', async (event, data) => {
  sender.send({ ...alert, type: event.type, data });
  await arrived(1);
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toEqual({
    type: event.type,
    timestamp: '2026-11-20T10:00:00.000Z',
    data,
  });
});

test('an alert is posted, signed as Standard Webhooks, without personal data', async () => {
  sender.send(alert);
  await arrived(1);
  const [{ headers, body, path } = { headers: {}, body: '', path: '' }] = receiver.received;
  expect(path).toBe('/hook');
  expect(headers['content-type']).toBe('application/json');
  const signed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  expect(new Webhook(secret).verify(body, signed)).toEqual({
    type: 'hold.opened',
    timestamp: '2026-11-20T10:00:00.000Z',
    data: {
      connection: 'default',
      cause: 'safetyValve',
      count: 3,
      since: '2026-11-20T09:00:00.000Z',
    },
  });
});

test('an alert that a receiver refuses is sent again with the same id, in order, and finally dropped', async () => {
  receiver.answers.push(500, 404, 429, 500, 503);
  sender.send(alert);
  sender.send({ ...alert, type: 'hold.cleared' });
  for (let attempt = 1; attempt <= 5; attempt += 1) await failed(attempt);
  await arrived(6);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids.slice(0, 5)).size).toBe(1);
  expect(ids[5]).not.toBe(ids[0]);
  expect(JSON.parse(receiver.received[5]?.body ?? '').type).toBe('hold.cleared');
  expect(logged).toHaveLength(5);
  expect(logged[0]).toEqual({ type: 'hold.opened', channel: 'webhook', failure: 'status 500' });
});

test('a receiver that asks for a longer wait than the next one gets it', async () => {
  receiver.answers.push({ status: 429, headers: { 'Retry-After': '30' } });
  sender.send(alert);
  await failed(1, 29_999);
  await new Promise(setImmediate);
  expect(receiver.received).toHaveLength(1);
  time.advance(1);
  await arrived(2);
});

test('a redirect is not followed', async () => {
  receiver.answers.push(307);
  sender.send(alert);
  await failed(1);
  await arrived(2);
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook']);
  expect(logged).toEqual([{ type: 'hold.opened', channel: 'webhook', failure: 'status 307' }]);
});

test('a channel whose receiver never answers does not delay the others', async () => {
  const silent = await alertReceiver();
  silent.answers.push(null);
  const both = senderTo({ slackUrl: silent.url, webhook: { url: receiver.url, secret } });
  both.send(alert);
  both.send({ ...alert, type: 'hold.cleared' });
  await arrived(2);
  await arrived(1, silent);
  await both.close();
  await silent.close();
  expect(silent.received).toHaveLength(1);
});

test('of more than a hundred alerts that wait, the oldest are dropped', async () => {
  const numbered = (number: number): Alert => ({ ...alert, data: { number } });
  receiver.answers.push(500);
  sender.send(numbered(1));
  await failed(1, 0);
  for (let number = 2; number <= 111; number += 1) sender.send(numbered(number));
  time.advance(1_000);
  await arrived(102);
  const numbers = receiver.received.slice(2).map(({ body }) => JSON.parse(body).data.number);
  expect([numbers.at(0), numbers.at(-1)]).toEqual([12, 111]);
});

test('a receiver that does not exist or never answers does not prevent the sender from closing', async () => {
  receiver.answers.push(null);
  sender.send(alert);
  await arrived(1);
  await sender.close();
  sender.send(alert);
  expect(receiver.received).toHaveLength(1);
  await receiver.close();
  const lost = senderTo({ webhook: { url: receiver.url, secret } });
  lost.send(alert);
  await failed(1);
  await lost.close();
  expect(logged[0]).toEqual({
    type: 'hold.opened',
    channel: 'webhook',
    failure: 'the connection was refused',
  });
});

test('without a channel nothing is sent', async () => {
  const silent = senderTo({});
  silent.send(alert);
  await silent.close();
  expect([receiver.received, logged]).toEqual([[], []]);
});
