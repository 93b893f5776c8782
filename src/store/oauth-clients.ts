import type { Selectable } from 'kysely';
import type { Clients, Grant, OAuthClient, Proof } from '../oauth/ports.ts';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

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
