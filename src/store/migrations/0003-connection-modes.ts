import { type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';
import { addColumns, type Columns, createTable } from './columns.ts';

export const connectionModeColumns = {
  /** In the mode `paused`, the bridge plans and sends nothing by itself. */
  mode: "ordered text = 'live'",
  /** The start of the pause, in epoch milliseconds; null unless the connection is paused. */
  paused_at: 'bigint?',
} as const satisfies Columns;

/** One row about the database itself, by which an older state of it is recognised (docs/architecture.md, A restored backup). */
export const databaseRecordColumns = {
  id: 'integer',
  /** Made with the database. A copy keeps it, an empty database has another one. */
  database_id: 'ordered text',
  /** Grows with the writes of IdPs, at most a second after them. */
  writes: 'bigint',
  /** The last time at which a server that used the database recorded itself, by `Runtime.now`. */
  alive_at: 'bigint',
} as const satisfies Columns;

/** Adds the mode of connections, and the record of the database. */
export function connectionModesMigration(types: ColumnTypes): Record<string, Migration> {
  const statements = [
    ...addColumns(types, 'connection', connectionModeColumns),
    createTable(types, {
      table: 'database_record',
      columns: databaseRecordColumns,
      constraints: ['primary key (id)'],
    }),
  ];
  return {
    '0003-connection-modes': {
      up: async (db) => {
        for (const statement of statements) await sql.raw(statement).execute(db);
      },
    },
  };
}
