import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** What the safety valve counts, and the changes of rules that wait; see `DepartureTable` and `RulesChangeTable`. */
export function holdTables({ time }: ColumnTypes): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable('departure')
        .addColumn('connection_id', 'text', (column) => column.notNull())
        .addColumn('identity_id', 'text', (column) => column.notNull())
        .addColumn('at', time, (column) => column.notNull())
        .addPrimaryKeyConstraint('departure_key', ['connection_id', 'identity_id'])
        .execute();
      await db.schema.createIndex('departure_at').on('departure').columns(['connection_id', 'at']).execute();
      await db.schema
        .createTable('rules_change')
        .addColumn('connection_id', 'text', (column) => column.primaryKey())
        .addColumn('version', 'text', (column) => column.notNull())
        .addColumn('people', 'integer', (column) => column.notNull())
        .addColumn('since', time, (column) => column.notNull())
        .addColumn('answer', 'text')
        .execute();
    },
  };
}
