import { type HistoryOptions, playHistory } from './play.ts';

/**
 * Reduces a failing history by delta debugging: leaves out every part without which a violation of the same kind remains.
 * Returns the positions to leave out, in the form of HISTORY_SKIP.
 */
export async function shrink(
  options: HistoryOptions,
  fault: string,
  log: (line: string) => void,
): Promise<number[]> {
  const kind = kindOf(fault);
  const fails = async (skip: readonly number[]) => {
    const message = await playHistory({ ...options, skip }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    return message !== undefined && kindOf(message) === kind;
  };
  let skip = [...(options.skip ?? [])];
  const all = Array.from({ length: options.operations }, (_, place) => place);
  for (let size = Math.ceil(options.operations / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < options.operations; from += size) {
      const part = all.slice(from, from + size).filter((place) => !skip.includes(place));
      if (part.length === 0 || !(await fails([...skip, ...part]))) continue;
      skip = [...skip, ...part];
      log(`${options.operations - skip.length} operations are left: ${rangesOf(skip)}`);
    }
  }
  return skip;
}

/** The first line of a report, without ids and numbers, which differ from run to run. */
function kindOf(report: string): string {
  const [first = ''] = report.split('\n');
  return first.replaceAll(/\([^)]*\)|[0-9a-f]{8}-[0-9a-f-]+|\d+/g, '');
}

/** Formats positions for HISTORY_SKIP, for example "0-6,9". */
function rangesOf(places: readonly number[]): string {
  const sorted = [...places].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const place of sorted) {
    const last = ranges.at(-1);
    if (last && last[1] === place - 1) last[1] = place;
    else ranges.push([place, place]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}
