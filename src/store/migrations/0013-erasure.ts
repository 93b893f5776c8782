import { type Kysely, type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** Which travelers were erased, and an index by which old tombstones are found; see `ErasedTravelerTable`. */
export function erasureTables({ time }: ColumnTypes): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await db.schema
        .createTable('erased_traveler')
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .addColumn('erased_at', time, (column) => column.notNull())
        .addPrimaryKeyConstraint('erased_traveler_key', ['account', 'hash'])
        .execute();
      await sql`
        create index identity_tombstones on identity (connection_id, deleted_at)
        where deleted_at is not null`.execute(db);
    },
  };
}
