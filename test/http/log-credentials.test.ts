import { hashSecret } from '../../src/http/authentication.ts';
import { createLog } from '../../src/http/log.ts';
import type { JsonObject } from '../../src/schema/resource.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { apiKeys, oauthAccessTokens, scimTokens } from '../../src/store/credentials/credentials.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { adminClient, signIn } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';
import { parseLinesInto } from '../fixtures/http.ts';
import { oauthClient, type RegisteredClient } from '../fixtures/oauth-client.ts';
import { scimClient } from '../fixtures/scim-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { travelAdmin } from '../fixtures/travel-admin.ts';

const SCIM_TOKEN = 'a-token-that-the-operator-chose';
const TRAVEL_API_KEY = 'a-key-that-the-operator-chose';
const DAY_MS = 24 * 60 * 60_000;

/**
 * The service with its log. The store has credentials of every kind and state; the secret of each is its id followed
 * by `-text`.
 */
const lines: JsonObject[] = [];
let service: RunningService;
let database: Database;
let clients: Record<'scim' | 'travel', RegisteredClient>;
let sent = 0;

beforeAll(async () => {
  const log = createLog('info', parseLinesInto(lines));
  service = await startService({ SCIM_TOKEN, TRAVEL_API_KEY }, { background: false, log });
  database = await openTestDatabase(service.data, false);
  clients = {
    scim: await oauthClient(service, { connection: 'default' }),
    travel: await oauthClient(service, { travelAdmin: 'admin@jetbridge.local' }),
  };
  await ensureConnection(database, { id: 'gone', account: 'gone' });
  for (const id of ['good', 'expired', 'revoked', 'orphan'])
    await scimTokens(database).create({
      ...{ id, name: id, hash: hashSecret(`${id}-text`), createdAt: Date.now() },
      connection: id === 'orphan' ? 'gone' : 'default',
      expiresAt: id === 'expired' ? Date.now() - DAY_MS : undefined,
    });
  await scimTokens(database).revoke('revoked', Date.now());
  const admin = travelAdmin(service.url, TRAVEL_API_KEY);
  const active = await admin.make('/users', { email: 'ada@corp.example', roles: ['admin'] });
  const manager = await admin.make('/users', { email: 'bob@corp.example', roles: ['manager'] });
  for (const [id, userId] of Object.entries({ k1: active, k2: active, k3: manager }))
    await apiKeys(database).add({ id, name: id, hash: hashSecret(`${id}-text`), userId, createdAt: 1 });
  await apiKeys(database).revoke('k2', Date.now());
  const ended = {
    hash: hashSecret('ended-text'),
    holder: { clientId: clients.scim.id },
    expiresAt: Date.now() - 1_000,
  };
  await oauthAccessTokens(database).save(ended, Date.now() - DAY_MS);
});
afterAll(async () => {
  await database.close();
  await service.close();
});

/** Sends a request. Returns its status and the credential and reason of its log line. */
async function lineOf(path: string, { headers = {}, ...init }: RequestInit = {}): Promise<unknown[]> {
  sent += 1;
  const id = `sent-${sent}`;
  const answer = await fetch(`${service.url}${path}`, {
    ...init,
    headers: { ...headers, 'X-Request-Id': id },
  });
  await answer.arrayBuffer();
  return eventually(async () => {
    const line = lines.find(({ requestId, msg }) => requestId === id && msg === 'request');
    if (!line) throw new Error('there is no line yet');
    expect(line).toMatchObject({ status: answer.status, address: '127.0.0.1' });
    return [answer.status, line['credential'], line['reason']];
  });
}

const bearer = (text: string) => ({ headers: { Authorization: `Bearer ${text}` } });

test.each<[string, RequestInit, string | undefined, string]>([
  ['/scim/v2/Users', {}, undefined, 'no credential'],
  ['/scim/v2/Users', { headers: { Authorization: 'Basic YTpi' } }, undefined, 'malformed credential'],
  ['/scim/v2/Users', bearer('nobodys'), undefined, 'unknown credential'],
  ['/scim/v2/Users', bearer('expired-text'), 'token:expired', 'expired credential'],
  ['/scim/v2/Users', bearer('revoked-text'), 'token:revoked', 'revoked credential'],
  ['/scim/v2/Users', bearer('orphan-text'), 'token:orphan', 'its connection is not in the settings'],
  ['/scim/v2/Users', bearer('k1-text'), 'apiKey:k1', 'credential of another service'],
  ['/api/users', {}, undefined, 'no credential'],
  ['/api/users', bearer('nobodys'), undefined, 'unknown credential'],
  ['/api/users', bearer('good-text'), 'token:good', 'credential of another service'],
  ['/api/users', bearer('k2-text'), 'apiKey:k2', 'revoked credential'],
  ['/api/users', bearer('k3-text'), 'apiKey:k3', 'its user is no active admin'],
])(
  'the log line of a 401 at %s (%j) names the credential %s and the reason %s',
  async (path, init, credential, reason) => {
    expect(await lineOf(path, init)).toEqual([401, credential, reason]);
  },
);

test('the log line of a request contains the id of the credential, never the credential', async () => {
  expect(await lineOf('/scim/v2/Users', bearer(SCIM_TOKEN))).toEqual([
    200,
    'token:environment:default',
    undefined,
  ]);
  expect(await lineOf('/scim/v2/Users', bearer('good-text'))).toEqual([200, 'token:good', undefined]);
  expect(await lineOf('/api/users', bearer(TRAVEL_API_KEY))).toEqual([200, 'apiKey:environment', undefined]);
  expect(await lineOf('/api/users', bearer('k1-text'))).toEqual([200, 'apiKey:k1', undefined]);
  const { scim, travel } = clients;
  expect(await lineOf('/scim/v2/Users', bearer('ended-text'))).toEqual([
    ...[401, `oauth:${scim.id}`, 'expired credential'],
  ]);
  const access = await scim.token();
  expect(await lineOf('/scim/v2/Users', bearer(access))).toEqual([200, `oauth:${scim.id}`, undefined]);
  expect(await lineOf('/api/users', bearer(access))).toEqual([
    ...[401, `oauth:${scim.id}`, 'credential of another service'],
  ]);
  expect(await lineOf('/api/users', bearer(await travel.token()))).toEqual([
    200,
    `oauth:${travel.id}`,
    undefined,
  ]);
  const text = JSON.stringify(lines);
  for (const secret of [SCIM_TOKEN, TRAVEL_API_KEY, access, scim.secret, '-text'])
    expect(text).not.toContain(secret);
});

test('the log line of a token request names the client, or the reason for the refusal', async () => {
  const ask = (form: Record<string, string>) =>
    lineOf('/oauth/token', { method: 'POST', body: new URLSearchParams(form) });
  const grant = { grant_type: 'client_credentials' };
  const { id, secret } = clients.scim;
  expect(await ask({ ...grant, client_id: id, client_secret: secret })).toEqual([
    200,
    `oauth:${id}`,
    undefined,
  ]);
  expect(await ask({ ...grant, client_id: id, client_secret: 'x' })).toEqual([
    ...[401, undefined, `wrong secret of oauth:${id}`],
  ]);
  expect(await ask({ ...grant, client_id: 'x', client_secret: 'x' })).toEqual([
    ...[401, undefined, 'unknown or revoked client'],
  ]);
  expect(await ask(grant)).toEqual([401, undefined, 'no credential']);
});

describe('the log says', () => {
  let reader: { id: string; token: string };
  beforeAll(async () => {
    const password = (await service.makeFirstAdmin()) ?? '';
    const browser = await signIn(adminClient(service.url), 'admin', password);
    const made = await browser('POST', '/admin-tokens', { body: { name: 'report', role: 'viewer' } });
    reader = made.body;
  });

  test('whose request the role does not allow', async () => {
    const sent = { method: 'POST', body: '{"name":"Eve","role":"admin"}' };
    const headers = { ...bearer(reader.token).headers, 'Content-Type': 'application/json' };
    expect(await lineOf('/admin/api/admin-tokens', { ...sent, headers })).toEqual([
      ...[403, `admin:${reader.id}`, undefined],
    ]);
  });

  test('who has read which person on the admin page, without a name', async () => {
    const { body } = await scimClient(service.url, SCIM_TOKEN).send('POST', '/Users', { userName: 'grace' });
    const path = `/admin/api/people/default/${body.id}`;
    expect(await lineOf(path, bearer(reader.token))).toEqual([200, `admin:${reader.id}`, undefined]);
    const line = lines.find((one) => one['path'] === path);
    expect(line).toMatchObject({ method: 'GET', credential: `admin:${reader.id}`, address: '127.0.0.1' });
    expect(JSON.stringify(line)).not.toContain('grace');
  });
});
