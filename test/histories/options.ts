import type { OmittedKind } from './operations.ts';
import type { HistoryOptions } from './play.ts';
import type { Setup } from './processes.ts';

/**
 * Reads the histories to play from HISTORY_SEED, HISTORY_RUNS, HISTORY_OPS, HISTORY_SKIP, HISTORY_WITHOUT, HISTORY_TRAVEL,
 * HISTORY_FEED and HISTORY_DRIFT.
 */
export function historyOptions(): HistoryOptions[] {
  const { env } = process;
  const first = Number(env['HISTORY_SEED'] ?? 1);
  const runs = Number(env['HISTORY_RUNS'] ?? 1);
  const operations = Number(env['HISTORY_OPS'] ?? 400);
  const skip = listOf(env['HISTORY_SKIP']).flatMap(placesOf);
  const without = listOf(env['HISTORY_WITHOUT']) as OmittedKind[]; // An unknown kind leaves nothing out.
  return Array.from({ length: runs }, (_, run) => {
    const seed = first + run;
    return { seed, operations, skip, without, setup: setupOf(seed) };
  });
}

/** The setup of a seed: consecutive seeds go through all of them. */
export function setupOf(seed: number): Setup {
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

/** One position, or a range such as "3-7". */
function placesOf(text: string): number[] {
  const [from = 0, to = from] = text.split('-').map(Number);
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** True if HISTORY_SHRINK asks to reduce a failing history to the operations that its violation needs. */
export function isShrinking(): boolean {
  return process.env['HISTORY_SHRINK'] !== undefined;
}
