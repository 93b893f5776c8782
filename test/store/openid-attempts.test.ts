import { openidAttempts } from '../../src/store/credentials/openid-attempts.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const databases = temporaryDatabases('jetbridge-openid-');

test('of the replicas that get the same return at the same time, one may use it', async () => {
  const attempts = openidAttempts(await databases.open());
  const uses = await Promise.all([1, 2, 3, 4].map(() => attempts.useOnce({ hash: 'a', expiresAt: 10 }, 0)));
  expect(uses.toSorted()).toEqual([false, false, false, true]);
  expect(await attempts.useOnce({ hash: 'b', expiresAt: 10 }, 0)).toBe(true);
});

test('used attempts are forgotten when they have expired, and beyond a number the oldest ones are', async () => {
  const database = await databases.open();
  const attempts = openidAttempts(database, 3);
  const stored = async () => {
    const rows = await database.db.selectFrom('openid_attempt').select('hash').orderBy('hash').execute();
    return rows.map(({ hash }) => hash).join('');
  };
  for (const [hash, expiresAt] of [
    ['a', 11],
    ['b', 10],
    ['c', 12],
  ] as const)
    await attempts.useOnce({ hash, expiresAt }, 0);
  await attempts.useOnce({ hash: 'd', expiresAt: 20 }, 10);
  expect(await stored()).toBe('acd');
  await attempts.useOnce({ hash: 'e', expiresAt: 21 }, 10);
  expect(await stored()).toBe('cde');
  await attempts.useOnce({ hash: 'f', expiresAt: 30 }, 21);
  expect(await stored()).toBe('f');
});
