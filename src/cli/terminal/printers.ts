import type { CsvColumns } from '../../http/csv.ts';
import type { CliCommand } from '../command.ts';
import type { ListPage } from '../operations.ts';
import { wholeNumber } from './arguments.ts';
import { escapeLine, formatMinute, printCsv, printJson, printTable, type Shell } from './output.ts';

/** The flags that choose the form of a list. */
export interface ListFlags {
  csv?: true | undefined;
  json?: true | undefined;
  limit?: number | undefined;
}

/** How a list is printed. */
interface Listing<Row> {
  columns: CsvColumns<Row>;
  /** The columns of the table; by default all. */
  table?: readonly string[];
  /** Printed to standard error if there are no rows. */
  none: string;
  /** Printed to standard error below a table. */
  hint?: string;
}

/** The rows of a table without `--limit`. CSV and JSON have all. */
const TABLE_ROWS = 100;

/** Adds the flags of a list. */
export function addListFlags(command: CliCommand): CliCommand {
  return command
    .option('--csv', 'CSV for spreadsheets')
    .option('--json', 'JSON Lines: one JSON object for each row');
}

/** Adds the option `--limit`. `noun` is what it counts. */
export function addLimitOption(command: CliCommand, noun: string): CliCommand {
  const text = `the number of ${noun}; default: ${TABLE_ROWS} in a table, else all`;
  return command.option('--limit <number>', text, wholeNumber(1, 999_999_999));
}

/** The rows that a list has: those of `--limit`, else those of a table, else all. */
export function rowLimit({ csv, json, limit }: ListFlags): number {
  return limit ?? (csv || json ? Number.POSITIVE_INFINITY : TABLE_ROWS);
}

/**
 * Prints a list page by page: as CSV, as JSON Lines, or as a table. `pages` may have one row more than `rowLimit`, which tells that there
 * are others.
 */
export async function printList<Row>(
  shell: Shell,
  flags: ListFlags,
  pages: AsyncIterable<ListPage>,
  { columns, table = Object.keys(columns), none, hint }: Listing<Row>,
): Promise<void> {
  const limit = rowLimit(flags);
  let [count, isCut] = [0, false];
  async function* shownPages() {
    for await (const { rows, json } of pages) {
      if (shell.isOutputClosed?.()) return;
      const shown = Math.min(rows.length, limit - count);
      count += shown;
      isCut = shown < rows.length;
      // The columns are those of the rows that the handler returns.
      yield { rows: rows.slice(0, shown) as Row[], json: json.slice(0, shown) };
      if (isCut) return;
    }
  }
  if (flags.csv)
    await printCsv(
      shell,
      columns,
      mapPages(shownPages(), ({ rows }) => rows),
    );
  else if (flags.json) for await (const { json } of shownPages()) printJson(shell, ...json);
  else {
    const rows: Row[] = [];
    for await (const page of shownPages()) rows.push(...page.rows);
    if (rows.length > 0) printRows(shell, rows, columns, table);
    if (rows.length > 0 && hint !== undefined) shell.printError(hint);
  }
  if (isCut) shell.printError(`These are the first ${count}; --limit shows more.`);
  if (count === 0) shell.printError(none);
}

async function* mapPages<Page, Result>(
  pages: AsyncIterable<Page>,
  map: (page: Page) => Result,
): AsyncGenerator<Result> {
  for await (const page of pages) yield map(page);
}

/** Prints rows as a table with these columns. */
export function printRows<Row>(
  shell: Shell,
  rows: readonly Row[],
  columns: CsvColumns<Row>,
  table: readonly string[] = Object.keys(columns),
): void {
  const cells = table.map((name) => columns[name] ?? (() => undefined));
  const texts = rows.map((row) => cells.map((cell) => cellText(cell(row))));
  const times = new Set(table.filter((_, index) => rows.some((row) => cells[index]?.(row) instanceof Date)));
  const head = table.map((name) => `${wordsOf(name)}${times.has(name) ? ' (UTC)' : ''}`);
  printTable(shell, head, texts);
}

function cellText(cell: ReturnType<CsvColumns<never>[string]>): string {
  if (cell instanceof Date) return formatMinute(cell.getTime());
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return cell === undefined || cell === '' ? '-' : String(cell);
}

/** The name of a column in words, such as `last change`; names that SCIM has stay as they are. */
function wordsOf(name: string): string {
  return name === 'userName' ? name : name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Formats facts as indented lines; those that are undefined are left out. */
export function factLines(facts: readonly (readonly [label: string, text: string | undefined])[]): string[] {
  const shown = facts.filter(([, text]) => text !== undefined);
  const width = Math.max(...shown.map(([label]) => label.length)) + 2;
  return shown.map(([label, text]) => `  ${label.padEnd(width)}${escapeLine(String(text))}`);
}

/** Prints a result: as one JSON object, or as text. */
export function printResult(
  shell: Shell,
  { json }: { json?: true | undefined },
  value: object,
  text: () => string,
): void {
  if (json) printJson(shell, value);
  else shell.print(text());
}
