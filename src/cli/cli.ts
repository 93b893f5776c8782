import { Command } from 'commander';
import { type Action, CliCommand, type ExitCode, pointToHelp, readVersion } from './command.ts';
import { exitCodeFor, WrongUse } from './exit-code.ts';
import type { Shell } from './terminal/output.ts';
import { processShell } from './terminal/terminal.ts';

/**
 * Runs one command line and returns the exit code: 0 done, 1 failed or a fault was found, 2 wrong use or a missing confirmation,
 * 130 Ctrl-C. `home` is the program's folder.
 */
export function run(argv: string[], home: string): Promise<number> {
  return runCommand(argv, processShell(home));
}

/** Like `run`, on the streams and the environment of a shell. */
export async function runCommand(argv: string[], shell: Shell): Promise<number> {
  let exit: ExitCode = 0;
  const action: Action =
    (work) =>
    async (...values) => {
      try {
        exit = await work(...values);
      } catch (error) {
        const command = values.at(-1);
        if (error instanceof WrongUse && command instanceof Command) command.error(`error: ${error.message}`);
        throw error;
      }
    };
  try {
    // Commander shows the help of a command that is not defined yet.
    const words = argv[0] === 'help' && argv.length > 1 ? [...argv.slice(1), '--help'] : argv;
    await createProgram(shell, action).parseAsync(words, { from: 'user' });
    return exit;
  } catch (error) {
    return exitCodeFor(error, shell.printError);
  }
}

/**
 * The commands, in the order of the help text, each with its description and its definition. The file of a command is loaded when the
 * command is called: the service, the operations and their schemas take much longer to load than a help text takes to print.
 */
const commands: Record<string, [description: string, load: () => Promise<(command: CliCommand) => void>]> = {
  serve: [
    'serve everything on one port; on SIGTERM, finish running requests and exit',
    async () => (await import('./service/serve.ts')).defineServeCommand,
  ],
  check: [
    'check settings, mappings and credentials, look up every name of a mapping in the travel service, and print the settings and every fault',
    async () => (await import('./service/check.ts')).defineCheckCommand,
  ],
  doctor: [
    'try the database, travel APIs, credentials, tokens and mappings with real people, and say what to do about each fault; works while the server runs',
    async () => (await import('./service/doctor.ts')).defineDoctorCommand,
  ],
  preview: [
    'show how a SCIM user is mapped, rule by rule, or what a mapping would change for all people; nothing is written or sent',
    async () => (await import('./mapping/preview.ts')).definePreviewCommand,
  ],
  mapping: [
    'the mapping in force: show it, change it, restore an earlier one',
    async () => (await import('./mapping/mapping.ts')).defineMappingCommands,
  ],
  people: [
    'the people of all connections',
    async () => (await import('./people/people.ts')).definePeopleCommand,
  ],
  explain: [
    'explain a person: the state and why, findings with remedies, and each field from the IdP to the traveler',
    async () => (await import('./people/explain.ts')).defineExplainCommand,
  ],
  record: [
    "write a connection's SCIM requests as scenario files for replay, with invented people",
    async () => (await import('./traffic/record.ts')).defineRecordCommand,
  ],
  replay: [
    'play recorded exchanges against a running service; exit code 1 on a mismatch',
    async () => (await import('./traffic/replay.ts')).defineReplayCommand,
  ],
  import: [
    'read all travelers now, as the server does at its start and every hour; the server must not be running on the same data',
    async () => (await import('./connections/connections.ts')).defineImportCommand,
  ],
  tokens: [
    'the bearer tokens of identity providers',
    async () => (await import('./connections/credentials.ts')).defineTokenCommands,
  ],
  'api-keys': [
    'the API keys of the embedded travel service',
    async () => (await import('./connections/credentials.ts')).defineKeyCommands,
  ],
  'oauth-clients': [
    'the clients that get tokens at /oauth/token',
    async () => (await import('./connections/credentials.ts')).defineClientCommands,
  ],
  audit: [
    'list the changes that admins, tokens and commands have made, newest first',
    async () => (await import('./audit.ts')).defineAuditCommand,
  ],
  alerts: [
    'what needs attention, which of it alerts tell, and the channels of alerts',
    async () => (await import('./service/alerts.ts')).defineAlertCommands,
  ],
  holds: [
    'changes that wait for the decision of an admin',
    async () => (await import('./people/holds.ts')).defineHoldCommands,
  ],
  connections: [
    'the connections in the database, whether or not the settings have them',
    async () => (await import('./connections/connections.ts')).defineConnectionCommands,
  ],
  shadow: [
    'connections in shadow mode: what they would do, and how they go live',
    async () => (await import('./connections/shadow.ts')).defineShadowCommands,
  ],
  backup: [
    'write the whole database to a file, as it is at one moment; servers go on working',
    async () => (await import('./service/backup.ts')).defineBackupCommand,
  ],
  restore: [
    'fill an empty data folder or database with a backup; no server may be running on it',
    async () => (await import('./service/backup.ts')).defineRestoreCommand,
  ],
  restored: [
    'tell that the database was restored from a backup: the travelers stay as they are until the identity provider states people again',
    async () => (await import('./connections/connections.ts')).defineRestoredCommand,
  ],
  erase: [
    'count what an erasure of a person who has left removes, and erase after a confirmation',
    async () => (await import('./people/erase.ts')).defineEraseCommand,
  ],
  requests: [
    'the requests of identity providers, the calls to travel APIs, and the requests to the embedded one',
    async () => (await import('./traffic/requests.ts')).defineRequestsCommands,
  ],
  openapi: [
    'print the contract of the embedded travel service as OpenAPI 3.1',
    async () => (await import('./service/travel-service.ts')).defineOpenapiCommand,
  ],
  'sample-data': [
    'create a company with people, trips and invoices in the embedded travel service, and print which records to look at first',
    async () => (await import('./service/travel-service.ts')).defineSampleDataCommand,
  ],
  demo: [
    'play a recorded day of Okta and of Entra ID on a throw-away database, print what has become of the people, and serve it until Ctrl-C',
    async () => (await import('./service/demo.ts')).defineDemoCommand,
  ],
};

/** Defines a command of the program: its options, its work, and its subcommands. */
export async function defineCommand(program: Command, command: Command): Promise<void> {
  const [, load] = commands[command.name()] ?? [];
  if (!load || !(command instanceof CliCommand)) return;
  (await load())(command);
  pointToHelp(command, `${program.name()} ${command.name()}`);
}

/** Returns the program with all commands, which are defined when they are called. `action` runs the work of the command that was called. */
export function createProgram(shell: Shell, action: Action): Command {
  const program = new CliCommand('npx jetbridge', shell, action)
    .description('A SCIM 2.0 provisioning bridge for business travel.')
    .version(readVersion(shell.home))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.print(text.trimEnd()),
      writeErr: (text) => shell.printError(text.trimEnd()),
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed or a fault was found, 2 wrong use or a missing confirmation, 130 Ctrl-C',
    )
    .hook('preSubcommand', defineCommand);
  for (const [name, [description]] of Object.entries(commands))
    program.command(name).description(description);
  pointToHelp(program);
  return program;
}
