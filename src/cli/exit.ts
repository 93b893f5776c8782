import { CommanderError } from 'commander';
import { SettingsFault } from '../config/faults.ts';
import type { TravelFailure } from '../provisioning/ports.ts';
import { DatabaseInUse } from '../store/database.ts';
import { inLine } from './output.ts';

/** How a command that was used rightly ends: 0 done, 1 found a fault. */
export type Exit = 0 | 1;

/** Wraps the work of a command, so that its end becomes that of the program. */
export type Action = <A extends unknown[]>(
  work: (...values: A) => Promise<Exit>,
) => (...values: A) => Promise<void>;

/**
 * The exit code for what ended a command: 1 with a line for what the operator can mend, 2 for wrong use. A fault of ours
 * is thrown on, with its stack.
 */
export function exitOf(error: unknown, complain: (text: string) => void): 0 | 1 | 2 {
  // Commander has told it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const told = lineOf(error);
  if (told === undefined) throw error;
  complain(told);
  return 1;
}

function lineOf(error: unknown): string | undefined {
  if (error instanceof SettingsFault || error instanceof DatabaseInUse) return error.message;
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  const inDatabase = databaseCures.find(([part]) => message.includes(part));
  if (inDatabase) return `The database in JETBRIDGE_DATA cannot be used: ${message}. ${inDatabase[1]}`;
  if (!('syscall' in error) || !('code' in error)) return undefined;
  const cure = systemCures[String(error.code)];
  return cure === undefined ? `${message}.` : `${message}. ${cure}`;
}

const systemCures: Record<string, string> = {
  EADDRINUSE: 'Another program serves there: stop it, or set PORT to another port.',
  EADDRNOTAVAIL: 'This machine has no such address: correct HOST.',
  ENOTFOUND: 'This machine has no such address: correct HOST.',
  EACCES: 'Give Jetbridge the right to it, or set PORT above 1023, or JETBRIDGE_DATA to a folder of its own.',
  ENOTDIR: 'JETBRIDGE_DATA must be a folder.',
  EEXIST: 'JETBRIDGE_DATA must be a folder.',
  EROFS: 'JETBRIDGE_DATA must be a folder that can be written.',
  ENOSPC: 'Make room on the disk.',
};

/** By their messages, as some of SQLite's errors come without a code. */
const databaseCures: [part: string, cure: string][] = [
  ['file is not a database', 'Restore a backup, or point JETBRIDGE_DATA at another folder.'],
  ['disk image is malformed', 'Restore a backup.'],
  ['unable to open database file', 'Give Jetbridge the right to write in that folder.'],
  ['attempt to write a readonly database', 'Give Jetbridge the right to write in that folder.'],
  ['database or disk is full', 'Make room on the disk.'],
  ['disk I/O error', 'Make room on the disk, and see whether it works.'],
];

/** What a command works with. */
export interface Shell {
  environment: Record<string, string | undefined>;
  /** The program's own folder, with its config and demo. */
  home: string;
  /** Whether somebody watches standard error. */
  isTerminal: boolean;
  /** Asks and answers what was typed; only where somebody sits at a terminal. */
  ask?(question: string): Promise<string>;
  /** To standard output. */
  print(text: string): void;
  /** To standard error. */
  complain(text: string): void;
}

/** Why the travel API could not be read, with what would help. */
export function failureText(failure: TravelFailure): string {
  switch (failure.kind) {
    case 'unauthorized':
      return 'it refuses the credential (401); check TRAVEL_API_KEY';
    case 'forbidden':
      return 'the credential may not read this (403); check what it may do';
    case 'notFound':
      return 'there is nothing at that path (404); check TRAVEL_API_URL and travelApi.paths';
    case 'unavailable':
      return `${inLine(failure.text)}; check TRAVEL_API_URL, or try again later`;
    case 'conflict':
    case 'invalid':
      return `it does not take the question (${failure.kind}); check TRAVEL_API_URL and travelApi.paths`;
  }
}
