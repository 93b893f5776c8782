import { randomUUID } from 'node:crypto';
import type { Settings } from '../config.ts';
import { readJsonFile } from '../json-file.ts';
import { parseJwks } from '../oauth/jwks.ts';
import type { Grant, OAuthClient } from '../oauth/ports.ts';
import { type Registration, registerClient } from '../oauth/register.ts';
import { ensureConnection } from '../store/connections.ts';
import type { Database } from '../store/database.ts';
import { oauthClients } from '../store/oauth-clients.ts';
import { travelResources } from '../store/travel-resources.ts';
import { requireAdmin } from '../travel/admins.ts';
import { ApiError } from '../travel/errors.ts';
import { textOf } from '../travel/json.ts';
import { connectionOf, withDatabase } from './database.ts';
import type { Shell } from './shell.ts';
import { minute, tableOf } from './table.ts';

/** What a client is to open, and where its keys are, if it has some. */
export interface ClientWish {
  name: string;
  opens: { connection: string } | { travelAdmin: string };
  keys: { uri: string } | { file: string } | undefined;
}

/** Registers an OAuth client and prints its id and secret; of the secret only a hash is kept. */
export function createClient(shell: Shell, { name, opens, keys }: ClientWish): Promise<0 | 1> {
  return withDatabase(shell, async (database, settings) => {
    const grant = await grantOf(shell, { database, settings }, opens);
    const proof = keysOf(shell, keys);
    if (!grant || proof === 'unreadable') return 1;
    const deps = { clients: oauthClients(database), now: Date.now, newId: randomUUID };
    const { id, secret } = await registerClient(deps, { name, grant, keys: proof });
    shell.print(`client_id=${id}`);
    if (secret !== undefined) shell.print(`client_secret=${secret}`);
    const endpoint = `${(settings.publicUrl ?? '').replace(/\/+$/, '')}/oauth/token`;
    shell.complain(secret === undefined ? assertionAdvice(settings, endpoint) : secretAdvice(endpoint));
    return 0;
  });
}

/** Lists the OAuth clients, without their secrets. */
export function listClients(shell: Shell): Promise<0> {
  return withDatabase(shell, async (database) => {
    const clients = await oauthClients(database).list();
    const emails = await emailsOf(database, clients);
    const rows = clients.map(({ id, name, grant, proof, createdAt, revokedAt }) => {
      const opens =
        grant.kind === 'scim'
          ? `SCIM of ${grant.connection}`
          : `travel API as ${emails.get(grant.userId) ?? grant.userId}`;
      const ends = revokedAt === undefined ? 'never' : `revoked ${minute(revokedAt)}`;
      return [id, name, opens, proof === 'secret' ? 'secret' : 'keys', minute(createdAt), ends];
    });
    shell.print(tableOf(['id', 'name', 'opens', 'by', 'made', 'ends'], rows));
    return 0;
  });
}

/** Ends an OAuth client and all its tokens at once. */
export function revokeClient(shell: Shell, id: string): Promise<0 | 1> {
  return withDatabase(shell, async (database) => {
    if (await oauthClients(database).revoke(id, Date.now())) {
      shell.print('revoked');
      return 0;
    }
    shell.complain(
      'There is no such client, or it was revoked before. "jetbridge oauth-clients list" shows them.',
    );
    return 1;
  });
}

/** What the wish names, or undefined with a word about why that cannot be. */
async function grantOf(
  shell: Shell,
  { database, settings }: { database: Database; settings: Settings },
  opens: ClientWish['opens'],
): Promise<Grant | undefined> {
  if ('connection' in opens) {
    const named = connectionOf(shell, settings, opens.connection);
    if (!named) return undefined;
    await ensureConnection(database, { id: named.id, account: named.account });
    return { kind: 'scim', connection: named.id };
  }
  try {
    const admin = await requireAdmin(travelResources(database), opens.travelAdmin);
    return { kind: 'travel', userId: admin.id };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    shell.complain(`${error.message} A client acts for an active user with the role admin.`);
    return undefined;
  }
}

function keysOf(shell: Shell, keys: ClientWish['keys']): Registration['keys'] | 'unreadable' {
  if (!keys) return undefined;
  if ('uri' in keys) return { kind: 'jwksUri', uri: keys.uri };
  const read = readJsonFile(keys.file);
  const parsed = 'json' in read ? parseJwks(read.json) : read;
  if ('jwks' in parsed) return { kind: 'jwks', jwks: parsed.jwks };
  shell.complain(`${keys.file}: ${parsed.problem}.`);
  return 'unreadable';
}

function secretAdvice(endpoint: string): string {
  return `Keep the secret: it is shown only now. Tokens are asked for at ${endpoint}.`;
}

function assertionAdvice({ publicUrl }: Settings, endpoint: string): string {
  if (publicUrl === undefined)
    return 'Set PUBLIC_URL for the server: assertions must name <PUBLIC_URL>/oauth/token as their audience.';
  return `Its assertions must have the client_id as iss and sub, and ${endpoint} as aud.`;
}

async function emailsOf(database: Database, clients: OAuthClient[]): Promise<Map<string, string>> {
  const ids = clients.flatMap(({ grant }) => (grant.kind === 'travel' ? [grant.userId] : []));
  const users = await travelResources(database).read([...new Set(ids)].map((id) => ({ type: 'user', id })));
  return new Map(users.map(({ id, doc }) => [id, textOf(doc, 'email') ?? '']));
}
