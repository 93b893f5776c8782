import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { TravelUser } from '../translator/travel-user.ts';
import { batches } from './batches.ts';
import { observedColumns } from './identity-row.ts';
import { fromText } from './json.ts';
import type { Tables } from './tables.ts';

/** What an import saw of identities, and when. */
interface Sight {
  seen: { id: string; observed: TravelUser | undefined }[];
  seenAt: number;
}

/** Keeps what was seen of those whom nobody holds: whoever holds one knows better. All count as seen. */
export async function observe(
  db: Kysely<Tables>,
  connection: string,
  { seen, seenAt }: Sight,
): Promise<void> {
  for (const batch of batches(seen, 100)) {
    await db.transaction().execute((tx) => observeBatch(tx, connection, { seen: batch, seenAt }));
  }
}

/** Those who are as they were are marked in one statement: that is nearly everybody, every time. */
async function observeBatch(tx: Kysely<Tables>, connection: string, { seen, seenAt }: Sight): Promise<void> {
  const ids = seen.map(({ id }) => id);
  const rows = await tx
    .selectFrom('identity')
    .select(['id', 'observed'])
    .where('connection_id', '=', connection)
    .where('id', 'in', ids)
    .execute();
  const before = new Map(rows.map(({ id, observed }) => [id, observed]));
  for (const { id, observed } of seen) {
    const kept = before.get(id);
    if (kept === undefined || isSame(kept, observed)) continue;
    await tx
      .updateTable('identity')
      .set(observedColumns(observed))
      .where('connection_id', '=', connection)
      .where('id', '=', id)
      .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<=', seenAt)]))
      .execute();
  }
  const mark = tx.updateTable('identity').set({ seen_at: seenAt });
  await mark.where('connection_id', '=', connection).where('id', 'in', ids).execute();
}

function isSame(kept: string | null, observed: TravelUser | undefined): boolean {
  return isDeepStrictEqual(kept === null ? undefined : fromText(kept), observed);
}
