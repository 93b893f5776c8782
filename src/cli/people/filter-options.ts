import { identityStates } from '../../provisioning/identity.ts';
import { findingCodes, type PeopleFilter } from '../../provisioning/people/people.ts';
import { choiceOption, choiceParser } from '../arguments.ts';
import type { CliCommand } from '../command.ts';

/** The flags that select people by state, finding and text. */
export type FilterFlags = Pick<PeopleFilter, 'state' | 'finding' | 'field' | 'value' | 'search'>;

/** Adds the options that select people by state, finding and text. */
export function addFilterOptions(command: CliCommand): CliCommand {
  return addFindingOption(
    command.addOption(choiceOption('--state <state>', 'only people in this state', identityStates)),
  )
    .option(
      '--search <text>',
      'only people with this text in a name, address, employee number, id or value of a finding',
    )
    .option('--field <field>', 'only people with a finding about this field, e.g. costCenterId')
    .option('--value <value>', 'only people with a finding of this value, as people findings prints it');
}

/** Adds the option that selects people by the code of a finding. */
export function addFindingOption(command: CliCommand): CliCommand {
  return command.option(
    '--finding <code>',
    'only people with this finding, e.g. drift or emailTaken',
    choiceParser(findingCodes),
  );
}
