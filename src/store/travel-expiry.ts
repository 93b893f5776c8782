import type { Transaction } from 'kysely';
import type { Tables } from './tables.ts';
import { leaveCollection } from './travel-collections.ts';

/** Removes the oldest of a type that were created before a time; a batch, so that nobody waits long for it. */
export async function expire(
  tx: Transaction<Tables>,
  { type, before, limit }: { type: string; before: number; limit: number },
): Promise<number> {
  const old = await tx
    .selectFrom('travel_resource')
    .select(['type', 'id', 'parent_id', 'created_at', 'archived', 'seq'])
    .where('type', '=', type)
    .where('parent_id', '=', '')
    .where('created_at', '<', before)
    .orderBy('created_at')
    .orderBy('seq')
    .limit(limit)
    .execute();
  for (const row of old) {
    await leaveCollection(tx, row);
    await tx.deleteFrom('travel_resource').where('type', '=', type).where('id', '=', row.id).execute();
  }
  return old.length;
}
