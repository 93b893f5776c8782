import { Presets, SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import type { TravelFailure } from '../provisioning/travel-ports.ts';

/**
 * Formats a table. Each cell takes one line: line breaks and control characters are escaped. With `columns`, the longest
 * cells are cut so that the table is not wider than the terminal.
 */
export function formatTable(head: string[], rows: string[][], columns?: number): string {
  const cells = rows.map((row) => row.map(escapeLine));
  const colWidths = columns === undefined ? [] : columnWidths([head, ...cells], columns);
  const table = new Table({ head, colWidths, style: { head: [], border: [] } });
  table.push(...cells);
  return table.toString();
}

/** The shortest width of a column that is cut, with a space on each side. */
const MIN_COLUMN = 8;

/** Returns the width of each column, so that all fit into the terminal if that is possible. */
function columnWidths(rows: string[][], columns: number): number[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, (row[column] ?? '').length + 2), 0),
  );
  const borders = widths.length + 1;
  for (let excess = widths.reduce((sum, width) => sum + width, borders) - columns; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= MIN_COLUMN) break;
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

/** Starts a progress bar on standard error, with the connection's name and the unit of what is counted. */
export function startProgressBar(connection: string, noun: string): SingleBar {
  const bar = new SingleBar(
    { format: `${connection} {bar} {value}/{total} ${noun}` },
    Presets.shades_classic,
  );
  bar.start(0, 0);
  return bar;
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

/** The environment, terminal and output streams of a command. */
export interface Shell {
  environment: Record<string, string | undefined>;
  /** The program's folder, which contains `config` and `demo`. */
  home: string;
  /** True if standard error is a terminal. */
  isTerminal: boolean;
  /** The width of the terminal that standard output goes to; undefined if it goes elsewhere. */
  columns?: number;
  /** True if the reader of standard output has ended, such as `head`. */
  isOutputClosed?(): boolean;
  /** Asks a question and returns the typed answer; undefined if there is no terminal. */
  ask?(question: string): Promise<string>;
  /** Prints to standard output. */
  print(text: string): void;
  /** Prints to standard error: messages, hints and progress. */
  printError(text: string): void;
}

/** The exit code of a command that was used correctly: 0 done, 1 a fault was found. */
export type ExitCode = 0 | 1;

/** Wraps the work of a command, so that its exit code becomes that of the program. */
export type Action = <A extends unknown[]>(
  work: (...values: A) => Promise<ExitCode>,
) => (...values: A) => Promise<void>;

/** Describes why the travel API could not be read, with a remedy. */
export function travelFailureText(failure: TravelFailure): string {
  switch (failure.kind) {
    case 'unauthorized':
      return 'it refuses the credential (401); check TRAVEL_API_KEY';
    case 'forbidden':
      return 'the credential may not read this (403); check what it may do';
    case 'notFound':
      return 'there is nothing at that path (404); check TRAVEL_API_URL and travelApi.paths';
    case 'unavailable':
      return `${escapeLine(failure.text)}; check TRAVEL_API_URL, or try again later`;
    case 'conflict':
    case 'invalid':
      return `it does not take the question (${failure.kind}); check TRAVEL_API_URL and travelApi.paths`;
  }
}
