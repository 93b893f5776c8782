import type { ExchangeDirection, ExchangeLog, LoggedExchange } from '../provisioning/exchange-ports.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The exchanges that one reading of the log looks at. A long log is therefore counted in several readings. */
const MAX_READ = 20_000;
const PAGE = 2_000;

/** The exchanges of a span of time in numbers. */
export interface ActivityCounts {
  /** Requests of IdPs, and those of them that were answered with an error. */
  requests: number;
  requestErrors: number;
  /** Calls of travel APIs, and those of them that were answered with an error or not at all. */
  calls: number;
  callErrors: number;
}

/** What the log of exchanges holds about the last day. */
export interface Activity {
  /** By the minute since 1970. Minutes without exchanges are left out. */
  minutes: ReadonlyMap<number, ActivityCounts>;
  /** Everything since this time has been counted; epoch milliseconds. */
  completeSince: number;
  /** The newest exchange of a connection in a direction. */
  findLast(connection: string, direction: ExchangeDirection): LoggedExchange | undefined;
  /** When the travel API of a connection last gave a usable answer, also one about a fault of the request; undefined if it is not known. */
  findLastAnswer(connection: string): number | undefined;
}

/** Counts the exchanges of the last day. Each call reads only what is new, and a limited part of what was not read before. */
export interface ActivityReader {
  read(): Promise<Activity>;
}

/** A part of the log that is not read yet, from its end to its beginning; both are positions that are left out. */
interface Gap {
  before: string | undefined;
  after: number;
}

interface State {
  minutes: Map<number, ActivityCounts>;
  last: Map<string, LoggedExchange>;
  lastAnswer: Map<string, number>;
  /** The newest first. */
  gaps: Gap[];
  /** The position of the newest exchange. */
  newest: number;
  completeSince: number;
}

interface ActivityDeps {
  exchanges: Pick<ExchangeLog, 'list'>;
  /** Epoch milliseconds. */
  now(): number;
}

/** Creates the reader of one process. It keeps one row of numbers for each minute of the day in memory. */
export function activityReader(deps: ActivityDeps): ActivityReader {
  const state: State = {
    ...{ minutes: new Map(), last: new Map(), lastAnswer: new Map() },
    ...{ gaps: [], newest: 0, completeSince: deps.now() },
  };
  let reading: Promise<void> | undefined;
  return {
    read: async () => {
      // Callers at the same time share a reading, because each exchange must be counted once.
      reading ??= readNewExchanges(state, deps).finally(() => {
        reading = undefined;
      });
      await reading;
      return {
        minutes: state.minutes,
        completeSince: state.completeSince,
        findLast: (connection, direction) => state.last.get(`${direction} ${connection}`),
        findLastAnswer: (connection) => state.lastAnswer.get(connection),
      };
    },
  };
}

async function readNewExchanges(state: State, { exchanges, now }: ActivityDeps): Promise<void> {
  const since = now() - DAY_MS;
  state.gaps.unshift({ before: undefined, after: state.newest });
  let budget = MAX_READ;
  for (let [gap] = state.gaps; gap && budget > 0; [gap] = state.gaps) {
    const page = await exchanges.list({ before: gap.before, after: String(gap.after), since, limit: PAGE });
    for (const exchange of page.exchanges) count(state, exchange);
    // Also a page without exchanges has cost a search.
    budget -= Math.max(PAGE, page.exchanges.length);
    if (page.next === undefined) state.gaps.shift();
    else gap.before = page.next;
    const oldest = page.exchanges.at(-1);
    if (oldest) state.completeSince = oldest.at;
  }
  if (state.gaps.length === 0) state.completeSince = since;
  for (const minute of state.minutes.keys())
    if ((minute + 1) * MINUTE_MS <= since) state.minutes.delete(minute);
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
  if (direction === 'travel' && !isOutage(exchange))
    state.lastAnswer.set(connection, Math.max(state.lastAnswer.get(connection) ?? 0, at));
}

/** Returns counts of nothing. */
export function emptyCounts(): ActivityCounts {
  return { requests: 0, requestErrors: 0, calls: 0, callErrors: 0 };
}

/** True for an exchange that was answered with an error, or not at all. */
export function isFailed({ status }: Pick<LoggedExchange, 'status'>): boolean {
  return status === undefined || status >= 400;
}

/** True for a call whose failure lies with the travel API or the credential, and not with the person whom it concerns. */
export function isOutage({ status }: Pick<LoggedExchange, 'status'>): boolean {
  return status === undefined || status >= 500 || status === 429 || status === 401 || status === 403;
}
