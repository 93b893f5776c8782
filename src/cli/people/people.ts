import { readConditions } from '../../checks/conditions.ts';
import type { Settings } from '../../config/settings.ts';
import { describeState } from '../../provisioning/conditions/describe-state.ts';
import {
  codesOf,
  type ListedPerson,
  listPeople,
  type PeopleFilter,
  peopleColumns,
} from '../../provisioning/people/people.ts';
import type { Database } from '../../store/sql/database.ts';
import { choiceOption, refuseUnknownCommands, wholeNumber } from '../arguments.ts';
import type { CliCommand } from '../command.ts';
import { databaseTime, findConnections, withDatabase } from '../database.ts';
import { formatMinute, printCsv, printJson, printTable, type Shell, withIsoTimes } from '../output.ts';
import { addFilterOptions } from './filter-options.ts';
import { addFindingValuesCommand } from './finding-values.ts';
import { addJoinCommand } from './join-people.ts';
import { addReconcileCommand } from './reconcile-people.ts';

const formats = ['table', 'csv', 'json'] as const;
type Format = (typeof formats)[number];

/** The rows of a table without `--limit`. The other formats have all people. */
const TABLE_ROWS = 100;

/** The flags of `people`. */
export interface PeopleFlags extends PeopleFilter {
  connection?: string;
  format?: Format;
  limit?: number;
}

/** Adds the commands `people list`, which is the default, `people findings`, `people reconcile` and `people join`. */
export function addPeopleCommand(program: CliCommand): void {
  const people = program.command('people').description('the people of all connections');
  refuseUnknownCommands(people);
  addListCommand(people);
  addFindingValuesCommand(people);
  addReconcileCommand(people);
  addJoinCommand(people);
}

function addListCommand(people: CliCommand): void {
  const command = people
    .command('list', { isDefault: true })
    .description('list people by state, finding, text or connection, in the order of their userNames')
    .option('--connection <id>', 'only this connection');
  addFilterOptions(command)
    .option('--archived', 'only inactive and deleted people')
    .addOption(
      choiceOption(
        '--format <format>',
        'csv for spreadsheets; json: one JSON object for each person',
        formats,
      ).default('table'),
    )
    .option('--csv', 'like --format csv')
    .option('--json', 'like --format json')
    .option(
      '--limit <number>',
      `the number of people; default: ${TABLE_ROWS} in a table, else all`,
      wholeNumber(1, 999_999_999),
    )
    .examples(
      'people list --state pending',
      'people list --search hopper',
      'people list --finding emailTaken --csv > people.csv',
    )
    .runs((shell, { csv, json, ...flags }: PeopleFlags & { csv?: true; json?: true }) =>
      showPeople(shell, { ...flags, ...(csv && { format: 'csv' }), ...(json && { format: 'json' }) }),
    );
}

/** Prints the matching people. Works while a server runs, and reads page by page. */
export function showPeople(shell: Shell, flags: PeopleFlags): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, settings, store }) => {
    const connections = findConnections(database, flags.connection);
    const { format = 'table', limit = format === 'table' ? TABLE_ROWS : undefined } = flags;
    if (format === 'table') shell.printError(await readStateSentence(database, settings));
    let count = 0;
    let isCut = false;
    async function* selectPeople() {
      for await (const page of listPeople(store.people, connections, flags)) {
        if (shell.isOutputClosed?.()) return;
        const shown = limit === undefined ? page : page.slice(0, limit - count);
        count += shown.length;
        yield shown;
        // One person more than is shown tells that there are others.
        isCut = shown.length < page.length;
        if (isCut) return;
      }
    }
    await printers[format](shell, selectPeople());
    if (isCut) shell.printError(`These are the first ${count}; --limit shows more.`);
    if (count === 0) shell.printError('There are no such people.');
  });
}

/** The first sentence of the page's Overview. */
async function readStateSentence(database: Database, settings: Settings): Promise<string> {
  const { conditions, facts } = await readConditions(settings, database, await databaseTime(database));
  return describeState({ ...facts, conditions }).sentence;
}

/** Prints people in one format. */
type Printer = (shell: Shell, pages: AsyncIterable<ListedPerson[]>) => Promise<void>;

const printers: Record<Format, Printer> = {
  table: async (shell, pages) => {
    const rows: string[][] = [];
    for await (const people of pages) rows.push(...people.map(toTableRow));
    if (rows.length === 0) return;
    printTable(shell, tableHead, rows);
    shell.printError('"npx jetbridge explain PERSON" tells why.');
  },
  csv: (shell, pages) => printCsv(shell, peopleColumns, pages),
  json: async (shell, pages) => {
    for await (const people of pages) printJson(shell, ...people.map(toJsonObject));
  },
};

const tableHead = ['userName', 'name', 'state', 'traveler', 'findings', 'last change (UTC)', 'connection'];

function toTableRow(person: ListedPerson): string[] {
  const { userName, name, lastModified, connection } = person;
  const findings = codesOf(person).join(', ') || '-';
  const traveler = travelerText(person);
  return [
    userName,
    name || '-',
    stateText(person),
    traveler,
    findings,
    formatMinute(lastModified),
    connection,
  ];
}

function stateText({ state, holdCause }: ListedPerson): string {
  return holdCause === undefined ? state : `${state} (${holdCause})`;
}

/** Says whether there is a traveler, and what the IdP has done with the user. */
function travelerText({ travelId, isActive, isDeleted }: ListedPerson): string {
  const user = isDeleted ? 'deleted' : isActive ? '' : 'inactive';
  const traveler = travelId === undefined ? 'none' : 'yes';
  return user === '' ? traveler : `${traveler}, ${user}`;
}

function toJsonObject(person: ListedPerson): object {
  return withIsoTimes(person, 'lastModified', 'nextAttemptAt');
}
