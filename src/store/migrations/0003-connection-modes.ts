import type { ColumnTypes } from './column-types.ts';
import { addColumns, type Columns, createTables, type TableDeclarations } from './columns.ts';

export const connectionModeColumns = {
  /** `live`, `paused` or `shadow`: see `src/store/connection-modes.ts`. */
  mode: "ordered text = 'live'",
  /** The start of the pause or of shadow mode, in epoch milliseconds; null while the connection is live. */
  paused_at: 'bigint?',
} as const satisfies Columns;

export const databaseRecordTables = {
  /** One row about the database itself, by which an older state of it is recognised (docs/architecture.md, A restored backup). */
  database_record: {
    columns: {
      id: 'integer',
      /** Made with the database. A copy keeps it, an empty database has another one. */
      database_id: 'ordered text',
      /** Grows with the writes of IdPs, at most a second after them. */
      writes: 'bigint',
      /** The last time at which a server that used the database recorded itself, by `Runtime.now`. */
      alive_at: 'bigint',
    },
    constraints: ['primary key (id)'],
  },
} as const satisfies TableDeclarations;

/** Adds the mode of connections, and the record of the database. */
export function addConnectionModes(types: ColumnTypes): string[] {
  return [
    ...addColumns(types, 'connection', connectionModeColumns),
    ...createTables(databaseRecordTables, types),
  ];
}
