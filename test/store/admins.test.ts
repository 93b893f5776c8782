import { adminPassword, adminSessions, adminTokens } from '../../src/store/credentials/admins.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-admins-');

const browser = { address: '192.0.2.1', userAgent: undefined, createdAt: 0 };
const builtIn = { name: 'admin', role: 'admin', subject: undefined } as const;
const ada = {
  name: 'ada',
  role: 'admin',
  subject: 'https://idp.example ada',
  passwordId: undefined,
} as const;

test('of two passwords that are made at the same time one is stored', async () => {
  const passwords = adminPassword(await databases.open());
  const made = await Promise.all(['p1', 'p2'].map((id) => passwords.create({ id, hash: `hash of ${id}` })));
  expect(made.toSorted()).toEqual([false, true]);
  const id = made[0] ? 'p1' : 'p2';
  expect(await passwords.read()).toEqual({ id, hash: `hash of ${id}` });
});

test('a session of the built-in admin is valid only with the present password, also one that is stored after its replacement', async () => {
  const database = await databases.open();
  const [passwords, sessions] = [adminPassword(database), adminSessions(database)];
  await passwords.create({ id: 'p1', hash: 'old' });
  await sessions.create({ ...builtIn, ...browser, hash: 'before', passwordId: 'p1' });
  await sessions.create({ ...ada, ...browser, hash: 'of ada' });
  expect(await sessions.find('before')).toMatchObject({ name: 'admin', role: 'admin' });
  await passwords.replace({ id: 'p2', hash: 'new' });
  await sessions.create({ ...builtIn, ...browser, hash: 'after', passwordId: 'p1' });
  expect([await sessions.find('before'), await sessions.find('after')]).toEqual([undefined, undefined]);
  expect((await sessions.list()).map(({ hash }) => hash)).toEqual(['of ada']);
  await sessions.create({ ...builtIn, ...browser, hash: 'new', passwordId: 'p2' });
  expect(await sessions.find('new')).toMatchObject({ subject: undefined });
});

test('the sessions of a person follow the present name and role, and tokens that were made as an admin become those of a viewer', async () => {
  const database = await databases.open();
  const [sessions, tokens] = [adminSessions(database), adminTokens(database)];
  await sessions.create({ ...ada, ...browser, hash: 's' });
  const token = { role: 'admin', createdAt: 0, expiresAt: 10 } as const;
  await tokens.create({ id: 't1', name: 'of ada', hash: 't1', maker: ada, ...token });
  await tokens.create({ id: 't2', name: 'of admin', hash: 't2', maker: builtIn, ...token });
  await sessions.updatePerson({ ...ada, name: 'Ada King', role: 'viewer' });
  expect(await sessions.find('s')).toMatchObject({ name: 'Ada King', role: 'viewer' });
  const roles = (await tokens.list()).map(({ name, role }) => [name, role]);
  expect(roles).toEqual([
    ['of ada', 'viewer'],
    ['of admin', 'admin'],
  ]);
  expect(await tokens.findActive('t1', 10)).toBeUndefined();
});

test('a person who loses every role loses the sessions and the tokens, and nobody else does', async () => {
  const database = await databases.open();
  const [sessions, tokens] = [adminSessions(database), adminTokens(database)];
  await sessions.create({ ...ada, ...browser, hash: 's' });
  await sessions.create({ ...ada, ...browser, subject: 'https://idp.example bob', hash: 'of bob' });
  const token = { role: 'admin', createdAt: 0, expiresAt: 10 } as const;
  await tokens.create({ id: 't1', name: 't1', hash: 't1', maker: ada, ...token });
  await tokens.create({ id: 't2', name: 't2', hash: 't2', maker: builtIn, ...token });
  expect(await tokens.findActive('t1', 1)).toMatchObject({ maker: { name: 'ada', subject: ada.subject } });
  await sessions.endAccess(ada.subject, 1);
  expect((await sessions.list()).map(({ hash }) => hash)).toEqual(['of bob']);
  expect([await tokens.findActive('t1', 1), (await tokens.findActive('t2', 1))?.id]).toEqual([
    undefined,
    't2',
  ]);
});
