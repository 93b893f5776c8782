import { adminAccounts } from '../../src/store/admins.ts';
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
