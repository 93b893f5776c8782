import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { createLog } from '../../../src/http/log.ts';
import type { JsonObject } from '../../../src/schema/resource.ts';
import { runCommandLine } from '../../fixtures/command-line.ts';
import { parseLinesInto } from '../../fixtures/http.ts';
import { temporaryFolder } from '../../fixtures/jetbridge.ts';
import { type RunningService, startService } from '../../fixtures/service.ts';
import { writeSettingsFile } from '../../fixtures/settings-file.ts';
import { describeOnSqlite } from '../../fixtures/test-database.ts';
import { openReceiver, type Receiver } from './receiver.ts';

const TRAVEL_API_KEY = 'travel-key-of-the-tests';
const newKey = () => randomBytes(32).toString('hex');

let receiver: Receiver;
let data: ReturnType<typeof temporaryFolder>;
let settings: ReturnType<typeof writeSettingsFile>;
let lines: JsonObject[];
beforeEach(async () => {
  receiver = await openReceiver();
  data = temporaryFolder();
  settings = writeSettingsFile({ travelService: { webhooks: { allowPrivate: true } } });
  lines = [];
});
afterEach(async () => {
  settings.remove();
  data.remove();
  await receiver.close();
});

const environmentWith = (keys: Record<string, string>) => ({
  JETBRIDGE_CONFIG: settings.path,
  JETBRIDGE_DATA: data.path,
  TRAVEL_API_KEY,
  ...keys,
});

/** Runs the service on the same data with these keys. */
async function withKeys<T>(
  keys: Record<string, string>,
  story: (service: RunningService) => Promise<T>,
): Promise<T> {
  const log = createLog('info', parseLinesInto(lines));
  const service = await startService(environmentWith(keys), { background: false, log });
  try {
    return await story(service);
  } finally {
    await service.close();
  }
}

async function post({ url }: RunningService, path: string, fields?: object): Promise<JsonObject> {
  const answer = await fetch(`${url}/api${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TRAVEL_API_KEY}`, 'Content-Type': 'application/json' },
    ...(fields ? { body: JSON.stringify({ data: fields }) } : {}),
  });
  return Object(await answer.json()).data;
}

async function makeWebhook(service: RunningService): Promise<{ id: string; secret: string }> {
  const { id, secret } = await post(service, '/webhooks', { url: receiver.url });
  return { id: String(id), secret: String(secret) };
}

/** Reports whether a test event arrives, signed with this secret. */
async function isSigned(
  service: RunningService,
  { id, secret }: { id: string; secret: string },
): Promise<boolean> {
  const before = receiver.received.length;
  await post(service, `/webhooks/${id}/test`);
  const sent = receiver.received[before];
  if (!sent) return false;
  const headers = Object.fromEntries(
    Object.entries(sent.headers).map(([name, value]) => [name, String(value)]),
  );
  new Webhook(secret).verify(sent.body, headers);
  return true;
}

const logged = (text: string) => lines.filter(({ msg }) => String(msg).includes(text));

it('secrets stay usable when the key changes, and need the previous one only at the first start', async () => {
  const [first, second] = [newKey(), newKey()];
  const webhook = await withKeys({ JETBRIDGE_KEY: first }, makeWebhook);
  const change = { JETBRIDGE_KEY: second, JETBRIDGE_KEY_PREVIOUS: first };
  expect(await withKeys(change, (service) => isSigned(service, webhook))).toBe(true);
  expect(logged('JETBRIDGE_KEY_PREVIOUS can be unset')).toMatchObject([{ secrets: 1 }]);
  expect(await withKeys({ JETBRIDGE_KEY: second }, (service) => isSigned(service, webhook))).toBe(true);
  // The old key has no effect any more.
  expect(await withKeys(change, (service) => isSigned(service, webhook))).toBe(true);
  expect(logged('JETBRIDGE_KEY_PREVIOUS can be unset')).toMatchObject([{ secrets: 1 }, { secrets: 0 }]);
});

describeOnSqlite('a key that Jetbridge has created', () => {
  it('is in the data folder, can be replaced by JETBRIDGE_KEY, and then be removed', async () => {
    const webhook = await withKeys({}, makeWebhook);
    const file = join(data.path, 'jetbridge.key');
    const keys = { JETBRIDGE_KEY: newKey() };
    const previous = { JETBRIDGE_KEY_PREVIOUS: readFileSync(file, 'utf8').trim() };
    await withKeys({ ...keys, ...previous }, async () => {});
    rmSync(file);
    expect(await withKeys(keys, (service) => isSigned(service, webhook))).toBe(true);
    expect(existsSync(file)).toBe(false);
  });
});

it('a secret that was replaced within a day is re-encrypted, too', async () => {
  const [first, second] = [newKey(), newKey()];
  const { id, old } = await withKeys({ JETBRIDGE_KEY: first }, async (service) => {
    const made = await makeWebhook(service);
    await post(service, `/webhooks/${made.id}/secret`);
    return { id: made.id, old: made.secret };
  });
  await withKeys({ JETBRIDGE_KEY: second, JETBRIDGE_KEY_PREVIOUS: first }, async () => {});
  expect(logged('JETBRIDGE_KEY_PREVIOUS can be unset')).toMatchObject([{ secrets: 2 }]);
  // Both secrets sign for a day.
  const signed = withKeys({ JETBRIDGE_KEY: second }, (service) => isSigned(service, { id, secret: old }));
  expect(await signed).toBe(true);
});

it('a wrong key is reported at the start with its consequence and remedy, and provisioning continues', async () => {
  const [right, wrong] = [newKey(), newKey()];
  const webhook = await withKeys({ JETBRIDGE_KEY: right }, makeWebhook);
  lines = [];
  await withKeys({ JETBRIDGE_KEY: wrong }, async (service) => {
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(await isSigned(service, webhook)).toBe(false);
  });
  expect(logged('set JETBRIDGE_KEY_PREVIOUS to it')).toMatchObject([{ level: 50, secrets: 1 }]);
  expect(await withKeys({ JETBRIDGE_KEY: right }, (service) => isSigned(service, webhook))).toBe(true);
});

it('a wrong previous key stops the start with one line, and changes nothing', async () => {
  const [right, next, wrong] = [newKey(), newKey(), newKey()];
  const webhook = await withKeys({ JETBRIDGE_KEY: right }, makeWebhook);
  const line =
    'environment JETBRIDGE_KEY_PREVIOUS: does not open the secret of a webhook, and neither does the present key. Set it to the key they were encrypted with; if that is lost, unset it, start, and make new secrets.';
  const mistaken = { JETBRIDGE_KEY: next, JETBRIDGE_KEY_PREVIOUS: wrong };
  await expect(withKeys(mistaken, async () => {})).rejects.toThrow(line);
  const ran = await runCommandLine(['serve'], { ...environmentWith(mistaken), PORT: '0' });
  expect([ran.code, ran.err]).toEqual([1, `${line}\n`]);
  expect(ran.out + ran.err).not.toContain(wrong);
  expect(await withKeys({ JETBRIDGE_KEY: right }, (service) => isSigned(service, webhook))).toBe(true);
});

it('without stored secrets, any key is accepted', async () => {
  await withKeys({ JETBRIDGE_KEY: newKey() }, async () => {});
  await withKeys({ JETBRIDGE_KEY: newKey(), JETBRIDGE_KEY_PREVIOUS: newKey() }, async () => {});
  expect(lines.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});
