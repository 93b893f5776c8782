import type { Command, Option } from 'commander';
import { type HoldCause, holdCauses } from '../../provisioning/identity.ts';
import { choiceOption } from '../arguments.ts';
import { WrongUse } from '../exit-code.ts';
import { examples } from '../help.ts';
import type { Action, Shell } from '../output.ts';
import { decideHolds } from './decide-holds.ts';
import { listHolds, showChanges, showHold } from './show-holds.ts';

/** Adds the commands `holds list`, `holds show`, `holds approve` and `holds discard`. */
export function addHoldCommands(program: Command, shell: Shell, action: Action): void {
  const holds = program.command('holds').description('changes that wait for the decision of an admin');
  addListCommand(holds, shell, action);
  holds
    .command('show')
    .description(
      'show why a person waits, or whom a change of rules affects and what has caused it, and what each decision would do',
    )
    .argument('[person]', 'the SCIM id or userName')
    .addOption(choiceOption('--cause <cause>', 'the held changes of rules', ['rules']))
    .option('--connection <id>', 'only this connection')
    .option('--json', 'one JSON object for each person of that name, or each change')
    .addHelpText('after', examples('holds show ada@corp.example', 'holds show --cause rules'))
    .action(
      action(async (person: string | undefined, { cause, ...options }: ShowOptions) => {
        if ((person === undefined) === (cause === undefined))
          throw new WrongUse('give either a person or --cause rules');
        return person === undefined ? showChanges(shell, options) : showHold(shell, { person, ...options });
      }),
    );
  addDecisionCommand(holds, shell, {
    action,
    name: 'approve',
    answer: 'approved',
    text: 'carry out held changes',
  });
  addDecisionCommand(holds, shell, {
    action,
    name: 'discard',
    answer: 'discarded',
    text: 'drop held changes; the travelers stay as they are',
  });
}

function addListCommand(holds: Command, shell: Shell, action: Action): void {
  holds
    .command('list')
    .description('list how many people wait for each cause, since when, with examples')
    .addOption(causeOption())
    .option('--connection <id>', 'only this connection')
    .option('--csv', 'the people as CSV for spreadsheets')
    .option('--json', 'one JSON object for each person')
    .addHelpText(
      'after',
      examples('holds list', 'holds list --cause safetyValve --json', 'holds list --csv > holds.csv'),
    )
    .action(
      action((options: { cause?: HoldCause; connection?: string; csv?: true; json?: true }) =>
        listHolds(shell, options),
      ),
    );
}

interface ShowOptions {
  cause?: 'rules';
  connection?: string;
  json?: true;
}

function causeOption(): Option {
  return choiceOption('--cause <cause>', 'only this cause', holdCauses);
}

interface DecisionOptions {
  cause?: HoldCause;
  connection?: string;
  all?: true;
  yes?: true;
  json?: true;
}

interface DecisionCommand {
  action: Action;
  name: string;
  answer: 'approved' | 'discarded';
  text: string;
}

function addDecisionCommand(
  holds: Command,
  shell: Shell,
  { action, name, answer, text }: DecisionCommand,
): void {
  holds
    .command(name)
    .description(text)
    .argument('[people...]', 'SCIM ids or userNames')
    .addOption(causeOption())
    .option('--connection <id>', 'only this connection')
    .option('--all', 'everything that is held')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'one JSON object')
    .addHelpText(
      'after',
      examples(
        `holds ${name} ada@corp.example`,
        `holds ${name} --cause safetyValve --connection default`,
        `holds ${name} --all --yes`,
      ),
    )
    .action(
      action(async (people: string[], options: DecisionOptions) => {
        const { all, ...chosen } = options;
        const ways = [people.length > 0, options.cause !== undefined, all === true].filter(Boolean);
        if (ways.length !== 1) throw new WrongUse('give either people, or --cause <cause>, or --all');
        if (!options.yes && !shell.ask)
          throw new WrongUse('nobody can be asked here: look with "holds list", then give --yes');
        return decideHolds(shell, { answer, people, ...chosen });
      }),
    );
}
