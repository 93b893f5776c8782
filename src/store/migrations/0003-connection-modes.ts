import { type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/**
 * Adds the mode of connections, and the record by which a database is recognised that is older than what is known of it
 * (docs/architecture.md, A restored backup).
 */
export function connectionModesMigration({ bigint, orderedText }: ColumnTypes): Record<string, Migration> {
  const statements = [
    `alter table connection add column mode ${orderedText} not null default 'live'`,
    `alter table connection add column paused_at ${bigint}`,
    `create table database_record (
      id integer primary key,
      database_id ${orderedText} not null,
      writes ${bigint} not null,
      alive_at ${bigint} not null
    )`,
  ];
  return {
    '0003-connection-modes': {
      up: async (db) => {
        for (const statement of statements) await sql.raw(statement).execute(db);
      },
    },
  };
}
