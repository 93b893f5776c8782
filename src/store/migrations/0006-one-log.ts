import type { ColumnTypes } from './column-types.ts';
import { createTables, type TableDeclarations } from './columns.ts';

/** The log of exchanges, which a later migration replaces. */
const exchangeTables = {
  /** A request and its response. Query, headers and bodies are encrypted, all else is searched. */
  exchange: {
    columns: {
      /** A number that follows the order of the commits. */
      position: 'bigint',
      at: 'bigint',
      ms: 'double',
      direction: 'ordered text',
      /** Empty for requests without a valid token, and to the embedded travel service. */
      connection_id: 'ordered text',
      /** A SCIM id. */
      person: 'ordered text?',
      /** The caller in the embedded travel service. */
      user_id: 'ordered text?',
      credential: 'text?',
      request_id: 'ordered text?',
      method: 'ordered text',
      /** Without the query. */
      path: 'ordered text',
      status: 'integer?',
      error: 'text?',
      /** The id of the key that encrypts the content. */
      key_id: 'ordered text',
      content: 'text',
    },
    constraints: ['primary key (position)'],
    indexes: {
      time: 'at',
      about_person: { columns: 'person, position', where: 'person is not null' },
      request: { columns: 'request_id', where: 'request_id is not null' },
    },
  },
  /** A name of a person in an exchange: an id, a userName or an address. A table of its own, because a body may have many. */
  exchange_name: {
    columns: {
      position: 'bigint',
      /** A keyed hash. */
      name: 'ordered text',
      /** 1: the path or query asks for the name. 0: a body has it. */
      asked: 'flag',
    },
    constraints: [
      'primary key (position, name)',
      'foreign key (position) references exchange (position) on delete cascade',
    ],
    isKeyOnly: true,
    indexes: { search: 'name, asked' },
  },
} as const satisfies TableDeclarations;

/**
 * Replaces the log of exchanges in segments and the request log of the travel service, which databases of earlier versions have, by one
 * log, which begins empty.
 */
export function replaceLogs(types: ColumnTypes): string[] {
  return [
    'drop table if exists exchange_person',
    'drop table if exists exchange_segment',
    'drop table if exists request_log',
    ...createTables(exchangeTables, types),
  ];
}
