import type { Database } from './database.ts';
import { displayUrl, openPostgres } from './postgres.ts';
import { hasDatabaseFile, isDirectoryInUse, openEmbedded } from './sqlite.ts';

/** Where the data is: in the PostgreSQL database, if there is one, else in the data folder. */
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
