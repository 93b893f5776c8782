import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { addCheckCommand } from './check.ts';
import { addConnectionCommands, addImportCommand } from './connections.ts';
import { addCredentialCommands } from './credentials.ts';
import { addDoctorCommand } from './doctor.ts';
import { addEraseCommand } from './erase.ts';
import { exitCodeFor } from './exit-code.ts';
import { addExplainCommand } from './explain.ts';
import { addHoldCommands } from './holds.ts';
import { addMappingCommands } from './mapping.ts';
import { type Action, type ExitCode, escapeControls, type Shell } from './output.ts';
import { addPeopleCommand } from './people.ts';
import { addPreviewCommand } from './preview.ts';
import { addReplayCommand } from './replay.ts';
import { addDemoCommand, addServeCommand } from './serve.ts';
import { addOpenapiCommand, addRequestsCommand, addSampleDataCommand } from './travel-service.ts';

/** Runs one command line and returns the exit code: 0 done, 1 a fault was found, 2 wrong use. `home` is the program's folder. */
export async function run(argv: string[], home: string): Promise<number> {
  let isOutputClosed = false;
  process.stderr.on('error', ignoreClosedPipe);
  process.stdout.on('error', (error) => {
    ignoreClosedPipe(error);
    isOutputClosed = true;
  });
  const shell: Shell = {
    environment: process.env,
    home,
    isTerminal: process.stderr.isTTY === true,
    ...(process.stdin.isTTY && process.stderr.isTTY ? { ask } : {}),
    ...(process.stdout.isTTY ? { columns: process.stdout.columns } : {}),
    isOutputClosed: () => isOutputClosed,
    print: (text) => process.stdout.write(escapeControls(`${text}\n`)),
    printError: (text) => process.stderr.write(`${escapeControls(text)}\n`),
  };
  let exit: ExitCode = 0;
  const program = createProgram(shell, (code) => {
    exit = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exit;
  } catch (error) {
    return exitCodeFor(error, shell.printError);
  }
}

/** A reader such as `head` may end before the command does. The command's further output is discarded. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // If the input ends, the answer is empty.
    const end = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    return await Promise.race([terminal.question(escapeControls(question)), end]);
  } finally {
    terminal.close();
  }
}

/** Adds all commands, in the order of the help text. Each file of this folder has a function that adds its commands. */
const additions: ((program: Command, shell: Shell, action: Action) => void)[] = [
  addServeCommand,
  addCheckCommand,
  addDoctorCommand,
  addPreviewCommand,
  addMappingCommands,
  addPeopleCommand,
  addExplainCommand,
  addReplayCommand,
  addImportCommand,
  addCredentialCommands,
  addHoldCommands,
  addConnectionCommands,
  addEraseCommand,
  addRequestsCommand,
  addOpenapiCommand,
  addSampleDataCommand,
  addDemoCommand,
];

function createProgram(shell: Shell, onExit: (exit: ExitCode) => void): Command {
  const program = new Command('npx jetbridge')
    .description('A SCIM 2.0 provisioning bridge for business travel.')
    .version(readVersion(shell.home))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.print(text.trimEnd()),
      writeErr: (text) => shell.printError(text.trimEnd()),
    });
  const action =
    <A extends unknown[]>(work: (...values: A) => Promise<ExitCode>) =>
    async (...values: A) =>
      onExit(await work(...values));
  for (const add of additions) add(program, shell, action);
  return program;
}

function readVersion(home: string): string {
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  return version;
}
