import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { certificateFiles } from '../fixtures/certificate.ts';
import { isOnPostgres } from '../fixtures/data-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { runJetbridge } from '../fixtures/jetbridge.ts';
import { kill } from '../fixtures/process.ts';
import { seededRandom } from '../fixtures/seeded.ts';
import { type ServerProcess, startServer } from '../fixtures/server-process.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { openReceiver } from '../travel/webhooks/receiver.ts';

/** Starting processes takes long on a busy machine. */
const KEY = 'the-key-of-the-first-administrator';
const ROUNDS = 5;
const EACH = 25;

let closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

/** Creates a data directory and settings that allow webhooks to this machine. `start` starts a service with them. */
function serviceFixture(environment: Record<string, string> = {}) {
  const data = mkdtempSync(join(tmpdir(), 'jetbridge-webhooks-'));
  closing.push(() => rmSync(data, { recursive: true }));
  const settings = writeSettingsFile({ travelService: { webhooks: { allowPrivate: true } } });
  closing.push(settings.remove);
  return {
    data,
    start: async () => {
      const server = await startServer({
        ...{ JETBRIDGE_DATA: data, JETBRIDGE_CONFIG: settings.path },
        ...{ SCIM_TOKEN: 'the-token-of-the-identity-provider', TRAVEL_API_KEY: KEY, ...environment },
      });
      closing.unshift(() => kill(server));
      return server;
    },
  };
}

async function call({ url }: ServerProcess, method: string, path: string, data?: object) {
  const answer = await fetch(`${url}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(data ? { body: JSON.stringify({ data }) } : {}),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return JSON.parse(await answer.text()).data;
}

it('a process that is killed again and again during deliveries delivers every event in order, with a valid signature', async () => {
  const { data, start } = serviceFixture();
  // In each round the receiver does not answer one request, at which the process is killed.
  const random = seededRandom(Number(process.env['JETBRIDGE_CRASH_SEED'] ?? 1));
  const receiver = await openReceiver();
  closing.push(receiver.close);
  let server = await start();
  const events = ['costCenter.created'];
  const { id, secret } = await call(server, 'POST', '/webhooks', { url: receiver.url, events });
  const acknowledged: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const unanswered = receiver.received.length + 1 + random.below(EACH);
    receiver.behave(() => (receiver.received.length === unanswered ? 'hang' : 204));
    for (let count = 0; count < EACH; count++)
      acknowledged.push((await call(server, 'POST', '/cost-centers', { name: `${round}/${count}` })).id);
    await receiver.waitFor(unanswered);
    await kill(server);
    receiver.behave(204);
    server = await start();
  }
  const deliveredIds = () => [...new Set(receiver.received.map(({ event }) => Object(event['data']).id))];
  await eventually(async () => expect(deliveredIds()).toHaveLength(acknowledged.length));
  expect(deliveredIds()).toEqual(acknowledged);
  for (const { headers, body } of receiver.received) {
    const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    expect(() => new Webhook(secret).verify(body, plain)).not.toThrow();
  }
  await eventually(async () => {
    const open = await call(server, 'GET', `/webhooks/${id}/deliveries?status=pending`);
    expect(open).toEqual([]);
  });
  // With PostgreSQL the key is a setting.
  if (!isOnPostgres()) expect(statSync(join(data, 'jetbridge.key')).mode & 0o777).toBe(0o600);
});

it('a receiver with a certificate that the machine trusts gets HTTPS deliveries, and no log contains the secret', async () => {
  const files = await certificateFiles();
  closing.push(files.remove);
  const [cert, key] = [readFileSync(files.cert, 'utf8'), readFileSync(files.key, 'utf8')];
  const receiver = await openReceiver({ cert, key });
  closing.push(receiver.close);
  const { data, start } = serviceFixture({ NODE_EXTRA_CA_CERTS: files.cert });
  const server = await start();
  const { id, secret } = await call(server, 'POST', '/webhooks', { url: receiver.url });
  const { secret: next } = await call(server, 'POST', `/webhooks/${id}/secret`);
  expect(await call(server, 'POST', `/webhooks/${id}/test`)).toMatchObject({ status: 204 });
  await receiver.waitFor(2);
  const kinds = receiver.received.map(({ event }) => event.kind).sort();
  expect(kinds).toEqual(['webhook.created', 'webhook.updated']);
  const log = await eventually(async () => {
    const args = ['requests', '--direction', 'api', '--json'];
    const { out } = await runJetbridge(args, { JETBRIDGE_DATA: data });
    expect(out).toContain(`/webhooks/${id}/test`);
    return out;
  });
  for (const webhookSecret of [secret, next]) expect(log).not.toContain(webhookSecret.slice(6));
});

it('on SIGTERM the process ends soon although a receiver hangs, and the next one continues the deliveries', async () => {
  const { start } = serviceFixture();
  const receiver = await openReceiver();
  closing.push(receiver.close);
  receiver.behave('hang');
  const first = await start();
  await call(first, 'POST', '/webhooks', { url: receiver.url, events: ['costCenter.created'] });
  await call(first, 'POST', '/cost-centers', { name: 'one' });
  await receiver.waitFor(1);
  first.kill('SIGTERM');
  expect(await first.exited).toMatchObject({ code: 0, signal: null });
  receiver.behave(204);
  await start();
  await receiver.waitFor(2);
  expect(receiver.received[1]?.headers['webhook-id']).toBe(receiver.received[0]?.headers['webhook-id']);
});
