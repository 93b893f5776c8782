import type { Kysely, Migration } from 'kysely';

/** Tells which indexes are lists, and cuts long lists into blocks; see `TravelTables` for what they mean. */
export function travelPages(): Migration {
  return {
    up: async (db) => {
      await db.schema.alterTable('travel_index').addColumn('list', 'text').execute();
      await blocks(db);
    },
  };
}

async function blocks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('travel_block')
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('list', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('others', 'integer', (c) => c.notNull())
    .addColumn('archived', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('travel_block_pk', ['type', 'list', 'value', 'seq'])
    .execute();
}
