import type { Kysely } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** Identities, and what stands in rows of its own because there are many of it. */
export async function identityTables(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await identities(db, types);
  await emails(db);
  await references(db);
}

async function identities(db: Kysely<unknown>, { json, time }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('identity')
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connection.id'))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('desired', json, (column) => column.notNull())
    .addColumn('user_name_key', 'text')
    .addColumn('external_id', 'text')
    .addColumn('incomplete', 'integer', (column) => column.notNull())
    .addColumn('claimed', 'integer', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('revision', 'integer', (column) => column.notNull())
    .addColumn('rules_version', 'text', (column) => column.notNull())
    .addColumn('travel_id', 'text')
    .addColumn('applied', json, (column) => column.notNull())
    .addColumn('refused', json, (column) => column.notNull())
    .addColumn('observed', json)
    .addColumn('travel_email_key', 'text')
    .addColumn('creating', 'text')
    .addColumn('creating_key', 'text')
    .addColumn('waiting_for', 'text')
    .addColumn('findings', json, (column) => column.notNull())
    .addColumn('trace', json, (column) => column.notNull())
    .addColumn('lease_token', 'text')
    .addColumn('lease_until', time)
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_attempt_at', time, (column) => column.notNull())
    .addColumn('created_at', time, (column) => column.notNull())
    .addColumn('last_modified', time, (column) => column.notNull())
    .addColumn('deleted_at', time)
    .addColumn('seen_at', time, (column) => column.notNull())
    .addPrimaryKeyConstraint('identity_key', ['connection_id', 'id'])
    .execute();
}

async function emails(db: Kysely<unknown>): Promise<void> {
  const owner = ['connection_id', 'identity_id'] as const;
  await db.schema
    .createTable('identity_email')
    .addColumn('connection_id', 'text', (column) => column.notNull())
    .addColumn('identity_id', 'text', (column) => column.notNull())
    .addColumn('email_key', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('identity_email_key', ['connection_id', 'email_key', 'identity_id'])
    .addForeignKeyConstraint('identity_email_owner', [...owner], 'identity', ['connection_id', 'id'], (key) =>
      key.onDelete('cascade'),
    )
    .execute();
}

async function references(db: Kysely<unknown>): Promise<void> {
  const owner = ['connection_id', 'identity_id'] as const;
  await db.schema
    .createTable('identity_reference')
    .addColumn('connection_id', 'text', (column) => column.notNull())
    .addColumn('identity_id', 'text', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('raw', 'text', (column) => column.notNull())
    .addColumn('raw_key', 'text', (column) => column.notNull())
    .addColumn('target', 'text')
    .addColumn('travel_id', 'text')
    .addPrimaryKeyConstraint('identity_reference_key', [...owner, 'position'])
    .addForeignKeyConstraint(
      'identity_reference_owner',
      [...owner],
      'identity',
      ['connection_id', 'id'],
      (key) => key.onDelete('cascade'),
    )
    .execute();
}
