import { ensureFirstAdmin } from '../../src/travel/first-admin.ts';
import { type House, openHouse } from './house.ts';

let house: House;
beforeEach(async () => {
  house = await openHouse();
});
afterEach(() => house.close());

test('an empty account gets an admin to whom a key can belong', async () => {
  const { data } = (await house.send('get', '/users')).body;
  expect(data).toEqual([expect.objectContaining({ id: house.admin, roles: ['admin'], archived: false })]);
  expect(data[0].email).toMatch(/@/);
});

test('an account with an active admin keeps the oldest', async () => {
  await house.make('/users', { email: 'second@example.com', roles: ['admin'] });
  const admins = await Promise.all([1, 2, 3].map(() => ensureFirstAdmin(house.surroundings)));
  expect(new Set(admins)).toEqual(new Set([house.admin]));
  expect((await house.send('get', '/users')).body.meta.total).toBe(2);
});

test('who is archived or no admin any more is passed over', async () => {
  const second = await house.make('/users', { email: 'second@example.com', roles: ['guest', 'admin'] });
  const asSecond = await house.keyFor(second.id);
  const first = house.send('patch', `/users/${house.admin}`, { data: { archived: true } });
  expect((await first.set('Authorization', `Bearer ${asSecond}`)).status).toBe(200);
  expect(await ensureFirstAdmin(house.surroundings)).toBe(second.id);
});
