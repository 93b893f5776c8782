import type { Command } from 'commander';
import { createApiKey, listApiKeys, revokeApiKey } from './commands/api-keys.ts';
import { createClient, listClients, revokeClient } from './commands/oauth-clients.ts';
import type { Shell } from './commands/shell.ts';
import { createToken, listTokens, revokeToken } from './commands/tokens.ts';
import type { Action } from './exit.ts';
import { keysUrl, wholeDays } from './options.ts';

/** The commands for what opens either service. */
export function addCredentials(program: Command, shell: Shell, action: Action): void {
  addTokens(program, shell, action);
  addClients(program, shell, action);
  addApiKeys(program, shell, action);
}

function addTokens(program: Command, shell: Shell, action: Action): void {
  const tokens = program.command('tokens').description('the bearer tokens of identity providers');
  tokens
    .command('create')
    .description('make a token and print it, once')
    .option('--connection <id>', 'the connection it opens', 'default')
    .option('--name <name>', 'what you call it', 'unnamed')
    .option('--days <days>', 'days until it expires; default: never', wholeDays)
    .action(
      action((options: { connection: string; name: string; days?: number }) => createToken(shell, options)),
    );
  tokens
    .command('list')
    .description('list the tokens')
    .action(action(() => listTokens(shell)));
  tokens
    .command('revoke')
    .description('end a token at once')
    .argument('<id>', 'its id, as listed')
    .action(action((id: string) => revokeToken(shell, id)));
}

interface ClientOptions {
  name: string;
  connection?: string;
  travelAdmin?: string;
  jwksUri?: string;
  jwksFile?: string;
}

function addClients(program: Command, shell: Shell, action: Action): void {
  const clients = program.command('oauth-clients').description('who may ask for tokens at /oauth/token');
  clients
    .command('create')
    .description('register a client and print its id and secret, once')
    .option('--name <name>', 'what you call it', 'unnamed')
    .option('--connection <id>', 'it opens SCIM for this connection')
    .option('--travel-admin <email>', 'it opens the embedded travel service on behalf of this admin')
    .option('--jwks-uri <url>', 'in place of a secret: where its public keys are', keysUrl)
    .option('--jwks-file <file>', 'in place of a secret: a file with its public keys')
    .action(
      action(async (options: ClientOptions, command: Command) => {
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
    .description('end a client and all its tokens at once')
    .argument('<id>', 'its client id')
    .action(action((id: string) => revokeClient(shell, id)));
}

function addApiKeys(program: Command, shell: Shell, action: Action): void {
  const keys = program.command('api-keys').description('the API keys of the embedded travel service');
  keys
    .command('create')
    .description('make a key that acts on behalf of an admin, and print it, once')
    .requiredOption('--user <email>', 'the admin')
    .option('--name <name>', 'what you call it', 'unnamed')
    .action(action((options: { user: string; name: string }) => createApiKey(shell, options)));
  keys
    .command('list')
    .description('list the keys')
    .action(action(() => listApiKeys(shell)));
  keys
    .command('revoke')
    .description('end a key at once')
    .argument('<id>', 'its id, as listed')
    .action(action((id: string) => revokeApiKey(shell, id)));
}
