import { type Command, InvalidArgumentError } from 'commander';
import { type SampleDataOptions, sampleData } from './commands/sample-data.ts';
import type { Shell } from './commands/shell.ts';
import type { Action } from './exit.ts';

/** So many trips in thirteen months are as many as one person can make. */
const TRIPS_EACH = 100;

/** The command that makes a company in the embedded travel service. */
export function addSampleData(program: Command, shell: Shell, action: Action): void {
  program
    .command('sample-data')
    .description('make a company with people, trips and invoices in the embedded travel service')
    .option('--users <number>', 'how many people', within(1, 1_000_000), 200)
    .option('--trips <number>', 'how many trips, in thirteen months', within(0, 100_000), 500)
    .option('--seed <number>', 'which company: the same seed makes the same', within(0, 2 ** 31), 1)
    .option('--now <day>', 'the day on which the story ends, YYYY-MM-DD; default: today', day)
    .action(
      action(async (options: SampleDataOptions, command: Command) => {
        const { users, trips } = options;
        if (trips > users * TRIPS_EACH) {
          return command.error(
            `error: ${trips} trips are too many for ${users === 1 ? 'one person' : `${users} people`}: at most ${TRIPS_EACH} each`,
          );
        }
        return sampleData(shell, options);
      }),
    );
}

function within(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < least || number > most)
      throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
    return number;
  };
}

function day(text: string): string {
  const time = Date.parse(`${text}T00:00:00Z`);
  // 30 February is read as 1 March: what was read must say what was written.
  if (!/^20\d\d-/.test(text) || Number.isNaN(time) || !new Date(time).toISOString().startsWith(text))
    throw new InvalidArgumentError('must be a day of this century such as 2026-11-20.');
  // The feed never goes back: whatever happens after a story of tomorrow would bear its dates.
  if (time > Date.now()) throw new InvalidArgumentError('must not be a day that is still to come.');
  return text;
}
