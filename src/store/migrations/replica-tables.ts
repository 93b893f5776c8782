import { ofConnection, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

/**
 * The tables that the replicas of a service share: the rules in force, the background work of each connection, and the replicas that are
 * alive.
 */
export const replicaTables = {
  /** The mapping and lookups in force of a connection. */
  rules_in_force: {
    columns: {
      ...scopeKey,
      generation: 'bigint',
      edition: 'integer',
      digest: 'ordered text',
      source: 'ordered text',
      /** The time at which a replica last had a mapping file with this content, or used the mapping without a file. */
      file_seen_at: 'bigint',
      mapping: 'text',
      /** JSON of the lookups; null until they have been read. */
      lookups: 'text?',
    },
    constraints: [`primary key (${SCOPE})`, ofConnection],
  },
  /** A mapping that was in force since a generation. Mappings are JSON. */
  mapping_version: {
    columns: {
      ...scopeKey,
      generation: 'bigint',
      edition: 'integer',
      digest: 'ordered text',
      source: 'ordered text',
      applied_at: 'bigint',
      author: 'text?',
      mapping: 'text',
    },
    constraints: [`primary key (${SCOPE}, generation)`, ofConnection],
    indexes: {
      digest: `${SCOPE}, digest`,
    },
  },
  /** Background work of a connection, which one replica at a time does. */
  background_task: {
    columns: {
      ...scopeKey,
      kind: 'ordered text',
      due_at: 'bigint',
      /** 1 if the work must be done once more, however recently it was done. */
      requested: 'flag = 0',
      lease_token: 'text?',
      lease_until: 'bigint?',
      /** JSON that the last run has saved; empty before the first one. */
      state: 'text',
    },
    constraints: [`primary key (${SCOPE}, kind)`, ofConnection],
  },
  replica: {
    columns: {
      id: 'ordered text',
      seen_at: 'bigint',
      /** JSON of the names of the connections that the replica serves. */
      connections: 'text',
    },
    constraints: ['primary key (id)'],
  },
} as const satisfies TableDeclarations;
