import type { ApiKeys } from '../travel/ports.ts';
import type { Database } from './database.ts';

/** The travel service's API keys in the database. */
export function apiKeys({ db }: Database): ApiKeys {
  return {
    add: async ({ hash, name, userId, createdAt }) => {
      await db
        .insertInto('travel_api_key')
        .values({ hash, name, user_type: 'user', user_id: userId, created_at: createdAt })
        .onConflict((same) => same.doNothing())
        .execute();
    },

    userOf: async (hash) => {
      const key = await db
        .selectFrom('travel_api_key')
        .select('user_id')
        .where('hash', '=', hash)
        .executeTakeFirst();
      return key?.user_id;
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
