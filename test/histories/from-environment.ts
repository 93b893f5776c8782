import type { Omitted } from './operations.ts';
import type { HistoryOptions } from './runner.ts';
import type { Arrangement } from './world.ts';

/** The histories that HISTORY_SEED, HISTORY_RUNS, HISTORY_OPS, HISTORY_SKIP, HISTORY_WITHOUT, HISTORY_TRAVEL, HISTORY_FEED and HISTORY_DRIFT ask for. */
export function historyOptions(): HistoryOptions[] {
  const { env } = process;
  const first = Number(env['HISTORY_SEED'] ?? 1);
  const runs = Number(env['HISTORY_RUNS'] ?? 1);
  const operations = Number(env['HISTORY_OPS'] ?? 400);
  const skip = listOf(env['HISTORY_SKIP']).flatMap(placesOf);
  const without = listOf(env['HISTORY_WITHOUT']) as Omitted[]; // A kind that is unknown leaves nothing out.
  return Array.from({ length: runs }, (_, run) => {
    const seed = first + run;
    return { seed, operations, skip, without, arrangement: arrangementOf(seed) };
  });
}

/** Every arrangement comes up by turns. */
export function arrangementOf(seed: number): Arrangement {
  const { HISTORY_TRAVEL: chosen, HISTORY_FEED: feed, HISTORY_DRIFT: drift } = process.env;
  return {
    travel: chosen === 'embedded' || chosen === 'other' ? chosen : 'split',
    feed: feed === undefined ? seed % 2 === 0 : feed === 'on',
    onReturn: seed % 3 === 0 ? 'separate' : 'revive',
    drift: (drift ?? (seed % 4 < 2 ? 'report' : 'correct')) === 'report' ? 'report' : 'correct',
  };
}

function listOf(text = ''): string[] {
  return text === '' ? [] : text.split(',');
}

/** A place, or several as in "3-7". */
function placesOf(text: string): number[] {
  const [from = 0, to = from] = text.split('-').map(Number);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Whether HISTORY_SHRINK asks to leave out of a failing history what is not needed for its fault. */
export function isShrinking(): boolean {
  return process.env['HISTORY_SHRINK'] !== undefined;
}
