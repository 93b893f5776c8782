import { type Kysely, type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** What is remembered between attempts and while an admin decides; see `IdentityTable` for what the columns mean. */
export function orderOfEvents({ json, time }: ColumnTypes): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      const identity = db.schema.alterTable('identity');
      await identity.addColumn('progress', json, (column) => column.notNull().defaultTo('{}')).execute();
      await identity.addColumn('check_at', time, (column) => column.notNull().defaultTo(0)).execute();
      await identity.addColumn('origin', json, (column) => column.notNull().defaultTo('{}')).execute();
      await identity.addColumn('hold_cause', 'text').execute();
      await identity.addColumn('hold_since', time).execute();
      await identity.addColumn('decision', 'text', (column) => column.notNull().defaultTo('')).execute();
      await sql`create index identity_check on identity (connection_id, check_at) where check_at > 0`.execute(
        db,
      );
      // Those who must be taken out of use come first, however many others wait.
      await sql`create index identity_leaver on identity (connection_id, next_attempt_at) where state = 'dirty' and (active = 0 or deleted_at is not null)`.execute(
        db,
      );
      await sql`create index identity_held on identity (connection_id, hold_cause, hold_since) where hold_cause is not null`.execute(
        db,
      );
    },
  };
}
