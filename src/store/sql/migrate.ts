import { type Kysely, Migrator } from 'kysely';
import { migrations } from '../migrations/index.ts';
import type { Dialect } from './dialect.ts';
import type { Tables } from './tables.ts';

/** The place of a database, for messages to the operator. */
interface DatabasePlace {
  /** The data folder, or a database URL without its password. */
  place: string;
  /** The setting with the place. */
  setting: 'JETBRIDGE_DATA' | 'DATABASE_URL';
}

interface MigrateOptions extends DatabasePlace {
  dialect: Dialect;
  /** If false, a database without tables of Jetbridge stays without them. */
  mayCreate: boolean;
}

/**
 * Migrates a database to the current schema. Before anything is changed, throws UnknownSchema if another version of Jetbridge made the
 * schema, ForeignTables if another program made tables, and NoDatabase if there is no schema and none may be created.
 */
export async function migrate(
  db: Kysely<Tables>,
  { dialect, mayCreate, ...place }: MigrateOptions,
  known = migrations(dialect.columnTypes),
): Promise<void> {
  const applied = await readAppliedMigrations(db, dialect);
  if (applied.some((name) => !(name in known))) {
    if (!(await readTables(db, dialect)).includes(OWN_TABLE)) throw new ForeignTables(place);
    const isNewer = Object.keys(known).every((name) => applied.includes(name));
    throw new UnknownSchema(isNewer ? 'newer' : 'unreleased', place);
  }
  if (applied.length === Object.keys(known).length) return;
  if (applied.length === 0) {
    if (!mayCreate) throw new NoDatabase(place);
    if (hasForeignTables(await readTables(db, dialect))) throw new ForeignTables(place);
  }
  const migrator = new Migrator({ db, provider: { getMigrations: async () => known } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/**
 * Reads the names from Kysely's own table, because the Migrator creates that table before it reads. Whether the table
 * exists is asked first: a failed read would leave open whether another process has created it in the meantime.
 */
async function readAppliedMigrations(db: Kysely<Tables>, { selectTable }: Dialect): Promise<string[]> {
  const { rows } = await selectTable(MIGRATIONS).execute(db);
  if (rows.length === 0) return [];
  const names = db.withTables<{ [MIGRATIONS]: { name: string } }>().selectFrom(MIGRATIONS).select('name');
  return (await names.execute()).map(({ name }) => name);
}

const MIGRATIONS = 'kysely_migration';
/** Every version of Jetbridge has this table; no other program is likely to have one with this name. */
const OWN_TABLE = 'write_probe';

/**
 * One statement reads all names: another process may migrate in this moment, and its tables appear together. The tables of the
 * migrator, which appear before them, are not foreign: an interrupted start leaves them behind.
 */
async function readTables(db: Kysely<Tables>, { selectTables }: Dialect): Promise<string[]> {
  const { rows } = await selectTables.execute(db);
  return rows.map(({ name }) => name);
}

function hasForeignTables(tables: string[]): boolean {
  return !tables.includes(OWN_TABLE) && tables.some((name) => name !== MIGRATIONS && name !== LOCK);
}

const LOCK = 'kysely_migration_lock';

/** Thrown if a database has tables of another program. */
export class ForeignTables extends Error {
  constructor({ place, setting }: DatabasePlace) {
    const empty = setting === 'DATABASE_URL' ? 'an empty database' : 'an empty folder';
    super(`${place} contains tables that are not of Jetbridge. Point ${setting} at ${empty}.`);
    this.name = 'ForeignTables';
  }
}

/** Thrown if there are no data of Jetbridge in a data folder or database. */
export class NoDatabase extends Error {
  constructor({ place, setting }: DatabasePlace) {
    const kind = setting === 'DATABASE_URL' ? 'database' : 'folder';
    super(
      `There is no data in ${place}. Set ${setting} to the ${kind} of the server, or start the server once with "npx jetbridge serve".`,
    );
    this.name = 'NoDatabase';
  }
}

/** Thrown if the schema of a database was made by a newer version of Jetbridge, or by a build before the first release. */
export class UnknownSchema extends Error {
  constructor(made: 'newer' | 'unreleased', { place, setting }: DatabasePlace) {
    const empty = setting === 'DATABASE_URL' ? 'database' : 'folder';
    super(
      made === 'newer'
        ? `${place} was written by a newer version of Jetbridge. Install that version, or point ${setting} at another place.`
        : `${place} was written by a build of Jetbridge before its first release, and cannot be upgraded. Start with an empty ${empty}: point ${setting} at one.`,
    );
    this.name = 'UnknownSchema';
  }
}
