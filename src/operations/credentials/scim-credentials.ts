import { randomUUID } from 'node:crypto';
import { hashSecret, newSecret } from '../../http/authentication.ts';
import {
  type ClientRegistration,
  type OAuthClient,
  type Proof,
  registerClient,
} from '../../oauth/clients.ts';
import {
  credentialState,
  oauthClients,
  type ScimToken,
  scimTokens,
} from '../../store/credentials/credentials.ts';
import type { Database } from '../../store/sql/database.ts';
import { travelStore } from '../../store/travel/travel-writes.ts';
import { readEmails } from '../../travel/authentication/authentication.ts';

const DAY_MS = 24 * 60 * 60_000;

/** A bearer token with which an IdP opens a connection. */
export type ListedToken = ScimToken & { state: ReturnType<typeof credentialState> };

/** An OAuth client. It opens a connection, or the embedded travel service on behalf of an admin. */
export interface ListedClient {
  id: string;
  name: string;
  opens: { connection: string } | { travelAdmin: string; travelUserId: string };
  proof: Proof['kind'];
  createdAt: number;
  /** The time of the last token; undefined if the client never got one. */
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
}

interface NewToken {
  /** A connection of the settings. */
  connection: string;
  name: string;
  /** The days until it expires; undefined: never. */
  days: number | undefined;
}

/** The credentials of IdPs. */
export type ScimCredentials = ReturnType<typeof scimCredentials>;

/**
 * Creates, lists and revokes the credentials of IdPs: for the commands, and for the admin page. Only hashes of secrets are stored. `now`
 * returns epoch milliseconds.
 */
export function scimCredentials(database: Database, now: () => number) {
  const [tokens, clients] = [scimTokens(database), oauthClients(database)];
  return {
    listTokens: async (): Promise<ListedToken[]> => {
      const listed = await tokens.list();
      return listed.map((token) => ({ ...token, state: credentialState(token, now()) }));
    },
    /** Returns the text of the token, which cannot be read again later. */
    createToken: async ({ connection, name, days }: NewToken) => {
      const [id, token, createdAt] = [randomUUID(), newSecret('scim'), now()];
      const expiresAt = days === undefined ? undefined : createdAt + days * DAY_MS;
      const made = { id, name, connection, createdAt, expiresAt };
      await tokens.create({ ...made, hash: hashSecret(token) });
      return { ...made, token };
    },
    /** False if there is no such token, or it was revoked before. */
    revokeToken: (id: string): Promise<boolean> => tokens.revoke(id, now()),
    listClients: async () => listClients(database, await clients.list()),
    /** Registers a client. Returns its secret, unless it has keys. */
    createClient: (client: ClientRegistration) => registerClient({ clients, now, newId: randomUUID }, client),
    revokeClient: (id: string): Promise<boolean> => clients.revoke(id, now()),
  };
}

/** Adds the email addresses of the admins on whose behalf clients call the travel service. */
async function listClients(database: Database, clients: OAuthClient[]): Promise<ListedClient[]> {
  const ids = clients.flatMap(({ grant }) => (grant.kind === 'travel' ? [grant.userId] : []));
  const emails = await readEmails(travelStore(database), ids);
  return clients.map(({ grant, ...client }) => ({
    ...client,
    opens:
      grant.kind === 'scim'
        ? { connection: grant.connection }
        : { travelAdmin: emails.get(grant.userId) ?? grant.userId, travelUserId: grant.userId },
  }));
}
