import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseLocation, displayLocation } from '../sql/open-database.ts';

/** What is known of a database outside of it: its identity, and the number of writes that it had at least. */
export interface KnownDatabase {
  database: string;
  writes: number;
}

/** The file beside the data with what is known of the database. */
export interface WriteFile {
  /**
   * Returns what the file says about this database; undefined if there is no readable file, or if it is about another database at
   * another place.
   */
  read(present: KnownDatabase): KnownDatabase | undefined;
  /** Replaces the file. Throws if the folder cannot be written. Does nothing without a data folder. */
  write(known: KnownDatabase): void;
}

/**
 * Returns the file of a database. Beside PostgreSQL it has another name, and exists only in a data folder that exists: one folder
 * may serve an embedded database and, at another time, one of PostgreSQL.
 */
export function writeFileOf(location: DatabaseLocation): WriteFile {
  const { data, postgres } = location;
  const path = join(data, postgres ? 'postgresql.writes' : 'jetbridge.writes');
  const place = postgres ? displayLocation(location) : '';
  return {
    read: (present) => {
      const stored = readStored(path);
      // A restored copy at another address has the identity of the original. A new, empty database has another one.
      if (stored?.database !== present.database && stored?.place !== place) return undefined;
      return stored;
    },
    write: ({ database, writes }) => {
      if (!existsSync(data)) return;
      const temporary = `${path}.${process.pid}`;
      try {
        writeFileSync(temporary, `${JSON.stringify({ database, writes, place })}\n`, { mode: 0o600 });
        renameSync(temporary, path);
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
    },
  };
}

/** A file that cannot be read says nothing: it is written anew. */
function readStored(path: string): (KnownDatabase & { place: string }) | undefined {
  try {
    const stored: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isStored(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

function isStored(stored: unknown): stored is KnownDatabase & { place: string } {
  if (typeof stored !== 'object' || stored === null) return false;
  if (!('database' in stored && 'writes' in stored && 'place' in stored)) return false;
  const { database, writes, place } = stored;
  return typeof database === 'string' && typeof writes === 'number' && typeof place === 'string';
}
