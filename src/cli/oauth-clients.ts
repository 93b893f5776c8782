import { randomUUID } from 'node:crypto';
import { readJsonFile } from '../config/faults.ts';
import type { Settings } from '../config/settings.ts';
import {
  type ClientRegistration,
  type Grant,
  keysUrlProblem,
  parseJwks,
  registerClient,
} from '../oauth/clients.ts';
import type { ListedClient } from '../operations/scim-credentials.ts';
import { scimCredentials } from '../operations/scim-credentials.ts';
import { oauthClients } from '../store/credentials/credentials.ts';
import type { Database } from '../store/sql/database.ts';
import { travelStore } from '../store/travel/travel-writes.ts';
import { requireAdminByEmail } from '../travel/authentication.ts';
import { parseKeysUrl } from './arguments.ts';
import type { CliCommand, JsonFlag } from './command.ts';
import { credentialJson, lastUseText, printRevocation, refuseTravelErrors } from './credentials.ts';
import { storeConnection, withDatabase } from './database.ts';
import { Refused, WrongUse } from './exit-code.ts';
import { formatMinute, printJson, printTable, type Shell } from './output.ts';

interface ClientFlags {
  name: string;
  connection?: string;
  travelAdmin?: string;
  jwksUri?: string;
  jwksFile?: string;
  json?: true;
}

/** Adds the commands `oauth-clients create`, `oauth-clients list` and `oauth-clients revoke`. */
export function addClientCommands(program: CliCommand): void {
  const clients = program.command('oauth-clients').description('the clients that get tokens at /oauth/token');
  addCreateCommand(clients);
  clients
    .command('list')
    .description('list the clients with their last use')
    .option('--json', 'one JSON object for each client')
    .examples('oauth-clients list')
    .runs(listClients);
  clients
    .command('revoke')
    .description('revoke a client and all its tokens at once')
    .argument('<id>', 'its client id')
    .option('--json', 'one JSON object')
    .examples('oauth-clients revoke 0198f3c2-5a77-7c31-9d0e-3f1b6a2c4d5e')
    .runs(revokeClient);
}

function addCreateCommand(clients: CliCommand): void {
  clients
    .command('create')
    .description('register a client and print its id and its secret once')
    .option('--name <name>', 'a name for your own use', 'unnamed')
    .option('--connection <id>', 'give it access to SCIM of this connection')
    .option('--travel-admin <email>', 'give it access to the embedded travel service on behalf of this admin')
    .option('--jwks-uri <url>', 'instead of a secret: the URL of its public keys', parseKeysUrl)
    .option('--jwks-file <file>', 'instead of a secret: a file with its public keys')
    .option('--json', 'one JSON object')
    .examples(
      'oauth-clients create --connection default --name entra',
      'oauth-clients create --connection default --name okta --jwks-uri https://idp.example.com/keys',
      'oauth-clients create --travel-admin admin@jetbridge.local --name reports',
    )
    .runs(async (shell, options: ClientFlags) => {
      const { name, connection, travelAdmin, jwksUri, jwksFile, json } = options;
      if (jwksUri !== undefined && jwksFile !== undefined)
        throw new WrongUse('give one of --jwks-uri and --jwks-file');
      const fromFile = jwksFile === undefined ? undefined : { file: jwksFile };
      const keys = jwksUri === undefined ? fromFile : { uri: jwksUri };
      if (connection !== undefined && travelAdmin === undefined)
        return createClient(shell, { name, opens: { connection }, keys, json });
      if (connection === undefined && travelAdmin !== undefined)
        return createClient(shell, { name, opens: { travelAdmin }, keys, json });
      throw new WrongUse('give either --connection <id> or --travel-admin <email>');
    });
}

/** The requested registration of an OAuth client: its access, and where its public keys are, if it has any. */
export interface ClientRequest {
  name: string;
  opens: { connection: string } | { travelAdmin: string };
  keys: { uri: string } | { file: string } | undefined;
  json?: true | undefined;
}

/** Registers an OAuth client and prints its id and secret. Only a hash of the secret is stored. */
export function createClient(shell: Shell, { name, opens, keys, json }: ClientRequest): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings }) => {
    const grant = await resolveGrant(database, settings, opens);
    const proof = keys && readKeys(keys, settings);
    const deps = { clients: oauthClients(database), now: Date.now, newId: randomUUID };
    const { id, secret } = await registerClient(deps, { name, grant, keys: proof });
    if (json) printJson(shell, { clientId: id, clientSecret: secret, name, ...opens });
    else {
      shell.print(`client_id=${id}`);
      if (secret !== undefined) shell.print(`client_secret=${secret}`);
    }
    const endpoint = `${(settings.publicUrl ?? '').replace(/\/+$/, '')}/oauth/token`;
    shell.printError(secret === undefined ? assertionAdvice(settings, endpoint) : secretAdvice(endpoint));
  });
}

/** Lists the OAuth clients; their secrets are not stored. */
export function listClients(shell: Shell, { json }: JsonFlag = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const clients = await scimCredentials(database, Date.now).listClients();
    if (json) {
      const toJson = (client: ListedClient) => ({
        ...{ ...credentialJson(client), ...client.opens },
        authentication: client.proof === 'secret' ? 'secret' : 'keys',
      });
      printJson(shell, ...clients.map(toJson));
      return;
    }
    const rows = clients.map(({ id, name, opens, proof, createdAt, lastUsedAt, revokedAt }) => {
      const target =
        'connection' in opens ? `SCIM of ${opens.connection}` : `travel API as ${opens.travelAdmin}`;
      const ends = revokedAt === undefined ? 'never' : `revoked ${formatMinute(revokedAt)}`;
      const by = proof === 'secret' ? 'secret' : 'keys';
      return [id, name, target, by, formatMinute(createdAt), lastUseText(lastUsedAt), ends];
    });
    printTable(shell, ['id', 'name', 'opens', 'by', 'made', 'last used', 'ends'], rows);
  });
}

/** Revokes an OAuth client and all its access tokens; a running server refuses them from the next request on. */
export function revokeClient(shell: Shell, id: string, flags: JsonFlag = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const isRevoked = await scimCredentials(database, Date.now).revokeClient(id);
    printRevocation(shell, { ...flags, id, isRevoked, noun: 'client', list: 'oauth-clients list' });
  });
}

/** Finds the connection or admin to which the client is to get access. Throws if there is none. */
async function resolveGrant(
  database: Database,
  settings: Settings,
  opens: ClientRequest['opens'],
): Promise<Grant> {
  if ('connection' in opens) {
    await storeConnection(database, settings, opens.connection);
    return { kind: 'scim', connection: opens.connection };
  }
  const admin = await requireAdminByEmail(travelStore(database), opens.travelAdmin).catch(
    refuseTravelErrors('A client acts for an active user with the role admin.'),
  );
  return { kind: 'travel', userId: admin.id };
}

function readKeys(
  keys: NonNullable<ClientRequest['keys']>,
  settings: Pick<Settings, 'oauthClients'>,
): ClientRegistration['keys'] {
  if ('uri' in keys) {
    const problem = keysUrlProblem(keys.uri, settings.oauthClients);
    if (problem !== undefined) throw new Refused(`${keys.uri} ${problem}.`);
    return { kind: 'jwksUri', uri: keys.uri };
  }
  const read = readJsonFile(keys.file);
  const parsed = 'json' in read ? parseJwks(read.json) : read;
  if (!('jwks' in parsed)) throw new Refused(`${keys.file}: ${parsed.problem}.`);
  return { kind: 'jwks', jwks: parsed.jwks };
}

function secretAdvice(endpoint: string): string {
  return `Keep the secret: it is shown only now. Tokens are asked for at ${endpoint}.`;
}

function assertionAdvice({ publicUrl }: Settings, endpoint: string): string {
  if (publicUrl === undefined)
    return 'Set PUBLIC_URL for the server: assertions must name <PUBLIC_URL>/oauth/token as their audience.';
  return `Its assertions must have the client_id as iss and sub, and ${endpoint} as aud.`;
}
