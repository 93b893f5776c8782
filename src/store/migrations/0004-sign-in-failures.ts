import { type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';
import { type Columns, createTable } from './columns.ts';

export const signInFailureColumns = {
  /** The counter that a name falls to, by a hash of it. */
  bucket: 'integer',
  failures: 'integer',
  failed_at: 'bigint',
} as const satisfies Columns;

/** Adds the counts of refused sign-ins, by which the answers to further ones wait (docs/decisions/0046). */
export function signInFailuresMigration(types: ColumnTypes): Record<string, Migration> {
  const statement = createTable(types, {
    table: 'sign_in_failure',
    columns: signInFailureColumns,
    constraints: ['primary key (bucket)'],
  });
  return { '0004-sign-in-failures': { up: async (db) => void (await sql.raw(statement).execute(db)) } };
}
