import type { AccessTokens, Assertions } from '../oauth/ports.ts';
import type { Database } from './database.ts';
import { grantOf } from './oauth-clients.ts';
import { prepared } from './prepared.ts';

/** The access tokens in a database. One that a failure of power takes is asked for again. */
export function oauthTokens({ db, lightly }: Database): AccessTokens {
  return {
    keep: ({ hash, clientId, expiresAt }, now) =>
      lightly(db, async (light) => {
        await light.deleteFrom('oauth_token').where('expires_at', '<=', now).execute();
        await light
          .insertInto('oauth_token')
          .values({ hash, client_id: clientId, expires_at: expiresAt })
          .execute();
      }),

    find: async (hash, now) => {
      const [row] = (await opened(db, { hash, now })).rows;
      return row && { clientId: row.client_id, grant: grantOf(row) };
    },
  };
}

const opened = prepared((db, { hash, now }: { hash: string; now: number }) =>
  db
    .selectFrom('oauth_token as token')
    .innerJoin('oauth_client as client', 'client.id', 'token.client_id')
    .select(['token.client_id', 'client.connection_id', 'client.user_id'])
    .where('token.hash', '=', hash)
    .where('token.expires_at', '>', now)
    .where('client.revoked_at', 'is', null),
);

/** The used assertions in a database; kept before they are heeded, so that no failure lets one in twice. */
export function oauthAssertions({ db }: Database): Assertions {
  return {
    useOnce: ({ clientId, key, expiresAt }, now) =>
      db.transaction().execute(async (tx) => {
        await tx.deleteFrom('oauth_assertion').where('expires_at', '<=', now).execute();
        const kept = await tx
          .insertInto('oauth_assertion')
          .values({ client_id: clientId, used: key, expires_at: expiresAt })
          .onConflict((same) => same.doNothing())
          .executeTakeFirst();
        return (kept.numInsertedOrUpdatedRows ?? 0n) > 0n;
      }),
  };
}
