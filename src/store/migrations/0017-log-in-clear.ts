import type { ColumnTypes } from './column-types.ts';
import { createTables, type TableDeclarations } from './columns.ts';

/** The log of exchanges. */
export const exchangeTables = {
  /** A request and its response. */
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
      /** The key of the name for which the request searches: an address, a userName or an id. */
      sought: 'ordered text?',
      /** The caller in the embedded travel service. */
      user_id: 'ordered text?',
      credential: 'text?',
      request_id: 'ordered text?',
      method: 'ordered text',
      /** With the query. */
      path: 'ordered text',
      status: 'integer?',
      error: 'text?',
      /** Headers and body as JSON. */
      request: 'text',
      response: 'text',
    },
    constraints: ['primary key (position)'],
    indexes: {
      time: 'at',
      about_person: { columns: 'person, position', where: 'person is not null' },
      search: { columns: 'sought, position', where: 'sought is not null' },
      request: { columns: 'request_id', where: 'request_id is not null' },
    },
  },
} as const satisfies TableDeclarations;

/** Replaces the encrypted log by one in clear text, which begins empty. */
export function replaceEncryptedLog(types: ColumnTypes): string[] {
  return ['drop table exchange_name', 'drop table exchange', ...createTables(exchangeTables, types)];
}
