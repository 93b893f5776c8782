import type { TableDeclarations } from './columns.ts';

/** Accounts, sessions and tokens of admins, and the audit log of what they change. */
export const adminTables = {
  admin_account: {
    columns: {
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
    },
    constraints: ['primary key (id)', 'unique (name_key)', 'unique (openid_subject)'],
  },
  admin_session: {
    columns: {
      hash: 'ordered text',
      account_id: 'ordered text',
      created_at: 'bigint',
      last_seen_at: 'bigint',
    },
    constraints: [
      'primary key (hash)',
      'foreign key (account_id) references admin_account (id) on delete cascade',
    ],
    indexes: {
      account: 'account_id',
    },
  },
  admin_token: {
    columns: {
      id: 'ordered text',
      hash: 'ordered text',
      name: 'text',
      role: 'text',
      created_at: 'bigint',
      /** Null only for a token from before ends were required. */
      expires_at: 'bigint?',
      revoked_at: 'bigint?',
    },
    constraints: ['primary key (id)', 'unique (hash)'],
  },
  audit_entry: {
    columns: {
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
    },
    constraints: ['primary key (position)'],
    indexes: {
      at: 'at',
      actor: { columns: 'actor', where: "actor_kind <> 'nobody'" },
      action: 'action, position',
    },
  },
} as const satisfies TableDeclarations;
