import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { createTables } from '../../src/store/migrations/columns.ts';
import { firstTables, migrations, tables } from '../../src/store/migrations/index.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { postgres, sqlite } from '../../src/store/sql/dialect.ts';
import { migrate } from '../../src/store/sql/migrate.ts';
import { type DatabaseLocation, openDatabase } from '../../src/store/sql/open-database.ts';
import { isOnPostgres } from '../fixtures/data-folder.ts';
import { executeAt } from '../fixtures/execute.ts';
import { fillStatements, rowsOf } from '../fixtures/full-tables.ts';
import { temporaryFolder } from '../fixtures/jetbridge.ts';
import { emptyLocation } from '../fixtures/test-database.ts';

/** The statements of the first migration as they were released. */
const released = (name: string) =>
  readFileSync(join(__dirname, 'released', `0001.${name}.sql`), 'utf8')
    .trimEnd()
    .split('\n');

const folder = temporaryFolder();
afterAll(() => folder.remove());
let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

async function open(location: DatabaseLocation): Promise<Database> {
  const database = await openDatabase(location, { exclusive: false });
  closing.push(() => database.close());
  return database;
}

/** A database as the first release has made it, with a row in each table. */
async function firstRelease(): Promise<DatabaseLocation> {
  const location = await emptyLocation(join(folder.path, 'first'));
  await executeAt(location, [
    'create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)',
    'create table kysely_migration_lock (id varchar(255) primary key, is_locked integer default 0 not null)',
    `insert into kysely_migration values ('0001-first-release', '2026-11-29T00:00:00.000Z')`,
    `insert into kysely_migration_lock values ('migration_lock', 0)`,
    ...released(isOnPostgres() ? 'postgres' : 'sqlite'),
    ...fillStatements(firstTables),
  ]);
  return location;
}

/** The columns of each table, and the names of the indexes. */
async function schemaOf({ db, dialect }: Database) {
  const found = await db.introspection.getTables();
  const columns = found.map(({ name, columns }) => [
    name,
    columns.map((one) => [one.name, one.dataType, one.isNullable]).toSorted(),
  ]);
  const indexes = dialect.isShared
    ? sql<{ name: string }>`select indexname as name from pg_indexes where schemaname = current_schema()`
    : sql<{ name: string }>`select name from sqlite_master where type = 'index' and sql is not null`;
  const { rows } = await indexes.execute(db);
  return { columns: columns.toSorted(), indexes: rows.map(({ name }) => name).toSorted() };
}

test.each([sqlite, postgres('given')])(
  'the first migration stays as it was released on $name: CONTRIBUTING.md, "A table or column", says how to change the schema',
  ({ name, columnTypes }) => {
    const statements = createTables(firstTables, columnTypes);
    expect(statements.map((one) => `${one.replaceAll(/\s+/g, ' ').trim()};`)).toEqual(released(name));
  },
);

test('a database of the first release keeps all its rows in an upgrade, and gets the schema of a new one', async () => {
  const upgraded = await open(await firstRelease());
  const place = { place: 'the place', setting: 'JETBRIDGE_DATA' } as const;
  const known = {
    ...migrations(upgraded.dialect.columnTypes),
    '9999-next': {
      up: async (db: Database['db']) => {
        await sql`alter table identity add column note text not null default ''`.execute(db);
        await sql`create table note (id text primary key)`.execute(db);
      },
    },
  };
  const fresh = await open(await emptyLocation(join(folder.path, 'fresh')));
  expect(await schemaOf(upgraded)).toEqual(await schemaOf(fresh));
  await migrate(upgraded.db, { dialect: upgraded.dialect, mayCreate: false, ...place }, known);
  for (const statement of fillStatements(firstTables)) await sql.raw(statement).execute(fresh.db);
  expect(await rowsOf(upgraded, firstTables)).toEqual(await rowsOf(fresh, firstTables));
  const notes = await sql`select note from identity`.execute(upgraded.db);
  expect(notes.rows).toEqual([{ note: '' }]);
});

test('the declared tables and columns are those that the migrations make', async () => {
  const { columns } = await schemaOf(await open(await emptyLocation(join(folder.path, 'declared'))));
  const made = columns.map(([name, found]) => [name, (found as string[][]).map(([column]) => column)]);
  const declared = Object.entries(tables).map(([name, one]) => [name, Object.keys(one.columns).toSorted()]);
  expect(made).toEqual(declared.toSorted());
});

/** What a replica of the version before tolerates: CONTRIBUTING.md, "A table or column". */
const additions = [
  /^create (table|index) /,
  /^alter table \w+ add column (?!.*\bnot null\b(?!.* default\b))(?!.* default\b.*\()/,
  /^(update|insert into) /,
];
const isAddition = (statement: string) => additions.some((form) => form.test(statement));

test.each([
  [true, 'create table note (id text primary key)'],
  [true, 'create index note_at on note (at)'],
  [true, 'alter table identity add column note text'],
  [true, `alter table identity add column note text not null default ''`],
  [true, 'update identity set note = id'],
  [false, 'alter table identity add column note text not null'],
  [false, 'alter table identity add column note bigint not null default (random())'],
  [false, 'create unique index note_at on note (at)'],
  [false, 'alter table identity drop column trace'],
  [false, 'alter table identity rename column trace to traces'],
  [false, 'drop table write_probe'],
  [false, 'delete from write_probe'],
])('%s: %s only adds', (expected, statement) => {
  expect(isAddition(statement)).toBe(expected);
});

test('migrations after the first one only add', async () => {
  for (const types of [sqlite.columnTypes, postgres('given').columnTypes]) {
    for (const [name, { up }] of Object.entries(migrations(types)).slice(1))
      expect([name, (await statementsOf(up)).filter((one) => !isAddition(one))]).toEqual([name, []]);
  }
  const drop = (db: Kysely<never>) => sql`drop table write_probe`.execute(db).then(() => {});
  expect((await statementsOf(drop)).filter((one) => !isAddition(one))).toEqual(['drop table write_probe']);
});

/** Returns the statements of a migration, which are executed nowhere. */
async function statementsOf(up: (db: Kysely<never>) => Promise<void>): Promise<string[]> {
  const statements: string[] = [];
  await up(
    new Kysely<never>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
      log: ({ query }) => void statements.push(query.sql.replaceAll(/\s+/g, ' ').trim()),
    }),
  );
  return statements;
}
