import type { Kysely } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** Groups, and their members as rows, so that a change to one member touches one row. */
export async function groupTables(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  await groups(db, types);
  await members(db);
}

async function groups(db: Kysely<unknown>, { json, time }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('scim_group')
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connection.id'))
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('attributes', json, (column) => column.notNull())
    .addColumn('display_name_key', 'text')
    .addColumn('external_id', 'text')
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('created_at', time, (column) => column.notNull())
    .addColumn('last_modified', time, (column) => column.notNull())
    .addPrimaryKeyConstraint('scim_group_key', ['connection_id', 'id'])
    .addUniqueConstraint('scim_group_display_name', ['connection_id', 'display_name_key'])
    .execute();
  const index = (name: string) => db.schema.createIndex(name).on('scim_group');
  await index('scim_group_external_id').columns(['connection_id', 'external_id']).execute();
  await index('scim_group_page').columns(['connection_id', 'created_at', 'id']).execute();
}

async function members(db: Kysely<unknown>): Promise<void> {
  const group = ['connection_id', 'group_id'] as const;
  await db.schema
    .createTable('group_member')
    .addColumn('connection_id', 'text', (column) => column.notNull())
    .addColumn('group_id', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('display', 'text')
    .addColumn('type', 'text')
    .addColumn('position', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('group_member_key', [...group, 'value'])
    .addForeignKeyConstraint('group_member_owner', [...group], 'scim_group', ['connection_id', 'id'], (key) =>
      key.onDelete('cascade'),
    )
    .execute();
  const index = (name: string) => db.schema.createIndex(name).on('group_member');
  await index('group_member_position')
    .columns([...group, 'position'])
    .execute();
  await index('group_member_value').columns(['connection_id', 'value', 'group_id']).execute();
}
