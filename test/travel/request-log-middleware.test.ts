import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import request from 'supertest';
import { KEY, type RecordingFixture, recordingFixture } from '../fixtures/recording-travel.ts';

let fixture: RecordingFixture;
beforeEach(async () => {
  fixture = await recordingFixture();
});
afterEach(() => fixture.close());

const NOON = Date.UTC(2026, 10, 20, 10);

test('a request is recorded with all its details', async () => {
  const sent = '{"data": {"firstName": "Ada"}}';
  const path = `/api/users/${fixture.admin}`;
  const answer = await fixture
    .send('patch', path)
    .set('Content-Type', 'application/json')
    .set('X-Request-Id', 'case-17')
    .send(sent);
  expect(answer.status).toBe(200);
  expect(await fixture.recorded()).toEqual([
    {
      position: '1',
      direction: 'api',
      connection: undefined,
      person: undefined,
      at: NOON,
      ms: 0,
      method: 'PATCH',
      path,
      status: 200,
      error: undefined,
      userId: fixture.admin,
      credential: 'apiKey:k1',
      requestId: 'case-17',
      requestHeaders: {},
      responseHeaders: {},
      requestBody: { text: sent, isCut: false },
      responseBody: { text: answer.text, isCut: false },
    },
  ]);
});

test('a read is recorded without its response, which can be read from the API', async () => {
  const answer = await fixture.send('get', '/api/whoami');
  const [row] = await fixture.recorded();
  expect([row?.requestBody, row?.responseBody]).toEqual([undefined, undefined]);
  expect(row?.requestId).toBe(answer.headers['x-request-id']);
});

test('a request without a valid credential is recorded without a user', async () => {
  await request(fixture.app).get('/api/users').expect(401);
  await request(fixture.app).delete('/api/users/a').set('Authorization', 'Bearer wrong').expect(401);
  const rows = await fixture.recorded();
  expect(
    rows.map(({ method, path, status, userId, credential }) => [method, path, status, userId, credential]),
  ).toEqual([
    ['DELETE', '/api/users/a', 401, undefined, undefined],
    ['GET', '/api/users', 401, undefined, undefined],
  ]);
});

test('reads of the bridge are recorded without the response, which would fill the log; its writes and failures completely', async () => {
  const path = `/api/users/${fixture.admin}`;
  await fixture.bridge('get', path).expect(200);
  await fixture.bridge('get', '/api/nothing').expect(404);
  await fixture.bridge('patch', path).send({ data: { firstName: 'Ada' } });
  const rows = await fixture.recorded();
  expect(
    rows.map((row) => [row.credential, row.path, row.requestBody?.text, row.responseBody !== undefined]),
  ).toEqual([
    ['bridge', path, '{"data":{"firstName":"Ada"}}', true],
    ['bridge', '/api/nothing', undefined, true],
    ['bridge', path, undefined, false],
  ]);
});

test('the pages that the bridge reads again and again are not recorded, but those of others, its failures and its searches', async () => {
  await fixture.bridge('get', '/api/events?limit=1').expect(200);
  await fixture.bridge('get', '/api/users?limit=100&offset=0').expect(200);
  await fixture.bridge('get', '/api/users?limit=100&emails=ada@corp.example').expect(200);
  await fixture.bridge('get', '/api/events?limit=0').expect(400);
  await fixture.send('get', '/api/events?limit=1');
  expect((await fixture.recorded()).map(({ credential, path }) => [credential, path])).toEqual([
    [expect.stringMatching(/^apiKey:/), '/api/events?limit=1'],
    ['bridge', '/api/events?limit=0'],
    ['bridge', '/api/users?limit=100&emails=ada@corp.example'],
  ]);
});

test('a path is truncated at 200 characters without authentication, and kept whole with it', async () => {
  const path = `/api/users?after=${'x'.repeat(10_000)}`;
  await fixture.send('get', path);
  await request(fixture.app).get(path).expect(401);
  const rows = await fixture.recorded();
  expect(rows.map((row) => row.path)).toEqual([`${path.slice(0, 199)}…`, path]);
});

test('a secret in a path is redacted even if the path is truncated', async () => {
  await request(fixture.app).get(
    `/api/users?${'x'.repeat(170)}&token=${'hush'.repeat(20)}&b=${'y'.repeat(300)}`,
  );
  expect(JSON.stringify(await fixture.recorded())).not.toContain('hush');
});

test('unauthenticated requests from one address write at most two hundred entries and a summary each minute', async () => {
  const server = createServer(fixture.app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/users`;
  for (let n = 0; n < 230; n += 1) {
    const answer = await fetch(url, { headers: { 'X-Request-Id': `n-${n}` } });
    await answer.arrayBuffer();
  }
  expect((await fetch(url, { headers: { Authorization: `Bearer ${KEY}` } })).status).toBe(200);
  server.closeAllConnections();
  server.close();
  const rows = await fixture.recorded();
  const strangers = rows.filter(({ userId }) => userId === undefined);
  expect(rows).toHaveLength(202);
  expect(strangers.filter(({ path, status }) => path === '/api/users' && status === 401)).toHaveLength(200);
  expect(strangers.find(({ path }) => path !== '/api/users')).toMatchObject({
    path: '(30 more requests without a credential)',
    status: 401,
  });
});

test('requests for unknown paths, unsupported methods and malformed paths are recorded', async () => {
  await fixture.send('get', '/api/nothing').expect(404);
  await fixture.send('delete', '/api/whoami').expect(403);
  await fixture.send('get', '/api/users/%E0%A4%A').expect(400);
  await fixture.send('get', '/api/users?limit=x').expect(400);
  const rows = await fixture.recorded();
  expect(rows.map(({ path, status }) => `${status} ${path}`)).toEqual([
    '400 /api/users?limit=x',
    '400 /api/users/%E0%A4%A',
    '403 /api/whoami',
    '404 /api/nothing',
  ]);
  for (const row of rows) expect(JSON.parse(row.responseBody?.text ?? '')).toHaveProperty('code');
});

test.each([
  ['no JSON', '{"data": {"firstName": ', 'application/json', 400, '{"data": {"firstName": '],
  ['another media type', 'firstName=Ada', 'text/plain', 415, undefined],
  [
    'larger than 1 MB',
    `{"data":{"firstName":"${'x'.repeat(1_100_000)}"}}`,
    'application/json',
    413,
    undefined,
  ],
])('a body that is %s is recorded as far as it was read', async (_title, body, type, status, kept) => {
  await fixture.send('post', '/api/users').set('Content-Type', type).send(body).expect(status);
  const [row] = await fixture.recorded();
  expect([row?.status, row?.requestBody?.text]).toEqual([status, kept]);
});

test('the duration is recorded, and a client that disconnects early has status 499', async () => {
  const server = createServer(fixture.app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gate = fixture.holdAuthentication();
  const arrived = once(server, 'request');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(`GET /api/users HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
  const [, response] = await arrived;
  const closed = once(response, 'close');
  fixture.advanceClock(1_234);
  client.destroy();
  await closed;
  gate.goOn();
  const rows = await fixture.recorded();
  expect(rows.map(({ status, ms, at }) => [status, ms, at])).toEqual([[499, 1_234, NOON]]);
  server.close();
});

test('a long body is truncated at 64,000 bytes, between two characters, and marked', async () => {
  const firstName = 'é'.repeat(100_000);
  await fixture.send('post', '/api/users').send({ data: { email: 'a@example.com', firstName } });
  const [row] = await fixture.recorded();
  const body = row?.requestBody;
  expect(body?.isCut).toBe(true);
  expect(Buffer.byteLength(body?.text ?? '')).toBeGreaterThan(63_996);
  expect(Buffer.byteLength(body?.text ?? '')).toBeLessThanOrEqual(64_000);
  expect(body?.text).toMatch(/^\{"data":\{"email":"a@example.com","firstName":"é+$/);
});

describe('no secret is recorded:', () => {
  const whole = async () => JSON.stringify(await fixture.recorded());

  test('the credential is not recorded', async () => {
    await fixture.send('get', '/api/whoami');
    await request(fixture.app).get('/api/whoami').set('Authorization', 'Bearer hush-hush');
    expect(await whole()).not.toMatch(/the-key-that-nobody-may-read|hush/);
  });

  test('not in a body, nor in a response that repeats it', async () => {
    const answer = await fixture.send('post', '/api/users').send({
      data: { email: 'a@example.com', secret: 'hush-1', apiKey: ['hush-2'], x: [{ PassWord: 'hush-3' }] },
    });
    expect(answer.text).toContain('hush');
    const text = await whole();
    expect(text).not.toContain('hush');
    expect(text).toContain('a@example.com');
  });

  test('not in a body whose names contain escape sequences', async () => {
    await fixture
      .send('post', '/api/users')
      .set('Content-Type', 'application/json')
      .send('{"data":{"se\\u0063ret":"hush"}}');
    expect(await whole()).not.toContain('hush');
  });

  test('not in a malformed body', async () => {
    await fixture
      .send('post', '/api/users')
      .set('Content-Type', 'application/json')
      .send('{"data":{"secret":"hush"')
      .expect(400);
    const text = await whole();
    expect(text).not.toContain('hush');
    expect(text).toContain('left out');
  });

  test('not in a body in another encoding', async () => {
    const body = Buffer.from('{"data":{"secret":"hush"}}', 'utf16le');
    await fixture
      .send('post', '/api/users')
      .set('Content-Type', 'application/json; charset=utf-16le')
      .serialize(() => body as unknown as string)
      .send(body);
    const [row] = await fixture.recorded();
    expect(row?.requestBody).toEqual({ text: `(left out: ${body.length} bytes of utf-16le)`, isCut: false });
  });

  test('not in a query', async () => {
    await fixture.send('get', '/api/whoami?a=1&access_token=hush&api%4Bey=hush&b=2');
    const [row] = await fixture.recorded();
    expect(row?.path).toBe('/api/whoami?a=1&access_token=*&api%4Bey=*&b=2');
  });
});
