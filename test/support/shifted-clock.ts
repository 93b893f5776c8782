import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The wall clock of processes, which a test sets. See shifting-clock.mjs. */
export interface ShiftedClock {
  /** Environment variables for a process that is to have this clock. */
  environment: Record<string, string>;
  /** Shifts it against the real one by so much, from now on. */
  shift(ms: number): void;
  remove(): void;
}

/** A wall clock that is right until it is shifted. */
export function shiftedClock(): ShiftedClock {
  const directory = mkdtempSync(join(tmpdir(), 'jetbridge-clock-'));
  const file = join(directory, 'shift');
  const preload = pathToFileURL(join(__dirname, 'shifting-clock.mjs')).href;
  return {
    environment: { NODE_OPTIONS: `--import ${preload}`, SHIFT_FILE: file },
    shift: (ms) => {
      // Renamed into place, so that nobody reads half a number.
      writeFileSync(`${file}.new`, String(ms));
      renameSync(`${file}.new`, file);
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}
