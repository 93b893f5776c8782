import type { Selectable } from 'kysely';
import type { Database } from './database.ts';
import { prepared } from './prepared.ts';
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
      const [row] = (await opened(db, { hash, now })).rows;
      return row && { id: row.id, connection: row.connection_id };
    },
  };
}

const opened = prepared((db, { hash, now }: { hash: string; now: number }) =>
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
