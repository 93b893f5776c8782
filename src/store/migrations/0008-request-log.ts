import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/**
 * The request log; see `RequestLogTable` for what it means. One index, with all that is searched: each more would cost
 * every request something, and what is appended to this one stands in its order.
 */
export function requestLogTable(types: ColumnTypes): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable('request_log')
        .addColumn('seq', types.time, (c) => c.primaryKey())
        .addColumn('time', types.time, (c) => c.notNull())
        .addColumn('ms', 'integer', (c) => c.notNull())
        .addColumn('method', 'text', (c) => c.notNull())
        .addColumn('path', 'text', (c) => c.notNull())
        .addColumn('place', 'text', (c) => c.notNull())
        .addColumn('status', 'integer', (c) => c.notNull())
        .addColumn('user_id', 'text')
        .addColumn('credential', 'text')
        .addColumn('request_id', 'text', (c) => c.notNull())
        .addColumn('request_body', 'text')
        .addColumn('request_cut', 'integer', (c) => c.notNull())
        .addColumn('response_body', 'text')
        .addColumn('response_cut', 'integer', (c) => c.notNull())
        .execute();
      await db.schema
        .createIndex('request_log_search')
        .on('request_log')
        .columns(['time', 'seq', 'status', 'user_id', 'place'])
        .execute();
    },
  };
}
