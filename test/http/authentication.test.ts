import { randomUUID } from 'node:crypto';
import { createFailureLimit } from '../../src/http/authentication.ts';
import { oauthClient } from '../fixtures/oauth-client.ts';
import { rawExchange, requestText } from '../fixtures/raw-http.ts';
import { type RunningService, startService } from '../fixtures/service.ts';

/** The service behind a local proxy that sends the client's address. */
let service: RunningService;
let clients = 0;
/** An address that no other test uses. */
let address: string;
beforeAll(async () => {
  service = await startService({ TRUSTED_PROXIES: 'loopback' }, { background: false });
});
afterAll(() => service.close());
beforeEach(() => {
  clients += 1;
  address = `203.0.113.${clients}`;
});

interface Sent {
  path?: string;
  token?: string | undefined;
  from?: string;
  form?: Record<string, string>;
}

async function send({ path = '/scim/v2/Users', token, from = address, form }: Sent): Promise<Response> {
  const headers = {
    'X-Forwarded-For': from,
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  const body = form && { method: 'POST', body: new URLSearchParams(form) };
  return fetch(`${service.url}${path}`, { headers, ...body });
}

/** The most requests that a socket may send without reading the responses. */
const PIPELINED = 32;

/** Sends a request several times and expects the same status each time. */
async function fail(times: number, sent: () => Sent, status = 401): Promise<void> {
  for (let left = times; left > 0; left -= PIPELINED) {
    const count = Math.min(left, PIPELINED);
    const texts = Array.from({ length: count }, (_, at) => textOf(sent(), at === count - 1));
    const answers = await rawExchange(Number(new URL(service.url).port), texts.join(''));
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, found]) => Number(found));
    expect(statuses).toEqual(Array(count).fill(status));
  }
}

function textOf({ path = '/scim/v2/Users', token, from = address, form }: Sent, isLast: boolean): string {
  const headers = {
    Connection: isLast ? 'close' : 'keep-alive',
    'X-Forwarded-For': from,
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(form ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {}),
  };
  const method = form ? 'POST' : 'GET';
  return requestText({ method, target: path, headers, body: String(new URLSearchParams(form)) });
}

const wrong = () => ({ token: `scim_${randomUUID()}` });
const grant = { grant_type: 'client_credentials' };
const guess = () => ({
  path: '/oauth/token',
  form: { ...grant, client_id: randomUUID(), client_secret: 'a-guess' },
});

function expectRetryAfter({ headers }: Response): void {
  const seconds = Number(headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
}

test('SCIM answers 429 after 100 failures of an address, and serves a valid token from there', async () => {
  await fail(100, wrong);
  for (const token of [wrong().token, undefined]) {
    const refused = await send({ token });
    expect([refused.status, Object(await refused.json())]).toEqual([
      429,
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: '429',
        detail: expect.stringContaining('Too many requests without a valid bearer token'),
      },
    ]);
    expectRetryAfter(refused);
  }
  expect((await send({ token: service.scimToken })).status).toBe(200);
  expect((await send(wrong())).status).toBe(429);
});

test('the travel API answers 429 without a body after 100 failures, and serves a valid key from there', async () => {
  const path = '/api/whoami';
  await fail(100, () => ({ path }));
  const refused = await send({ path, ...wrong() });
  expect([refused.status, await refused.text()]).toEqual([429, '']);
  expectRetryAfter(refused);
  expect((await send({ path, token: service.travelApiKey })).status).toBe(200);
});

test('the headers of the rate limit say how many more failures are allowed, and until when', async () => {
  for (const asked of [wrong(), { path: '/api/users', ...wrong() }, guess()]) {
    const { headers } = await send(asked);
    expect(headers.get('ratelimit-policy')).toBe('"failures";q=100;w=60');
  }
  const { headers } = await send({ path: '/api/users' });
  expect(headers.get('ratelimit')).toMatch(/^"failures";r=96;t=([1-5]?\d|60)$/);
  await fail(96, wrong);
  const refused = await send({ path: '/api/users' });
  expect(refused.headers.get('ratelimit')).toBe(`"failures";r=0;t=${refused.headers.get('retry-after')}`);
  const served = await send({ path: '/api/whoami', token: service.travelApiKey });
  expect([served.status, served.headers.get('ratelimit')]).toEqual([200, null]);
});

test('another client id at /oauth/token does not evade the limit, and a client with the right secret is served', async () => {
  const [one, other] = [
    await oauthClient(service, { connection: 'default' }),
    await oauthClient(service, { connection: 'default' }),
  ];
  const asked = (client_id: string, client_secret: string) => ({
    path: '/oauth/token',
    form: { ...grant, client_id, client_secret },
  });
  await fail(60, guess);
  await fail(40, () => asked(one.id, 'wrong'));
  const refused = await send(guess());
  expect([refused.status, Object(await refused.json()).error]).toEqual([429, 'invalid_request']);
  expectRetryAfter(refused);
  expect((await send(asked(one.id, 'wrong'))).status).toBe(429);
  expect((await send(asked(other.id, other.secret))).status).toBe(200);
  expect((await send(asked(one.id, one.secret))).status).toBe(200);
  // An error of an authenticated client does not count as a failure.
  const wish = { ...asked(one.id, one.secret).form, grant_type: 'password' };
  expect((await send({ path: '/oauth/token', form: wish })).status).toBe(400);
});

test('all services share the failure count of an address, and other addresses are not affected', async () => {
  await fail(40, wrong);
  await fail(40, () => ({ ...wrong(), path: '/api/users' }));
  await fail(20, guess);
  for (const sent of [wrong(), { path: '/api/users' }, guess()]) expect((await send(sent)).status).toBe(429);
  expect((await send({ ...wrong(), from: '198.51.100.7' })).status).toBe(401);
});

test('valid requests never count as failures', async () => {
  await fail(101, () => ({ token: service.scimToken }), 200);
  expect((await send(wrong())).status).toBe(401);
});

test('an IPv6 /64 network is one address, and an IPv4 address is one in each of its forms', async () => {
  let host = 0;
  await fail(100, () => {
    host += 1;
    return { ...wrong(), from: `2001:db8:1:2:${host.toString(16)}::${host}` };
  });
  expect((await send({ ...wrong(), from: '2001:db8:1:2:ffff::1' })).status).toBe(429);
  expect((await send({ ...wrong(), from: '[2001:db8:1:2::1]:443' })).status).toBe(429);
  expect((await send({ ...wrong(), from: '2001:db8:1:3::1' })).status).toBe(401);
  await fail(50, wrong);
  await fail(50, () => ({ ...wrong(), from: `::ffff:${address}` }));
  expect((await send({ ...wrong(), from: `${address}:50123` })).status).toBe(429);
});

test('addresses that a client adds to X-Forwarded-For do not evade the limit', async () => {
  let n = 0;
  await fail(100, () => {
    n += 1;
    return { ...wrong(), from: `198.51.100.${n}, ${address}` };
  });
  expect((await send({ ...wrong(), from: `192.0.2.1, ${address}` })).status).toBe(429);
});

test('X-Forwarded-For of an untrusted peer is ignored', async () => {
  const direct = await startService({}, { background: false });
  try {
    const status = async (from: string) =>
      (await fetch(`${direct.url}/scim/v2/Users`, { headers: { 'X-Forwarded-For': from } })).status;
    for (let n = 0; n < 100; n += 1) expect(await status(`198.51.100.${n}`)).toBe(401);
    expect(await status('203.0.113.200')).toBe(429);
  } finally {
    await direct.close();
  }
});

test('the limit ends a minute after the first failure, as Retry-After says', () => {
  let time = 0;
  const limit = createFailureLimit(() => time);
  for (let n = 0; n < 100; n += 1) expect(limit('a')).toBeUndefined();
  time = 500;
  expect(limit('a')).toBe(60);
  time = 59_999;
  expect([limit('a'), limit('b')]).toEqual([1, undefined]);
  time = 60_000;
  for (let n = 0; n < 100; n += 1) expect(limit('a')).toBeUndefined();
  expect(limit('a')).toBe(60);
});

test('at most 10,000 addresses are remembered', () => {
  const limit = createFailureLimit(() => 0);
  for (let n = 0; n <= 100; n += 1) limit('first');
  for (let n = 0; n < 9_999; n += 1) limit(`10.0.${n >> 8}.${n & 255}`);
  expect(limit('first')).toBe(60);
  limit('192.0.2.1');
  expect(limit('first')).toBeUndefined();
});
