import { type Migration, sql } from 'kysely';
import { ensureConnection } from '../../src/store/connections.ts';
import { migrations } from '../../src/store/migrations/index.ts';
import { provisioningStore } from '../../src/store/provisioning-store.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { migrate, UnknownSchema } from '../../src/store/sql/migrate.ts';
import { openPostgres } from '../../src/store/sql/postgres.ts';
import { isOnPostgres } from '../fixtures/data-folder.ts';
import { person } from '../fixtures/store.ts';
import { temporaryDatabases } from '../fixtures/temporary-databases.ts';
import { createDatabaseWithoutTables } from '../fixtures/test-database.ts';

const { open } = temporaryDatabases('jetbridge-migrations-');

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

/** Opens a database of the first schema with one person. On PostgreSQL it is a new one: later tests would use a copy of the template again. */
async function openWithPerson(): Promise<Database> {
  const database = await (isOnPostgres() ? openNew() : open());
  await ensureConnection(database, { id: 'okta', account: 'acme' });
  await provisioningStore(database).identities.commit('okta', [{ kind: 'insert', identity: person('a') }]);
  return database;
}

async function openNew(): Promise<Database> {
  const database = await openPostgres(await createDatabaseWithoutTables());
  closing.push(() => database.close());
  return database;
}

/** Migrates as the start of a version does that has this migration, too. */
function migrateWith({ db, dialect }: Database, up: Migration['up']): Promise<void> {
  const place = { place: 'the place', setting: 'JETBRIDGE_DATA' } as const;
  const known = { ...migrations(dialect.columnTypes), '0002-next': { up } };
  return migrate(db, { dialect, mayCreate: false, ...place }, known);
}

/** Adds a column with a value of each row. */
const addNote: Migration['up'] = async (db) => {
  await sql`alter table identity add column note text not null default ''`.execute(db);
  await sql`update identity set note = id`.execute(db);
};

async function readNotes({ db }: Database): Promise<unknown[]> {
  return (await sql`select id, note from identity`.execute(db)).rows;
}

test('a second migration is applied once to a database of the first one, whose people stay', async () => {
  const database = await openWithPerson();
  await migrateWith(database, addNote);
  await migrateWith(database, addNote);
  expect(await readNotes(database)).toEqual([{ id: 'a', note: 'a' }]);
});

test('a database with a second migration is refused by a version without it', async () => {
  const database = await openWithPerson();
  await migrateWith(database, addNote);
  const { db, dialect } = database;
  const place = { place: 'the place', setting: 'JETBRIDGE_DATA' } as const;
  const opening = migrate(db, { dialect, mayCreate: false, ...place });
  await expect(opening).rejects.toThrow(UnknownSchema);
  await expect(opening).rejects.toThrow('the place was written by a newer version of Jetbridge.');
});

test('a second migration that fails halfway leaves the database as it was, and is applied at the next start', async () => {
  const database = await openWithPerson();
  const failing = migrateWith(database, async (db) => {
    await addNote(db);
    throw new Error('halfway');
  });
  await expect(failing).rejects.toThrow('halfway');
  await expect(readNotes(database)).rejects.toThrow('note');
  await migrateWith(database, addNote);
  expect(await readNotes(database)).toEqual([{ id: 'a', note: 'a' }]);
});
