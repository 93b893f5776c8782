import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { defaultPolicies, type Policies } from '../../src/model/policies.ts';
import { describePolicies } from '../../src/operations/connections/policy-texts.ts';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';
import { eventually } from '../fixtures/eventually.ts';

let fixture: AdminFixture;
const logLines: string[] = [];
beforeAll(async () => {
  const log = pino({ level: 'trace' }, { write: (line: string) => void logLines.push(line) });
  fixture = await startAdmin({ LOG_LEVEL: 'trace' }, { log });
});
afterAll(() => fixture.close());

function policyTexts(policies: Policies): string[] {
  return describePolicies(policies).map(({ text }) => text);
}

/** Sends a SCIM request like an identity provider. */
async function scim(authorization: string | undefined, path = '/Users?count=2'): Promise<number> {
  const headers: Record<string, string> = { 'User-Agent': 'Okta SCIM Client 1.0.0' };
  if (authorization !== undefined) headers['Authorization'] = authorization;
  return (await fetch(`${fixture.service.url}/scim/v2${path}`, { headers })).status;
}

async function createToken(body: object = {}): Promise<{ id: string; token: string }> {
  const created = await fixture.admin('POST', '/tokens', {
    body: { connection: 'default', name: 'okta', ...body },
  });
  expect(created.status).toBe(200);
  return created.body;
}

async function createClient(body: object = {}) {
  return fixture.admin('POST', '/oauth-clients', { body: { connection: 'default', name: 'entra', ...body } });
}

/** Returns the status and the token of a client with a secret. */
async function requestToken(id: string, secret: string): Promise<[number, string]> {
  const body = new URLSearchParams({
    ...{ grant_type: 'client_credentials', client_id: id, client_secret: secret },
  });
  const response = await fetch(`${fixture.service.url}/oauth/token`, { method: 'POST', body });
  const { access_token: token } = Object(await response.json());
  return [response.status, String(token)];
}

/** Returns one token or client of a list. */
async function listed(list: 'tokens' | 'oauth-clients', id: string) {
  const { body } = await fixture.viewer('GET', `/${list}`);
  return Object.values<{ id: string }[]>(body)
    .flat()
    .find((item) => item.id === id);
}

/** Waits until the newest recent attempts fulfil the expectations. */
function attempts(expected: object[], query = ''): Promise<void> {
  return eventually(async () => {
    const { body } = await fixture.viewer('GET', `/recent-attempts?connection=default${query}`);
    expect(body).toMatchObject({ isLogged: true });
    expect(body.attempts.slice(0, expected.length)).toMatchObject(expected);
  });
}

test('a connection is listed with the URLs that the caller uses', async () => {
  const { status, body } = await fixture.viewer('GET', '/connections');
  expect([status, body]).toEqual([
    200,
    {
      connections: [
        {
          id: 'default',
          source: 'file',
          scimUrl: `${fixture.service.url}/scim/v2`,
          travelApi: 'embedded',
          hasEnvironmentToken: false,
        },
      ],
      unserved: [],
      tokenEndpoint: `${fixture.service.url}/oauth/token`,
    },
  ]);
});

test('each policy that differs from the default is said in words', () => {
  const texts = policyTexts({
    deprovision: 'delete',
    drift: 'correct',
    safetyValve: undefined,
  });
  expect(texts.filter((text) => policyTexts(defaultPolicies).includes(text))).toEqual([]);
  expect(texts).toContain('Any number of people may leave at once.');
  expect(policyTexts(defaultPolicies)).toContain(
    'When more than 20 people and more than 5 % of all leave within 60 minutes, the others wait for an admin.',
  );
  const smallest = { share: 0, minimum: 1, windowMs: 60_000 };
  expect(policyTexts({ ...defaultPolicies, safetyValve: smallest })).toContain(
    'When more than 1 person and more than 0 % of all leave within 1 minute, the others wait for an admin.',
  );
});

test('a token is shown once, opens its connection at once, and is refused after it is revoked', async () => {
  const { id, token } = await createToken({ days: 30 });
  expect(token).toMatch(/^scim_[\w-]{43}$/);
  expect(await scim(`Bearer ${token}`)).toBe(200);
  const found: Record<string, string> = Object(await listed('tokens', id));
  expect(found).toMatchObject({ id, name: 'okta', connection: 'default', state: 'active' });
  expect(Date.parse(found['expiresAt'] ?? '') - Date.parse(found['createdAt'] ?? '')).toBe(30 * 86_400_000);
  expect((await fixture.admin('DELETE', `/tokens/${id}`)).status).toBe(204);
  expect(await scim(`Bearer ${token}`)).toBe(401);
  expect(await listed('tokens', id)).toMatchObject({ state: 'revoked', revokedAt: expect.any(String) });
  expect((await fixture.admin('DELETE', `/tokens/${id}`)).body).toEqual({
    code: 'notFound',
    message: 'There is no such token, or it was revoked before.',
  });
});

test('a client with a secret gets a token, its last use is listed, and revoking it ends both', async () => {
  const { status, body } = await createClient();
  expect(status).toBe(200);
  const { clientId, clientSecret } = body;
  expect(await listed('oauth-clients', clientId)).toEqual({
    ...{ id: clientId, name: 'entra', connection: 'default', authentication: 'secret' },
    createdAt: expect.any(String),
  });
  const [asked, token] = await requestToken(clientId, clientSecret);
  expect(asked).toBe(200);
  expect(await scim(`Bearer ${token}`)).toBe(200);
  expect(await listed('oauth-clients', clientId)).toMatchObject({ lastUsedAt: expect.any(String) });
  expect((await fixture.admin('DELETE', `/oauth-clients/${clientId}`)).status).toBe(204);
  expect(await scim(`Bearer ${token}`)).toBe(401);
  expect((await requestToken(clientId, clientSecret))[0]).toBe(401);
  expect((await fixture.admin('DELETE', `/oauth-clients/${clientId}`)).status).toBe(404);
});

test('a client with public keys has no secret', async () => {
  const ofSet = await createClient({ jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] } });
  const ofUrl = await createClient({ jwksUri: 'https://idp.example.com/keys' });
  for (const { status, body } of [ofSet, ofUrl]) {
    expect([status, Object.keys(body)]).toEqual([200, ['clientId']]);
    expect(await listed('oauth-clients', body.clientId)).toMatchObject({ authentication: 'keys' });
  }
});

test.each<[string, string, object, string]>([
  ['tokens', 'connection', { connection: 'nosuch' }, 'is not in the settings, which have default'],
  ['tokens', 'name', { name: ' ' }, 'must not be empty'],
  ['oauth-clients', 'connection', { connection: 'nosuch' }, 'is not in the settings, which have default'],
  ['oauth-clients', 'jwks', { jwks: { keys: [] } }, 'is no JSON Web Key Set, an object with "keys"'],
  [
    'oauth-clients',
    'jwks',
    { jwks: { keys: [{ kty: 'EC', d: 'private' }] } },
    'has a private key; give the public ones',
  ],
  [
    'oauth-clients',
    'jwksUri',
    { jwksUri: 'http://idp.example.com/keys' },
    'must be an https URL, e.g. https://idp.example.com/keys',
  ],
  [
    'oauth-clients',
    'jwksUri',
    { jwks: { keys: [{ kty: 'EC' }] }, jwksUri: 'https://idp.example.com/keys' },
    'cannot be given together with jwks',
  ],
  ...[
    'http://127.0.0.1:9/keys',
    'https://localhost/keys',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://0xa9fea9fe/',
  ].map((jwksUri): [string, string, object, string] => [
    ...(['oauth-clients', 'jwksUri', { jwksUri }] as const),
    'leads to a private address, which the setting oauthClients.allowPrivate does not allow',
  ]),
])('%s: an invalid %s is named, and nothing is stored', async (list, field, body, message) => {
  const before = (await fixture.viewer('GET', `/${list}`)).body;
  const refused = await fixture.admin('POST', `/${list}`, {
    body: { connection: 'default', name: 'x', ...body },
  });
  expect([refused.status, refused.body.faults]).toEqual([422, [{ field, message }]]);
  expect((await fixture.viewer('GET', `/${list}`)).body).toEqual(before);
});

test('recent attempts are those of the connection and those without a valid token, with the reason', async () => {
  const { id, token } = await createToken();
  await scim(`Bearer ${token}`);
  const ofUser = { method: 'GET', path: '/scim/v2/Users?count=2', userAgent: 'Okta SCIM Client 1.0.0' };
  await attempts([{ ...ofUser, status: 200, connection: 'default' }]);
  await scim('Bearer scim_nosuch');
  await attempts([{ ...ofUser, status: 401, error: 'unknown credential' }, { status: 200 }]);
  await scim(undefined);
  await attempts([{ status: 401, error: 'no credential' }]);
  await fixture.admin('DELETE', `/tokens/${id}`);
  await scim(`Bearer ${token}`);
  await attempts([{ status: 401, error: 'revoked credential' }]);
  const all = (await fixture.viewer('GET', '/recent-attempts')).body.attempts;
  expect(new Set(all.map((attempt: { id: string }) => attempt.id)).size).toBe(all.length);
  expect(all).toContainEqual(expect.objectContaining({ status: 200, connection: 'default' }));
  const { body } = await fixture.viewer('GET', '/recent-attempts?connection=nosuch');
  expect(body.attempts.map(({ status }: { status: number }) => status)).not.toContain(200);
});

describe('a request for an access token', () => {
  const id = randomUUID();
  const refusals: [title: string, form: Record<string, string>, error: string, kept: object][] = [
    [
      'of an unknown client',
      { grant_type: 'client_credentials', client_id: id, client_secret: 'hush-1' },
      'unknown or revoked client',
      { grant_type: 'client_credentials', client_id: id, client_secret: '*' },
    ],
    [
      'with an assertion that nobody signed',
      {
        ...{ grant_type: 'client_credentials', client_assertion: 'hush-2' },
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      },
      'unknown or revoked client',
      { grant_type: 'client_credentials', client_assertion: '*' },
    ],
    [
      'with the secret in the wrong fields',
      { grant_type: 'hush-3', client_id: 'hush-4', scope: 'hush-5' },
      'unsupported_grant_type',
      { grant_type: '*', client_id: '*' },
    ],
    [
      'without a proof',
      { grant_type: 'client_credentials', client_id: id, password: 'hush-6' },
      'no credential',
      { grant_type: 'client_credentials', client_id: id },
    ],
  ];

  test.each(refusals)('%s is among the recent attempts, and in the log without secrets', async (...row) => {
    const [title, form, error, kept] = row;
    await fetch(`${fixture.service.url}/oauth/token?client_secret=hush-9`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { 'User-Agent': title },
    });
    await attempts([{ method: 'POST', path: '/oauth/token', error, userAgent: title }]);
    const { body } = await fixture.viewer('GET', '/exchanges?direction=oauth&limit=1');
    const detail = (await fixture.viewer('GET', `/exchanges/${body.exchanges[0].position}`)).body;
    expect(JSON.parse(detail.request.body.text)).toEqual(kept);
    expect(JSON.parse(detail.response.body.text)).toHaveProperty('error_description');
    expect(JSON.stringify(detail)).not.toContain('hush');
  });

  test('that is granted has the connection, and neither the token nor the secret', async () => {
    const { body: client } = await createClient();
    const [status, token] = await requestToken(client.clientId, client.clientSecret);
    expect(status).toBe(200);
    await attempts([{ path: '/oauth/token', status: 200, connection: 'default' }]);
    expect((await requestToken(client.clientId, token))[0]).toBe(401);
    await attempts([
      { path: '/oauth/token', status: 401, error: `wrong secret of oauth:${client.clientId}` },
    ]);
    const { body } = await fixture.viewer('GET', '/exchanges?direction=oauth&limit=2');
    const details = await Promise.all(
      body.exchanges.map(
        async ({ position }: { position: string }) =>
          (await fixture.viewer('GET', `/exchanges/${position}`)).body,
      ),
    );
    expect(details.map(({ request }) => JSON.parse(request.body.text))).toEqual(
      Array(2).fill({ grant_type: 'client_credentials', client_id: client.clientId, client_secret: '*' }),
    );
    for (const secret of [token, client.clientSecret]) expect(JSON.stringify(details)).not.toContain(secret);
  });
});

test('recent attempts begin at the given time', async () => {
  const { body: before } = await fixture.viewer('GET', '/recent-attempts?connection=default');
  const newest = Math.max(0, ...before.attempts.map(({ at }: { at: string }) => Date.parse(at)));
  const since = new Date(newest + 1).toISOString();
  const { body } = await fixture.viewer('GET', `/recent-attempts?connection=default&since=${since}`);
  expect(body).toEqual({ attempts: [], isLogged: true });
  expect((await fixture.viewer('GET', '/recent-attempts?connection=default&since=now')).status).toBe(422);
});

test('a secret is in no list, no audit entry and no log line', async () => {
  const { token } = await createToken({ name: 'secret token' });
  const { body: client } = await createClient({ name: 'secret client' });
  const [, accessToken] = await requestToken(client.clientId, client.clientSecret);
  for (const bearer of [token, accessToken, `${token}x`]) await scim(`Bearer ${bearer}`);
  await attempts([{ error: 'unknown credential' }]);
  const paths = [
    '/tokens',
    '/oauth-clients',
    '/audit',
    '/connections',
    '/recent-attempts?connection=default',
  ];
  const answers = await Promise.all(paths.map((path) => fixture.viewer('GET', path)));
  const texts = [JSON.stringify(answers.map(({ body }) => body)), logLines.join('')];
  expect(texts[0]).toContain('secret client');
  expect(texts[1]).toContain('unknown credential');
  for (const secret of [token, client.clientSecret, accessToken])
    for (const text of texts) expect(text).not.toContain(secret);
  const { body } = await fixture.viewer('GET', '/audit?action=createToken&limit=1');
  expect(body.entries[0].details).toMatchObject({ name: 'secret token', connection: 'default' });
});
