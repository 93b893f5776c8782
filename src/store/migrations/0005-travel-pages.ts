import type { Migration } from 'kysely';

/** Tells which indexes are lists of their own, whose lengths are kept. */
export function travelPages(): Migration {
  return {
    up: async (db) => {
      await db.schema
        .alterTable('travel_index')
        .addColumn('counted', 'integer', (c) => c.notNull().defaultTo(0))
        .execute();
    },
  };
}
