import request from 'supertest';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const whoami = (authorization?: string) => {
  const sent = request(fixture.app).get('/api/whoami');
  return authorization === undefined ? sent : sent.set('Authorization', authorization);
};

/** "A request without a valid credential gets 401 with an empty body (no JSON)." */
function expectRefused(answer: request.Response, challenge = 'Bearer'): void {
  expect(answer.status).toBe(401);
  expect(answer.text).toBe('');
  expect(answer.headers['content-type']).toBeUndefined();
  expect(answer.headers['www-authenticate']).toBe(challenge);
}

test('whoami returns the user of the credential', async () => {
  const answer = await whoami(`Bearer ${fixture.key}`);
  expect(answer.status).toBe(200);
  expect(answer.body.data).toMatchObject({
    id: fixture.admin,
    type: 'user',
    roles: ['admin'],
    archived: false,
  });
  expect(answer.body).toEqual((await fixture.send('get', `/users/${fixture.admin}`)).body);
});

test('whoami supports GET only', async () => {
  for (const method of ['post', 'put', 'patch', 'delete'] as const) {
    const answer = await fixture.send(method, '/whoami', { data: {} });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
  }
});

test('the authentication scheme is compared without case (RFC 9110 §11.1)', async () => {
  expect((await whoami(`bearer ${fixture.key}`)).status).toBe(200);
});

test.each([
  ['nothing', undefined],
  ['an empty header', ''],
  ['a scheme without a credential', 'Bearer'],
  ['a key with something behind it', 'Bearer travel_0000 x'],
])('%s is not a credential', async (_name, authorization) => {
  expectRefused(await whoami(authorization));
});

test('an unknown key is refused with error="invalid_token" (RFC 6750 §3.1)', async () => {
  expectRefused(await whoami('Bearer travel_0000'), 'Bearer error="invalid_token"');
});

test('a key is not accepted in another scheme or in the query', async () => {
  expectRefused(await whoami(`Basic ${fixture.key}`));
  expectRefused(await request(fixture.app).get(`/api/whoami?access_token=${fixture.key}`));
});

test('without a credential, responses do not reveal which paths and methods exist or whether a body is valid', async () => {
  const any = request(fixture.app);
  expectRefused(await any.get('/api/nothing'));
  expectRefused(await any.get('/api'));
  expectRefused(await any.delete('/api/users'));
  expectRefused(await any.get('/api/users/%E0%A4%A'));
  expectRefused(await any.post('/api/users').set('Content-Type', 'application/json').send('{"broken'));
});

test('a key acts only while its user is an active admin', async () => {
  const { id } = await fixture.make('/users', { email: 'second@example.com', roles: ['admin', 'manager'] });
  const key = await fixture.keyFor(id);
  const status = async () => (await whoami(`Bearer ${key}`)).status;
  expect(await status()).toBe(200);
  await fixture.send('patch', `/users/${id}`, { data: { archived: true } });
  expect(await status()).toBe(401);
  await fixture.send('patch', `/users/${id}`, { data: { archived: false } });
  expect(await status()).toBe(200);
  await fixture.send('patch', `/users/${id}`, { data: { roles: ['manager', 'authAdmin'] } });
  expect(await status()).toBe(401);
  await fixture.send('patch', `/users/${id}`, { data: { roles: ['admin'] } });
  expect(await status()).toBe(200);
  await fixture.send('delete', `/users/${id}`);
  expect(await status()).toBe(401);
});

test('with a credential, an unknown path is 404', async () => {
  for (const path of ['/nothing', '/', '/users/a/b', '/custom-fields/x/choices', '/users/a/options']) {
    const answer = await fixture.send('get', path);
    expect([answer.status, answer.body]).toEqual([404, { code: 'notFound', message: expect.any(String) }]);
  }
});

test('a path that cannot be decoded is 400', async () => {
  const answer = await fixture.send('get', '/users/%E0%A4%A');
  expect([answer.status, answer.body.code]).toEqual([400, 'badRequest']);
});
