import type { ColumnTypes } from './column-types.ts';

/** Accounts, sessions and tokens of admins, and the audit log of what they change. */
export function adminTables({ orderedText, bigint }: ColumnTypes): string[] {
  return [
    `create table admin_account (
      id ${orderedText} primary key,
      name text not null,
      -- Null after the account was revoked, so that the name is free again.
      name_key ${orderedText} unique,
      role text not null,
      password_hash text,
      -- Issuer and subject of a person who signs in through an OpenID provider; null for an account with a password.
      openid_subject ${orderedText} unique,
      created_at ${bigint} not null,
      revoked_at ${bigint},
      last_sign_in_at ${bigint}
    )`,
    `create table admin_session (
      hash ${orderedText} primary key,
      account_id ${orderedText} not null references admin_account (id) on delete cascade,
      created_at ${bigint} not null,
      last_seen_at ${bigint} not null
    )`,
    'create index admin_session_account on admin_session (account_id)',
    `create table admin_token (
      id ${orderedText} primary key,
      hash ${orderedText} not null unique,
      name text not null,
      role text not null,
      created_at ${bigint} not null,
      expires_at ${bigint},
      revoked_at ${bigint}
    )`,
    `create table audit_entry (
      position ${bigint} primary key,
      at ${bigint} not null,
      actor ${orderedText} not null,
      actor_kind text not null,
      address text not null,
      action ${orderedText} not null,
      details text not null,
      status integer
    )`,
    'create index audit_entry_at on audit_entry (at)',
    "create index audit_entry_actor on audit_entry (actor) where actor_kind <> 'nobody'",
    'create index audit_entry_action on audit_entry (action, position)',
  ];
}
