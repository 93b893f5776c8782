import { Client } from 'pg';
import { type AdminClient, adminClient, signIn } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type OpenidProvider, openidProvider } from '../fixtures/openid-provider.ts';
import { type PostgresServer, startPostgres } from '../fixtures/postgres.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';
import { KEY } from '../fixtures/test-database.ts';

/** Two replicas on one PostgreSQL database, an issuer, and an admin at the first replica. */
let postgres: PostgresServer;
let replicas: [RunningService, RunningService];
let issuer: OpenidProvider;
let admin: AdminClient;
beforeAll(async () => {
  postgres = await startPostgres();
  const client = new Client({ connectionString: postgres.url('postgres') });
  await client.connect();
  await client.query('create database jetbridge');
  await client.end();
  issuer = await openidProvider();
  const settings = writeSettingsFile({ oauthClients: { allowPrivate: true } });
  const environment = {
    ...{ DATABASE_URL: postgres.url('jetbridge'), JETBRIDGE_KEY: KEY, JETBRIDGE_CONFIG: settings.path },
    SCIM_TOKEN: 'the-token-of-the-environment',
  };
  const first = await startService(environment);
  const password = (await first.makeFirstAdmin()) ?? '';
  replicas = [first, await startService(environment)];
  settings.remove();
  admin = await signIn(adminClient(first.url), 'admin', password);
  expect((await admin('POST', '/connections', { body: { name: 'entra' } })).status).toBe(204);
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await issuer.close();
  await postgres.close();
});

const read = async ({ url }: RunningService, token: string) =>
  (await fetch(`${url}/scim/v2/Users?count=0`, { headers: { Authorization: `Bearer ${token}` } })).status;

const accessToken = async ({ url }: RunningService, form: Record<string, string>): Promise<string> => {
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...form });
  return Object(await (await fetch(`${url}/oauth/token`, { method: 'POST', body })).json()).access_token;
};

test('a connection has several active secrets; one that is revoked on a replica is refused by the other at once, with its access tokens', async () => {
  const [first, second] = replicas;
  const clientOf = async (name: string) => {
    const { body } = await admin('POST', '/oauth-clients', { body: { name, connection: 'default' } });
    const form = { client_id: body.clientId, client_secret: body.clientSecret };
    return { id: body.clientId, form, token: await accessToken(second, form) };
  };
  const bearerOf = async (name: string) =>
    (await admin('POST', '/tokens', { body: { name, connection: 'default' } })).body;
  const [old, next] = [await clientOf('old'), await clientOf('next')];
  const [oldBearer, nextBearer] = [await bearerOf('old'), await bearerOf('next')];
  for (const replica of [first, second])
    for (const token of [old.token, next.token, oldBearer.token, nextBearer.token])
      expect(await read(replica, token)).toBe(200);
  expect((await admin('DELETE', `/oauth-clients/${old.id}`)).status).toBe(204);
  expect((await admin('DELETE', `/tokens/${oldBearer.id}`)).status).toBe(204);
  for (const replica of [second, first]) {
    for (const token of [old.token, oldBearer.token]) expect(await read(replica, token)).toBe(401);
    for (const token of [next.token, nextBearer.token]) expect(await read(replica, token)).toBe(200);
    expect(await accessToken(replica, old.form)).toBeUndefined();
    expect(await accessToken(replica, next.form)).toEqual(expect.any(String));
  }
});

test('a workload that an admin trusts on one replica is let in by the other; when its entry is removed, its tokens end there too', async () => {
  const [, second] = replicas;
  const workload = { issuer: issuer.issuer, subject: 'workload', audience: 'api://jetbridge' };
  const change = async (federation: object[] | null) =>
    expect((await admin('PATCH', '/connections/entra/access', { body: { federation } })).status).toBe(204);
  const form = async () => ({
    client_id: 'entra',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await issuer.token('', { sub: workload.subject, aud: workload.audience }),
  });
  await change([workload]);
  const token = await eventually(async () => {
    const got = await accessToken(second, await form());
    expect(got).toEqual(expect.any(String));
    return got;
  });
  for (const replica of replicas) expect(await read(replica, token)).toBe(200);
  await change(null);
  expect(await read(replicas[0], token)).toBe(401);
  await eventually(async () => expect(await read(second, token)).toBe(401));
  expect(await accessToken(second, await form())).toBeUndefined();
});
