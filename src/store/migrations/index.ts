import { type Kysely, type Migration, sql } from 'kysely';
import { type ColumnTypes, createTables } from './columns.ts';
import { connectionTables } from './connection-tables.ts';
import { credentialTables } from './credential-tables.ts';
import { groupTables } from './group-tables.ts';
import { holdTables } from './hold-tables.ts';
import { identityTables } from './identity-tables.ts';
import { logTables } from './log-tables.ts';
import { travelTables } from './travel-tables.ts';

/**
 * The tables of the first release, which stay as they are: a change is a migration of its own (CONTRIBUTING.md). Foreign keys require this
 * order: a table follows those that it refers to.
 */
export const firstTables = {
  ...connectionTables,
  ...identityTables,
  ...groupTables,
  ...holdTables,
  ...travelTables,
  ...credentialTables,
  ...logTables,
};

/** All tables as they are after all migrations, in the same order. */
export const tables = firstTables;

/** Returns all migrations, by name, in order. */
export function migrations(types: ColumnTypes): Record<string, Migration> {
  return {
    '0001-first-release': { up: (db) => executeAll(db, createTables(firstTables, types)) },
  };
}

async function executeAll(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
