import { type Kysely, sql } from 'kysely';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

/** Counts a list up or down, which is a collection under its parent ('': none) or a counted index. */
export async function count(
  tx: Kysely<Tables>,
  change: { type: string; list: string; archived: number; by: number },
): Promise<void> {
  await addToCount(tx, change);
}

const addToCount = prepared<{ type: string; list: string; archived: number; by: number }, unknown>(
  (db, { type, list, archived, by }) =>
    db
      .insertInto('travel_count')
      .values({ type, parent_id: list, archived, count: by })
      .onConflict((same) =>
        same
          .columns(['type', 'parent_id', 'archived'])
          .doUpdateSet((row) => ({ count: sql<number>`${row.ref('travel_count.count')} + ${by}` })),
      ),
);
