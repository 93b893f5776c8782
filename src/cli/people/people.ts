import type { z } from 'zod';
import { type Identity, isInactive } from '../../model/identity.ts';
import type { ListedPerson } from '../../model/people.ts';
import { duplicateColumns, duplicateOperations } from '../../operations/people/duplicates.ts';
import { peopleOperations } from '../../operations/people/people.ts';
import { personOperations } from '../../operations/people/person.ts';
import { describeState } from '../../provisioning/conditions/describe-state.ts';
import { findingValueColumns } from '../../provisioning/people/finding-values.ts';
import { findPredecessor } from '../../provisioning/people/join-people.ts';
import { findingCodes, peopleColumns } from '../../provisioning/people/people.ts';
import { statusOfListed, statusWord } from '../../provisioning/people/person-texts.ts';
import type { CliCommand } from '../command.ts';
import { Refused, WrongUse } from '../exit-code.ts';
import { downloadPages, listPages, type Operator, withOperations } from '../operations.ts';
import { choiceParser, refuseUnknownCommands } from '../terminal/arguments.ts';
import { addChangeFlags, type ChangeFlags, confirmChange } from '../terminal/confirmation.ts';
import { addInputOptions } from '../terminal/input-options.ts';
import { countText, escapeLine, type Shell } from '../terminal/output.ts';
import {
  addLimitOption,
  addListFlags,
  type ListFlags,
  printList,
  printResult,
  rowLimit,
} from '../terminal/printers.ts';
import { findPerson } from './find-person.ts';

/** The options that select people, as the operations have them. */
const filterOptions = {
  state: {},
  finding: { flags: '--finding <code>', parse: choiceParser(findingCodes) },
  search: { flags: '--search <text>' },
  field: {},
  value: {},
};
const { query: listQuery } = peopleOperations.listPeople;
const { query: findingQuery } = peopleOperations.downloadFindingValues;
const { body: filters } = peopleOperations.reconcilePeople;

/** Defines the commands `people list`, which is the default, `people unsent`, `people duplicates`, `people findings`, `people update`, `people send-again` and `people join`. */
export function definePeopleCommand(people: CliCommand): void {
  refuseUnknownCommands(people);
  addListCommand(people);
  addReportCommands(people);
  addFindingsCommand(people);
  addUpdateCommand(people);
  addSendAgainCommand(people);
  addJoinCommand(people);
}

function addListCommand(people: CliCommand): void {
  const command = people
    .command('list', { isDefault: true })
    .description('list people by state, finding, text or connection, in the order of their userNames')
    .option('--connection <id>', 'only this connection');
  const options = { ...filterOptions, archived: {}, sort: {} };
  addListFlags(addLimitOption(addInputOptions(command, listQuery, options), 'people'))
    .examples(
      'people list --state pending',
      'people list --search hopper',
      'people list --finding emailTaken --csv > people.csv',
    )
    .runs((shell, { csv, json, limit, ...input }: ListFlags & z.input<typeof listQuery>) =>
      withOperations(shell, async (operator) => {
        const flags = { csv, json, limit };
        if (!csv && !json) shell.printError(await stateSentence(operator));
        const list = [peopleOperations, 'listPeople', 'people'] as const;
        await printList(shell, flags, listPages(operator, list, input, rowLimit(flags) + 1), {
          columns: csv ? peopleColumns : { ...peopleColumns, state: stateWord },
          table: ['userName', 'name', 'state', 'hold', 'active', 'findings', 'lastChange', 'connection'],
          none: 'There are no such people.',
          hint: '"npx jetbridge explain PERSON" tells why.',
        });
      }),
    );
}

function addReportCommands(people: CliCommand): void {
  const unsent = people
    .command('unsent')
    .description('list the travelers that no user of any connection has, the longest unchanged first');
  addListFlags(addLimitOption(unsent, 'travelers'))
    .examples('people unsent', 'people unsent --csv > unsent.csv')
    .runs((shell, flags: ListFlags) =>
      withOperations(shell, (operator) => {
        const list = [peopleOperations, 'listPeople', 'people'] as const;
        const input = { state: 'unmanaged', sort: 'unchanged' } as const;
        return printList(shell, flags, listPages(operator, list, input, rowLimit(flags) + 1), {
          columns: peopleColumns,
          table: ['userName', 'name', 'active', 'lastChange', 'travelUserId', 'connection'],
          none: 'Every traveler has a user.',
        });
      }),
    );
  const duplicates = people
    .command('duplicates')
    .description('list pairs of people who share an address, an employee number, or names and department');
  addListFlags(addLimitOption(duplicates, 'pairs'))
    .examples('people duplicates', 'people duplicates --csv > duplicates.csv')
    .runs((shell, flags: ListFlags) =>
      withOperations(shell, (operator) => {
        const list = [duplicateOperations, 'listDuplicates', 'pairs'] as const;
        return printList(shell, flags, listPages(operator, list, {}, rowLimit(flags) + 1), {
          columns: duplicateColumns,
          table: ['shared', 'value', 'userName', 'otherUserName', 'join'],
          none: 'No two people share an address, an employee number, or names and department.',
        });
      }),
    );
}

function stateWord(person: ListedPerson): string {
  return statusWord(statusOfListed(person), person.state);
}

/** The first sentence of the page's Overview. */
async function stateSentence({ deps }: Operator): Promise<string> {
  const { conditions, facts } = await deps.conditions.read([]);
  return describeState({ ...facts, conditions }).sentence;
}

function addFindingsCommand(people: CliCommand): void {
  const command = people
    .command('findings')
    .description('count people by the values of their findings, e.g. 50 people with an unknown cost center')
    .option('--connection <id>', 'only this connection');
  const options = { finding: filterOptions.finding };
  addListFlags(addLimitOption(addInputOptions(command, findingQuery, options), 'values'))
    .examples('people findings --finding costCenterUnknown', 'people findings --csv > findings.csv')
    .runs((shell, { csv, json, limit, ...input }: ListFlags & z.input<typeof findingQuery>) =>
      withOperations(shell, async (operator) => {
        const file = [peopleOperations, 'downloadFindingValues'] as const;
        await printList(shell, { csv, json, limit }, downloadPages(operator, file, input), {
          columns: findingValueColumns,
          table: ['people', 'finding', 'field', 'value', 'exampleUserName', 'connection'],
          none: 'Nobody has such a finding.',
          hint: '"npx jetbridge people --finding FINDING --field FIELD --value VALUE" lists the people.',
        });
      }),
    );
}

function addUpdateCommand(people: CliCommand): void {
  const command = people
    .command('update')
    .description('bring the travelers of people up to date now; a running server does the rest')
    .requiredOption('--connection <id>', 'the connection of the people');
  addChangeFlags(addInputOptions(command, filters, filterOptions))
    .examples(
      'people update --connection default --state refused',
      'people update --connection default --finding costCenterUnknown --value CC-999 --yes',
    )
    .runs((shell, { yes, json, ...input }: ChangeFlags & z.input<typeof filters>) =>
      withOperations(shell, async ({ call }) => {
        const counted = await call(peopleOperations, 'countSelectedPeople', input);
        if (counted.people === 0) throw new Refused('There are no such people.');
        const count = `${counted.isMore ? 'more than ' : ''}${countText(counted.people, 'person', 'people')}`;
        await confirmChange(shell, `Bring ${count} of connection ${input.connection} up to date?`, { yes });
        const result = await call(peopleOperations, 'reconcilePeople', input);
        printResult(shell, { json }, result, () => dueText(result));
      }),
    );
}

function addSendAgainCommand(people: CliCommand): void {
  const command = people
    .command('send-again')
    .description(
      'after a restored backup, send the stored values of a person, or of everybody in a connection, where the travelers have others',
    )
    .argument('[person]', 'SCIM id, userName, email address or travel user id')
    .option('--connection <id>', 'the connection of the person, or of everybody');
  addChangeFlags(command)
    .examples('people send-again ada@corp.example', 'people send-again --connection default')
    .runs((shell, name: string | undefined, flags: ChangeFlags & { connection?: string }) =>
      withOperations(shell, (operator) => sendAgain(shell, operator, { name, ...flags })),
    );
}

async function sendAgain(
  shell: Shell,
  { call, deps }: Operator,
  { name, connection, ...flags }: ChangeFlags & { name: string | undefined; connection?: string },
): Promise<void> {
  const found = name === undefined ? undefined : await findPerson(deps, name, connection);
  const of = found?.connection ?? connection;
  if (of === undefined) throw new WrongUse('name a person, or give --connection');
  const who = found ? nameOf(found.identity) : `everybody in ${escapeLine(of)} who differs from the backup`;
  await confirmChange(shell, `Send the stored values of ${who}?`, flags);
  const result = await call(personOperations, 'sendAgain', { id: of, person: found?.id });
  printResult(shell, flags, result, () => dueText(result));
}

function dueText({ people }: { people: number }): string {
  return `${countText(people, 'person is', 'people are')} due now`;
}

function addJoinCommand(people: CliCommand): void {
  const join = people
    .command('join')
    .description(
      'give a user the traveler of a leaver, or one whom no identity provider has sent, because both are one person; a running server does the rest',
    )
    .argument('<leaver>', 'the inactive or deleted user: SCIM id, userName, email address or travel user id')
    .argument('<newcomer>', 'the active user of the same travel account, named in the same way');
  addChangeFlags(join)
    .examples('people join 2f1c… 9be0…')
    .runs((shell, leaver: string, newcomer: string, flags: ChangeFlags) =>
      withOperations(shell, (operator) => joinPeople(shell, operator, { leaver, newcomer, flags })),
    );
}

/** Joins two people after the admin has confirmed it. */
async function joinPeople(
  shell: Shell,
  { call, deps }: Operator,
  { flags, ...names }: { leaver: string; newcomer: string; flags: ChangeFlags },
): Promise<void> {
  const isActive = (identity: Identity) => identity.claimed && !isInactive(identity);
  const { connection, id, identity } = await findPerson(deps, names.newcomer, undefined, isActive);
  const known = await findPredecessor(deps.store, identity);
  const isArchived = known !== undefined && !('id' in known) && known.travelId === names.leaver;
  const isLeaver = (one: Identity) => isInactive(one) || !one.claimed;
  const leaver = isArchived ? undefined : await findPerson(deps, names.leaver, undefined, isLeaver);
  const traveler = leaver
    ? `the traveler of ${nameOf(leaver.identity)}`
    : `the archived traveler ${escapeLine(names.leaver)}`;
  const own = identity.travelId === undefined ? '' : '; the own traveler is archived';
  const text = `${nameOf(identity)} gets ${traveler}${own}`;
  await confirmChange(shell, `${text}. Go on?`, flags);
  const chosen = leaver && { connection: leaver.connection, id: leaver.id };
  await call(personOperations, 'joinPerson', { connection, id, leaver: chosen });
  printResult(shell, flags, { joined: { connection, id } }, () => `joined: ${text}`);
}

function nameOf({ desired, deletedAt }: Identity): string {
  return `${escapeLine(String(desired.userName))}${deletedAt === undefined ? '' : ' (deleted)'}`;
}
