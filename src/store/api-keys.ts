import type { ApiKey, ApiKeys } from '../travel/ports.ts';
import type { Database } from './database.ts';
import { prepared } from './prepared.ts';

/** The travel service's API keys in the database. */
export function apiKeys({ db, lightly }: Database): ApiKeys {
  return {
    add: async ({ id, hash, name, userId, createdAt }) => {
      const user = { user_type: 'user', user_id: userId };
      await db
        .insertInto('travel_api_key')
        .values({ id, hash, name, ...user, created_at: createdAt, last_used_at: null, revoked_at: null })
        .onConflict((same) => same.column('hash').doNothing())
        .execute();
    },

    active: async (hash) => {
      const [key] = (await opened(db, { hash })).rows;
      return key && { id: key.id, userId: key.user_id, lastUsedAt: key.last_used_at ?? undefined };
    },

    list: () => list(db),

    revoke: async (id, now) => {
      const revoked = await db
        .updateTable('travel_api_key')
        .set({ revoked_at: now })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return revoked.numUpdatedRows > 0n;
    },

    used: async (id, now) => {
      await lightly(db, (light) =>
        light.updateTable('travel_api_key').set({ last_used_at: now }).where('id', '=', id).execute(),
      );
    },

    hasAny: async (userId) => {
      const key = await db
        .selectFrom('travel_api_key')
        .select('hash')
        .where('user_type', '=', 'user')
        .where('user_id', '=', userId)
        .limit(1)
        .executeTakeFirst();
      return key !== undefined;
    },
  };
}

async function list(db: Database['db']): Promise<ApiKey[]> {
  const rows = await db
    .selectFrom('travel_api_key')
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    userId: row.user_id,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  }));
}

const opened = prepared((db, { hash }: { hash: string }) =>
  db
    .selectFrom('travel_api_key')
    .select(['id', 'user_id', 'last_used_at'])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null),
);
