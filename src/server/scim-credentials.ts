import { randomUUID } from 'node:crypto';
import type { ListedClient, ScimCredentials } from '../admin/ports.ts';
import { hashSecret, newSecret } from '../http/authentication.ts';
import { type OAuthClient, registerClient } from '../oauth/clients.ts';
import { credentialState, oauthClients, scimTokens } from '../store/credentials.ts';
import type { Database } from '../store/database.ts';
import { travelStore } from '../store/travel-writes.ts';
import { stringMember } from '../travel/json.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Creates, lists and revokes the credentials of IdPs: for the commands, and for the admin page. `now` returns epoch milliseconds. */
export function scimCredentials(database: Database, now: () => number): ScimCredentials {
  const [tokens, clients] = [scimTokens(database), oauthClients(database)];
  return {
    listTokens: async () => {
      const listed = await tokens.list();
      return listed.map((token) => ({ ...token, state: credentialState(token, now()) }));
    },
    createToken: async ({ connection, name, days }) => {
      const [id, token, createdAt] = [randomUUID(), newSecret('scim'), now()];
      const expiresAt = days === undefined ? undefined : createdAt + days * DAY_MS;
      const made = { id, name, connection, createdAt, expiresAt };
      await tokens.create({ ...made, hash: hashSecret(token) });
      return { ...made, token };
    },
    revokeToken: (id) => tokens.revoke(id, now()),
    listClients: async () => listClients(database, await clients.list()),
    createClient: ({ connection, name, keys }) =>
      registerClient(
        { clients, now, newId: randomUUID },
        { name, grant: { kind: 'scim', connection }, keys },
      ),
    revokeClient: (id) => clients.revoke(id, now()),
  };
}

/** Adds the email addresses of the admins on whose behalf clients call the travel service. */
async function listClients(database: Database, clients: OAuthClient[]): Promise<ListedClient[]> {
  const ids = clients.flatMap(({ grant }) => (grant.kind === 'travel' ? [grant.userId] : []));
  const users = await travelStore(database).read([...new Set(ids)].map((id) => ({ type: 'user', id })));
  const emails = new Map(users.map(({ id, doc }) => [id, stringMember(doc, 'email') ?? '']));
  return clients.map(({ grant, ...client }) => ({
    ...client,
    opens:
      grant.kind === 'scim'
        ? { connection: grant.connection }
        : { travelAdmin: emails.get(grant.userId) ?? grant.userId, travelUserId: grant.userId },
  }));
}
