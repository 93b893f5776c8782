import type { Database } from './database.ts';
import { NoDatabase } from './migrate.ts';
import { displayUrl } from './postgres-faults.ts';
import { hasDatabaseFile, isDirectoryInUse, openEmbedded } from './sqlite.ts';

/** The location of the data: the PostgreSQL database if one is given, else the data folder. */
export interface DatabaseLocation {
  data: string;
  postgres: { url: string; connections: number } | undefined;
}

interface OpenOptions {
  /** Has an effect on the data folder only, which one server at a time uses; PostgreSQL may be used by any number of them. */
  exclusive: boolean;
  /** If false, throws NoDatabase if there is no database, and creates nothing. True by default. */
  mayCreate?: boolean | undefined;
}

/** Opens and migrates the database. */
export async function openDatabase(
  { data, postgres }: DatabaseLocation,
  { exclusive, mayCreate = true }: OpenOptions,
): Promise<Database> {
  if (postgres) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres(postgres.url, { ...postgres, mayCreate });
  }
  if (!mayCreate && !hasDatabaseFile(data)) throw new NoDatabase({ place: data, setting: 'JETBRIDGE_DATA' });
  return openEmbedded(data, exclusive);
}

/**
 * Opens the database for `work`, beside a server or not, and closes it. Without `mayCreate`, throws NoDatabase if there is none.
 */
export async function withDatabaseAt<T>(
  location: DatabaseLocation,
  work: (database: Database) => Promise<T>,
  { mayCreate = false }: { mayCreate?: boolean } = {},
): Promise<T> {
  const database = await openDatabase(location, { exclusive: false, mayCreate });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Does the same, but returns undefined if there is no database. */
export async function withDatabaseIfAny<T>(
  location: DatabaseLocation,
  work: (database: Database) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withDatabaseAt(location, work);
  } catch (error) {
    if (error instanceof NoDatabase) return undefined;
    throw error;
  }
}

/** The data folder, or the URL of the database without its password. */
export function displayLocation({ data, postgres }: DatabaseLocation): string {
  return postgres ? displayUrl(postgres.url) : data;
}

/**
 * Removes the records of servers that were killed in the data folder, where they have no end: if the folder is not locked, no server
 * runs. On PostgreSQL they end by themselves.
 */
export async function removeDeadServers({ db }: Database, location: DatabaseLocation): Promise<void> {
  const recorded = await db.selectFrom('replica').select('id').execute();
  if (recorded.length === 0 || (await isInUse(location))) return;
  // A server that has started since has another id.
  const ids = recorded.map(({ id }) => id);
  await db.deleteFrom('replica').where('id', 'in', ids).execute();
}

/** True if a server uses the data folder, or may use the PostgreSQL database. Call it rarely. */
export async function isInUse({ data, postgres }: DatabaseLocation): Promise<boolean> {
  return postgres !== undefined || isDirectoryInUse(data);
}
