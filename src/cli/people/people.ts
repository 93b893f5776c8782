import type { Command } from 'commander';
import { identityStates } from '../../provisioning/identity.ts';
import {
  findingCodes,
  type ListedPerson,
  listPeople,
  type PeopleFilter,
} from '../../provisioning/people/people.ts';
import { provisioningStore } from '../../store/provisioning-store.ts';
import { choiceOption, choiceParser, refuseUnknownCommands, wholeNumber } from '../arguments.ts';
import { findConnections, withDatabase } from '../database.ts';
import { examples } from '../help.ts';
import {
  type Action,
  escapeLine,
  formatMinute,
  jsonLine,
  printTable,
  type Shell,
  toIsoTime,
  withIsoTimes,
} from '../output.ts';
import { addJoinCommand } from './join-people.ts';

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

/** Adds the commands `people list`, which is the default, and `people join`. */
export function addPeopleCommand(program: Command, shell: Shell, action: Action): void {
  const people = program.command('people').description('the people of all connections');
  refuseUnknownCommands(people);
  addListCommand(people, shell, action);
  addJoinCommand(people, shell, action);
}

function addListCommand(people: Command, shell: Shell, action: Action): void {
  people
    .command('list', { isDefault: true })
    .description('list people by state, finding or connection, in the order of their userNames')
    .option('--connection <id>', 'only this connection')
    .addOption(choiceOption('--state <state>', 'only people in this state', identityStates))
    .option(
      '--finding <code>',
      'only people with this finding, e.g. drift or emailTaken',
      choiceParser(findingCodes),
    )
    .option('--archived', 'only inactive and deleted people')
    .addOption(
      choiceOption(
        '--format <format>',
        'csv for spreadsheets; json: one JSON object for each person',
        formats,
      ).default('table'),
    )
    .option('--json', 'like --format json')
    .option(
      '--limit <number>',
      `the number of people; default: ${TABLE_ROWS} in a table, else all`,
      wholeNumber(1, 999_999_999),
    )
    .addHelpText(
      'after',
      examples(
        'people list --state pending',
        'people list --finding emailTaken --format csv > people.csv',
        'people list --json',
      ),
    )
    .action(
      action(({ json, ...flags }: PeopleFlags & { json?: true }) =>
        showPeople(shell, json ? { ...flags, format: 'json' } : flags),
      ),
    );
}

/** Prints the matching people. Works while a server runs, and reads page by page. */
export function showPeople(shell: Shell, flags: PeopleFlags): Promise<0 | 1> {
  return withDatabase(shell, async (database) => {
    const connections = findConnections(database, flags.connection);
    const { format = 'table', limit = format === 'table' ? TABLE_ROWS : undefined } = flags;
    const store = provisioningStore(database);
    const printer = printers[format](shell);
    let count = 0;
    for await (const page of listPeople(store.people, connections, flags)) {
      if (shell.isOutputClosed?.()) return;
      const shown = limit === undefined ? page : page.slice(0, limit - count);
      count += shown.length;
      printer.add(shown);
      // One person more than is shown tells that there are others.
      if (shown.length < page.length) {
        printer.end(count);
        shell.printError(`These are the first ${count}; --limit shows more.`);
        return;
      }
    }
    printer.end(count);
    if (count === 0) shell.printError('There are no such people.');
  });
}

/** Prints people in one format. `end` gets the number of printed people. */
interface Printer {
  add(people: ListedPerson[]): void;
  end(count: number): void;
}

const printers: Record<Format, (shell: Shell) => Printer> = {
  table: (shell) => {
    const rows: string[][] = [];
    return {
      add: (people) => rows.push(...people.map(toTableRow)),
      end: (count) => {
        if (count > 0) printTable(shell, tableHead, rows);
        if (count > 0) shell.printError('"npx jetbridge explain PERSON" tells why.');
      },
    };
  },
  csv: (shell) => {
    shell.print(toCsvLine(csvHead));
    return linePrinter(shell, (person) => toCsvLine(toCsvRow(person)));
  },
  json: (shell) => linePrinter(shell, (person) => jsonLine(toJsonObject(person))),
};

function linePrinter(shell: Shell, toLine: (person: ListedPerson) => string): Printer {
  return {
    add: (people) => {
      for (const person of people) shell.print(toLine(person));
    },
    end: () => {},
  };
}

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

function codesOf({ findings }: ListedPerson): string[] {
  return [...new Set(findings.map(({ code }) => code))];
}

const csvHead = [
  ...['connection', 'id', 'userName', 'name', 'state', 'hold', 'travelUserId', 'active', 'deleted'],
  ...['findings', 'lastChange', 'nextAttempt'],
];

function toCsvRow(person: ListedPerson): string[] {
  const { connection, id, userName, name, state, holdCause = '', travelId = '' } = person;
  const { isActive, isDeleted, lastModified, nextAttemptAt } = person;
  return [
    ...[connection, id, userName, name, state, holdCause, travelId, String(isActive), String(isDeleted)],
    codesOf(person).join(' '),
    toIsoTime(lastModified),
    nextAttemptAt === undefined ? '' : toIsoTime(nextAttemptAt),
  ];
}

/**
 * Formats a record of CSV (RFC 4180), without the line feed. Spreadsheets execute cells that begin like a formula; an
 * apostrophe before them makes them texts.
 */
export function toCsvLine(cells: string[]): string {
  return `${cells.map(toCsvCell).join(',')}\r`;
}

function toCsvCell(text: string): string {
  const safe = escapeLine(/^\s*[=+\-@]/.test(text) ? `'${text}` : text);
  return /[",]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function toJsonObject(person: ListedPerson): object {
  return withIsoTimes(person, 'lastModified', 'nextAttemptAt');
}
