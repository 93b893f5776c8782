import request from 'supertest';
import { oauthClient } from '../../fixtures/oauth-client.ts';
import { type RunningService, startService } from '../../fixtures/service.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const whoami = (authorization: string) =>
  request(fixture.app).get('/api/whoami').set('Authorization', authorization);

function isRefused({ status, text, headers }: request.Response): void {
  expect([status, text, headers['content-type']]).toEqual([401, '', undefined]);
}

test('2. the credential is sent as `Authorization: Bearer <ACCESS_TOKEN>`', async () => {
  expect((await whoami(`Bearer ${fixture.key}`)).status).toBe(200);
  for (const wrong of [fixture.key, `Basic ${fixture.key}`, `Token ${fixture.key}`, 'Bearer']) {
    isRefused(await whoami(wrong));
  }
});

test('3. the credential must belong to a user with the `admin` role, on whose behalf each call runs', async () => {
  const { id } = await fixture.make('/users', { email: 'ada@example.com', roles: ['admin'] });
  const bearer = `Bearer ${await fixture.keyFor(id)}`;
  expect((await whoami(bearer)).body.data.id).toBe(id);
  const ownRoles = { data: { roles: ['accountant', 'authAdmin', 'manager'] } };
  await fixture.send('patch', `/users/${id}`, ownRoles);
  isRefused(await whoami(bearer));
});

test('8. a request without a valid credential gets 401 with an empty body (no JSON)', async () => {
  for (const wrong of ['Bearer nobody', 'Bearer ', `Bearer ${fixture.key}x`]) isRefused(await whoami(wrong));
  for (const method of ['get', 'post', 'patch', 'put', 'delete'] as const) {
    for (const path of ['/api/users', '/api/nothing', `/api/users/${fixture.admin}`]) {
      isRefused(await request(fixture.app)[method](path).set('Authorization', 'Bearer nobody'));
    }
  }
});

test('8. a request without authentication is also answered with 401', async () => {
  isRefused(await request(fixture.app).get('/api/whoami'));
  isRefused(
    await request(fixture.app)
      .post('/api/users')
      .send({ data: { email: 'ada@example.com' } }),
  );
});

test('9. requests that the server refuses to process for the authenticated user give 403 `forbidden`', async () => {
  const refusal = [403, { code: 'forbidden', message: expect.any(String) }];
  for (const answer of [
    await fixture.send('delete', `/users/${fixture.admin}`),
    await fixture.send('patch', `/users/${fixture.admin}`, { data: { archived: true } }),
    await fixture.send('patch', `/users/${fixture.admin}`, { data: { roles: null } }),
  ]) {
    expect([answer.status, answer.body]).toEqual(refusal);
  }
});

describe('in the running service', () => {
  let service: RunningService;
  beforeEach(async () => {
    service = await startService({}, { background: false });
  });
  afterEach(() => service.close());

  test('1. requests are authenticated with an API key or an OAuth access token', async () => {
    const status = async (token: string) =>
      (await fetch(`${service.url}/api/whoami`, { headers: { Authorization: `Bearer ${token}` } })).status;
    const client = await oauthClient(service, { travelAdmin: 'admin@jetbridge.local' });
    expect(await status(service.travelApiKey)).toBe(200);
    expect(await status(await client.token())).toBe(200);
    expect(await status(client.secret)).toBe(401);
    expect(await status(service.scimToken)).toBe(401);
  });
});
