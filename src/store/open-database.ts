import type { Database } from './database.ts';
import { displayUrl, openPostgres } from './postgres.ts';
import { hasDatabaseFile, isDirectoryInUse, openEmbedded } from './sqlite.ts';

/** The location of the data: the PostgreSQL database if one is given, else the data folder. */
export interface DatabaseLocation {
  data: string;
  postgres: { url: string; connections: number } | undefined;
}

/**
 * Opens and migrates the database. `exclusive` has an effect on the data folder only, which one server at a time uses; PostgreSQL
 * may be used by any number of them.
 */
export function openDatabase(
  { data, postgres }: DatabaseLocation,
  { exclusive }: { exclusive: boolean },
): Promise<Database> {
  return postgres ? openPostgres(postgres.url, postgres) : openEmbedded(data, exclusive);
}

/**
 * Opens and migrates an existing database, beside a server or not. Throws NoDatabase if the data folder contains none: a command that
 * was started in the wrong folder must not leave a new, empty database there.
 */
export async function openExistingDatabase(location: DatabaseLocation): Promise<Database> {
  if (!hasDatabase(location)) throw new NoDatabase(location.data);
  return openDatabase(location, { exclusive: false });
}

/**
 * Opens the database for `work`, beside a server or not, and closes it. Without `mayCreate`, throws NoDatabase if there is none.
 */
export async function withDatabaseAt<T>(
  location: DatabaseLocation,
  work: (database: Database) => Promise<T>,
  { mayCreate = false }: { mayCreate?: boolean } = {},
): Promise<T> {
  const database = mayCreate
    ? await openDatabase(location, { exclusive: false })
    : await openExistingDatabase(location);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Thrown if the data folder contains no database. */
export class NoDatabase extends Error {
  constructor(directory: string) {
    super(
      `There is no data in ${directory}. Set JETBRIDGE_DATA to the folder of the server, or start the server once with "npx jetbridge serve".`,
    );
    this.name = 'NoDatabase';
  }
}

/** The data folder, or the URL of the database without its password. */
export function displayLocation({ data, postgres }: DatabaseLocation): string {
  return postgres ? displayUrl(postgres.url) : data;
}

/** False if the data folder contains no database. Does not create one. */
export function hasDatabase({ data, postgres }: DatabaseLocation): boolean {
  return postgres !== undefined || hasDatabaseFile(data);
}

/** True if a server uses the data folder, or may use the PostgreSQL database. Call it rarely. */
export async function isInUse({ data, postgres }: DatabaseLocation): Promise<boolean> {
  return postgres !== undefined || isDirectoryInUse(data);
}
