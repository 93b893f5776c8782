import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ForeignTables, UnknownSchema } from '../../src/store/sql/migrate.ts';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';
import { openSqlite } from '../../src/store/sql/sqlite-file.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';

const { newFolder, open } = temporaryDatabases('jetbridge-schema-');

/** Closes a database of the current schema, after `statement` has changed it, and returns its folder. */
async function folderWith(statement: string): Promise<string> {
  const folder = newFolder();
  await (await openEmbedded(folder, false)).close();
  const raw = await openSqlite(join(folder, 'jetbridge.db'));
  raw.exec(statement);
  raw.close();
  return folder;
}

/** Expects that opening the folder fails with this message, and changes nothing in the database. */
async function expectRefusal(
  folder: string,
  message: string,
  error: new (...values: never) => Error = UnknownSchema,
): Promise<void> {
  const content = readFileSync(join(folder, 'jetbridge.db'));
  const opening = openEmbedded(folder, true);
  await expect(opening).rejects.toThrow(error);
  await expect(opening).rejects.toThrow(message);
  expect(readFileSync(join(folder, 'jetbridge.db')).equals(content)).toBe(true);
}

/** Returns the folder of a database from which all tables were dropped. */
async function folderWithoutTables(): Promise<string> {
  const folder = await folderWith('select 1');
  const raw = await openSqlite(join(folder, 'jetbridge.db'));
  raw.exec('pragma foreign_keys = off');
  const names = raw
    .prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`)
    .all([]);
  for (const { name } of names as { name: string }[]) raw.exec(`drop table "${name}"`);
  raw.close();
  return folder;
}

test('only their owner can read the files of a database, whose folder may be open to others', async () => {
  const folder = newFolder();
  const database = await openEmbedded(folder, true);
  const names = readdirSync(folder);
  expect(names).toEqual(expect.arrayContaining(['jetbridge.db', 'jetbridge.db-wal', 'jetbridge.lock']));
  for (const name of names) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  await database.close();
});

test('a database of a build before the first release is refused before anything is changed', async () => {
  const folder = await folderWith(`
    delete from kysely_migration;
    insert into kysely_migration (name, timestamp) values ('0001-bridge', ''), ('0002-travel', '')`);
  await expectRefusal(
    folder,
    `${folder} was written by a build of Jetbridge before its first release, and cannot be upgraded. ` +
      'Start with an empty folder: point JETBRIDGE_DATA at one.',
  );
});

test('a database of a newer version is refused before anything is changed', async () => {
  const folder = await folderWith(`insert into kysely_migration (name, timestamp) values ('0002-next', '')`);
  await expectRefusal(
    folder,
    `${folder} was written by a newer version of Jetbridge. ` +
      'Install that version, or point JETBRIDGE_DATA at another place.',
  );
});

test('a database that other statements of the schema have made is refused', async () => {
  const folder = await folderWith(
    `update kysely_migration set name = '0001-schema-00000000' where name like '0001-%'`,
  );
  await expectRefusal(folder, `${folder} was written by a build of Jetbridge before its first release`);
});

test.each([
  ['a table that Jetbridge would have too', 'create table connection (id integer)'],
  ['any other table', 'create table trips (id integer)'],
  ['a view', 'create view trips as select 1'],
  [
    'a list of migrations of its own',
    `create table kysely_migration (name text, timestamp text); insert into kysely_migration values ('2026_trips', '')`,
  ],
])(
  'a database in which another program has made %s is refused before anything is changed',
  async (_title, made) => {
    const folder = await folderWithoutTables();
    const raw = await openSqlite(join(folder, 'jetbridge.db'));
    raw.exec(made);
    raw.close();
    const text = `${folder} contains tables that are not of Jetbridge. Point JETBRIDGE_DATA at an empty folder.`;
    await expectRefusal(folder, text, ForeignTables);
  },
);

test('a refused folder is not locked', async () => {
  const folder = await folderWith(`update kysely_migration set name = 'earlier-' || name`);
  await expect(openEmbedded(folder, true)).rejects.toThrow(UnknownSchema);
  const raw = await openSqlite(join(folder, 'jetbridge.db'));
  raw.exec(`update kysely_migration set name = replace(name, 'earlier-', '')`);
  raw.close();
  await (await open(folder)).ping();
});

test('an interrupted migration leaves the database unchanged, and runs again at the next start', async () => {
  const folder = await folderWithoutTables();
  const raw = await openSqlite(join(folder, 'jetbridge.db'));
  // An index with the name of the last one that the migration creates makes it fail.
  raw.exec(`
    create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
    create index audit_entry_action on kysely_migration (timestamp)`);
  await expect(openEmbedded(folder, true)).rejects.toThrow('audit_entry_action');
  raw.exec('drop index audit_entry_action');
  raw.close();
  await (await open(folder)).ping();
});
