import { exchangeReader } from '../../src/log/search.ts';
import { isOwnCall } from '../../src/model/exchange.ts';
import { runCommandLine } from '../fixtures/command-line.ts';
import { eventually } from '../fixtures/eventually.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { sendBodyLate } from '../fixtures/late-body.ts';
import { oauthClient, type RegisteredClient } from '../fixtures/oauth-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

let service: RunningService;
beforeEach(async () => {
  service = await startService({}, { background: false });
});
afterEach(() => service.close());

const statusOf = async (path: string, token: string) =>
  (await fetch(`${service.url}${path}`, { headers: { Authorization: `Bearer ${token}` } })).status;
const statuses = async (token: string) => ({
  scim: await statusOf('/scim/v2/Users', token),
  travel: await statusOf('/api/whoami', token),
});
const clients = (...args: string[]) =>
  runCommandLine(['oauth-clients', ...args], { JETBRIDGE_DATA: service.data });
const revoke = async ({ id }: RegisteredClient) => (await clients('revoke', id)).code;

test("a token of a connection's client gives access to SCIM, and not to the travel service", async () => {
  const client = await oauthClient(service, { connection: 'default' });
  const token = await client.token();
  expect(await statuses(token)).toEqual({ scim: 200, travel: 401 });
  expect(await revoke(client)).toBe(0);
  expect(await statuses(token)).toEqual({ scim: 401, travel: 401 });
  await expect(client.token()).rejects.toThrow('no token: 401');
});

test('a user whose body arrives after the client is revoked is not created', async () => {
  const client = await oauthClient(service, { connection: 'default' });
  const headers = { Authorization: `Bearer ${await client.token()}` };
  const body = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'late@corp.example' };
  const url = `${service.url}/scim/v2/Users`;
  const late = { method: 'POST', body, headers };
  expect(await sendBodyLate(url, late, () => revoke(client))).toBe(401);
  expect(
    await sendBodyLate(
      url,
      { ...late, headers: { Authorization: `Bearer ${service.scimToken}` } },
      async () => {},
    ),
  ).toBe(201);
});

test("a token of an admin's client gives access to the travel service as that admin, and not to SCIM", async () => {
  const admin = travelAdmin(service.url, service.travelApiKey);
  const id = await admin.make('/users', { email: 'Ada@corp.example', roles: ['admin'] });
  const client = await oauthClient(service, { travelAdmin: 'ada@corp.example' });
  const token = await client.token();
  expect(await statuses(token)).toEqual({ scim: 401, travel: 200 });
  const who = await fetch(`${service.url}/api/whoami`, { headers: { Authorization: `Bearer ${token}` } });
  expect(await who.json()).toMatchObject({ data: { id, email: 'Ada@corp.example' } });

  expect((await clients('list')).out).toContain('Ada@corp.example');
});

test('a cost center whose body arrives after the client of the travel service is revoked is not created', async () => {
  const client = await oauthClient(service, { travelAdmin: 'admin@jetbridge.local' });
  const headers = { Authorization: `Bearer ${await client.token()}` };
  const late = { method: 'POST', body: { data: { name: 'Late' } }, headers };
  const url = `${service.url}/api/cost-centers`;
  expect(await sendBodyLate(url, late, async () => {})).toBe(201);
  expect(await sendBodyLate(url, late, () => revoke(client))).toBe(401);
});

test('archiving an admin or removing the role disables their clients at once; restoring enables them again', async () => {
  const admin = travelAdmin(service.url, service.travelApiKey);
  const id = await admin.make('/users', { email: 'ada@corp.example', roles: ['admin'] });
  const client = await oauthClient(service, { travelAdmin: 'ada@corp.example' });
  const token = await client.token();
  const change = async (data: object, method = 'PATCH') => {
    const headers = { Authorization: `Bearer ${service.travelApiKey}`, 'Content-Type': 'application/json' };
    const body = method === 'DELETE' ? {} : { body: JSON.stringify({ data }) };
    expect((await fetch(`${service.url}/api/users/${id}`, { method, headers, ...body })).status).toBe(200);
    return (await statuses(token)).travel;
  };
  expect(await change({ archived: true })).toBe(401);
  await expect(client.token()).rejects.toThrow('no token: 400');
  expect(await change({ archived: false })).toBe(200);
  expect(await change({ roles: ['manager'] })).toBe(401);
  expect(await change({ roles: ['manager', 'admin'] })).toBe(200);
  expect(await change({}, 'DELETE')).toBe(401);
  await expect(client.token()).rejects.toThrow('no token: 401');
});

test('tokens and clients survive a restart', async () => {
  const place = temporaryFolder();
  const environment = { JETBRIDGE_DATA: place.path };
  const first = await startService(environment, { background: false });
  const client = await oauthClient(first, { connection: 'default' });
  const token = await client.token();
  await first.close();
  const second = await startService(environment, { background: false });
  const headers = { Authorization: `Bearer ${token}` };
  expect((await fetch(`${second.url}/scim/v2/Users`, { headers })).status).toBe(200);
  await second.close();
  place.remove();
});

test('a client of a connection that was removed from the settings has no access', async () => {
  const place = temporaryFolder();
  const both = writeSettingsFile({}, { default: {}, acme: {} });
  const data = { JETBRIDGE_DATA: place.path };
  const first = await startService({ ...data, JETBRIDGE_CONFIG: both.path }, { background: false });
  const client = await oauthClient(first, { connection: 'acme' }, { JETBRIDGE_CONFIG: both.path });
  const token = await client.token();
  const statusAt = async ({ url }: RunningService) =>
    (await fetch(`${url}/scim/v2/Users`, { headers: { Authorization: `Bearer ${token}` } })).status;
  expect(await statusAt(first)).toBe(200);
  await first.close();
  both.remove();
  const second = await startService(data, { background: false });
  expect(await statusAt(second)).toBe(401);
  await expect(client.token(second.url)).rejects.toThrow('no token: 400');
  await second.close();
  place.remove();
});

test("the request log names the credential of an admin's request", async () => {
  const client = await oauthClient(service, { travelAdmin: 'admin@jetbridge.local' });
  expect((await statuses(await client.token())).travel).toBe(200);
  expect((await statuses(service.travelApiKey)).travel).toBe(200);
  expect((await statuses('nobodys')).travel).toBe(401);
  const database = await openTestDatabase(service.data, false);
  try {
    await eventually(async () => {
      const log = exchangeReader(database);
      const page = await log.list({ direction: 'api', path: '/api/whoami', limit: 10 });
      const exchanges = page.exchanges.filter((one) => !isOwnCall(one));
      expect(exchanges.map(({ status, credential }) => [status, credential])).toEqual([
        [401, undefined],
        [200, expect.stringMatching(/^apiKey:[0-9a-f-]{36}$/)],
        [200, `oauth:${client.id}`],
      ]);
      expect(new Set(exchanges.map(({ userId }) => userId)).size).toBe(2);
    });
  } finally {
    await database.close();
  }
});
