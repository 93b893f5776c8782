import {
  countFindingValues,
  type FindingValue,
  findingValueColumns,
} from '../../provisioning/people/finding-values.ts';
import { listPeople } from '../../provisioning/people/people.ts';
import type { CliCommand } from '../command.ts';
import { findConnections, withDatabase } from '../database.ts';
import { printCsv, printJson, printTable, type Shell } from '../output.ts';
import { addFindingOption } from './filter-options.ts';

/** The rows of a table. The other formats have all values. */
const TABLE_ROWS = 100;

interface FindingValueFlags {
  connection?: string;
  finding?: string;
  csv?: true;
  json?: true;
}

/** Adds the command `people findings`. */
export function addFindingValuesCommand(people: CliCommand): void {
  const command = people
    .command('findings')
    .description(
      'count people by the values of their findings, e.g. 50 people with an unknown cost center CC-999',
    )
    .option('--connection <id>', 'only this connection');
  addFindingOption(command)
    .option('--csv', 'CSV for spreadsheets')
    .option('--json', 'one JSON object for each value')
    .examples('people findings --finding costCenterUnknown', 'people findings --csv > findings.csv')
    .runs(showFindingValues);
}

/** Prints how many people have each value of a finding, the most frequent first. Works while a server runs. */
export function showFindingValues(
  shell: Shell,
  { connection, finding, csv, json }: FindingValueFlags,
): Promise<0 | 1> {
  return withDatabase(shell, async ({ database, store: { people } }) => {
    const connections = findConnections(database, connection);
    const values = await countFindingValues(
      listPeople(people, connections, { finding, hasFindings: true }),
      finding,
    );
    if (csv) await printCsv(shell, findingValueColumns, [values]);
    else if (json) for (const value of values) printJson(shell, value);
    else if (values.length > 0) printValues(shell, values);
    if (values.length === 0) shell.printError('Nobody has such a finding.');
  });
}

function printValues(shell: Shell, values: FindingValue[]): void {
  const rows = values
    .slice(0, TABLE_ROWS)
    .map(({ people, code, field, value, isRest, example, connection }) => [
      String(people),
      code,
      field,
      isRest ? '(other values)' : value || '-',
      example.userName,
      connection,
    ]);
  printTable(shell, ['people', 'finding', 'field', 'value', 'e.g.', 'connection'], rows);
  if (values.length > TABLE_ROWS) shell.printError(`These are the first ${TABLE_ROWS}; --csv has all.`);
  shell.printError('"npx jetbridge people --finding FINDING --field FIELD --value VALUE" lists the people.');
}
