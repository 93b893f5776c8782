import type { Kysely, Migration } from 'kysely';

/** One row, which is written anew to find out whether the database can be written; what it holds means nothing. */
export function writeProbe(): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable('write_probe')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('content', 'text', (column) => column.notNull())
        .execute();
    },
  };
}
