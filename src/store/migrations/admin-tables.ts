import type { TableDeclarations } from './columns.ts';

/** The password of the built-in admin, sessions and tokens of admins, and the audit log of what they change. */
export const adminTables = {
  admin_password: {
    columns: {
      /** 1 in the only row. */
      one: 'integer',
      /** Another one with each password. */
      id: 'ordered text',
      hash: 'text',
    },
    constraints: ['primary key (one)'],
  },
  admin_session: {
    columns: {
      hash: 'ordered text',
      name: 'text',
      role: 'text',
      /** The issuer, a space, and the claim `sub`; null for the built-in admin. */
      subject: 'ordered text?',
      /** The password with which the built-in admin signed in; null for a person of the OpenID provider. */
      password_id: 'ordered text?',
      created_at: 'bigint',
      last_seen_at: 'bigint',
      address: 'text?',
      /** The header, cut; null if the browser sent none. */
      user_agent: 'text?',
    },
    constraints: ['primary key (hash)'],
  },
  admin_token: {
    columns: {
      id: 'ordered text',
      hash: 'ordered text',
      name: 'text',
      role: 'text',
      maker_name: 'text',
      /** As `admin_session.subject`. */
      maker_subject: 'ordered text?',
      created_at: 'bigint',
      expires_at: 'bigint',
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
