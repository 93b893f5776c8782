import { type HistoryOptions, playHistory } from './runner.ts';

/**
 * Leaves out as much of a failing history as it can (delta debugging): a part that is not needed for a fault of the same
 * kind stays out. Answers the places to leave out, which HISTORY_SKIP takes.
 */
export async function shrink(
  options: HistoryOptions,
  fault: string,
  tell: (line: string) => void,
): Promise<number[]> {
  const kind = kindOf(fault);
  const fails = async (skip: readonly number[]) => {
    const told = await playHistory({ ...options, skip }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    return told !== undefined && kindOf(told) === kind;
  };
  let skip = [...(options.skip ?? [])];
  const all = Array.from({ length: options.operations }, (_, place) => place);
  for (let size = Math.ceil(options.operations / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < options.operations; from += size) {
      const part = all.slice(from, from + size).filter((place) => !skip.includes(place));
      if (part.length === 0 || !(await fails([...skip, ...part]))) continue;
      skip = [...skip, ...part];
      tell(`${options.operations - skip.length} operations are left: ${rangesOf(skip)}`);
    }
  }
  return skip;
}

/** The first line of a report without what differs from run to run. */
function kindOf(report: string): string {
  const [first = ''] = report.split('\n');
  return first.replaceAll(/\([^)]*\)|[0-9a-f]{8}-[0-9a-f-]+|\d+/g, '');
}

/** Places as HISTORY_SKIP has them, e.g. "0-6,9". */
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
