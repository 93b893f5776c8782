import { adminAccounts, adminSessions, adminTokens } from '../../src/store/credentials/admins.ts';
import { openidAccounts } from '../../src/store/credentials/openid-accounts.ts';
import { waitForLockWaits } from '../fixtures/lock-waits.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { describeOnPostgres } from '../fixtures/test-database.ts';

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

const browser = { address: '192.0.2.1', userAgent: undefined };

/** Two accounts with the password hash `old`, and the hashes of the sessions of one. */
async function accountWithSessions() {
  const database = await databases.open();
  const [accounts, sessions] = [adminAccounts(database), adminSessions(database)];
  await accounts.create({ id: 'ada', name: 'Ada', role: 'admin', passwordHash: 'old', createdAt: 0 });
  await accounts.create({ id: 'bob', name: 'Bob', role: 'admin', passwordHash: 'old', createdAt: 0 });
  const start = (hash: string, passwordHash: string | undefined = 'old', accountId = 'ada') =>
    sessions.create({ hash, accountId, passwordHash, createdAt: 0, ...browser });
  const isRunning = async (hash: string) => (await sessions.find(hash)) !== undefined;
  return { database, accounts, start, isRunning };
}

test('a session starts only if the verified password is still that of the account, and the account is not revoked', async () => {
  const { accounts, start } = await accountWithSessions();
  expect(await start('s1')).toBe(true);
  await accounts.setPassword('ada', 'new');
  expect(await start('s2')).toBe(false);
  expect(await start('s3', undefined)).toBe(false);
  expect(await start('s4', 'new')).toBe(true);
  await accounts.revoke('ada', 1);
  expect(await start('s5', 'new')).toBe(false);
});

test('a change of the own password ends the other sessions of the account, unless it has another password by now', async () => {
  const { accounts, start, isRunning } = await accountWithSessions();
  for (const hash of ['own', 'other']) await start(hash);
  await start('of bob', 'old', 'bob');
  const change = (from: string, to: string) =>
    accounts.changePassword({ id: 'ada', from, to, session: 'own' });
  expect(await change('not the old one', 'x')).toBe(false);
  expect(await isRunning('other')).toBe(true);
  expect(await change('old', 'new')).toBe(true);
  expect(await Promise.all(['own', 'other', 'of bob'].map(isRunning))).toEqual([true, false, true]);
});

describeOnPostgres('on PostgreSQL', () => {
  test('a session that begins while a password is replaced waits for it, and does not start', async () => {
    const { database, start, isRunning } = await accountWithSessions();
    let starting: Promise<boolean> | undefined;
    await database.transaction(async (tx) => {
      await tx.updateTable('admin_account').set({ password_hash: 'new' }).where('id', '=', 'ada').execute();
      starting = start('s1');
      await waitForLockWaits(database, 1);
    });
    expect(await starting).toBe(false);
    expect(await isRunning('s1')).toBe(false);
  });

  test('a replacement that begins while a session starts waits for it, and ends it', async () => {
    const { database, accounts, isRunning } = await accountWithSessions();
    let replacing: Promise<boolean> | undefined;
    await database.transaction(async (tx) => {
      const inTransaction = adminSessions({ ...database, db: tx });
      const session = { hash: 's1', accountId: 'ada', passwordHash: 'old', createdAt: 0, ...browser };
      await inTransaction.create(session);
      replacing = accounts.setPassword('ada', 'new');
      await waitForLockWaits(database, 1);
    });
    expect(await replacing).toBe(true);
    expect(await isRunning('s1')).toBe(false);
  });
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
  await sessions.create({ hash: 's', accountId: 'ada', passwordHash: undefined, createdAt: 0, ...browser });
  const token = { name: 't', role: 'admin', createdAt: 0, expiresAt: 10 } as const;
  await tokens.create({ id: 't', hash: 't', makerId: 'ada', ...token });
  expect(await sessions.listOf('ada')).toMatchObject([{ hash: 's', ...browser }]);
  expect(await tokens.findActive('t', 1)).toMatchObject({ maker: { issuer: 'https://idp.example' } });
  await openid.endAccess('https://idp.example ada', 1);
  expect([await sessions.find('s'), await tokens.findActive('t', 1)]).toEqual([undefined, undefined]);
});
