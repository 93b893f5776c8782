import type { Kysely, Selectable } from 'kysely';
import type {
  AccessTokens,
  Grant,
  OAuthClient,
  OAuthClients,
  Proof,
  TokenHolder,
  UsedAssertions,
} from '../../oauth/clients.ts';
import type { ApiKey, ApiKeys } from '../../travel/ports.ts';
import { scopeColumns } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { compiledQuery } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** A bearer token of an IdP as listed. The database stores only a hash of the token. Times are epoch milliseconds. */
export interface ScimToken {
  id: string;
  /** Chosen by the admin. */
  name: string;
  connection: string;
  createdAt: number;
  /** Undefined for a token that does not expire. */
  expiresAt: number | undefined;
  /** The last recorded use; undefined if there is none. */
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
}

/**
 * Stores the bearer tokens of IdPs. A connection may have several active tokens, so that one replaces another
 * without a gap.
 */
export interface ScimTokens {
  /** Does nothing if the hash is stored already, even if that token is revoked or expired: a token is never revived. */
  create(token: Omit<ScimToken, 'lastUsedAt' | 'revokedAt'> & { hash: string }): Promise<void>;
  /** All tokens, including revoked and expired ones, oldest first. */
  list(): Promise<ScimToken[]>;
  /** False if the token does not exist or was revoked before. */
  revoke(id: string, now: number): Promise<boolean>;
  /** The token with this hash and its connection; undefined if the token is unknown, expired or revoked. */
  findActive(hash: string, now: number): Promise<Pick<ScimToken, 'id' | 'connection'> | undefined>;
  /** Records when a token was used. A later use, which another replica recorded, stays. */
  recordUse(id: string, now: number): Promise<void>;
}

/** Returns the SCIM token store of a database. */
export function scimTokens({ db, scopeOf, transaction }: Database): ScimTokens {
  return {
    create: async ({ id, hash, name, connection, createdAt, expiresAt }) => {
      const times = { created_at: createdAt, expires_at: expiresAt ?? null };
      await db
        .insertInto('token')
        .values({
          ...{ id, hash, name, ...scopeColumns(scopeOf(connection)), ...times },
          ...{ last_used_at: null, revoked_at: null },
        })
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .execute();
    },
    list: async () => {
      const rows = await db.selectFrom('token').selectAll().orderBy('created_at').orderBy('id').execute();
      return rows.map(toToken);
    },
    revoke: (id, now) => revokeById(db, 'token', { id, now }),
    findActive: async (hash, now) => {
      const [row] = (await tokenByHash(db, { hash, now })).rows;
      return row && { id: row.id, connection: row.connection_id };
    },
    recordUse: async (id, now) => {
      await transaction(
        (tx) =>
          tx
            .updateTable('token')
            .set({ last_used_at: now })
            .where('id', '=', id)
            .where((token) => token.or([token('last_used_at', 'is', null), token('last_used_at', '<', now)]))
            .execute(),
        { durable: false },
      );
    },
  };
}

/** Revokes a credential. Returns false if there is none with that id, or if it was revoked before. */
export async function revokeById(
  db: Kysely<Tables>,
  table: 'token' | 'travel_api_key' | 'oauth_client' | 'admin_token',
  { id, now }: { id: string; now: number },
): Promise<boolean> {
  const revoked = await db
    .updateTable(table)
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return revoked.numUpdatedRows > 0n;
}

const tokenByHash = compiledQuery((db, { hash, now }: { hash: string; now: number }) =>
  db
    .selectFrom('token')
    .select(['id', 'connection_id'])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null)
    .where((token) => token.or([token('expires_at', 'is', null), token('expires_at', '>', now)])),
);

function toToken(row: Selectable<Tables['token']>): ScimToken {
  return {
    id: row.id,
    name: row.name,
    connection: row.connection_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}

/** Returns the store of the travel service's API keys. */
export function apiKeys({ db, transaction }: Database): ApiKeys {
  return {
    add: async ({ id, hash, name, userId, isReadOnly = false, createdAt }) => {
      const user = { user_type: 'user', user_id: userId, read_only: Number(isReadOnly) };
      await db
        .insertInto('travel_api_key')
        .values({ id, hash, name, ...user, created_at: createdAt, last_used_at: null, revoked_at: null })
        .onConflict((same) => same.column('hash').doNothing())
        .execute();
    },

    findActive: async (hash) => {
      const [key] = (await apiKeyByHash(db, { hash })).rows;
      return (
        key && {
          ...{ id: key.id, userId: key.user_id, lastUsedAt: key.last_used_at ?? undefined },
          ...(key.read_only === 1 && { isReadOnly: true }),
        }
      );
    },

    list: () => readApiKeys(db),

    revoke: (id, now) => revokeById(db, 'travel_api_key', { id, now }),

    recordUse: async (id, now) => {
      await transaction(
        (tx) => tx.updateTable('travel_api_key').set({ last_used_at: now }).where('id', '=', id).execute(),
        { durable: false },
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

async function readApiKeys(db: Database['db']): Promise<ApiKey[]> {
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
    ...(row.read_only === 1 && { isReadOnly: true }),
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  }));
}

const apiKeyByHash = compiledQuery((db, { hash }: { hash: string }) =>
  db
    .selectFrom('travel_api_key')
    .select(['id', 'user_id', 'read_only', 'last_used_at'])
    .where('hash', '=', hash)
    .where('revoked_at', 'is', null),
);

/** Returns the OAuth client store of a database. */
export function oauthClients({ db, scopeOf }: Database): OAuthClients {
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
          ...grantColumns(grant, scopeOf),
          created_at: createdAt,
          last_used_at: null,
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
      return rows.map(toOAuthClient);
    },

    findActive: async (id) => {
      const row = await db
        .selectFrom('oauth_client')
        .selectAll()
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return row && { id: row.id, grant: toGrant(row), proof: toProof(row) };
    },

    revoke: (id, now) => revokeById(db, 'oauth_client', { id, now }),
  };
}

type OAuthClientRow = Selectable<Tables['oauth_client']>;

function toOAuthClient(row: OAuthClientRow): OAuthClient {
  return {
    id: row.id,
    name: row.name,
    grant: toGrant(row),
    proof: toProof(row).kind,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
  };
}

function grantColumns(grant: Grant, scopeOf: Database['scopeOf']) {
  return grant.kind === 'scim'
    ? { ...scopeColumns(scopeOf(grant.connection)), user_type: null, user_id: null }
    : { account: null, connection_id: null, user_type: 'user', user_id: grant.userId };
}

/** Reads the grant of an OAuth client from its columns. */
export function toGrant({
  connection_id,
  user_id,
}: Pick<OAuthClientRow, 'connection_id' | 'user_id'>): Grant {
  return connection_id === null
    ? { kind: 'travel', userId: user_id ?? '' }
    : { kind: 'scim', connection: connection_id };
}

function toProof({ secret_hash, jwks, jwks_uri }: OAuthClientRow): Proof {
  if (secret_hash !== null) return { kind: 'secret', hash: secret_hash };
  return jwks === null
    ? { kind: 'jwksUri', uri: jwks_uri ?? '' }
    : { kind: 'jwks', jwks: JSON.parse(jwks) as { keys: object[] } };
}

/**
 * Returns the access token store of a database. Writes are not synced at once: a client whose token is lost in a
 * power failure requests another one.
 */
export function oauthAccessTokens({ db, scopeOf, transaction }: Database): AccessTokens {
  return {
    save: ({ hash, expiresAt, holder }, now) =>
      transaction(
        async (tx) => {
          await tx.deleteFrom('oauth_token').where('expires_at', '<=', now).execute();
          await tx
            .insertInto('oauth_token')
            .values({ hash, ...holderColumns(holder, scopeOf), expires_at: expiresAt })
            .execute();
          if (!('clientId' in holder)) return;
          await tx
            .updateTable('oauth_client')
            .set({ last_used_at: now })
            .where('id', '=', holder.clientId)
            .execute();
        },
        { durable: false },
      ),

    findActive: async (hash, now) => {
      const [row] = (await accessTokenByHash(db, { hash, now })).rows;
      if (!row) return undefined;
      const { client_id: clientId, federated, federation } = row;
      const holder =
        clientId === null ? { connection: federated ?? '', federation: federation ?? '' } : { clientId };
      return { holder, grant: toGrant({ ...row, connection_id: row.connection_id ?? federated }) };
    },
  };
}

function holderColumns(holder: TokenHolder, scopeOf: Database['scopeOf']) {
  return 'clientId' in holder
    ? { client_id: holder.clientId, account: null, connection_id: null, federation: null }
    : { client_id: null, ...scopeColumns(scopeOf(holder.connection)), federation: holder.federation };
}

const accessTokenByHash = compiledQuery((db, { hash, now }: { hash: string; now: number }) =>
  db
    .selectFrom('oauth_token as token')
    .leftJoin('oauth_client as client', 'client.id', 'token.client_id')
    .select(['token.client_id', 'token.connection_id as federated', 'token.federation'])
    .select(['client.connection_id', 'client.user_id'])
    .where('token.hash', '=', hash)
    .where('token.expires_at', '>', now)
    .where('client.revoked_at', 'is', null),
);

/**
 * Returns the store of used assertions. An assertion is stored durably before it is accepted, so that it cannot be
 * used twice after a crash.
 */
export function usedAssertions({ transaction }: Database): UsedAssertions {
  return {
    useOnce: ({ clientId, key, expiresAt }, now) =>
      transaction(async (tx) => {
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

/** Returns the state at a moment of a credential with these times. A revoked credential counts as revoked after it has expired, too. */
export function credentialState(
  times: { revokedAt: number | null | undefined; expiresAt: number | null | undefined },
  now: number,
): CredentialState['state'] {
  if (typeof times.revokedAt === 'number') return 'revoked';
  return (times.expiresAt ?? Number.POSITIVE_INFINITY) <= now ? 'expired' : 'active';
}

/** A credential that was found by its hash; it may be expired or revoked. */
export interface CredentialState {
  /** Kind and id as in the log: `token:<id>`, `apiKey:<id>`, `oauth:<client>`. */
  credential: string;
  opens: 'scim' | 'travel';
  state: 'active' | 'expired' | 'revoked';
  /** True for an access token that was given for a federation of the settings. */
  isFederated?: boolean;
}

/**
 * Returns a function that finds a credential by its hash and tells whether it is active, expired or revoked. Called
 * for refused credentials only, since it queries three tables.
 */
export function credentialStateLookup({
  db,
}: Database): (hash: string, now: number) => Promise<CredentialState | undefined> {
  return async (hash, now) => {
    const times = (row: { revoked_at: number | null; expires_at?: number | null }) =>
      credentialState({ revokedAt: row.revoked_at, expiresAt: row.expires_at }, now);
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
      .leftJoin('oauth_client as client', 'client.id', 'access.client_id')
      .select(['client.id', 'client.connection_id', 'client.revoked_at'])
      .select(['access.connection_id as federated', 'access.expires_at'])
      .where('access.hash', '=', hash)
      .executeTakeFirst();
    if (!access) return undefined;
    const { id, connection_id, federated } = access;
    const opens = (connection_id ?? federated) === null ? 'travel' : 'scim';
    const isFederated = federated !== null;
    return { credential: `oauth:${id ?? federated}`, opens, state: times(access), isFederated };
  };
}
