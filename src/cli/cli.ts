import { Command } from 'commander';
import { addAuditCommand } from './audit.ts';
import { type Action, CliCommand, type ExitCode, pointToHelp, readVersion } from './command.ts';
import { addConnectionCommands, addImportCommand, addRestoredCommand } from './connections/connections.ts';
import { addCredentialCommands } from './connections/credentials.ts';
import { addShadowCommands } from './connections/shadow.ts';
import { exitCodeFor, WrongUse } from './exit-code.ts';
import { addMappingCommands } from './mapping/mapping.ts';
import { addPreviewCommand } from './mapping/preview.ts';
import { addEraseCommand } from './people/erase.ts';
import { addExplainCommand } from './people/explain.ts';
import { addHoldCommands } from './people/holds.ts';
import { addPeopleCommand } from './people/people.ts';
import { addAlertCommands } from './service/alerts.ts';
import { addBackupCommand, addRestoreCommand } from './service/backup.ts';
import { addCheckCommand } from './service/check.ts';
import { addDemoCommand } from './service/demo.ts';
import { addDoctorCommand } from './service/doctor.ts';
import { addServeCommand } from './service/serve.ts';
import { addOpenapiCommand, addSampleDataCommand } from './service/travel-service.ts';
import type { Shell } from './terminal/output.ts';
import { processShell } from './terminal/terminal.ts';
import { addRecordCommand } from './traffic/record.ts';
import { addReplayCommand } from './traffic/replay.ts';
import { addRequestsCommands } from './traffic/requests.ts';

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
    await createProgram(shell, action).parseAsync(argv, { from: 'user' });
    return exit;
  } catch (error) {
    return exitCodeFor(error, shell.printError);
  }
}

/**
 * Adds all commands, in the order of the help text. Each file of this folder has a function that adds its commands. The service and the
 * checks are imported by the commands that run them, when they run: other commands start faster without them.
 */
const additions: ((program: CliCommand) => void)[] = [
  addServeCommand,
  addCheckCommand,
  addDoctorCommand,
  addPreviewCommand,
  addMappingCommands,
  addPeopleCommand,
  addExplainCommand,
  addRecordCommand,
  addReplayCommand,
  addImportCommand,
  addCredentialCommands,
  addAuditCommand,
  addAlertCommands,
  addHoldCommands,
  addConnectionCommands,
  addShadowCommands,
  addBackupCommand,
  addRestoreCommand,
  addRestoredCommand,
  addEraseCommand,
  addRequestsCommands,
  addOpenapiCommand,
  addSampleDataCommand,
  addDemoCommand,
];

/** Returns the program with all commands. `action` runs the work of the command that was called. */
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
    );
  for (const add of additions) add(program);
  pointToHelp(program);
  return program;
}
