import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { check } from './check.ts';
import { forgetConnection, type ImportFlags, importTravelers, listConnections } from './connections.ts';
import { addCredentialCommands } from './credentials.ts';
import { eraseUser } from './erase.ts';
import { addHoldCommands } from './holds.ts';
import {
  type Action,
  type ExitCode,
  escapeControls,
  exitCodeFor,
  parseBaseUrl,
  parseCount,
  parseStatusRange,
  parseTime,
  parseVariable,
  type Shell,
} from './output.ts';
import { preview, previewPeople } from './preview.ts';
import { replayRecorded } from './replay.ts';
import { demo, serve } from './serve.ts';
import { addSampleDataCommand, printOpenapi, type RequestFlags, showRequests } from './travel-service.ts';

/** Runs one command line and answers the exit code: 0 done, 1 found a fault, 2 wrong use. */
export async function run(argv: string[], home: string): Promise<number> {
  const shell: Shell = {
    environment: process.env,
    home,
    isTerminal: process.stderr.isTTY === true,
    ...(process.stdin.isTTY && process.stderr.isTTY ? { ask } : {}),
    print: (text) => process.stdout.write(`${escapeControls(text)}\n`),
    printError: (text) => process.stderr.write(`${escapeControls(text)}\n`),
  };
  let exit: ExitCode = 0;
  const program = commands(shell, (code) => {
    exit = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exit;
  } catch (error) {
    return exitCodeFor(error, shell.printError);
  }
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // The end of the input is an answer, too.
    const end = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    return await Promise.race([terminal.question(escapeControls(question)), end]);
  } finally {
    terminal.close();
  }
}

function commands(shell: Shell, done: (exit: ExitCode) => void): Command {
  const program = new Command('jetbridge')
    .description('A SCIM 2.0 provisioning bridge for business travel.')
    .version(versionOf(shell.home))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.print(text.trimEnd()),
      writeErr: (text) => shell.printError(text.trimEnd()),
    });
  const action =
    <A extends unknown[]>(work: (...values: A) => Promise<ExitCode>) =>
    async (...values: A) =>
      done(await work(...values));
  program
    .command('serve')
    .description('serve everything on one port')
    .action(action(() => serve(shell)));
  program
    .command('check')
    .description('check the settings and mapping files, and tell every fault with its place')
    .action(action(() => check(shell)));
  addPreview(program, shell, action);
  addReplay(program, shell, action);
  addImport(program, shell, action);
  addCredentialCommands(program, shell, action);
  addHoldCommands(program, shell, action);
  addConnections(program, shell, action);
  addErase(program, shell, action);
  addRequests(program, shell, action);
  program
    .command('openapi')
    .description('print the contract of the embedded travel service as OpenAPI 3.1')
    .action(action(() => printOpenapi(shell)));
  addSampleDataCommand(program, shell, action);
  program
    .command('demo')
    .description('play a recorded day of Okta and of Entra ID on a throw-away database')
    .action(action(() => demo(shell)));
  return program;
}

function addImport(program: Command, shell: Shell, action: Action): void {
  program
    .command('import')
    .description(
      'read all travelers now, for every connection; the server must not be running on the same data',
    )
    .option('--accept-missing', 'take travelers that are missing for gone, however many they are')
    .action(action((options: ImportFlags) => importTravelers(shell, options)));
}

interface PreviewOptions {
  input?: string;
  people?: true;
  mapping?: string;
  connection?: string;
  limit?: number;
}

function addPreview(program: Command, shell: Shell, action: Action): void {
  program
    .command('preview')
    .description('show what a SCIM user becomes, rule by rule, or what a mapping would change for everybody')
    .option('--input <file>', 'a SCIM user as JSON')
    .option('--people', 'the people who are kept')
    .option('--mapping <file>', "a mapping file; default: the connection's own")
    .option('--connection <id>', 'whose people; default: default')
    .option('--limit <number>', 'how many people to show as examples; default: 10', parseCount)
    .action(
      action(async (options: PreviewOptions, command: Command) => {
        const { input, people, mapping, connection, limit } = options;
        if (people && input === undefined)
          return previewPeople(shell, { connection: connection ?? 'default', mapping, limit: limit ?? 10 });
        if (people || input === undefined)
          return command.error('error: give either --input <file> or --people');
        if (connection !== undefined || limit !== undefined)
          return command.error('error: --connection and --limit go with --people');
        return preview(shell, mapping === undefined ? { input } : { input, mapping });
      }),
    );
}

function addReplay(program: Command, shell: Shell, action: Action): void {
  program
    .command('replay')
    .description('play recorded exchanges against a running service; exit 1 on a mismatch')
    .argument('<path>', 'a scenario file, or a folder of them')
    .requiredOption('--url <url>', 'the SCIM base URL, e.g. http://127.0.0.1:8080/scim/v2', parseBaseUrl)
    .requiredOption('--token <token>', 'a bearer token of it')
    .option('--variable <name=value>', 'a variable of the scenarios; may be given again', parseVariable, {})
    .action(
      action((path: string, options: { url: string; token: string; variable: Record<string, string> }) =>
        replayRecorded(shell, path, options),
      ),
    );
}

function addConnections(program: Command, shell: Shell, action: Action): void {
  const connections = program
    .command('connections')
    .description('the connections in the database, be they in the settings or not');
  connections
    .command('list')
    .description('list them, with how many people and travelers each has')
    .action(action(() => listConnections(shell)));
  connections
    .command('forget')
    .description('remove a connection that is not in the settings any more; its travelers are free then')
    .argument('<name>', 'its name, as listed')
    .option('--yes', 'do not ask')
    .action(
      action(async (name: string, { yes = false }: { yes?: boolean }, command: Command) => {
        const end = await forgetConnection(shell, { name, yes });
        return end === 'unconfirmed' ? command.error('error: give --yes where nobody can be asked') : end;
      }),
    );
}

function addErase(program: Command, shell: Shell, action: Action): void {
  program
    .command('erase')
    .description('show what it takes to erase a person who has left, and with --yes do it')
    .argument('<user>', 'the userName, email address, SCIM id or travel id')
    .option('--connection <id>', 'the person of this connection, where several have that name')
    .option('--yes', 'erase; it cannot be undone')
    .action(
      action(async (user: string, options: { connection?: string; yes?: true }, command: Command) => {
        const end = await eraseUser(shell, { user, ...options });
        return end === 'unconfirmed' ? command.error('error: nothing was changed: give --yes to erase') : end;
      }),
    );
}

function addRequests(program: Command, shell: Shell, action: Action): void {
  program
    .command('requests')
    .description('what was asked of the embedded travel service, newest first')
    .option('--since <time>', 'e.g. 15m, 2h, 7d, or 2026-11-20T08:00:00Z', parseTime)
    .option('--status <status>', 'e.g. 404, or 4xx for all of them', parseStatusRange)
    .option('--path <path>', 'that path and what lies below it, e.g. /api/users')
    .option('--user <email>', 'on whose behalf; an address or an id')
    .option('--limit <number>', 'how many', parseCount, 50)
    .option('--json', 'one JSON object for each, bodies included')
    .action(action((options: RequestFlags) => showRequests(shell, options)));
}

function versionOf(home: string): string {
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  return version;
}
