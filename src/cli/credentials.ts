import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { readJsonFile } from '../config/faults.ts';
import type { Settings } from '../config/settings.ts';
import { hashSecret, newSecret } from '../http/authentication.ts';
import {
  type ClientRegistration,
  type Grant,
  type OAuthClient,
  parseJwks,
  registerClient,
} from '../oauth/clients.ts';
import { ensureConnection } from '../store/connections.ts';
import { apiKeys, oauthClients, scimTokens } from '../store/credentials.ts';
import type { Database } from '../store/database.ts';
import { travelStore } from '../store/travel-writes.ts';
import { createApiKey as create, listApiKeys as list } from '../travel/api-keys.ts';
import { requireAdminByEmail } from '../travel/authentication.ts';
import { ApiError } from '../travel/errors.ts';
import { stringMember } from '../travel/json.ts';
import { parseDays, parseKeysUrl } from './arguments.ts';
import { findConnection, withDatabase } from './connections.ts';
import { type Action, formatMinute, formatTable, type Shell } from './output.ts';

/** Adds the commands `tokens`, `oauth-clients` and `api-keys`. */
export function addCredentialCommands(program: Command, shell: Shell, action: Action): void {
  addTokenCommands(program, shell, action);
  addClientCommands(program, shell, action);
  addApiKeyCommands(program, shell, action);
}

function addTokenCommands(program: Command, shell: Shell, action: Action): void {
  const tokens = program.command('tokens').description('the bearer tokens of identity providers');
  tokens
    .command('create')
    .description('create a token and print it; it cannot be shown again')
    .option('--connection <id>', 'the connection it opens', 'default')
    .option('--name <name>', 'a name for your own use', 'unnamed')
    .option('--days <days>', 'days until it expires; default: never', parseDays)
    .action(
      action((options: { connection: string; name: string; days?: number }) => createToken(shell, options)),
    );
  tokens
    .command('list')
    .description('list the tokens')
    .action(action(() => listTokens(shell)));
  tokens
    .command('revoke')
    .description('revoke a token at once')
    .argument('<id>', 'its id, as listed')
    .action(action((id: string) => revokeToken(shell, id)));
}

interface ClientFlags {
  name: string;
  connection?: string;
  travelAdmin?: string;
  jwksUri?: string;
  jwksFile?: string;
}

function addClientCommands(program: Command, shell: Shell, action: Action): void {
  const clients = program.command('oauth-clients').description('the clients that get tokens at /oauth/token');
  clients
    .command('create')
    .description('register a client and print its id and secret; the secret cannot be shown again')
    .option('--name <name>', 'a name for your own use', 'unnamed')
    .option('--connection <id>', 'give it access to SCIM of this connection')
    .option('--travel-admin <email>', 'give it access to the embedded travel service on behalf of this admin')
    .option('--jwks-uri <url>', 'instead of a secret: the URL of its public keys', parseKeysUrl)
    .option('--jwks-file <file>', 'instead of a secret: a file with its public keys')
    .action(
      action(async (options: ClientFlags, command: Command) => {
        const { name, connection, travelAdmin, jwksUri, jwksFile } = options;
        if (jwksUri !== undefined && jwksFile !== undefined)
          return command.error('error: give one of --jwks-uri and --jwks-file');
        const fromFile = jwksFile === undefined ? undefined : { file: jwksFile };
        const keys = jwksUri === undefined ? fromFile : { uri: jwksUri };
        if (connection !== undefined && travelAdmin === undefined)
          return createClient(shell, { name, opens: { connection }, keys });
        if (connection === undefined && travelAdmin !== undefined)
          return createClient(shell, { name, opens: { travelAdmin }, keys });
        return command.error('error: give either --connection <id> or --travel-admin <email>');
      }),
    );
  clients
    .command('list')
    .description('list the clients')
    .action(action(() => listClients(shell)));
  clients
    .command('revoke')
    .description('revoke a client and all its tokens at once')
    .argument('<id>', 'its client id')
    .action(action((id: string) => revokeClient(shell, id)));
}

function addApiKeyCommands(program: Command, shell: Shell, action: Action): void {
  const keys = program.command('api-keys').description('the API keys of the embedded travel service');
  keys
    .command('create')
    .description('create a key that acts on behalf of an admin, and print it; it cannot be shown again')
    .requiredOption('--user <email>', 'the admin')
    .option('--name <name>', 'a name for your own use', 'unnamed')
    .action(action((options: { user: string; name: string }) => createApiKey(shell, options)));
  keys
    .command('list')
    .description('list the keys')
    .action(action(() => listApiKeys(shell)));
  keys
    .command('revoke')
    .description('revoke a key at once')
    .argument('<id>', 'its id, as listed')
    .action(action((id: string) => revokeApiKey(shell, id)));
}

const DAY_MS = 24 * 60 * 60_000;

/** Creates a bearer token for a connection and prints it. Only its hash is stored. Works while a server runs. */
export function createToken(
  shell: Shell,
  { connection, name, days }: { connection: string; name: string; days?: number },
): Promise<0 | 1> {
  return withDatabase(shell, async (database, settings) => {
    const named = findConnection(shell, settings, connection);
    if (!named) return 1;
    await ensureConnection(database, { id: named.id, account: named.account });
    const token = newSecret('scim');
    const createdAt = Date.now();
    const expiresAt = days === undefined ? undefined : createdAt + days * DAY_MS;
    const made = { id: randomUUID(), hash: hashSecret(token), name, connection, createdAt, expiresAt };
    await scimTokens(database).create(made);
    shell.print(token);
    shell.printError('Keep it: it is shown only now.');
    return 0;
  });
}

/** Lists the stored tokens by id and name; their text is not stored. */
export function listTokens(shell: Shell): Promise<0> {
  return withDatabase(shell, async (database) => {
    const rows = (await scimTokens(database).list()).map(
      ({ id, name, connection, createdAt, expiresAt, revokedAt }) => {
        const ends = revokedAt === undefined ? expiryText(expiresAt) : `revoked ${formatMinute(revokedAt)}`;
        return [id, name, connection, formatMinute(createdAt), ends];
      },
    );
    shell.print(formatTable(['id', 'name', 'connection', 'made', 'ends'], rows));
    return 0;
  });
}

function expiryText(expiresAt: number | undefined): string {
  if (expiresAt === undefined) return 'never';
  return `${expiresAt <= Date.now() ? 'expired ' : ''}${formatMinute(expiresAt)}`;
}

/** Revokes a token; a running server refuses it from the next request on. */
export function revokeToken(shell: Shell, id: string): Promise<0 | 1> {
  return withDatabase(shell, async (database) => {
    if (await scimTokens(database).revoke(id, Date.now())) {
      shell.print('revoked');
      return 0;
    }
    shell.printError(
      'There is no such token, or it was revoked before. "npx jetbridge tokens list" shows them.',
    );
    return 1;
  });
}

/** Creates an API key of the embedded travel service for an admin and prints it. Only its hash is stored. */
export function createApiKey(shell: Shell, { user, name }: { user: string; name: string }): Promise<0 | 1> {
  return withDatabase(shell, async (database, { connections }) => {
    if (!connections.some(({ travelApi }) => travelApi.url === 'embedded')) {
      shell.printError('No connection uses the embedded travel service; the real one makes its keys itself.');
      return 1;
    }
    const deps = {
      keys: apiKeys(database),
      reader: travelStore(database),
      now: Date.now,
      newId: randomUUID,
    };
    try {
      const { key } = await create(deps, { email: user, name });
      shell.print(key);
      shell.printError('Keep it: it is shown only now.');
      return 0;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      shell.printError(`${error.message} A key belongs to an active user with the role admin.`);
      return 1;
    }
  });
}

/** Lists the API keys by id and name; their text is not stored. */
export function listApiKeys(shell: Shell): Promise<0> {
  return withDatabase(shell, async (database) => {
    const all = await list({ keys: apiKeys(database), reader: travelStore(database) });
    const rows = all.map(({ id, name, email, createdAt, lastUsedAt, revokedAt }) => {
      const used = lastUsedAt === undefined ? 'never' : formatMinute(lastUsedAt);
      const ends = revokedAt === undefined ? 'never' : `revoked ${formatMinute(revokedAt)}`;
      return [id, name, email, formatMinute(createdAt), used, ends];
    });
    shell.print(formatTable(['id', 'name', 'user', 'made', 'last used', 'ends'], rows));
    return 0;
  });
}

/** Revokes an API key; a running server refuses it from the next request on. */
export function revokeApiKey(shell: Shell, id: string): Promise<0 | 1> {
  return withDatabase(shell, async (database) => {
    if (await apiKeys(database).revoke(id, Date.now())) {
      shell.print('revoked');
      return 0;
    }
    shell.printError(
      'There is no such key, or it was revoked before. "npx jetbridge api-keys list" shows them.',
    );
    return 1;
  });
}

/** The requested registration of an OAuth client: its access, and where its public keys are, if it has any. */
export interface ClientRequest {
  name: string;
  opens: { connection: string } | { travelAdmin: string };
  keys: { uri: string } | { file: string } | undefined;
}

/** Registers an OAuth client and prints its id and secret. Only a hash of the secret is stored. */
export function createClient(shell: Shell, { name, opens, keys }: ClientRequest): Promise<0 | 1> {
  return withDatabase(shell, async (database, settings) => {
    const grant = await resolveGrant(shell, { database, settings }, opens);
    const proof = readKeys(shell, keys);
    if (!grant || proof === 'unreadable') return 1;
    const deps = { clients: oauthClients(database), now: Date.now, newId: randomUUID };
    const { id, secret } = await registerClient(deps, { name, grant, keys: proof });
    shell.print(`client_id=${id}`);
    if (secret !== undefined) shell.print(`client_secret=${secret}`);
    const endpoint = `${(settings.publicUrl ?? '').replace(/\/+$/, '')}/oauth/token`;
    shell.printError(secret === undefined ? assertionAdvice(settings, endpoint) : secretAdvice(endpoint));
    return 0;
  });
}

/** Lists the OAuth clients; their secrets are not stored. */
export function listClients(shell: Shell): Promise<0> {
  return withDatabase(shell, async (database) => {
    const clients = await oauthClients(database).list();
    const emails = await adminEmails(database, clients);
    const rows = clients.map(({ id, name, grant, proof, createdAt, revokedAt }) => {
      const opens =
        grant.kind === 'scim'
          ? `SCIM of ${grant.connection}`
          : `travel API as ${emails.get(grant.userId) ?? grant.userId}`;
      const ends = revokedAt === undefined ? 'never' : `revoked ${formatMinute(revokedAt)}`;
      return [id, name, opens, proof === 'secret' ? 'secret' : 'keys', formatMinute(createdAt), ends];
    });
    shell.print(formatTable(['id', 'name', 'opens', 'by', 'made', 'ends'], rows));
    return 0;
  });
}

/** Revokes an OAuth client and all its access tokens; a running server refuses them from the next request on. */
export function revokeClient(shell: Shell, id: string): Promise<0 | 1> {
  return withDatabase(shell, async (database) => {
    if (await oauthClients(database).revoke(id, Date.now())) {
      shell.print('revoked');
      return 0;
    }
    shell.printError(
      'There is no such client, or it was revoked before. "npx jetbridge oauth-clients list" shows them.',
    );
    return 1;
  });
}

/**
 * Finds the connection or admin to which the client is to get access. If it does not exist, prints the reason and
 * returns undefined.
 */
async function resolveGrant(
  shell: Shell,
  { database, settings }: { database: Database; settings: Settings },
  opens: ClientRequest['opens'],
): Promise<Grant | undefined> {
  if ('connection' in opens) {
    const named = findConnection(shell, settings, opens.connection);
    if (!named) return undefined;
    await ensureConnection(database, { id: named.id, account: named.account });
    return { kind: 'scim', connection: named.id };
  }
  try {
    const admin = await requireAdminByEmail(travelStore(database), opens.travelAdmin);
    return { kind: 'travel', userId: admin.id };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    shell.printError(`${error.message} A client acts for an active user with the role admin.`);
    return undefined;
  }
}

function readKeys(shell: Shell, keys: ClientRequest['keys']): ClientRegistration['keys'] | 'unreadable' {
  if (!keys) return undefined;
  if ('uri' in keys) return { kind: 'jwksUri', uri: keys.uri };
  const read = readJsonFile(keys.file);
  const parsed = 'json' in read ? parseJwks(read.json) : read;
  if ('jwks' in parsed) return { kind: 'jwks', jwks: parsed.jwks };
  shell.printError(`${keys.file}: ${parsed.problem}.`);
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

async function adminEmails(database: Database, clients: OAuthClient[]): Promise<Map<string, string>> {
  const ids = clients.flatMap(({ grant }) => (grant.kind === 'travel' ? [grant.userId] : []));
  const users = await travelStore(database).read([...new Set(ids)].map((id) => ({ type: 'user', id })));
  return new Map(users.map(({ id, doc }) => [id, stringMember(doc, 'email') ?? '']));
}
