import type { Kysely, Migration } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** The travel service's tables; see `TravelTables` for what they mean. */
export function travelTables(types: ColumnTypes): Migration {
  return {
    up: async (db) => {
      await resources(db, types);
      await searched(db);
      await unique(db);
      await references(db);
      await totals(db);
      await apiKeys(db, types);
    },
  };
}

async function resources(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('travel_resource')
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('parent_id', 'text', (c) => c.notNull())
    .addColumn('created_at', types.time, (c) => c.notNull())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('archived', 'integer', (c) => c.notNull())
    .addColumn('doc', types.json, (c) => c.notNull())
    .addPrimaryKeyConstraint('travel_resource_pk', ['type', 'id'])
    .execute();
  await index(db, 'travel_resource_page', 'travel_resource', ['type', 'parent_id', 'created_at', 'seq']);
  await index(db, 'travel_resource_archived', 'travel_resource', [
    'type',
    'parent_id',
    'archived',
    'created_at',
    'seq',
  ]);
}

/** No key begins with (type, id) and holds the value too: SQLite would read that from end to end for a value. */
async function searched(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('travel_index')
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('archived', 'integer', (c) => c.notNull())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('travel_index_pk', ['type', 'name', 'value', 'seq'])
    .addForeignKeyConstraint('travel_index_of', ['type', 'id'], 'travel_resource', ['type', 'id'], (c) =>
      c.onDelete('cascade'),
    )
    .execute();
  await index(db, 'travel_index_id', 'travel_index', ['type', 'id']);
  await index(db, 'travel_index_archived', 'travel_index', ['type', 'name', 'archived', 'value', 'seq']);
}

async function unique(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('travel_unique')
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('value', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('travel_unique_pk', ['type', 'name', 'value'])
    .addForeignKeyConstraint('travel_unique_of', ['type', 'id'], 'travel_resource', ['type', 'id'], (c) =>
      c.onDelete('cascade'),
    )
    .execute();
  await index(db, 'travel_unique_id', 'travel_unique', ['type', 'id']);
}

/** A reference keeps its target in place, whatever the code above forgets. */
async function references(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('travel_reference')
    .addColumn('from_type', 'text', (c) => c.notNull())
    .addColumn('from_id', 'text', (c) => c.notNull())
    .addColumn('to_type', 'text', (c) => c.notNull())
    .addColumn('to_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('travel_reference_pk', ['from_type', 'from_id', 'to_type', 'to_id'])
    .addForeignKeyConstraint(
      'travel_reference_from',
      ['from_type', 'from_id'],
      'travel_resource',
      ['type', 'id'],
      (c) => c.onDelete('cascade'),
    )
    .addForeignKeyConstraint('travel_reference_to', ['to_type', 'to_id'], 'travel_resource', ['type', 'id'])
    .execute();
  await index(db, 'travel_reference_target', 'travel_reference', ['to_type', 'to_id']);
}

async function totals(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('travel_turn')
    .addColumn('type', 'text', (c) => c.primaryKey())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('travel_count')
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('parent_id', 'text', (c) => c.notNull())
    .addColumn('archived', 'integer', (c) => c.notNull())
    .addColumn('count', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('travel_count_pk', ['type', 'parent_id', 'archived'])
    .execute();
}

async function apiKeys(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('travel_api_key')
    .addColumn('hash', 'text', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('user_type', 'text', (c) => c.notNull())
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('created_at', types.time, (c) => c.notNull())
    .addForeignKeyConstraint(
      'travel_api_key_of',
      ['user_type', 'user_id'],
      'travel_resource',
      ['type', 'id'],
      (c) => c.onDelete('cascade'),
    )
    .execute();
  await index(db, 'travel_api_key_user', 'travel_api_key', ['user_type', 'user_id']);
}

async function index(db: Kysely<unknown>, name: string, table: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(name).on(table).columns(columns).execute();
}
