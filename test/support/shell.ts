import { join } from 'node:path';
import type { Shell } from '../../src/commands/shell.ts';

/** A command line in this process, and what it said. */
export interface ToldShell extends Shell {
  /** Standard output. */
  out: string[];
  /** Standard error. */
  err: string[];
}

/** A shell with these variables and no others. */
export function shellOf(environment: Record<string, string>): ToldShell {
  const out: string[] = [];
  const err: string[] = [];
  return {
    environment,
    home: join(__dirname, '..', '..'),
    isTerminal: false,
    ask: undefined,
    print: (text) => out.push(text),
    complain: (text) => err.push(text),
    out,
    err,
  };
}
