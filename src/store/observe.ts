import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { Seen } from '../bridge/ports.ts';
import type { TravelUser } from '../translator/travel-user.ts';
import { batches } from './batches.ts';
import { observedColumns } from './identity-row.ts';
import { fromText } from './json.ts';
import type { Tables } from './tables.ts';

/** What an import saw of identities, and when. */
interface Sight {
  seen: Seen[];
  seenAt: number;
}

/**
 * Keeps what was seen. Of those whom somebody holds, or of whom something newer is known than before the look, nothing is
 * known then: a touch makes the next attempt read them. All count as seen.
 */
export async function observe(
  db: Kysely<Tables>,
  connection: string,
  { seen, seenAt }: Sight,
): Promise<void> {
  for (const batch of batches(seen, 100)) {
    await db.transaction().execute((tx) => observeBatch(tx, connection, { seen: batch, seenAt }));
  }
}

async function observeBatch(tx: Kysely<Tables>, connection: string, { seen, seenAt }: Sight): Promise<void> {
  const ids = seen.map(({ id }) => id);
  const rows = await tx
    .selectFrom('identity')
    .select(['id', 'observed', 'lease_until'])
    .where('connection_id', '=', connection)
    .where('id', 'in', ids)
    .execute();
  const kept = new Map(rows.map((row) => [row.id, row]));
  for (const one of seen) {
    const row = kept.get(one.id);
    if (!row || isSame(row.observed, one.observed)) continue;
    const isHeld = row.lease_until !== null && row.lease_until > seenAt;
    const isOutdated = one.before !== undefined && !isSame(row.observed, one.before);
    await tx
      .updateTable('identity')
      .set(observedColumns(isHeld || isOutdated ? undefined : one.observed))
      .where('connection_id', '=', connection)
      .where('id', '=', one.id)
      .execute();
  }
  const mark = tx.updateTable('identity').set({ seen_at: seenAt });
  await mark.where('connection_id', '=', connection).where('id', 'in', ids).execute();
}

function isSame(kept: string | null, observed: TravelUser | undefined): boolean {
  return isDeepStrictEqual(kept === null ? undefined : fromText(kept), observed);
}
