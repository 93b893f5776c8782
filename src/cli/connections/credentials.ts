import type { z } from 'zod';
import { readJsonFile } from '../../config/faults.ts';
import type { CsvColumns } from '../../http/csv.ts';
import { credentialOperations } from '../../operations/credentials/credentials.ts';
import type { OperationOutput } from '../../operations/operation.ts';
import type { CliCommand, JsonFlag } from '../command.ts';
import { Refused } from '../exit-code.ts';
import { type ListPage, listPages, type Operator, withOperations } from '../operations.ts';
import { addInputOptions } from '../terminal/input-options.ts';
import {
  addLimitOption,
  addListFlags,
  type ListFlags,
  printList,
  printResult,
} from '../terminal/printers.ts';

const { createToken, createOAuthClient } = credentialOperations;
const KEEP_TEXT = 'Keep it: it is shown only now.';

type Token = OperationOutput<typeof credentialOperations.listTokens>['tokens'][number];

/** Defines the commands `tokens create`, `list` and `revoke`. */
export function defineTokenCommands(tokens: CliCommand): void {
  const create = tokens
    .command('create')
    .description('create a token and print it once; it is valid at once')
    .option('--connection <id>', 'the connection it opens', 'default')
    .option('--name <name>', 'a name for your own use', 'unnamed');
  addInputOptions(create, createToken.body, { days: { flags: '--days <days>' } })
    .option('--json', 'one JSON object')
    .examples('tokens create --name okta', 'tokens create --connection default --name entra --days 365')
    .runs((shell, { json, ...input }: JsonFlag & z.input<typeof createToken.body>) =>
      withOperations(shell, async ({ call }) => {
        const made = await call(credentialOperations, 'createToken', input);
        printResult(shell, { json }, made, () => made.token);
        shell.printError(KEEP_TEXT);
      }),
    );
  const columns = {
    ...names,
    connection: ({ connection }: Token) => connection,
    state: ({ state }: Token) => state,
    ...times,
    expiresAt: ({ expiresAt }: Token) => toDate(expiresAt),
  };
  const read = (operator: Operator) =>
    listPages(operator, [credentialOperations, 'listTokens', 'tokens'], {});
  addListCommand(tokens, read, columns);
  addRevokeCommand(tokens, ({ call }, id) => call(credentialOperations, 'revokeToken', { id }));
}

type Key = OperationOutput<typeof credentialOperations.listTravelApiKeys>['keys'][number];

interface KeyOptions extends JsonFlag {
  user: string;
  name: string;
  readOnly?: boolean;
}

/** Defines the commands `api-keys create`, `list` and `revoke`. */
export function defineKeyCommands(keys: CliCommand): void {
  keys
    .command('create')
    .description('create a key that acts on behalf of an admin, and print it once')
    .requiredOption('--user <email>', 'the admin')
    .option('--name <name>', 'a name for your own use', 'unnamed')
    .option('--read-only', 'a key that can only read')
    .option('--json', 'one JSON object')
    .examples('api-keys create --user admin@jetbridge.local --name reports --read-only')
    .runs((shell, { user: email, name, readOnly: isReadOnly = false, json }: KeyOptions) =>
      withOperations(shell, async ({ call }) => {
        const made = await call(credentialOperations, 'createTravelApiKey', { email, name, isReadOnly });
        printResult(shell, { json }, made, () => made.key);
        shell.printError(KEEP_TEXT);
      }),
    );
  const access = ({ isReadOnly }: Key) => (isReadOnly ? 'reads' : 'reads and writes');
  const columns = { ...names, user: ({ email }: Key) => email, access, ...times };
  const read = (operator: Operator) =>
    listPages(operator, [credentialOperations, 'listTravelApiKeys', 'keys'], {});
  addListCommand(keys, read, columns);
  addRevokeCommand(keys, ({ call }, id) => call(credentialOperations, 'revokeTravelApiKey', { id }));
}

type Client = OperationOutput<typeof credentialOperations.listOAuthClients>['clients'][number];
type ClientFlags = JsonFlag & z.input<typeof createOAuthClient.body> & { jwksFile?: string };

/** Defines the commands `oauth-clients create`, `list` and `revoke`. */
export function defineClientCommands(clients: CliCommand): void {
  addCreateClient(clients);
  const columns = {
    ...names,
    connection: ({ connection }: Client) => connection,
    travelAdmin: ({ travelAdmin }: Client) => travelAdmin,
    authentication: ({ authentication }: Client) => authentication,
    ...times,
  };
  const read = (operator: Operator) =>
    listPages(operator, [credentialOperations, 'listOAuthClients', 'clients'], {});
  addListCommand(clients, read, columns);
  addRevokeCommand(clients, ({ call }, id) => call(credentialOperations, 'revokeOAuthClient', { id }));
}

function addCreateClient(clients: CliCommand): void {
  const create = clients
    .command('create')
    .description('register a client and print its id and its secret once')
    .option('--name <name>', 'a name for your own use', 'unnamed');
  const options = {
    connection: { flags: '--connection <id>' },
    travelAdmin: { flags: '--travel-admin <email>' },
    jwksUri: { flags: '--jwks-uri <url>' },
  };
  addInputOptions(create, createOAuthClient.body, options)
    .option('--jwks-file <file>', 'instead of a secret: a file with its public keys')
    .option('--json', 'one JSON object')
    .examples(
      'oauth-clients create --connection default --name entra',
      'oauth-clients create --connection default --name okta --jwks-uri https://idp.example.com/keys',
      'oauth-clients create --travel-admin admin@jetbridge.local --name reports',
    )
    .runs((shell, { json, jwksFile, ...input }: ClientFlags) =>
      withOperations(shell, async ({ call, deps: { settings } }) => {
        const jwks = jwksFile === undefined ? undefined : readKeyFile(jwksFile);
        const made = await call(credentialOperations, 'createOAuthClient', { ...input, jwks });
        const { clientId, clientSecret } = made;
        const secret = clientSecret === undefined ? [] : [`client_secret=${clientSecret}`];
        printResult(shell, { json }, made, () => [`client_id=${clientId}`, ...secret].join('\n'));
        const endpoint = `${(settings.publicUrl ?? '<PUBLIC_URL>').replace(/\/+$/, '')}/oauth/token`;
        shell.printError(
          clientSecret === undefined
            ? `Its assertions must have the client_id as iss and sub, and ${endpoint} as aud.`
            : `Keep the secret: it is shown only now. Tokens are asked for at ${endpoint}.`,
        );
      }),
    );
}

function readKeyFile(file: string): Record<string, unknown> {
  const read = readJsonFile(file);
  if ('json' in read) return Object(read.json);
  throw new Refused(`${file}: ${read.problem}.`);
}

/** The members that all credentials have. */
interface Listed {
  id: string;
  name: string;
  createdAt: number;
  lastUsedAt?: number | undefined;
  revokedAt?: number | undefined;
}

const names = { id: ({ id }: Listed) => id, name: ({ name }: Listed) => name };

const times = {
  createdAt: ({ createdAt }: Listed) => toDate(createdAt),
  lastUsedAt: ({ lastUsedAt }: Listed) => toDate(lastUsedAt),
  revokedAt: ({ revokedAt }: Listed) => toDate(revokedAt),
};

function toDate(time: number | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time);
}

/** Adds the command `list` to a group of commands. */
function addListCommand<Row>(
  group: CliCommand,
  read: (operator: Operator) => AsyncIterable<ListPage>,
  columns: CsvColumns<Row>,
): void {
  const command = group
    .command('list')
    .description('list them with their last use, without what is shown only once');
  addListFlags(addLimitOption(command, group.name()))
    .examples(`${group.name()} list`)
    .runs((shell, flags: ListFlags) =>
      withOperations(shell, (operator) =>
        printList(shell, flags, read(operator), { columns, none: 'There are none.' }),
      ),
    );
}

/** Adds the command `revoke` to a group of commands. */
function addRevokeCommand(
  group: CliCommand,
  revoke: (operator: Operator, id: string) => Promise<void>,
): void {
  group
    .command('revoke')
    .description('revoke one at once')
    .argument('<id>', 'its id, as listed')
    .option('--json', 'one JSON object')
    .examples(`${group.name()} revoke 0198f3c2-5a77-7c31-9d0e-3f1b6a2c4d5e`)
    .runs((shell, id: string, flags: JsonFlag) =>
      withOperations(shell, async (operator) => {
        await revoke(operator, id);
        printResult(shell, flags, { id, revoked: true }, () => 'revoked');
      }),
    );
}
