import type { Database } from './database.ts';
import { openTallies } from './tally.ts';

/**
 * Keeps that there is this connection, and the travel account it feeds; to be done at start, before anything else is
 * kept for it. Its identities move with it to another account.
 */
export async function ensureConnection(
  { db }: Database,
  { id, account }: { id: string; account: string },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('connection')
      .values({ id, account })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ account }))
      .execute();
    await openTallies(tx, id);
    await tx
      .updateTable('identity')
      .set({ account })
      .where('connection_id', '=', id)
      .where('account', '<>', account)
      .execute();
  });
}
