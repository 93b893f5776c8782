import {
  bridgeDirections,
  type ExchangeDirection,
  type ExchangeLog,
  type LoggedExchange,
} from '../../model/exchange.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The exchanges that one page of the log has at most. */
const PAGE = 5_000;
const COUNTED = { direction: bridgeDirections, isBrief: true, limit: PAGE };

/** The exchanges of a span of time in numbers. */
export interface ActivityCounts {
  /** Requests of IdPs, and those of them that were answered with an error. */
  requests: number;
  requestErrors: number;
  /** Calls of travel APIs, and those of them that were answered with an error or not at all. */
  calls: number;
  callErrors: number;
}

/** The counts and the newest exchanges of the last day, from the log of exchanges. */
export interface Activity {
  /** By the minute since 1970. Minutes without exchanges are left out. */
  minutes: ReadonlyMap<number, ActivityCounts>;
  /** Everything since this time has been counted; epoch milliseconds. */
  completeSince: number;
  /** The newest exchange of a connection in a direction. */
  findLast(connection: string, direction: ExchangeDirection): LoggedExchange | undefined;
}

/**
 * Counts the exchanges of the last day. Each call waits for one page with what is new. What does not fit on it is counted in the
 * background, so that a long log delays nobody.
 */
export interface ActivityReader {
  read(): Promise<Activity>;
}

/** A part of the log that is not counted yet. Both positions are left out. */
interface Gap {
  /** Undefined: up to the end of the log. */
  before?: string;
  after: number;
  /** The time of the oldest exchange that was counted after it; epoch milliseconds. */
  countedSince: number;
}

interface State {
  minutes: Map<number, ActivityCounts>;
  last: Map<string, LoggedExchange>;
  /** The newest first. */
  gaps: Gap[];
  /** The position of the newest exchange. */
  newest: number;
  isFilling: boolean;
}

interface ActivityDeps {
  exchanges: Pick<ExchangeLog, 'list'>;
  /** Epoch milliseconds. */
  now(): number;
}

/** Creates the reader of one process. It keeps one row of numbers for each minute of the day in memory. */
export function activityReader(deps: ActivityDeps): ActivityReader {
  const state: State = {
    ...{ minutes: new Map(), last: new Map() },
    ...{ gaps: [], newest: 0, isFilling: false },
  };
  let reading: Promise<void> | undefined;
  return {
    read: async () => {
      // Callers at the same time share a reading, because each exchange must be counted once.
      reading ??= countNewest(state, deps).finally(() => {
        reading = undefined;
      });
      await reading;
      if (!state.isFilling) void fillGaps(state, deps);
      return {
        minutes: state.minutes,
        completeSince: state.gaps[0]?.countedSince ?? deps.now() - DAY_MS,
        findLast: (connection, direction) => state.last.get(`${direction} ${connection}`),
      };
    },
  };
}

/** Counts the newest exchanges, and leaves a gap if there are more than fit on a page. */
async function countNewest(state: State, deps: ActivityDeps): Promise<void> {
  const rest = await countPage(state, { after: state.newest, countedSince: deps.now() }, deps);
  if (rest) state.gaps.unshift(rest);
  for (const minute of state.minutes.keys())
    if ((minute + 1) * MINUTE_MS <= deps.now() - DAY_MS) state.minutes.delete(minute);
}

/**
 * Counts what is not counted yet, page by page from the newest gap to the oldest. Never rejects: if the log cannot be read, the next call
 * tells so, and one that succeeds continues.
 */
async function fillGaps(state: State, deps: ActivityDeps): Promise<void> {
  state.isFilling = true;
  try {
    for (let [gap] = state.gaps; gap; [gap] = state.gaps) {
      const rest = await countPage(state, gap, deps);
      state.gaps.splice(state.gaps.indexOf(gap), 1, ...(rest ? [rest] : []));
    }
  } catch {
    // The gap stays.
  } finally {
    state.isFilling = false;
  }
}

/** Counts the newest page of a gap. Returns the rest of the gap; undefined if nothing is left of it. */
async function countPage(state: State, gap: Gap, { exchanges, now }: ActivityDeps): Promise<Gap | undefined> {
  const { before, after } = gap;
  const page = await exchanges.list({ ...COUNTED, before, after: String(after), since: now() - DAY_MS });
  for (const exchange of page.exchanges) count(state, exchange);
  if (page.next === undefined) return undefined;
  return { after, before: page.next, countedSince: page.exchanges.at(-1)?.at ?? gap.countedSince };
}

function count(state: State, exchange: LoggedExchange): void {
  const { at, direction, connection, position } = exchange;
  state.newest = Math.max(state.newest, Number(position));
  const minute = Math.floor(at / MINUTE_MS);
  const counts = state.minutes.get(minute) ?? emptyCounts();
  state.minutes.set(minute, counts);
  const isError = isFailed(exchange);
  counts[direction === 'travel' ? 'calls' : 'requests'] += 1;
  if (isError) counts[direction === 'travel' ? 'callErrors' : 'requestErrors'] += 1;
  if (connection === undefined) return;
  const key = `${direction} ${connection}`;
  if (Number(state.last.get(key)?.position ?? 0) < Number(position)) state.last.set(key, exchange);
}

/** Returns counts of nothing. */
export function emptyCounts(): ActivityCounts {
  return { requests: 0, requestErrors: 0, calls: 0, callErrors: 0 };
}

/** True for an exchange that was answered with an error, or not at all. */
export function isFailed({ status }: Pick<LoggedExchange, 'status'>): boolean {
  return status === undefined || status >= 400;
}
