import { ofConnection, SCOPE, scopeKey, type TableDeclarations } from './columns.ts';

/**
 * Connections with their counters, rules and background work, and the replicas that serve them. Keys begin with the account, so that all
 * rows of an account can be placed on one node of a distributed database.
 */
export const connectionTables = {
  connection: {
    columns: {
      account: 'ordered text',
      id: 'ordered text',
      /** `live` or `shadow`: see `src/store/connection-modes.ts`. */
      mode: "ordered text = 'live'",
      /** The start of shadow mode, in epoch milliseconds; null while the connection is live. */
      shadow_since: 'bigint?',
      /** In shadow mode: a SCIM filter of the people who are provisioned nevertheless; null if there are none. */
      pilot: 'text?',
      /** The settings of a connection that was added on the admin page, as JSON; null for one of the settings file. */
      settings: 'text?',
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
      /** Values of travelers that were replaced since this generation are put back with the mapping; null if none are. */
      put_back_since: 'bigint?',
    },
    constraints: [`primary key (${SCOPE})`, ofConnection],
  },
  /** Rules that wait beside those in force until they are counted, or an admin decides; at most one for a connection. */
  proposed_rules: {
    columns: {
      ...scopeKey,
      /** Null if nothing is proposed. */
      digest: 'ordered text?',
      mapping_digest: 'ordered text?',
      /** JSON of the rules, with their source. */
      proposed: 'text?',
      since: 'bigint',
      /** The number of people for whom they would change values; null until they are counted. */
      people: 'integer?',
      /** The digests of what was discarded last: it is not proposed again. */
      discarded_mapping: 'ordered text?',
      discarded_collection: 'ordered text?',
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
  /** A replica that is alive. */
  replica: {
    columns: {
      id: 'ordered text',
      seen_at: 'bigint',
      /** JSON of the names of the connections that the replica serves. */
      connections: 'text',
    },
    constraints: ['primary key (id)'],
  },
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
      /** 1 from the restore of a backup until everybody is newly imported. */
      restored: 'flag = 0',
    },
    constraints: ['primary key (id)'],
  },
  /** The row that probe writes replace. */
  write_probe: {
    columns: { id: 'integer', content: 'text' },
    constraints: ['primary key (id)'],
  },
} as const satisfies TableDeclarations;
