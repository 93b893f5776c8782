import type { Database } from './database.ts';

/** What is known of a credential by its hash, be it good or not. */
export interface CredentialState {
  /** Kind and id, as the log has it: `token:<id>`, `apiKey:<id>`, `oauth:<client>`. */
  credential: string;
  opens: 'scim' | 'travel';
  state: 'active' | 'expired' | 'revoked';
}

/** Finds out why a credential opens nothing; for those that were refused alone, as it asks for each kind. */
export function credentialStates({
  db,
}: Database): (hash: string, now: number) => Promise<CredentialState | undefined> {
  return async (hash, now) => {
    const times = (row: { revoked_at: number | null; expires_at?: number | null }) => {
      if (row.revoked_at !== null) return 'revoked';
      return (row.expires_at ?? Number.POSITIVE_INFINITY) <= now ? 'expired' : 'active';
    };
    const token = await db
      .selectFrom('token')
      .select(['id', 'revoked_at', 'expires_at'])
      .where('hash', '=', hash)
      .executeTakeFirst();
    if (token) return { credential: `token:${token.id}`, opens: 'scim', state: times(token) };
    const key = await db
      .selectFrom('travel_api_key')
      .select(['id', 'revoked_at'])
      .where('hash', '=', hash)
      .executeTakeFirst();
    if (key) return { credential: `apiKey:${key.id}`, opens: 'travel', state: times(key) };
    const access = await db
      .selectFrom('oauth_token as access')
      .innerJoin('oauth_client as client', 'client.id', 'access.client_id')
      .select(['client.id', 'client.connection_id', 'client.revoked_at', 'access.expires_at'])
      .where('access.hash', '=', hash)
      .executeTakeFirst();
    if (!access) return undefined;
    const opens = access.connection_id === null ? 'travel' : 'scim';
    return { credential: `oauth:${access.id}`, opens, state: times(access) };
  };
}
