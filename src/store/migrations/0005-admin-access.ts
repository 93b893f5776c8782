import type { TableDeclarations } from './columns.ts';

export const openidAttemptTables = {
  /** A sign-in through the OpenID provider whose return was accepted. */
  openid_attempt: {
    columns: {
      /** Of the state. */
      hash: 'ordered text',
      expires_at: 'bigint',
    },
    constraints: ['primary key (hash)'],
    indexes: { expiry: 'expires_at' },
  },
} as const satisfies TableDeclarations;
