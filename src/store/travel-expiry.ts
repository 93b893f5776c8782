import type { Transaction } from 'kysely';
import type { Tables } from './tables.ts';
import { count } from './travel-count.ts';

/** Removes the oldest of a type that were created before a time; a batch, so that nobody waits long for it. */
export async function expire(
  tx: Transaction<Tables>,
  { type, before, limit }: { type: string; before: number; limit: number },
): Promise<number> {
  const old = await tx
    .selectFrom('travel_resource')
    .select(['id', 'parent_id', 'archived'])
    .where('type', '=', type)
    .where('parent_id', '=', '')
    .where('created_at', '<', before)
    .orderBy('created_at')
    .orderBy('seq')
    .limit(limit)
    .execute();
  for (const { id, parent_id, archived } of old) {
    await tx.deleteFrom('travel_resource').where('type', '=', type).where('id', '=', id).execute();
    await count(tx, { type, list: parent_id, archived, by: -1 });
  }
  return old.length;
}
