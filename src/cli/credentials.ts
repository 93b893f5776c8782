import { randomUUID } from 'node:crypto';
import type { ListedToken } from '../operations/scim-credentials.ts';
import { scimCredentials } from '../operations/scim-credentials.ts';
import { apiKeys } from '../store/credentials/credentials.ts';
import { travelStore } from '../store/travel/travel-writes.ts';
import { createApiKey as create, listApiKeys as list } from '../travel/api-keys.ts';
import { ApiError } from '../travel/errors.ts';
import { parseDays } from './arguments.ts';
import type { CliCommand, JsonFlag } from './command.ts';
import { storeConnection, withDatabase } from './database.ts';
import { Refused } from './exit-code.ts';
import { formatMinute, printJson, printTable, type Shell, withIsoTimes } from './output.ts';

/** Adds the commands `tokens` and `api-keys`. */
export function addCredentialCommands(program: CliCommand): void {
  addTokenCommands(program);
  addApiKeyCommands(program);
}

function addTokenCommands(program: CliCommand): void {
  const tokens = program.command('tokens').description('the bearer tokens of identity providers');
  tokens
    .command('create')
    .description('create a token and print it once; it is valid at once')
    .option('--connection <id>', 'the connection it opens', 'default')
    .option('--name <name>', 'a name for your own use', 'unnamed')
    .option('--days <days>', 'days until it expires; default: never', parseDays)
    .option('--json', 'one JSON object')
    .examples('tokens create --name okta', 'tokens create --connection default --name entra --days 365')
    .runs(createToken);
  tokens
    .command('list')
    .description('list the tokens with their last use, without their text')
    .option('--json', 'one JSON object for each token')
    .examples('tokens list')
    .runs(listTokens);
  tokens
    .command('revoke')
    .description('revoke a token at once')
    .argument('<id>', 'its id, as listed')
    .option('--json', 'one JSON object')
    .examples('tokens revoke 0198f3c2-5a77-7c31-9d0e-3f1b6a2c4d5e')
    .runs(revokeToken);
}

function addApiKeyCommands(program: CliCommand): void {
  const keys = program.command('api-keys').description('the API keys of the embedded travel service');
  keys
    .command('create')
    .description('create a key that acts on behalf of an admin, and print it once')
    .requiredOption('--user <email>', 'the admin')
    .option('--name <name>', 'a name for your own use', 'unnamed')
    .option('--json', 'one JSON object')
    .examples('api-keys create --user admin@jetbridge.local --name reports')
    .runs(createApiKey);
  keys
    .command('list')
    .description('list the keys with their last use')
    .option('--json', 'one JSON object for each key')
    .examples('api-keys list')
    .runs(listApiKeys);
  keys
    .command('revoke')
    .description('revoke a key at once')
    .argument('<id>', 'its id, as listed')
    .option('--json', 'one JSON object')
    .examples('api-keys revoke 0198f3c2-5a77-7c31-9d0e-3f1b6a2c4d5e')
    .runs(revokeApiKey);
}

/** The flags of `tokens create`. */
export interface TokenRequest {
  connection: string;
  name: string;
  days?: number;
  json?: true;
}

/** Creates a bearer token for a connection and prints it. Only its hash is stored. Works while a server runs. */
export function createToken(shell: Shell, { connection, name, days, json }: TokenRequest): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings }) => {
    await storeConnection(database, settings, connection);
    const { token, ...made } = await scimCredentials(database, Date.now).createToken({
      ...{ connection, name, days },
    });
    if (json) printJson(shell, { ...credentialJson(made), token });
    else shell.print(token);
    shell.printError('Keep it: it is shown only now.');
  });
}

/** The members of a credential that `--json` prints. Its secret and the hash of it are not among them. */
export function credentialJson({ id, name, ...others }: StoredCredential): object {
  const { connection, createdAt, expiresAt, lastUsedAt, revokedAt } = others;
  const listed = { id, name, connection, createdAt, expiresAt, lastUsedAt, revokedAt };
  return withIsoTimes(listed, 'createdAt', 'expiresAt', 'lastUsedAt', 'revokedAt');
}

interface StoredCredential {
  id: string;
  name: string;
  connection?: string;
  createdAt: number;
  expiresAt?: number | undefined;
  lastUsedAt?: number | undefined;
  revokedAt?: number | undefined;
}

/** Lists the stored tokens by id and name; their text is not stored. */
export function listTokens(shell: Shell, { json }: JsonFlag = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const tokens = await scimCredentials(database, Date.now).listTokens();
    if (json) {
      printJson(shell, ...tokens.map(credentialJson));
      return;
    }
    const rows = tokens.map((token) => {
      const { id, name, connection, createdAt, lastUsedAt } = token;
      return [id, name, connection, formatMinute(createdAt), lastUseText(lastUsedAt), endText(token)];
    });
    printTable(shell, ['id', 'name', 'connection', 'made', 'last used', 'ends'], rows);
  });
}

/** Formats the time of the last use of a credential. */
export function lastUseText(lastUsedAt: number | undefined): string {
  return lastUsedAt === undefined ? 'never' : formatMinute(lastUsedAt);
}

function endText({ expiresAt, revokedAt, state }: ListedToken): string {
  if (revokedAt !== undefined) return `revoked ${formatMinute(revokedAt)}`;
  if (expiresAt === undefined) return 'never';
  return `${state === 'expired' ? 'expired ' : ''}${formatMinute(expiresAt)}`;
}

/** Revokes a token; a running server refuses it from the next request on. */
export function revokeToken(shell: Shell, id: string, flags: JsonFlag = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const isRevoked = await scimCredentials(database, Date.now).revokeToken(id);
    printRevocation(shell, { ...flags, id, isRevoked, noun: 'token', list: 'tokens list' });
  });
}

interface Revocation extends JsonFlag {
  id: string;
  isRevoked: boolean;
  noun: string;
  /** The command that lists the credentials. */
  list: string;
}

/** Prints that a credential is revoked. Throws if there was none to revoke. */
export function printRevocation(shell: Shell, { id, isRevoked, noun, list, json }: Revocation): void {
  if (!isRevoked)
    throw new Refused(
      `There is no such ${noun}, or it was revoked before. "npx jetbridge ${list}" shows them.`,
    );
  if (json) printJson(shell, { id, revoked: true });
  else shell.print('revoked');
}

/** The flags of `api-keys create`. */
interface KeyRequest extends JsonFlag {
  user: string;
  name: string;
}

/** Creates an API key of the embedded travel service for an admin and prints it. Only its hash is stored. */
export function createApiKey(shell: Shell, { user, name, json }: KeyRequest): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings: { connections } }) => {
    if (!connections.some(({ travelApi }) => travelApi.url === 'embedded'))
      throw new Refused(
        'No connection uses the embedded travel service; the real one makes its keys itself.',
      );
    const deps = {
      keys: apiKeys(database),
      reader: travelStore(database),
      now: Date.now,
      newId: randomUUID,
    };
    const { id, key } = await create(deps, { email: user, name }).catch(
      refuseTravelErrors('A key belongs to an active user with the role admin.'),
    );
    if (json) printJson(shell, { id, name, user, key });
    else shell.print(key);
    shell.printError('Keep it: it is shown only now.');
  });
}

/** Returns a function that converts an error of the travel service to a refusal, with a hint. */
export function refuseTravelErrors(hint: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof ApiError ? new Refused(`${error.message} ${hint}`) : error;
  };
}

/** Lists the API keys by id and name; their text is not stored. */
export function listApiKeys(shell: Shell, { json }: JsonFlag = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const all = await list({ keys: apiKeys(database), reader: travelStore(database) });
    if (json) {
      printJson(shell, ...all.map((key) => ({ ...credentialJson(key), user: key.email })));
      return;
    }
    const rows = all.map(({ id, name, email, createdAt, lastUsedAt, revokedAt }) => {
      const ends = revokedAt === undefined ? 'never' : `revoked ${formatMinute(revokedAt)}`;
      return [id, name, email, formatMinute(createdAt), lastUseText(lastUsedAt), ends];
    });
    printTable(shell, ['id', 'name', 'user', 'made', 'last used', 'ends'], rows);
  });
}

/** Revokes an API key; a running server refuses it from the next request on. */
export function revokeApiKey(shell: Shell, id: string, flags: JsonFlag = {}): Promise<0 | 1> {
  return withDatabase(shell, async ({ database }) => {
    const isRevoked = await apiKeys(database).revoke(id, Date.now());
    printRevocation(shell, { ...flags, id, isRevoked, noun: 'key', list: 'api-keys list' });
  });
}
