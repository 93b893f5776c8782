import { randomUUID } from 'node:crypto';
import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** API keys that are listed and revoked, and the tables of OAuth; see `OAuthTables` for what they mean. */
export function credentialTables(types: ColumnTypes): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await apiKeyColumns(db as Kysely<ApiKeyTables>, types);
      await clients(db, types);
      await tokens(db, types);
      await assertions(db, types);
    },
  };
}

interface ApiKeyTables {
  travel_api_key: { hash: string; id: string };
}

async function apiKeyColumns(db: Kysely<ApiKeyTables>, { time }: ColumnTypes): Promise<void> {
  const table = 'travel_api_key';
  await db.schema
    .alterTable(table)
    .addColumn('id', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
  await db.schema.alterTable(table).addColumn('last_used_at', time).execute();
  await db.schema.alterTable(table).addColumn('revoked_at', time).execute();
  for (const { hash } of await db.selectFrom(table).select('hash').execute())
    await db.updateTable(table).set({ id: randomUUID() }).where('hash', '=', hash).execute();
  await db.schema.createIndex('travel_api_key_id').on(table).column('id').unique().execute();
}

async function clients(db: Kysely<unknown>, { json, time }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('oauth_client')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('secret_hash', 'text')
    .addColumn('jwks', json)
    .addColumn('jwks_uri', 'text')
    .addColumn('connection_id', 'text', (c) => c.references('connection.id'))
    .addColumn('user_type', 'text')
    .addColumn('user_id', 'text')
    .addColumn('created_at', time, (c) => c.notNull())
    .addColumn('revoked_at', time)
    .addForeignKeyConstraint(
      'oauth_client_of',
      ['user_type', 'user_id'],
      'travel_resource',
      ['type', 'id'],
      (c) => c.onDelete('cascade'),
    )
    .execute();
  await index(db, 'oauth_client_user', 'oauth_client', ['user_type', 'user_id']);
}

async function tokens(db: Kysely<unknown>, { time }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('oauth_token')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('client_id', 'text', (c) => c.notNull().references('oauth_client.id').onDelete('cascade'))
    .addColumn('expires_at', time, (c) => c.notNull())
    .execute();
  await index(db, 'oauth_token_client', 'oauth_token', ['client_id']);
  await index(db, 'oauth_token_expiry', 'oauth_token', ['expires_at']);
}

async function assertions(db: Kysely<unknown>, { time }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('oauth_assertion')
    .addColumn('client_id', 'text', (c) => c.notNull().references('oauth_client.id').onDelete('cascade'))
    .addColumn('used', 'text', (c) => c.notNull())
    .addColumn('expires_at', time, (c) => c.notNull())
    .addPrimaryKeyConstraint('oauth_assertion_pk', ['client_id', 'used'])
    .execute();
  await index(db, 'oauth_assertion_expiry', 'oauth_assertion', ['expires_at']);
}

async function index(db: Kysely<unknown>, name: string, table: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(name).on(table).columns(columns).execute();
}
