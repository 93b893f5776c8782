import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserField } from '../../src/provisioning/users/list-ports.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import { reportedConditions } from '../../src/store/queues/reported-conditions.ts';
import { ForeignTables, UnknownSchema } from '../../src/store/sql/migrate.ts';
import { openEmbedded } from '../../src/store/sql/sqlite.ts';
import { openSqlite } from '../../src/store/sql/sqlite-file.ts';
import { importedIdentity, listQuery, NOW, person, plainScan } from '../fixtures/store.ts';
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

test('a database of an earlier build is refused before anything is changed', async () => {
  const folder = await folderWith(`
    delete from kysely_migration;
    insert into kysely_migration (name, timestamp) values ('0001-bridge', ''), ('0002-travel', '')`);
  await expectRefusal(
    folder,
    `${folder} was written by an earlier version of Jetbridge. This version cannot read it: ` +
      'point JETBRIDGE_DATA at an empty place, or install the earlier version.',
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
  await expectRefusal(folder, `${folder} was written by an earlier version of Jetbridge.`);
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
  // An index with the name of one that the last migration creates makes it fail.
  raw.exec(`
    create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
    create index exchange_search on kysely_migration (timestamp)`);
  await expect(openEmbedded(folder, true)).rejects.toThrow('exchange_search');
  raw.exec('drop index exchange_search');
  raw.close();
  await (await open(folder)).ping();
});

test('a database of an earlier version is migrated, counts its unclaimed people, finds people by parts of names, and leaves its connections live', async () => {
  const folder = newFolder();
  const old = await openEmbedded(folder, false);
  await ensureConnection(old, { id: 'okta', account: 'acme' });
  const { imports, identities } = provisioningStore(old);
  await identities.commit('okta', [{ kind: 'insert', identity: person('a') }]);
  await imports.saveUnclaimed([importedIdentity('b', 't1'), importedIdentity('c', 't2')], NOW);
  await old.close();
  const raw = await openSqlite(join(folder, 'jetbridge.db'));
  raw.exec(`
    delete from list_counter where kind = 'unclaimed';
    drop index identity_claimed;
    drop index identity_decided;
    drop table database_record;
    drop table openid_attempt;
    drop table sign_in_failure;
    drop table former_member;
    drop table changed_group;
    drop table changed_scope;
    drop table membership_change;
    drop table deleted_member;
    drop table exchange;
    create table exchange_segment (last integer primary key);
    create table exchange_person (last integer);
    create table request_log (seq integer primary key);
    insert into request_log values (1);
    alter table connection drop column mode;
    alter table connection drop column settings;
    alter table connection drop column paused_at;
    alter table rules_in_force drop column put_back_since;
    drop index identity_decided_at;
    alter table identity drop column decided_at;
    alter table rules_change drop column decided_at;
    alter table rules_change drop column decided_people;
    alter table rules_change drop column effect;
    alter table rules_in_force drop column followed_generation;
    alter table rules_in_force drop column followed_lookups;
    drop table reported_condition;
    create table hold_alarm (account text, connection_id text, cause text, count integer, since integer, reported_at integer);
    insert into hold_alarm values ('acme', 'okta', 'guarded', 3, 5, 7), ('acme', 'okta', 'notArchived', 1, 6, 8);
    delete from identity_email where email_key like 'Ω%';
    delete from kysely_migration where name > '0002'`);
  raw.close();
  const database = await open(folder);
  expect(database.migrated).toEqual(expect.arrayContaining(['0002-unclaimed-people', '0006-one-log']));
  const query = { ...listQuery<UserField>({ all: [] }), limit: 0 };
  const hidden = { areUnclaimed: true, travelId: undefined };
  const { list } = provisioningStore(database).identities;
  expect((await list('okta', query, plainScan, hidden)).total).toBe(1);
  expect((await list('okta', query, plainScan)).total).toBe(3);
  expect(await provisioningStore(database).people.findByText('okta', 'A DO', 5)).toMatchObject([{ id: 'a' }]);
  expect(await provisioningStore(database).modes.listPaused()).toEqual([]);
  const told = { connection: 'okta', seen: undefined };
  expect(await reportedConditions(database).list()).toEqual([
    { ...told, kind: 'hold', subject: 'guarded', people: 3, since: 5, toldAt: 7 },
    { ...told, kind: 'notArchived', subject: '', people: 1, since: 6, toldAt: 8 },
  ]);
});
