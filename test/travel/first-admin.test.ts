import { ensureFirstAdmin } from '../../src/travel/authentication/api-keys.ts';
import { type Fixture, openFixture } from '../fixtures/travel.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

test('an empty account gets an admin, to whom an API key can belong', async () => {
  const { data } = (await fixture.send('get', '/users')).body;
  expect(data).toEqual([expect.objectContaining({ id: fixture.admin, roles: ['admin'], archived: false })]);
  expect(data[0].email).toMatch(/@/);
});

test('an account with an active admin keeps the oldest', async () => {
  await fixture.make('/users', { email: 'second@example.com', roles: ['admin'] });
  const admins = await Promise.all([1, 2, 3].map(() => ensureFirstAdmin(fixture.runtime)));
  expect(new Set(admins)).toEqual(new Set([fixture.admin]));
  expect((await fixture.send('get', '/users')).body.meta.total).toBe(2);
});

test('archived users and former admins are skipped', async () => {
  const second = await fixture.make('/users', { email: 'second@example.com', roles: ['guest', 'admin'] });
  const asSecond = await fixture.keyFor(second.id);
  const first = fixture.send('patch', `/users/${fixture.admin}`, { data: { archived: true } });
  expect((await first.set('Authorization', `Bearer ${asSecond}`)).status).toBe(200);
  expect(await ensureFirstAdmin(fixture.runtime)).toBe(second.id);
});
