import type { ColumnTypes } from './column-types.ts';
import { type Columns, createTable, ofConnection } from './columns.ts';

/** A mapping that was in force since a generation. Mappings are JSON. */
export const mappingVersionColumns = {
  account: 'ordered text',
  connection_id: 'ordered text',
  generation: 'bigint',
  edition: 'integer',
  digest: 'ordered text',
  source: 'ordered text',
  applied_at: 'bigint',
  author: 'text?',
  mapping: 'text',
} as const satisfies Columns;

/** The mapping and lookups in force of a connection. */
export const rulesInForceColumns = {
  account: 'ordered text',
  connection_id: 'ordered text',
  generation: 'bigint',
  edition: 'integer',
  digest: 'ordered text',
  source: 'ordered text',
  /** The time at which a replica last had a mapping file with this content, or used the mapping without a file. */
  file_seen_at: 'bigint',
  mapping: 'text',
  /** JSON of the lookups; null until they have been read. */
  lookups: 'text?',
} as const satisfies Columns;

/** Background work of a connection, which one replica at a time does. */
export const backgroundTaskColumns = {
  account: 'ordered text',
  connection_id: 'ordered text',
  kind: 'ordered text',
  due_at: 'bigint',
  /** 1 if the work must be done once more, however recently it was done. */
  requested: 'flag = 0',
  lease_token: 'text?',
  lease_until: 'bigint?',
  /** JSON that the last run has saved; empty before the first one. */
  state: 'text',
} as const satisfies Columns;

export const replicaColumns = {
  id: 'ordered text',
  seen_at: 'bigint',
  /** JSON of the names of the connections that the replica serves. */
  connections: 'text',
} as const satisfies Columns;

/** The tables that the replicas of a service share: the rules in force, the background work of each connection, and the replicas that are alive. */
export function replicaTables(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'rules_in_force',
      columns: rulesInForceColumns,
      constraints: ['primary key (account, connection_id)', ofConnection],
    }),
    createTable(types, {
      table: 'mapping_version',
      columns: mappingVersionColumns,
      constraints: ['primary key (account, connection_id, generation)', ofConnection],
    }),
    'create index mapping_version_digest on mapping_version (account, connection_id, digest)',
    createTable(types, {
      table: 'background_task',
      columns: backgroundTaskColumns,
      constraints: ['primary key (account, connection_id, kind)', ofConnection],
    }),
    createTable(types, {
      table: 'replica',
      columns: replicaColumns,
      constraints: ['primary key (id)'],
    }),
  ];
}
