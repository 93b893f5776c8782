import { type Migration, sql } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** Adds the makers of admin tokens, what is known of the browsers of sessions, and the used attempts to sign in through OpenID. */
export function adminAccessMigration({ bigint, orderedText }: ColumnTypes): Record<string, Migration> {
  const statements = [
    `alter table admin_token add column made_by ${orderedText} references admin_account (id)`,
    'alter table admin_session add column address text',
    'alter table admin_session add column user_agent text',
    `create table openid_attempt (
      hash ${orderedText} primary key,
      expires_at ${bigint} not null
    )`,
    'create index openid_attempt_expiry on openid_attempt (expires_at)',
  ];
  return {
    '0005-admin-access': {
      up: async (db) => {
        for (const statement of statements) await sql.raw(statement).execute(db);
      },
    },
  };
}
