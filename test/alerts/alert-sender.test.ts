import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Alert } from '../../src/alerts/alert.ts';
import { type AlertSender, alertSender } from '../../src/alerts/alert-sender.ts';
import { type Clock, clock } from '../fixtures/clock.ts';
import { eventually } from '../fixtures/eventually.ts';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
const alert: Alert = {
  ...{ type: 'hold.opened', at: Date.UTC(2026, 10, 20, 10), severity: 'warning', path: '/held' },
  text: 'Changes of 3 people are held.',
  data: { connection: 'default', cause: 'safetyValve', count: 3, since: '2026-11-20T09:00:00.000Z' },
};

interface Received {
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

let receiver: Server;
let received: Received[];
/** The statuses that the receiver answers, in order, then 204; null means that it never answers. */
let answers: (number | null)[];
let url: string;
let time: Clock;
let logged: object[];
let sender: AlertSender;
beforeEach(async () => {
  received = [];
  answers = [];
  logged = [];
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      received.push({ path: request.url, headers: request.headers, body });
      const status = answers.length > 0 ? answers.shift() : 204;
      if (typeof status === 'number') response.writeHead(status, { location: '/elsewhere' }).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo; // It listens on a port.
  url = `http://127.0.0.1:${port}/hook`;
  // Receivers refuse an old signature, so the clock starts at the current time.
  time = clock(Date.now());
  sender = senderTo(url);
});
afterEach(async () => {
  await sender.close();
  await new Promise((resolve) => receiver.close(resolve).closeAllConnections());
});

function senderTo(webhookUrl: string): AlertSender {
  const log = (fields: object) => void logged.push(fields);
  return alertSender({ webhookUrl, secret }, { clock: time, log: { warn: log, error: log } });
}

function arrived(count: number): Promise<void> {
  return eventually(async () => {
    if (received.length < count) throw new Error(`there are ${received.length}`);
  });
}

/** Waits until the failure is logged, then lets the back-off pass. */
async function failed(count: number): Promise<void> {
  await eventually(async () => {
    if (logged.length < count) throw new Error(`there are ${logged.length}`);
  });
  time.advance(120_000);
}

test('an alert of refused sign-ins tells their number', async () => {
  sender.send({ ...alert, type: 'signIns.refused', data: { attempts: 50 } });
  await arrived(1);
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({
    type: 'signIns.refused',
    timestamp: '2026-11-20T10:00:00.000Z',
    data: { attempts: 50 },
  });
});

test('an alert is posted, signed as Standard Webhooks, without personal data', async () => {
  sender.send(alert);
  await arrived(1);
  const [{ headers, body, path } = { headers: {}, body: '', path: '' }] = received;
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
  answers = [500, 404, 429, 500, 503];
  sender.send(alert);
  sender.send({ ...alert, type: 'hold.cleared' });
  for (let attempt = 1; attempt <= 5; attempt += 1) await failed(attempt);
  await arrived(6);
  const ids = received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids.slice(0, 5)).size).toBe(1);
  expect(ids[5]).not.toBe(ids[0]);
  expect(JSON.parse(received[5]?.body ?? '').type).toBe('hold.cleared');
  expect(logged).toHaveLength(5);
  expect(logged[0]).toEqual({ type: 'hold.opened', failure: 'status 500' });
});

test('a redirect is not followed', async () => {
  answers = [307];
  sender.send(alert);
  await failed(1);
  await arrived(2);
  expect(received.map(({ path }) => path)).toEqual(['/hook', '/hook']);
  expect(logged).toEqual([{ type: 'hold.opened', failure: 'status 307' }]);
});

test('a receiver that does not exist or never answers does not prevent the sender from closing', async () => {
  answers = [null];
  sender.send(alert);
  await arrived(1);
  await sender.close();
  sender.send(alert);
  expect(received).toHaveLength(1);
  await new Promise((resolve) => receiver.close(resolve).closeAllConnections());
  const lost = senderTo(url);
  lost.send(alert);
  await failed(1);
  await lost.close();
  expect(logged[0]).toEqual({ type: 'hold.opened', failure: 'the connection was refused' });
});

test('without a receiver nothing is sent', async () => {
  const log = (fields: object) => void logged.push(fields);
  const silent = alertSender(undefined, { clock: time, log: { warn: log, error: log } });
  silent.send(alert);
  await silent.close();
  expect([received, logged]).toEqual([[], []]);
});
