import type { Database } from '../sql/database.ts';

/** The number of attempts that are kept, so that strangers who begin sign-ins cannot fill the disk. */
const MAX_ATTEMPTS = 10_000;
/** At most as many are removed with each one that is added. */
const REMOVED_AT_ONCE = 10;

/** The sign-ins through the OpenID provider that have come back, for all replicas. */
export type OpenidAttempts = ReturnType<typeof openidAttempts>;

/** Returns the store of the attempts that have come back. Beyond `max`, those that expire first are forgotten. */
export function openidAttempts({ transaction }: Database, max = MAX_ATTEMPTS) {
  return {
    /** Records that an attempt has come back. False if it has done so before. `expiresAt` is the time from which no replica accepts it. */
    useOnce: ({ hash, expiresAt }: { hash: string; expiresAt: number }, now: number): Promise<boolean> =>
      transaction(async (tx) => {
        await tx.deleteFrom('openid_attempt').where('expires_at', '<=', now).execute();
        const used = await tx
          .insertInto('openid_attempt')
          .values({ hash, expires_at: expiresAt })
          .onConflict((same) => same.doNothing())
          .executeTakeFirst();
        const oldest = tx
          .selectFrom('openid_attempt')
          .select('hash')
          .orderBy('expires_at', 'desc')
          .orderBy('hash')
          .limit(REMOVED_AT_ONCE)
          .offset(max);
        await tx.deleteFrom('openid_attempt').where('hash', 'in', oldest).execute();
        return (used.numInsertedOrUpdatedRows ?? 0n) > 0n;
      }),
  };
}
