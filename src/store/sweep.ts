import { type Kysely, sql } from 'kysely';
import { batches } from './batches.ts';
import { eraseUnclaimed } from './erase.ts';
import type { Tables } from './tables.ts';

/**
 * Removes the unclaimed identities that a whole import begun at `since` did not see, and answers the claimed ones that
 * are linked. A write of an IdP counts as seeing the traveler, which may be newer than the page it would stand on.
 */
export async function sweep(db: Kysely<Tables>, connection: string, since: number): Promise<string[]> {
  const missing = await db
    .selectFrom('identity')
    .select(['id', 'claimed'])
    .where('connection_id', '=', connection)
    .where('seen_at', '<', since)
    .where('travel_id', 'is not', null)
    .where('deleted_at', 'is', null)
    .execute();
  const unclaimed = missing.filter(({ claimed }) => claimed === 0).map(({ id }) => id);
  for (const batch of batches(unclaimed)) await erase(db, connection, { batch, since });
  return missing.filter(({ claimed }) => claimed === 1).map(({ id }) => id);
}

async function erase(
  db: Kysely<Tables>,
  connection: string,
  { batch, since }: { batch: string[]; since: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await eraseUnclaimed(tx, (row) =>
      row.and([
        row('connection_id', '=', connection),
        row('id', 'in', batch),
        // A search by an IdP may have found the traveler again.
        row('seen_at', '<', sql.val(since)),
      ]),
    );
  });
}
