import type { ColumnTypes } from './column-types.ts';
import { addColumns, type Columns, createTables, type TableDeclarations } from './columns.ts';

/** The account that made a token; null for a token from before this was recorded. */
export const tokenMakerColumns = { made_by: 'ordered text?' } as const satisfies Columns;

export const sessionOriginColumns = {
  /** Null for a session from before it was recorded. */
  address: 'text?',
  /** The header, cut; null if the browser sent none. */
  user_agent: 'text?',
} as const satisfies Columns;

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

/** Adds the makers of admin tokens, what is known of the browsers of sessions, and the used attempts to sign in through OpenID. */
export function addAdminAccess(types: ColumnTypes): string[] {
  return [
    ...addColumns(types, 'admin_token', tokenMakerColumns, 'references admin_account (id)'),
    ...addColumns(types, 'admin_session', sessionOriginColumns),
    ...createTables(openidAttemptTables, types),
  ];
}
