import type { Selectable } from 'kysely';
import type { AccessTokens, Assertions, Clients, Grant, OAuthClient, Proof } from '../oauth/clients.ts';
import type { ApiKey, ApiKeys } from '../travel/ports.ts';
import type { Database } from './database.ts';
import { compiledQuery } from './statements.ts';
import type { Tables } from './tables.ts';

/** A bearer token of an IdP as it is kept: not the token, of which only a hash is. Times are epoch milliseconds. */
export interface Token {
  id: string;
  /** What an admin calls it. */
  name: string;
  connection: string;
  createdAt: number;
  /** Undefined: it does not expire. */
  expiresAt: number | undefined;
  revokedAt: number | undefined;
}

/** The bearer tokens; any number may be active for one connection, so that one can follow another without a gap. */
export interface Tokens {
  /** Does nothing when the hash is known, be it revoked or expired: a token is never revived. */
  create(token: Omit<Token, 'revokedAt'> & { hash: string }): Promise<void>;
  /** All there ever were, oldest first. */
  list(): Promise<Token[]>;
  /** False when there is no such token, or it was revoked before. */
  revoke(id: string, now: number): Promise<boolean>;
  /** The token with this hash and the connection that it opens; undefined for an unknown, expired or revoked one. */
  active(hash: string, now: number): Promise<Pick<Token, 'id' | 'connection'> | undefined>;
}

/** The tokens in a database. */
export function tokens({ db }: Database): Tokens {
  return {
    create: async ({ id, hash, name, connection, createdAt, expiresAt }) => {
      const times = { created_at: createdAt, expires_at: expiresAt ?? null, revoked_at: null };
      await db
        .insertInto('token')
        .values({ id, hash, name, connection_id: connection, ...times })
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .execute();
    },
    list: async () => {
      const rows = await db.selectFrom('token').selectAll().orderBy('created_at').orderBy('id').execute();
      return rows.map(toToken);
    },
    revoke: async (id, now) => {
      const revoked = await db
        .updateTable('token')
        .set({ revoked_at: now })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return revoked.numUpdatedRows > 0n;
    },
    active: async (hash, now) => {
      const [row] = (await tokenByHash(db, { hash, now })).rows;
      return row && { id: row.id, connection: row.connection_id };
    },
  };
}

const tokenByHash = compiledQuery((db, { hash, now }: { hash: string; now: number }) =>
  db
    .selectFrom('token')
    .select(['id', 'connection_id'])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null)
    .where((token) => token.or([token('expires_at', 'is', null), token('expires_at', '>', now)])),
);

function toToken(row: Selectable<Tables['token']>): Token {
  return {
    id: row.id,
    name: row.name,
    connection: row.connection_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}

/** The travel service's API keys in the database. */
export function apiKeys({ db, withRelaxedDurability: lightly }: Database): ApiKeys {
  return {
    add: async ({ id, hash, name, userId, createdAt }) => {
      const user = { user_type: 'user', user_id: userId };
      await db
        .insertInto('travel_api_key')
        .values({ id, hash, name, ...user, created_at: createdAt, last_used_at: null, revoked_at: null })
        .onConflict((same) => same.column('hash').doNothing())
        .execute();
    },

    findActive: async (hash) => {
      const [key] = (await apiKeyByHash(db, { hash })).rows;
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

    recordUse: async (id, now) => {
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

const apiKeyByHash = compiledQuery((db, { hash }: { hash: string }) =>
  db
    .selectFrom('travel_api_key')
    .select(['id', 'user_id', 'last_used_at'])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null),
);

/** The OAuth clients in a database. */
export function oauthClients({ db }: Database): Clients {
  return {
    add: async ({ id, name, grant, proof, createdAt }) => {
      await db
        .insertInto('oauth_client')
        .values({
          id,
          name,
          secret_hash: proof.kind === 'secret' ? proof.hash : null,
          jwks: proof.kind === 'jwks' ? JSON.stringify(proof.jwks) : null,
          jwks_uri: proof.kind === 'jwksUri' ? proof.uri : null,
          connection_id: grant.kind === 'scim' ? grant.connection : null,
          user_type: grant.kind === 'travel' ? 'user' : null,
          user_id: grant.kind === 'travel' ? grant.userId : null,
          created_at: createdAt,
          revoked_at: null,
        })
        .execute();
    },

    list: async () => {
      const rows = await db
        .selectFrom('oauth_client')
        .selectAll()
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(toClient);
    },

    active: async (id) => {
      const row = await db
        .selectFrom('oauth_client')
        .selectAll()
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return row && { id: row.id, grant: grantOf(row), proof: proofOf(row) };
    },

    revoke: async (id, now) => {
      const revoked = await db
        .updateTable('oauth_client')
        .set({ revoked_at: now })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return revoked.numUpdatedRows > 0n;
    },
  };
}

type Row = Selectable<Tables['oauth_client']>;

function toClient(row: Row): OAuthClient {
  return {
    id: row.id,
    name: row.name,
    grant: grantOf(row),
    proof: proofOf(row).kind,
    createdAt: row.created_at,
    revokedAt: row.revoked_at ?? undefined,
  };
}

/** What a client opens, from its columns. */
export function grantOf({ connection_id, user_id }: Pick<Row, 'connection_id' | 'user_id'>): Grant {
  return connection_id === null
    ? { kind: 'travel', userId: user_id ?? '' }
    : { kind: 'scim', connection: connection_id };
}

function proofOf({ secret_hash, jwks, jwks_uri }: Row): Proof {
  if (secret_hash !== null) return { kind: 'secret', hash: secret_hash };
  return jwks === null
    ? { kind: 'jwksUri', uri: jwks_uri ?? '' }
    : { kind: 'jwks', jwks: JSON.parse(jwks) as { keys: object[] } };
}

/** The access tokens in a database. One that a failure of power takes is asked for again. */
export function oauthTokens({ db, withRelaxedDurability: lightly }: Database): AccessTokens {
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
      const [row] = (await accessTokenByHash(db, { hash, now })).rows;
      return row && { clientId: row.client_id, grant: grantOf(row) };
    },
  };
}

const accessTokenByHash = compiledQuery((db, { hash, now }: { hash: string; now: number }) =>
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
