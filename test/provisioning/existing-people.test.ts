import type { UserField, Where } from '../../src/provisioning/users/list-ports.ts';
import type { UserQuery } from '../../src/provisioning/users/list-users.ts';
import {
  addressOf,
  allUsers,
  desiredOf,
  type ProvisioningFixture,
  person,
  provisioningFixture,
  usersWhere,
} from '../fixtures/provisioning.ts';

const users = 'default';

/** Two people of the IdP, of whom one is inactive, and four whom nobody has provisioned, of whom one is archived. */
let fixture: ProvisioningFixture;
let strangerId: string;

beforeAll(async () => {
  fixture = await provisioningFixture({ policies: { existingPeople: 'match' } });
  for (const name of ['Ida', 'Jon', 'Kim'])
    fixture.travel.addTraveler({ email: addressOf(name), firstName: name });
  fixture.travel.addTraveler({ email: addressOf('Lea'), firstName: 'Lea', archived: true });
  await fixture.importTravelers();
  await fixture.bridge.users.create(users, person('Ada', { displayName: 'Ada' }));
  await fixture.bridge.users.create(users, person('Bob', { active: false }));
  const [ida] = await fixture.store.identities.find(users, { by: 'userName', value: addressOf('Ida') });
  strangerId = ida?.id ?? '';
});
afterAll(() => fixture.close());

async function listNames(query: UserQuery): Promise<{ total: number; names: unknown[] }> {
  const { total, rows } = await fixture.bridge.users.list(users, query);
  return { total, names: rows.map((user) => desiredOf(user).userName) };
}

const everybody = allUsers();
const matches = async () => true;
const active = (value: boolean): Where<UserField> => ({ field: 'active', operator: 'eq', value });

test.each<[string, UserQuery, string[]]>([
  ['a list', everybody, ['Ada', 'Bob']],
  [
    'a list sorted by userName',
    { ...everybody, order: { by: 'userName', descending: true } },
    ['Bob', 'Ada'],
  ],
  [
    'a list sorted by displayName',
    { ...everybody, order: { by: 'displayName', descending: false } },
    ['Ada', 'Bob'],
  ],
  ['a filter on active', usersWhere(active(true)), ['Ada']],
  ['a filter on people who are not active', usersWhere(active(false)), ['Bob']],
  [
    'a filter on the time of creation',
    usersWhere({ field: 'created', operator: 'gt', value: 0 }),
    ['Ada', 'Bob'],
  ],
  ['a filter on a displayName', usersWhere({ field: 'displayName', operator: 'eq', value: 'Ida' }), []],
  [
    'a filter that is evaluated on each user',
    { ...everybody, residual: { matches, needsGroups: false } },
    ['Ada', 'Bob'],
  ],
  [
    'a filter of which one part names nobody',
    usersWhere({ any: [{ field: 'userName', operator: 'eq', value: addressOf('Ida') }, active(false)] }),
    ['Bob'],
  ],
])('%s leaves out existing people, and its total is exact', async (_, query, names) => {
  const expected = { total: names.length, names: names.map(addressOf) };
  expect(await listNames(query)).toEqual(expected);
  expect(await listNames({ ...query, limit: 0 })).toEqual({ ...expected, names: [] });
});

test.each<[string, () => Where<UserField>]>([
  ['userName', () => ({ field: 'userName', operator: 'eq', value: addressOf('Ida') })],
  ['an address', () => ({ field: 'email', operator: 'eq', value: addressOf('Ida') })],
  ['the id', () => ({ field: 'id', operator: 'eq', value: strangerId })],
  [
    'userName and active',
    () => ({ all: [{ field: 'userName', operator: 'eq', value: addressOf('Ida') }, active(true)] }),
  ],
  [
    'one of several userNames',
    () => ({
      any: [
        { field: 'userName', operator: 'eq', value: addressOf('Nobody') },
        { field: 'userName', operator: 'eq', value: addressOf('Ida') },
      ],
    }),
  ],
])('a filter that names an existing person by %s finds the person', async (_, where) => {
  expect(await listNames(usersWhere(where()))).toEqual({ total: 1, names: [addressOf('Ida')] });
});

test('an existing person is read by id', async () => {
  expect(desiredOf(await fixture.bridge.users.read(users, strangerId)).userName).toBe(addressOf('Ida'));
});

test('pages continue with the right people, and each is on one page', async () => {
  const names = [];
  for (const offset of [0, 1]) names.push(...(await listNames({ ...allUsers(1), start: { offset } })).names);
  expect(names).toEqual([addressOf('Ada'), addressOf('Bob')]);
  const first = await fixture.bridge.users.list(users, allUsers(1));
  const after = first.next ?? { value: null, id: '' };
  expect((await listNames({ ...allUsers(1), start: { after } })).names).toEqual([addressOf('Bob')]);
});

test('a person is listed from the first write on, and no more after a DELETE', async () => {
  const [kim] = await fixture.store.identities.find(users, { by: 'userName', value: addressOf('Kim') });
  const id = kim?.id ?? '';
  await fixture.patch(id, { title: 'Dr.' });
  expect((await listNames(everybody)).total).toBe(3);
  expect((await listNames(usersWhere(active(true)))).names).toContain(addressOf('Kim'));
  await fixture.patch(id, { active: false });
  expect((await listNames(usersWhere(active(true)))).total).toBe(1);
  await fixture.bridge.users.remove(users, id);
  expect((await listNames(everybody)).total).toBe(2);
});

test('a client that finds people by filters before it deletes whom it does not know removes only its own', async () => {
  const found = await listNames(usersWhere({ field: 'userName', operator: 'eq', value: addressOf('Jon') }));
  expect(found.total).toBe(1);
  const { rows } = await fixture.bridge.users.list(users, everybody);
  expect(rows.map(({ travelUserId }) => travelUserId)).not.toContain('t-3');
});
