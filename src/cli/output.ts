import { Presets, SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import { CommanderError, InvalidArgumentError } from 'commander';
import { SettingsFault } from '../config/faults.ts';
import { isSafeUrl } from '../config/schema.ts';
import type { TravelFailure } from '../provisioning/travel-ports.ts';
import { UnknownSchema } from '../store/migrate.ts';
import { NoDatabase } from '../store/open-database.ts';
import { DatabaseFault } from '../store/postgres.ts';
import { DatabaseInUse } from '../store/sqlite.ts';
import { StoreUnavailable } from '../store/unavailable.ts';

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

/** The exit code of a command that was used correctly: 0 done, 1 a fault was found. */
export type ExitCode = 0 | 1;

/** Wraps the work of a command, so that its exit code becomes that of the program. */
export type Action = <A extends unknown[]>(
  work: (...values: A) => Promise<ExitCode>,
) => (...values: A) => Promise<void>;

/**
 * Returns the exit code for an error of a command: 2 for wrong use, 1 for an error that the operator can fix, with a line on standard
 * error. Rethrows every other error, so that its stack is shown.
 */
export function exitCodeFor(error: unknown, complain: (text: string) => void): 0 | 1 | 2 {
  // Commander has printed the message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const message = operatorMessage(error);
  if (message === undefined) throw error;
  complain(message);
  return 1;
}

function operatorMessage(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (
    [SettingsFault, DatabaseInUse, DatabaseFault, NoDatabase, UnknownSchema].some(
      (known) => error instanceof known,
    )
  )
    return error.message;
  const { message } = error;
  const inDatabase = databaseRemedies.find(([part]) => message.includes(part));
  if (inDatabase) return `The database in JETBRIDGE_DATA cannot be used: ${message}. ${inDatabase[1]}`;
  if (error instanceof StoreUnavailable)
    return `The database cannot be used: ${error.reason}. Try again when it can.`;
  if (!('syscall' in error) || !('code' in error)) return undefined;
  const cure = systemRemedies[String(error.code)];
  return cure === undefined ? `${message}.` : `${message}. ${cure}`;
}

const systemRemedies: Record<string, string> = {
  EADDRINUSE: 'Another program serves there: stop it, or set PORT to another port.',
  EADDRNOTAVAIL: 'This machine has no such address: correct HOST.',
  ENOTFOUND: 'This machine has no such address: correct HOST.',
  EACCES: 'Give Jetbridge the right to it, or set PORT above 1023, or JETBRIDGE_DATA to a folder of its own.',
  ENOTDIR: 'JETBRIDGE_DATA must be a folder.',
  EEXIST: 'JETBRIDGE_DATA must be a folder.',
  EROFS: 'JETBRIDGE_DATA must be a folder that can be written.',
  ENOSPC: 'Make room on the disk.',
};

/** Remedies for errors of the database, by a part of their message: some errors of SQLite have no code. */
const databaseRemedies: [part: string, cure: string][] = [
  ['file is not a database', 'Restore a backup, or point JETBRIDGE_DATA at another folder.'],
  ['disk image is malformed', 'Restore a backup.'],
  ['unable to open database file', 'Give Jetbridge the right to write in that folder.'],
  ['attempt to write a readonly database', 'Give Jetbridge the right to write in that folder.'],
  ['database or disk is full', 'Make room on the disk.'],
  ['disk I/O error', 'Make room on the disk, and see whether it works.'],
];

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

/** Parses a base URL and removes slashes at its end. */
export function parseBaseUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('must be a URL, e.g. http://127.0.0.1:8080/scim/v2.');
  return text.replace(/\/+$/, '');
}

/** Parses the URL of public keys: https, or http to this machine. */
export function parseKeysUrl(text: string): string {
  if (!isSafeUrl(text))
    throw new InvalidArgumentError('must be an https URL, e.g. https://idp.example.com/keys.');
  return text;
}

/** Parses a variable of the form `name=value` and adds it to the variables given before. */
export function parseVariable(text: string, others: Record<string, string>): Record<string, string> {
  const [, name, value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('must be of the form name=value.');
  return { ...others, [name]: value };
}

/** Parses a number of days, 1 or more. */
export function parseDays(text: string): number {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1)
    throw new InvalidArgumentError('must be a whole number of days, 1 or more.');
  return days;
}

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a time, given as an age (`15m`, `2h`, `7d`) or as a date-time, to epoch milliseconds. */
export function parseTime(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const time = count === undefined ? Date.parse(text) : Date.now() - Number(count) * (unitMs[unit] ?? 0);
  if (Number.isNaN(time))
    throw new InvalidArgumentError('must be e.g. 90s, 15m, 2h, 7d, or a time such as 2026-11-20T08:00:00Z.');
  return time;
}

/** Parses an HTTP status (`404`) or a class of them (`4xx`) to a range. */
export function parseStatusRange(text: string): { from: number; to: number } {
  if (/^[1-5]xx$/i.test(text)) return { from: Number(text[0]) * 100, to: Number(text[0]) * 100 + 99 };
  if (/^[1-5]\d\d$/.test(text)) return { from: Number(text), to: Number(text) };
  throw new InvalidArgumentError('must be a status or a class of them, e.g. 404 or 4xx.');
}

/** Parses a whole number, 0 or more. */
export function parseCount(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('must be a whole number, 0 or more.');
  return Number(text);
}
