import type { Option } from 'commander';
import { type HoldCause, holdCauses } from '../../provisioning/identity.ts';
import { choiceOption } from '../arguments.ts';
import type { CliCommand } from '../command.ts';
import { WrongUse } from '../exit-code.ts';
import { decideHolds } from './decide-holds.ts';
import { listHolds, showChanges, showHold } from './show-holds.ts';

/** Adds the commands `holds list`, `holds show`, `holds approve` and `holds discard`. */
export function addHoldCommands(program: CliCommand): void {
  const holds = program.command('holds').description('changes that wait for the decision of an admin');
  addListCommand(holds);
  holds
    .command('show')
    .description(
      'show why a person waits, or whom a change of rules affects and what has caused it, and what each decision would do',
    )
    .argument('[person]', 'the SCIM id or userName')
    .addOption(choiceOption('--cause <cause>', 'the held changes of rules', ['rules']))
    .option('--connection <id>', 'only this connection')
    .option('--json', 'one JSON object for each person of that name, or each change')
    .examples('holds show ada@corp.example', 'holds show --cause rules')
    .runs(async (shell, person: string | undefined, { cause, ...options }: ShowOptions) => {
      if ((person === undefined) === (cause === undefined))
        throw new WrongUse('give either a person or --cause rules');
      return person === undefined ? showChanges(shell, options) : showHold(shell, { person, ...options });
    });
  addDecisionCommand(holds, { name: 'approve', answer: 'approved', text: 'carry out held changes' });
  addDecisionCommand(holds, {
    ...{ name: 'discard', answer: 'discarded' },
    text: 'drop held changes; the travelers stay as they are',
  });
}

function addListCommand(holds: CliCommand): void {
  holds
    .command('list')
    .description('list how many people wait for each cause, since when, with examples')
    .addOption(causeOption())
    .option('--connection <id>', 'only this connection')
    .option('--csv', 'the people as CSV for spreadsheets')
    .option('--json', 'one JSON object for each person')
    .examples('holds list', 'holds list --cause safetyValve --json', 'holds list --csv > holds.csv')
    .runs(listHolds);
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
  name: string;
  answer: 'approved' | 'discarded';
  text: string;
}

function addDecisionCommand(holds: CliCommand, { name, answer, text }: DecisionCommand): void {
  holds
    .command(name)
    .description(text)
    .argument('[people...]', 'SCIM ids or userNames')
    .addOption(causeOption())
    .option('--connection <id>', 'only this connection')
    .option('--all', 'everything that is held')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'one JSON object')
    .examples(
      `holds ${name} ada@corp.example`,
      `holds ${name} --cause safetyValve --connection default`,
      `holds ${name} --all --yes`,
    )
    .runs(async (shell, people: string[], options: DecisionOptions) => {
      const { all, ...chosen } = options;
      const ways = [people.length > 0, options.cause !== undefined, all === true].filter(Boolean);
      if (ways.length !== 1) throw new WrongUse('give either people, or --cause <cause>, or --all');
      if (!options.yes && !shell.ask)
        throw new WrongUse('nobody can be asked here: look with "holds list", then give --yes');
      return decideHolds(shell, { answer, people, ...chosen });
    });
}
