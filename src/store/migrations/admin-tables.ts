import type { ColumnTypes } from './column-types.ts';
import { type Columns, createTable } from './columns.ts';

export const adminAccountColumns = {
  id: 'ordered text',
  name: 'text',
  /** The name without case; null after the account was revoked, so that the name is free again. */
  name_key: 'ordered text?',
  role: 'text',
  password_hash: 'text?',
  /** The issuer, a space, and the claim `sub`; null for an account with a password. */
  openid_subject: 'ordered text?',
  created_at: 'bigint',
  revoked_at: 'bigint?',
  last_sign_in_at: 'bigint?',
} as const satisfies Columns;

export const adminSessionColumns = {
  hash: 'ordered text',
  account_id: 'ordered text',
  created_at: 'bigint',
  last_seen_at: 'bigint',
} as const satisfies Columns;

export const adminTokenColumns = {
  id: 'ordered text',
  hash: 'ordered text',
  name: 'text',
  role: 'text',
  created_at: 'bigint',
  /** Null only for a token from before ends were required. */
  expires_at: 'bigint?',
  revoked_at: 'bigint?',
} as const satisfies Columns;

export const auditEntryColumns = {
  /** A number that follows the order of commits. */
  position: 'bigint',
  at: 'bigint',
  actor: 'ordered text',
  actor_kind: 'text',
  address: 'text',
  action: 'ordered text',
  /** JSON. */
  details: 'text',
  /** Null until the response was sent. */
  status: 'integer?',
} as const satisfies Columns;

/** Accounts, sessions and tokens of admins, and the audit log of what they change. */
export function adminTables(types: ColumnTypes): string[] {
  return [
    createTable(types, {
      table: 'admin_account',
      columns: adminAccountColumns,
      constraints: ['primary key (id)', 'unique (name_key)', 'unique (openid_subject)'],
    }),
    createTable(types, {
      table: 'admin_session',
      columns: adminSessionColumns,
      constraints: [
        'primary key (hash)',
        'foreign key (account_id) references admin_account (id) on delete cascade',
      ],
    }),
    'create index admin_session_account on admin_session (account_id)',
    createTable(types, {
      table: 'admin_token',
      columns: adminTokenColumns,
      constraints: ['primary key (id)', 'unique (hash)'],
    }),
    createTable(types, {
      table: 'audit_entry',
      columns: auditEntryColumns,
      constraints: ['primary key (position)'],
    }),
    'create index audit_entry_at on audit_entry (at)',
    "create index audit_entry_actor on audit_entry (actor) where actor_kind <> 'nobody'",
    'create index audit_entry_action on audit_entry (action, position)',
  ];
}
