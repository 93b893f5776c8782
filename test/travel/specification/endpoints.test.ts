import request from 'supertest';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const writes = ['post', 'patch', 'put'] as const;

test('the paths of the JSON API start with /api', async () => {
  const authorization = `Bearer ${fixture.key}`;
  const get = (path: string) => request(fixture.app).get(path).set('Authorization', authorization);
  expect((await get('/api/users')).status).toBe(200);
  expect((await get('/users')).status).toBe(404);
});

test('known paths: `GET /api/whoami`, `GET /api/users`, `GET /api/users/{id}`, `POST /api/users`', async () => {
  const authorization = `Bearer ${fixture.key}`;
  const created = await request(fixture.app)
    .post('/api/users')
    .set('Authorization', authorization)
    .send({ data: { email: 'ada@example.com' } });
  expect(created.status).toBe(201);
  for (const path of ['/api/whoami', '/api/users', `/api/users/${created.body.data.id}`]) {
    const answer = await request(fixture.app).get(path).set('Authorization', authorization);
    expect([path, answer.status]).toEqual([path, 200]);
  }
});

test('request bodies are `{data: <object>}`, response bodies `{data: ...}` with optional `meta`', async () => {
  const created = await fixture.send('post', '/cost-centers', { data: { name: 'Research' } });
  expect(created.headers['content-type']).toBe('application/json; charset=utf-8');
  const item = `/cost-centers/${created.body.data.id}`;
  for (const answer of [
    created,
    await fixture.send('get', item),
    await fixture.send('patch', item, { data: {} }),
    await fixture.send('put', item, { data: { name: 'Research' } }),
    await fixture.send('delete', item),
  ]) {
    expect(Object.keys(answer.body)).toEqual(['data']);
    expect(answer.body.data).toMatchObject({ type: 'costCenter', name: 'Research' });
  }
  const list = await fixture.send('get', '/cost-centers');
  expect(Object.keys(list.body)).toEqual(['data', 'meta']);
});

test('GET fetches, POST creates, PATCH merges, PUT replaces, DELETE deletes', async () => {
  const { id } = await fixture.make('/users', { email: 'ada@example.com', firstName: 'Ada' });
  const item = `/users/${id}`;
  const state = async () => (await fixture.send('get', item)).body.data;
  expect(await state()).toMatchObject({ email: 'ada@example.com', firstName: 'Ada' });
  await fixture.send('patch', item, { data: { lastName: 'King' } });
  expect(await state()).toMatchObject({ firstName: 'Ada', lastName: 'King' });
  await fixture.send('put', item, { data: { email: 'ada@example.com', lastName: 'King' } });
  expect(await state()).not.toHaveProperty('firstName');
  await fixture.send('delete', item);
  expect((await fixture.send('get', item)).status).toBe(404);
});

test('a missing top-level `data` member in a request is a 400 `badRequest`', async () => {
  const { id } = await fixture.make('/users', { email: 'ada@example.com' });
  for (const method of writes) {
    const path = method === 'post' ? '/users' : `/users/${id}`;
    for (const body of [{}, { email: 'bob@example.com' }, undefined]) {
      const answer = await fixture.send(method, path, body);
      const refused = { code: 'badRequest', message: expect.any(String) };
      expect([method, answer.status, answer.body]).toEqual([method, 400, refused]);
    }
  }
});

test('fetch is 200 with the resource object, or an array, possibly empty, for a collection', async () => {
  const empty = await fixture.send('get', '/cost-centers');
  expect([empty.status, empty.body.data]).toEqual([200, []]);
  const created = await fixture.make('/cost-centers', { name: 'Research' });
  expect((await fixture.send('get', '/cost-centers')).body.data).toEqual([created]);
  const answer = await fixture.send('get', `/cost-centers/${created.id}`);
  expect([answer.status, answer.body.data]).toEqual([200, created]);
});

test('create is 201 with the created resource', async () => {
  const answer = await fixture.send('post', '/cost-centers', { data: { name: 'Research' } });
  const { id } = answer.body.data;
  expect([answer.status, answer.body.data]).toMatchObject([201, { type: 'costCenter', name: 'Research' }]);
  expect((await fixture.send('get', `/cost-centers/${id}`)).body).toEqual(answer.body);
});

test('update is 200 with the updated resource, as a GET on the item would return it', async () => {
  const { id } = await fixture.make('/users', { email: 'ada@example.com', lang: 'en' });
  for (const method of ['patch', 'put'] as const) {
    const data = { email: `${method}@example.com`, lang: 'fr' };
    const answer = await fixture.send(method, `/users/${id}`, { data });
    expect([answer.status, answer.body.data]).toMatchObject([200, { id, type: 'user', ...data }]);
    expect((await fixture.send('get', `/users/${id}`)).body).toEqual(answer.body);
  }
});

test('delete is 200 with the resource as it was before deletion', async () => {
  const created = await fixture.make('/users', { email: 'ada@example.com', roles: ['guest'] });
  const answer = await fixture.send('delete', `/users/${created.id}`);
  expect([answer.status, answer.body]).toEqual([200, { data: created }]);
});

test('PATCH follows JSON merge patch: null removes an attribute, the other given attributes are changed, and missing ones keep their values', async () => {
  const { id } = await fixture.make('/users', {
    address: { city: 'Paris', postalCode: '75002', region: 'Île-de-France' },
    email: 'ada@example.com',
    firstName: 'Ada',
    roles: ['guest', 'organizer'],
    lastName: 'King',
  });
  const data = { address: { city: 'Lyon', region: null }, firstName: null, roles: ['premium'] };
  const answer = await fixture.send('patch', `/users/${id}`, { data });
  const { createdAt, ...changed } = answer.body.data;
  expect(changed).toEqual({
    ...{ id, type: 'user', archived: false, separateIcsEmails: false },
    address: { city: 'Lyon', postalCode: '75002' },
    email: 'ada@example.com',
    lastName: 'King',
    roles: ['premium'],
  });
  expect(createdAt).toBe('2026-11-20T12:00:00Z');
});

test('PUT replaces: attributes missing from the body are removed', async () => {
  const body = { email: 'ada@example.com', address: { city: 'Paris', region: 'IDF' }, firstName: 'Ada' };
  const { id, createdAt } = await fixture.make('/users', { ...body, archived: true });
  const data = { email: 'ada@example.com', address: { city: 'Lyon' } };
  const answer = await fixture.send('put', `/users/${id}`, { data });
  const kept = { id, type: 'user', createdAt, archived: true, separateIcsEmails: false };
  expect(answer.body.data).toEqual({ ...kept, ...data });
});

test('GET /api/whoami answers the user the credential is attached to', async () => {
  const other = await fixture.make('/users', { email: 'second@example.com', roles: ['admin'] });
  const key = await fixture.keyFor(other.id);
  const whoami = (token: string) =>
    request(fixture.app).get('/api/whoami').set('Authorization', `Bearer ${token}`);
  const [first, second] = [await whoami(fixture.key), await whoami(key)];
  expect([first.status, first.body.data.id]).toEqual([200, fixture.admin]);
  expect([second.status, second.body]).toEqual([200, { data: other }]);
});
