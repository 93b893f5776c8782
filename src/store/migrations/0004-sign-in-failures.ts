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
export function addSignInFailures(types: ColumnTypes): string[] {
  return createTables(signInFailureTables, types);
}
