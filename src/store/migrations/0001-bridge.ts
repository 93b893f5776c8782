import type { Kysely, Migration } from 'kysely';
import { groupTables } from './0001-groups.ts';
import { identityTables } from './0001-identities.ts';
import { identityIndexes } from './0001-identity-indexes.ts';
import type { ColumnTypes } from './column-types.ts';

/** The tables of connections, tokens, identities and groups. */
export function bridgeTables(types: ColumnTypes): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await connections(db, types);
      await identityTables(db, types);
      await identityIndexes(db);
      await groupTables(db, types);
    },
  };
}

async function connections(db: Kysely<unknown>, { time }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('connection')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('tally')
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connection.id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('tally_key', ['connection_id', 'kind'])
    .execute();
  await db.schema
    .createTable('token')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connection.id'))
    .addColumn('created_at', time, (column) => column.notNull())
    .addColumn('expires_at', time)
    .addColumn('revoked_at', time)
    .execute();
}
