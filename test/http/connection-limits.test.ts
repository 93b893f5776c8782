import { connectionLimits } from '../../src/http/connection-limits.ts';
import { oauthClient } from '../fixtures/oauth-client.ts';
import { type RunningService, startService } from '../fixtures/service.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const OFFICE = '203.0.113.7';
const OTHER = '198.51.100.9';
const tokens = {
  open: 'the-token-of-open-0001',
  fenced: 'the-token-of-fenced-0002',
  limited: 'the-token-of-limited-0003',
};

/** The service behind a local proxy that sends the client's address. */
let service: RunningService;
let settings: { path: string; remove(): void };
let environment: Record<string, string>;
beforeAll(async () => {
  settings = writeSettingsFile(
    { adminPage: { allowFrom: ['203.0.113.0/24', '2001:db8:1::/48'] } },
    {
      open: { scimTokenEnv: 'OPEN_TOKEN' },
      fenced: { scimTokenEnv: 'FENCED_TOKEN', allowFrom: ['203.0.113.0/28', '2001:db8::7'] },
      limited: { scimTokenEnv: 'LIMITED_TOKEN', requestsPerSecond: 3 },
    },
  );
  environment = {
    ...{ OPEN_TOKEN: tokens.open, FENCED_TOKEN: tokens.fenced, LIMITED_TOKEN: tokens.limited },
    ...{ JETBRIDGE_CONFIG: settings.path, TRUSTED_PROXIES: 'loopback' },
  };
  service = await startService(environment, { background: false });
});
afterAll(async () => {
  await service.close();
  settings.remove();
});

async function send(
  path: string,
  { token, from, form }: { token?: string; from?: string; form?: Record<string, string> },
) {
  const response = await fetch(`${service.url}${path}`, {
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(from === undefined ? {} : { 'X-Forwarded-For': from }),
    },
    redirect: 'manual',
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const read = (token: string, from: string) => send('/scim/v2/Users', { token, from });

test.each([
  ['203.0.113.7', 200],
  ['::ffff:203.0.113.7', 200],
  ['::ffff:cb00:7107', 200],
  ['203.0.113.16', 403],
  ['2001:db8::7', 200],
  ['2001:0db8:0:0::0007', 200],
  ['2001:db8::8', 403],
  // The last address that is no proxy's decides: a client can put any other before it.
  [`${OFFICE}, ${OTHER}`, 403],
  [`${OTHER}, ${OFFICE}`, 200],
  ['not an address', 403],
])('allowFrom: a request from %s is answered %i', async (from, status) => {
  expect((await read(tokens.fenced, from)).status).toBe(status);
});

test('a request from another address is told so, in the form of SCIM; other connections are open to it', async () => {
  const { status, text } = await read(tokens.fenced, OTHER);
  expect(status).toBe(403);
  expect(JSON.parse(text)).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: '403',
    detail: `This connection does not accept requests from ${OTHER}.`,
  });
  expect((await read(tokens.open, OTHER)).status).toBe(200);
});

test('an invalid token is answered 401 from every address', async () => {
  for (const from of [OFFICE, OTHER]) expect((await read('scim_unknown', from)).status).toBe(401);
});

test('allowFrom holds for the OAuth clients of the connection, and for their access tokens', async () => {
  const { id, secret } = await oauthClient(service, { connection: 'fenced' }, environment);
  const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
  const refused = await send('/oauth/token', { form, from: OTHER });
  expect([refused.status, JSON.parse(refused.text)]).toEqual([
    403,
    {
      error: 'unauthorized_client',
      error_description: `The connection of this client does not accept requests from ${OTHER}.`,
    },
  ]);
  const { access_token: token } = JSON.parse((await send('/oauth/token', { form, from: OFFICE })).text);
  expect((await read(token, OFFICE)).status).toBe(200);
  expect((await read(token, OTHER)).status).toBe(403);
});

test.each([
  '/admin',
  '/admin/api/session',
  '/admin/api/sign-in',
  '/admin/api/openapi.json',
  '/admin/api/nothing',
])('adminPage.allowFrom: %s is closed to other addresses, and open to those that are named', async (path) => {
  const { status, text } = await send(path, { from: OTHER });
  expect([status, JSON.parse(text)]).toEqual([
    403,
    {
      code: 'forbidden',
      message: `The admin page does not accept requests from ${OTHER}: adminPage.allowFrom does not name it.`,
    },
  ]);
  for (const from of [OFFICE, '2001:db8:1::9']) expect((await send(path, { from })).status).not.toBe(403);
});

test('adminPage.allowFrom leaves SCIM, the travel service and probes open', async () => {
  expect((await read(tokens.open, OTHER)).status).toBe(200);
  expect((await send('/api/whoami', { from: OTHER })).status).toBe(401);
  expect((await send('/healthz', { from: OTHER })).status).toBe(200);
});

test('requests beyond requestsPerSecond are answered 429 in the form of SCIM, and other connections go on', async () => {
  const sent = await Promise.all(
    Array.from({ length: 30 }, () => send('/scim/v2/Users?count=0', { token: tokens.limited })),
  );
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200, 429]));
  const refused = sent.find(({ status }) => status === 429);
  expect(refused?.headers.get('retry-after')).toBe('1');
  expect(JSON.parse(refused?.text ?? '')).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: '429',
    detail: 'This connection has sent too many requests in a second; try again.',
  });
  expect((await read(tokens.open, OTHER)).status).toBe(200);
});

describe('requestsPerSecond', () => {
  let time = 0;
  let allowed: { requestsPerSecond?: number | undefined };
  const limits = connectionLimits(
    (id) => (id === 'one' ? allowed : {}),
    () => time,
  );
  const send = (count: number, id = 'one') =>
    Array.from({ length: count }, () => limits.countRequest(id)).filter((wait) => wait === undefined).length;

  test('no second has more answered requests than the limit, however they are spread', () => {
    allowed = { requestsPerSecond: 5 };
    time = 0;
    expect([send(3), send(4)]).toEqual([3, 2]);
    time = 999;
    expect(send(4)).toBe(0);
    time = 1_000;
    expect(send(9)).toBe(5);
    time = 1_600;
    expect(send(9)).toBe(0);
    time = 2_000;
    expect(send(2)).toBe(2);
    time = 2_900;
    expect(send(9)).toBe(3);
    time = 3_000;
    expect(send(9)).toBe(2);
  });

  test('a refused request is not counted, and can be repeated after the seconds of Retry-After', () => {
    allowed = { requestsPerSecond: 1 };
    time = 10_000;
    expect(limits.countRequest('one')).toBeUndefined();
    for (let sent = 0; sent < 50; sent += 1) expect(limits.countRequest('one')).toBe(1);
    time = 11_000;
    expect(limits.countRequest('one')).toBeUndefined();
  });

  test('a changed limit holds from the next request on, and other connections have none', () => {
    allowed = { requestsPerSecond: 2 };
    time = 20_000;
    expect(send(5)).toBe(2);
    allowed = { requestsPerSecond: 4 };
    expect(send(9)).toBe(4);
    allowed = {};
    expect(send(9)).toBe(9);
    expect(send(1_000, 'other')).toBe(1_000);
  });
});
