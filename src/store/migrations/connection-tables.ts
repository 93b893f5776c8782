import type { ColumnTypes } from './column-types.ts';
import { type Columns, createTable, ofConnection } from './columns.ts';

export const connectionColumns = {
  account: 'ordered text',
  id: 'ordered text',
  /** The log of exchanges holds bodies of reads until that time. */
  read_bodies_until: 'bigint?',
} as const satisfies Columns;

/**
 * Row counts of a connection, updated in the transaction that inserts or deletes rows. The sum over all slots is the
 * count; a single slot may be negative.
 */
export const listCounterColumns = {
  account: 'ordered text',
  connection_id: 'ordered text',
  kind: 'ordered text',
  slot: 'integer',
  count: 'integer',
  /** The number of live identities that are active. */
  active: 'integer',
} as const satisfies Columns;

/** The row that probe writes replace. */
const writeProbeColumns = { id: 'integer', content: 'text' } as const satisfies Columns;

/**
 * Connections with their counters. The tables of the bridge have keys that begin with the account, so that all rows of an account can
 * be placed on one node of a distributed database.
 */
export function connectionTables(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'connection',
      columns: connectionColumns,
      constraints: ['unique (id)', 'primary key (account, id)'],
    }),
    createTable(types, {
      table: 'list_counter',
      columns: listCounterColumns,
      constraints: ['primary key (account, connection_id, kind, slot)', ofConnection],
      isKeyOnly: true,
    }),
    createTable(types, {
      table: 'write_probe',
      columns: writeProbeColumns,
      constraints: ['primary key (id)'],
    }),
  ];
}
