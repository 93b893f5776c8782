import request from 'supertest';
import { oauthClient } from '../../support/oauth-client.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { type House, openHouse } from '../house.ts';

let house: House;
beforeEach(async () => {
  house = await openHouse();
});
afterEach(() => house.close());

const whoami = (authorization: string) =>
  request(house.app).get('/api/whoami').set('Authorization', authorization);

function isRefused({ status, text, headers }: request.Response): void {
  expect([status, text, headers['content-type']]).toEqual([401, '', undefined]);
}

test('2. the credential is sent as `Authorization: Bearer <ACCESS_TOKEN>`', async () => {
  expect((await whoami(`Bearer ${house.key}`)).status).toBe(200);
  for (const wrong of [house.key, `Basic ${house.key}`, `Token ${house.key}`, 'Bearer']) {
    isRefused(await whoami(wrong));
  }
});

test('3. the credential must belong to a user with the `admin` role, on whose behalf each call runs', async () => {
  const { id } = await house.make('/users', { email: 'ada@example.com', roles: ['admin'] });
  const bearer = `Bearer ${await house.keyFor(id)}`;
  expect((await whoami(bearer)).body.data.id).toBe(id);
  const ownRoles = { data: { roles: ['accountant', 'authAdmin', 'manager'] } };
  await house.send('patch', `/users/${id}`, ownRoles);
  isRefused(await whoami(bearer));
});

test('8. a request without a valid credential gets 401 with an empty body (no JSON)', async () => {
  for (const wrong of ['Bearer nobody', 'Bearer ', `Bearer ${house.key}x`]) isRefused(await whoami(wrong));
  for (const method of ['get', 'post', 'patch', 'put', 'delete'] as const) {
    for (const path of ['/api/users', '/api/nothing', `/api/users/${house.admin}`]) {
      isRefused(await request(house.app)[method](path).set('Authorization', 'Bearer nobody'));
    }
  }
});

test('8. a request without authentication is also answered with 401', async () => {
  isRefused(await request(house.app).get('/api/whoami'));
  isRefused(
    await request(house.app)
      .post('/api/users')
      .send({ data: { email: 'ada@example.com' } }),
  );
});

test('9. requests that the server refuses to process for the authenticated user give 403 `forbidden`', async () => {
  const refusal = [403, { code: 'forbidden', message: expect.any(String) }];
  for (const answer of [
    await house.send('delete', `/users/${house.admin}`),
    await house.send('patch', `/users/${house.admin}`, { data: { archived: true } }),
    await house.send('patch', `/users/${house.admin}`, { data: { roles: null } }),
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
