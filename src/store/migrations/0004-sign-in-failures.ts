import type { TableDeclarations } from './columns.ts';

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
