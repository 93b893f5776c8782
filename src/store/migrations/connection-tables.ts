import { ofConnection, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

/**
 * Connections with their counters. Keys begin with the account, so that all rows of an account can be placed on one node of a distributed
 * database.
 */
export const connectionTables = {
  connection: {
    columns: {
      account: 'ordered text',
      id: 'ordered text',
      /** The log of exchanges holds bodies of reads until that time. */
      read_bodies_until: 'bigint?',
    },
    constraints: ['unique (id)', 'primary key (account, id)'],
  },
  /**
   * Row counts of a connection, updated in the transaction that inserts or deletes rows. The sum over all slots is the
   * count; a single slot may be negative.
   */
  list_counter: {
    columns: {
      ...scopeKey,
      kind: 'ordered text',
      slot: 'integer',
      count: 'integer',
      /** The number of live identities that are active. */
      active: 'integer',
    },
    constraints: [`primary key (${SCOPE}, kind, slot)`, ofConnection],
    isKeyOnly: true,
  },
  /** The row that probe writes replace. */
  write_probe: {
    columns: { id: 'integer', content: 'text' },
    constraints: ['primary key (id)'],
  },
} as const satisfies TableDeclarations;
