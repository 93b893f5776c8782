import { adminAccounts, adminSessions, adminTokens } from '../../src/store/admins.ts';
import { openidAccounts } from '../../src/store/openid-accounts.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-admins-');

test('of two admins who are revoked at the same time one is left, unless the caller revokes even the only one', async () => {
  const accounts = adminAccounts(await databases.open());
  const made = { role: 'admin', passwordHash: 'hash', createdAt: 0 } as const;
  for (const name of ['nora', 'olga']) await accounts.create({ id: name, name, ...made });
  const changes = await Promise.all(['nora', 'olga'].map((id) => accounts.revoke(id, 1)));
  expect(changes.sort()).toEqual(['done', 'onlyAdmin']);
  const left = (await accounts.list()).filter(({ revokedAt }) => revokedAt === undefined);
  expect(left).toHaveLength(1);
  const { id } = left[0] ?? { id: '' };
  expect(await accounts.setRole(id, 'viewer')).toBe('onlyAdmin');
  expect(await accounts.setRole(id, 'admin')).toBe('done');
  expect(await accounts.revoke(id, 1, { evenOnlyAdmin: true })).toBe('done');
  expect(await accounts.revoke(id, 1)).toBe('gone');
});

test('the tokens of an account have at most its role, and are revoked with it', async () => {
  const database = await databases.open();
  const [accounts, tokens] = [adminAccounts(database), adminTokens(database)];
  const made = { role: 'admin', passwordHash: 'hash', createdAt: 0 } as const;
  for (const name of ['ada', 'grace']) await accounts.create({ id: name, name, ...made });
  const token = { role: 'admin', createdAt: 0, expiresAt: 10 } as const;
  for (const makerId of ['ada', undefined]) {
    const id = `of ${makerId}`;
    await tokens.create({ id, name: id, hash: id, makerId, ...token });
  }
  const ofAda = await tokens.findActive('of ada', 9);
  expect(ofAda).toMatchObject({ role: 'admin', maker: { id: 'ada', name: 'ada', issuer: undefined } });
  expect(await tokens.findActive('of ada', 10)).toBeUndefined();
  await accounts.setRole('ada', 'viewer');
  expect(await tokens.findActive('of ada', 9)).toMatchObject({ role: 'viewer' });
  await accounts.revoke('ada', 5);
  expect(await tokens.findActive('of ada', 9)).toBeUndefined();
  expect(await tokens.findActive('of undefined', 9)).toMatchObject({ role: 'admin', maker: undefined });
  const listed = (await tokens.list()).map(({ id, revokedAt }) => [id, revokedAt]);
  expect(listed).toEqual([
    ['of ada', 5],
    ['of undefined', undefined],
  ]);
});

test('a person who loses every role loses the sessions and the tokens', async () => {
  const database = await databases.open();
  const [openid, sessions, tokens] = [
    openidAccounts(database),
    adminSessions(database),
    adminTokens(database),
  ];
  const person = {
    id: 'ada',
    subject: 'https://idp.example ada',
    name: 'ada',
    role: 'admin',
    now: 0,
  } as const;
  await openid.signIn(person);
  const browser = { address: '127.0.0.1', userAgent: undefined };
  await sessions.create({ hash: 's', accountId: 'ada', createdAt: 0, ...browser });
  const token = { name: 't', role: 'admin', createdAt: 0, expiresAt: 10 } as const;
  await tokens.create({ id: 't', hash: 't', makerId: 'ada', ...token });
  expect(await sessions.listOf('ada')).toMatchObject([{ hash: 's', ...browser }]);
  expect(await tokens.findActive('t', 1)).toMatchObject({ maker: { issuer: 'https://idp.example' } });
  await openid.endAccess('https://idp.example ada', 1);
  expect([await sessions.find('s'), await tokens.findActive('t', 1)]).toEqual([undefined, undefined]);
});
