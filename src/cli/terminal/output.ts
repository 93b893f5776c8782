import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import { type CsvColumns, csvText } from '../../http/csv.ts';
import { describeTravelFailure, type TravelFailure } from '../../model/travel-ports.ts';
import { Refused, WrongUse } from '../exit-code.ts';

/** Prints a table. On a terminal its longest cells are cut so that it fits; elsewhere it is whole. */
export function printTable(shell: Shell, head: string[], rows: string[][]): void {
  shell.print(formatTable(head, rows, shell.columns));
}

/**
 * Formats a table. Each cell takes one line: line breaks and control characters are escaped. With `columns`, the longest
 * cells are cut so that the table is not wider than the terminal; if too little would remain of them, each row becomes a paragraph.
 */
export function formatTable(head: string[], rows: string[][], columns?: number): string {
  const cells = rows.map((row) => row.map(escapeLine));
  const natural = naturalWidths([head, ...cells]);
  const colWidths = columns === undefined ? [] : shrinkWidths(natural, columns, head.indexOf('id'));
  const isCutShort = colWidths.some((width, column) => width < MIN_COLUMN && width < (natural[column] ?? 0));
  if (columns !== undefined && isCutShort)
    return cells.map((row) => formatParagraph(head, row, columns)).join('\n');
  const table = new Table({ head, colWidths, style: { head: [], border: [] } });
  table.push(...cells);
  return table.toString();
}

/** Formats a row that is too wide for a table: the first cell, and below it the others with their names, without empty ones. */
function formatParagraph(head: string[], [first = '', ...others]: string[], columns: number): string {
  const parts = others.flatMap((cell, index) =>
    cell === '' || cell === '-' ? [] : [`${head[index + 1]} ${cell}`],
  );
  const lines: string[] = [];
  for (const part of parts) {
    const joined = `${lines.at(-1)} · ${part}`;
    if (lines.length > 0 && displayWidth(joined) <= columns) lines[lines.length - 1] = joined;
    else lines.push(`  ${part}`);
  }
  return [first, ...lines].join('\n');
}

/** The longest cell of each column, with a space on each side. */
function naturalWidths(rows: string[][]): number[] {
  return (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, displayWidth(row[column] ?? '') + 2), 0),
  );
}

/** Characters that take two columns of a terminal (Unicode Standard Annex 11), and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

function displayWidth(text: string): number {
  return Array.from(text).reduce((width, character) => width + (wide.test(character) ? 2 : 1), 0);
}

/** The shortest width of a cut column in a table of values, with a space on each side: less of a time, an address or an id says nothing. */
const MIN_COLUMN = 18;

/** The width below which no column is reduced, so that at least a few letters remain. */
const MIN_WIDTH = 8;

/** Reduces the widths of the widest columns until all fit into the terminal, if that is possible. Ids stay whole, because they are copied. */
export function shrinkWidths(natural: number[], columns: number, idColumn = -1): number[] {
  const widths = [...natural];
  const borders = widths.length + 1;
  for (let excess = widths.reduce((sum, width) => sum + width, borders) - columns; excess > 0; excess--) {
    const cuttable = widths.map((width, column) => (column === idColumn ? 0 : width));
    const widest = cuttable.indexOf(Math.max(...cuttable));
    const width = cuttable[widest] ?? 0;
    if (width <= MIN_WIDTH) break;
    widths[widest] = width - 1;
  }
  return widths;
}

/** Formats a number with its noun, such as `1 rule`, `2 rules` or `0 people`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Formats a time in UTC to the minute, such as `2026-11-20 08:00`. */
export function formatMinute(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}

/** Shows on standard error how far a command is. */
export interface Progress {
  /** `total` is undefined as long as it is not known. */
  update(done: number, total?: number): void;
  stop(): void;
}

/** Starts to show progress: nothing unless standard error is a terminal. `label` says what is done, `noun` what is counted. */
export function startProgress({ isTerminal }: Shell, label: string, noun: string): Progress {
  if (!isTerminal) return { update: () => {}, stop: () => {} };
  let isTotalKnown = false;
  const bar = new SingleBar({
    format: `${label} {bar}{count} ${noun}`,
    formatBar: (share) => (isTotalKnown ? `${barText(share)} ` : ''),
  });
  bar.start(0, 0, { count: 0 });
  return {
    update: (done, total) => {
      isTotalKnown = total !== undefined;
      bar.setTotal(total ?? 0);
      bar.update(done, { count: total === undefined ? done : `${done}/${total}` });
    },
    stop: () => bar.stop(),
  };
}

const BAR_WIDTH = 40;

function barText(share: number): string {
  const filled = Math.round(share * BAR_WIDTH);
  return '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
}

/** Prints values as JSON Lines: one JSON object in each line. */
export function printJson(shell: Shell, ...values: object[]): void {
  for (const value of values) shell.print(jsonLine(value));
}

/** Prints rows as CSV page by page, until the reader of the output has ended. */
export async function printCsv<Row>(
  shell: Shell,
  columns: CsvColumns<Row>,
  pages: Parameters<typeof csvText<Row>>[1],
): Promise<void> {
  for await (const lines of csvText(columns, pages)) {
    if (shell.isOutputClosed?.()) return;
    // `print` adds the line feed of the last line.
    shell.print(lines.slice(0, -1));
  }
}

/** Formats a time for JSON (ISO 8601 in UTC); undefined stays undefined, so that the member is left out. */
export function toIsoTime<T extends number | undefined>(time: T): T extends number ? string : undefined;
export function toIsoTime(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

/** Characters that control a terminal (C0, DEL, C1), or that reorder or break a text (bidi controls, separators). */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
/**
 * All invisible characters: those in `controls`, and format characters, lone surrogates, private and unassigned
 * characters.
 */
const invisible = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** A line break of CSV, or a control character. */
const lineBreakOrControl = new RegExp(`\r\n|${controls.source}`, 'gu');

/**
 * Escapes all control characters except line breaks in the whole output of a command, in case the data in it was not
 * escaped.
 */
export function escapeControls(text: string): string {
  return text.replace(lineBreakOrControl, (found) => (found.endsWith('\n') ? found : escapeCharacter(found)));
}

/** Escapes every invisible character of a text from data, so that it takes one line. */
export function escapeLine(text: string): string {
  return text.replace(invisible, escapeCharacter);
}

/** Formats a value as JSON in one line, with control characters as JSON escapes. */
export function jsonLine(value: object): string {
  return JSON.stringify(value).replace(
    controls,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** A color of text that says how something ended: well, with a warning, badly. */
export type Color = 'green' | 'yellow' | 'red';

/** The environment, terminal and output streams of a command. */
export interface Shell {
  environment: Record<string, string | undefined>;
  /** The program's folder, which contains `config` and `demo`. */
  home: string;
  /** True if standard error is a terminal that can show progress. */
  isTerminal: boolean;
  /** The width of the terminal that standard output goes to; undefined if it goes elsewhere. */
  columns?: number;
  /** True if the reader of standard output has ended, such as `head`. */
  isOutputClosed?(): boolean;
  /** Asks a question and returns the typed answer; undefined if there is no terminal. */
  ask?(question: string): Promise<string>;
  /** Prints to standard output. On a terminal the first word gets the color. */
  print(text: string, color?: Color): void;
  /** Prints to standard error: messages, hints and progress. */
  printError(text: string): void;
}

/** The options of the question before a change. */
interface Confirmation {
  /** True if the command line has confirmed the change. */
  yes: boolean | undefined;
  /** The message of the Refused if the answer is no. */
  declined: string;
  /** The message of the WrongUse where nobody can be asked. Without it, that counts as a no. */
  unasked?: string;
}

/** Asks before a change. Throws unless it is confirmed. */
export async function confirm(
  shell: Shell,
  question: string,
  { yes, declined, unasked }: Confirmation,
): Promise<void> {
  if (yes) return;
  if (!shell.ask && unasked !== undefined) throw new WrongUse(unasked);
  const answer = (await shell.ask?.(`${question} [y/N] `)) ?? '';
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Refused(declined);
}

/** Describes why the travel API could not be read, with a remedy. */
export function travelFailureText(failure: TravelFailure): string {
  return escapeLine(describeTravelFailure(failure));
}
