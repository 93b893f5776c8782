import { type Kysely, type Migration, sql } from 'kysely';
import { fillIdentities } from './0003-fill.ts';
import type { ColumnTypes } from './column-types.ts';

/** What lists are sorted, filtered and counted by: the stable key as one number, more columns, and counts by blocks of it. */
export function listColumns(types: ColumnTypes): Migration {
  return {
    up: async (db: Kysely<unknown>) => {
      await columns(db, types);
      await blocks(db, types);
      await numberAll(db);
      await fillIdentities(db);
      await countAll(db);
      await indexes(db);
    },
  };
}

async function columns(db: Kysely<unknown>, { time }: ColumnTypes): Promise<void> {
  const zero = { default: 0 };
  for (const { table, column, ...extra } of [
    { table: 'identity', column: 'position', ...zero, type: time },
    { table: 'identity', column: 'active', ...zero, type: 'integer' },
    { table: 'identity', column: 'display_name_key', type: 'text' },
    { table: 'identity', column: 'extensions', type: 'text' },
    { table: 'scim_group', column: 'position', ...zero, type: time },
    { table: 'tally', column: 'active', ...zero, type: 'integer' },
    { table: 'tally', column: 'last', ...zero, type: time },
  ] as const) {
    await db.schema
      .alterTable(table)
      .addColumn(column, extra.type, (one) => ('default' in extra ? one.notNull().defaultTo(0) : one))
      .execute();
  }
}

async function blocks(db: Kysely<unknown>, { time }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('identity_block')
    .addColumn('connection_id', 'text', (column) => column.notNull().references('connection.id'))
    .addColumn('block', time, (column) => column.notNull())
    .addColumn('live', 'integer', (column) => column.notNull())
    .addColumn('active', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('identity_block_key', ['connection_id', 'block'])
    .execute();
}

/** Everybody keeps the place that they have; new ones come after. */
async function numberAll(db: Kysely<unknown>): Promise<void> {
  await sql`
    update identity set position = numbered.place + identity.incomplete * 1099511627776
    from (select connection_id, id,
                 row_number() over (partition by connection_id order by incomplete, created_at, id) as place
          from identity) as numbered
    where numbered.connection_id = identity.connection_id and numbered.id = identity.id`.execute(db);
  await sql`
    update scim_group set position = numbered.place
    from (select connection_id, id, row_number() over (partition by connection_id order by created_at, id) as place
          from scim_group) as numbered
    where numbered.connection_id = scim_group.connection_id and numbered.id = scim_group.id`.execute(db);
}

async function countAll(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into identity_block (connection_id, block, live, active)
    select connection_id, (position - position % 1024) / 1024, count(*), sum(active)
    from identity where deleted_at is null
    group by connection_id, (position - position % 1024) / 1024`.execute(db);
  await sql`
    update tally set
      active = (select count(*) from identity
                where identity.connection_id = tally.connection_id and deleted_at is null and identity.active = 1),
      last = (select count(*) from identity where identity.connection_id = tally.connection_id)
    where kind = 'live'`.execute(db);
  await sql`
    update tally set
      last = (select count(*) from scim_group where scim_group.connection_id = tally.connection_id)
    where kind = 'group'`.execute(db);
}

/**
 * Each begins with what is compared, then has the stable key, which tells ties apart, and ends with all else that walking
 * along it asks for, so that who is passed over costs no look at the row.
 */
async function indexes(db: Kysely<unknown>): Promise<void> {
  for (const name of replaced) await db.schema.dropIndex(name).execute();
  for (const [name, columns] of Object.entries(live)) {
    const on = `identity (connection_id, ${columns}, deleted_at) where deleted_at is null`;
    await sql.raw(`create index identity_${name} on ${on}`).execute(db);
  }
  // A return looks among the tombstones too.
  for (const [name, columns] of Object.entries(all)) {
    await sql
      .raw(`create index identity_${name} on identity (connection_id, ${columns}, deleted_at)`)
      .execute(db);
  }
  for (const [name, columns] of Object.entries(groups)) {
    await sql.raw(`create index scim_group_${name} on scim_group (connection_id, ${columns})`).execute(db);
  }
}

const replaced = [
  'identity_page',
  'identity_external_id',
  'identity_user_name',
  'scim_group_page',
  'scim_group_external_id',
];

const live = {
  page: 'position',
  active: 'active, position',
  id: 'id',
  display_name: 'display_name_key, position',
  created: 'created_at, position',
  last_modified: 'last_modified, position',
};

const all = { user_name: 'user_name_key', external_id: 'external_id, position' };

const groups = {
  page: 'position',
  display_name_order: 'display_name_key, position',
  external_id: 'external_id, position',
  created: 'created_at, position',
  last_modified: 'last_modified, position',
};
