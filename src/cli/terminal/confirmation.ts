import type { CliCommand } from '../command.ts';
import { confirm, type Shell } from './output.ts';

/** The flags of commands that change something after a confirmation. */
export interface ChangeFlags {
  yes?: true | undefined;
  json?: true | undefined;
}

/** Adds the flags of a command that changes something. */
export function addChangeFlags(command: CliCommand): CliCommand {
  return command.option('--yes', 'do not ask for confirmation').option('--json', 'one JSON object');
}

/** Asks before a change. Throws unless it is confirmed. */
export function confirmChange(shell: Shell, question: string, { yes }: ChangeFlags): Promise<void> {
  return confirm(shell, question, {
    yes,
    declined: 'Nothing was changed.',
    unasked: 'give --yes where nobody can be asked',
  });
}
