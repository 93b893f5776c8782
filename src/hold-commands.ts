import { type Command, Option } from 'commander';
import type { HoldCause } from './bridge/identity.ts';
import { decideHolds, listHolds, showHold } from './commands/holds.ts';
import type { Shell } from './commands/shell.ts';
import type { Action } from './exit.ts';

const causes = ['safetyValve', 'guarded', 'return', 'rules'] satisfies HoldCause[];

/** The commands for what waits for an admin. */
export function addHolds(program: Command, shell: Shell, action: Action): void {
  const holds = program.command('holds').description('what waits for an admin');
  holds
    .command('list')
    .description('how many people wait for each cause, since when, and some of them')
    .addOption(causeOption())
    .option('--connection <id>', 'of this connection only')
    .option('--json', 'one JSON object for each person')
    .action(
      action((options: { cause?: HoldCause; connection?: string; json?: true }) => listHolds(shell, options)),
    );
  holds
    .command('show')
    .description('why a person waits, and what an answer does')
    .argument('<person>', 'the SCIM id or userName')
    .option('--connection <id>', 'of this connection only')
    .action(
      action((person: string, options: { connection?: string }) => showHold(shell, { person, ...options })),
    );
  addDecision(holds, shell, { action, name: 'approve', answer: 'approved', text: 'let what waits happen' });
  addDecision(holds, shell, {
    action,
    name: 'discard',
    answer: 'discarded',
    text: 'leave the travelers as they are',
  });
}

function causeOption(): Option {
  return new Option('--cause <cause>', 'of this cause only').choices(causes);
}

interface DecisionOptions {
  cause?: HoldCause;
  connection?: string;
  all?: true;
  yes?: true;
}

interface DecisionCommand {
  action: Action;
  name: string;
  answer: 'approved' | 'discarded';
  text: string;
}

function addDecision(holds: Command, shell: Shell, { action, name, answer, text }: DecisionCommand): void {
  holds
    .command(name)
    .description(text)
    .argument('[people...]', 'SCIM ids or userNames')
    .addOption(causeOption())
    .option('--connection <id>', 'of this connection only')
    .option('--all', 'everything that waits')
    .option('--yes', 'without a question')
    .action(
      action(async (people: string[], options: DecisionOptions, command: Command) => {
        const { all, ...chosen } = options;
        const ways = [people.length > 0, options.cause !== undefined, all === true].filter(Boolean);
        if (ways.length !== 1)
          return command.error('error: give either people, or --cause <cause>, or --all');
        if (!options.yes && !shell.ask)
          return command.error('error: nobody can be asked here: look with "holds list", then give --yes');
        return decideHolds(shell, { answer, people, ...chosen });
      }),
    );
}
