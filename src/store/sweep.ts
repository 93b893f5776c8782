import { type Kysely, sql } from 'kysely';
import type { MissingTraveler } from '../bridge/ports.ts';
import { batches } from './batches.ts';
import { eraseUnclaimed } from './erase.ts';
import type { Tables } from './tables.ts';

/**
 * Removes the unclaimed identities that a whole import begun at `since` did not see, and answers the claimed ones that
 * are linked. A write of an IdP counts as seeing the traveler, which may be newer than the page it would stand on.
 */
export async function sweep(db: Kysely<Tables>, connection: string, since: number): Promise<string[]> {
  const unseen = await missing(db, connection, since);
  const unclaimed = unseen.filter(({ claimed }) => !claimed).map(({ id }) => id);
  for (const batch of batches(unclaimed)) await erase(db, connection, { batch, since });
  return unseen.filter(({ claimed }) => claimed).map(({ id }) => id);
}

/**
 * The live identities that an import begun at `since` did not see. An identity that was written since then is left out:
 * its traveler may be newer than the page that would list it.
 */
export async function missing(
  db: Kysely<Tables>,
  connection: string,
  since: number,
): Promise<MissingTraveler[]> {
  const rows = await db
    .selectFrom('identity')
    .select(['id', 'travel_id', 'claimed'])
    .where('connection_id', '=', connection)
    .where('seen_at', '<', since)
    .where('travel_id', 'is not', null)
    .where('deleted_at', 'is', null)
    .execute();
  return rows.flatMap(({ id, travel_id, claimed }) =>
    travel_id === null ? [] : [{ id, travelId: travel_id, claimed: claimed === 1 }],
  );
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
