import type { Migration } from 'kysely';
import { bridgeTables } from './0001-bridge.ts';
import { travelTables } from './0002-travel.ts';

/** The few column types that differ between the databases. */
export interface ColumnTypes {
  json: 'text' | 'jsonb';
  /** A 64-bit integer. */
  time: 'integer' | 'bigint';
}

/** All migrations, by name, in order; written once for every database. */
export function migrations(types: ColumnTypes): Record<string, Migration> {
  return {
    '0001-bridge': bridgeTables(types),
    '0002-travel': travelTables(types),
  };
}
