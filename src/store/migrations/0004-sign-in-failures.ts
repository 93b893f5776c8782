import { type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';
import { createTables, type TableDeclarations } from './columns.ts';

export const signInFailureTables = {
  sign_in_failure: {
    columns: {
      /** The counter that a name falls to, by a hash of it. */
      bucket: 'integer',
      failures: 'integer',
      failed_at: 'bigint',
    },
    constraints: ['primary key (bucket)'],
  },
} as const satisfies TableDeclarations;

/** Adds the counts of refused sign-ins, by which the answers to further ones wait (docs/decisions/0046). */
export function signInFailuresMigration(types: ColumnTypes): Record<string, Migration> {
  const statements = createTables(signInFailureTables, types);
  return {
    '0004-sign-in-failures': {
      up: async (db) => {
        for (const statement of statements) await sql.raw(statement).execute(db);
      },
    },
  };
}
