import { StoreUnavailable } from '../store/unavailable.ts';
import type { Log, LoggedRequest, RequestLog } from './ports.ts';

/** How long a request may wait for others, in milliseconds, and how many are written at once. */
const WAIT_MS = 100;
const BATCH = 200;
/** So many may wait while the database is slow; with long bodies that is some 60 MB. */
const MAX_WAITING = 2_000;
const RETENTION_MS = 30 * 24 * 60 * 60_000;
const DELETE_EVERY_MS = 60_000;
const DELETE_BATCH = 500;
/** Between two parts of a sweep, so that others have their turn. */
const PAUSE_MS = 20;
const REPORT_LOSS_EVERY_MS = 60_000;
const MINUTE_MS = 60_000;
/** While the store is unavailable: the first wait, doubled up to the longest. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 10_000;

/** What the request log needs of the world. */
export interface RequestLogWriterDeps {
  requests: RequestLog;
  clock: {
    /** Epoch milliseconds. */
    now(): number;
    /** Ends early when aborted; never rejects. */
    wait(ms: number, signal?: AbortSignal): Promise<void>;
  };
  log: Log;
}

/** Writes what is told to it, a little later. */
export interface RequestLogWriter {
  /** The address counts where nobody was recognised. */
  write(request: LoggedRequest, address?: string): void;
  /** Writes what waits, and ends. */
  close(): Promise<void>;
}

/** Gathers requests and writes them in batches, as a write by itself would cost more than many a request; sweeps old ones. */
export function createRequestLogWriter(deps: RequestLogWriterDeps): RequestLogWriter {
  const { clock } = deps;
  const end = new AbortController();
  const waiting: LoggedRequest[] = [];
  const loss = lossReporter(deps);
  let rest = new AbortController();
  let writing: Promise<void> | undefined;
  const write = async () => {
    let faults = 0;
    while (waiting.length > 0) {
      rest = new AbortController();
      if (waiting.length < BATCH) await clock.wait(WAIT_MS, AbortSignal.any([rest.signal, end.signal]));
      const batch = waiting.splice(0, BATCH);
      try {
        await deps.requests.append(batch);
        faults = 0;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || end.signal.aborted) {
          loss.count(batch.length, error);
          continue;
        }
        waiting.unshift(...batch);
        await clock.wait(Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** Math.min(faults, 10)), end.signal);
        faults += 1;
      }
    }
    writing = undefined;
  };
  const keep = (request: LoggedRequest) => {
    if (waiting.length >= MAX_WAITING) return loss.count(1);
    waiting.push(request);
    if (waiting.length === BATCH) rest.abort();
    writing ??= write();
  };
  const unknown = unauthenticatedQuota();
  const summing = everyMinute(clock, end.signal, () => {
    for (const sum of unknown.takeSummaries()) keep(sum);
  });
  const sweeping = deleteOldRequests(deps, end.signal);
  return {
    write: (request, address = '') => {
      if (request.userId !== undefined || unknown.allows(request, address)) keep(request);
    },
    close: async () => {
      end.abort();
      await summing;
      await Promise.all([writing, sweeping]);
    },
  };
}

/** The last time at the end, before its minute is over. */
async function everyMinute(
  clock: RequestLogWriterDeps['clock'],
  signal: AbortSignal,
  task: () => void,
): Promise<void> {
  while (!signal.aborted) {
    await clock.wait(MINUTE_MS, signal);
    task();
  }
}

/** Tells of requests that could not be kept, not of each by itself: the database has a trouble of its own. */
function lossReporter({ clock, log }: RequestLogWriterDeps): { count(lost: number, error?: unknown): void } {
  let count = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    count: (lost, error) => {
      count += lost;
      // The clock may have been set back.
      if (Math.abs(clock.now() - toldAt) < REPORT_LOSS_EVERY_MS) return;
      log.error(
        { err: error, requests: count },
        'requests were not recorded: the database is too slow, or fails',
      );
      count = 0;
      toldAt = clock.now();
    },
  };
}

/** Removes what is older than it is kept, little by little: one large removal would keep everybody waiting. */
async function deleteOldRequests(
  { requests, clock, log }: RequestLogWriterDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.wait(DELETE_EVERY_MS, signal);
    try {
      let swept = DELETE_BATCH;
      while (swept === DELETE_BATCH && !signal.aborted) {
        swept = await requests.deleteOlderThan(clock.now() - RETENTION_MS, DELETE_BATCH);
        await clock.wait(PAUSE_MS, signal);
      }
    } catch (error) {
      log.error({ err: error }, 'the request log could not be swept; it is tried again');
    }
  }
}

/** Of requests without a credential so many are kept one by one each minute: of one address, and of all. */
const PER_ADDRESS = 100;
const ALL_ADDRESSES = 200;

/** What keeps those without a credential from filling the disk: every request of theirs is counted, not every one is kept. */
export interface UnauthenticatedQuota {
  /** False: the request is counted, and nothing else. */
  allows(request: LoggedRequest, address: string): boolean;
  /** Ends the minute. Answers what sums up the requests that were only counted, one for each status. */
  takeSummaries(): LoggedRequest[];
}

/** Counts from the beginning of a minute on. No more is remembered than is kept, however many addresses there are. */
export function unauthenticatedQuota(): UnauthenticatedQuota {
  const kept = new Map<string, number>();
  const counted = new Map<number, { first: LoggedRequest; count: number }>();
  let all = 0;
  return {
    allows: (request, address) => {
      const ofOne = kept.get(address) ?? 0;
      if (ofOne < PER_ADDRESS && all < ALL_ADDRESSES) {
        kept.set(address, ofOne + 1);
        all += 1;
        return true;
      }
      const { first, count } = counted.get(request.status) ?? { first: request, count: 0 };
      counted.set(request.status, { first, count: count + 1 });
      return false;
    },
    takeSummaries: () => {
      const sums = [...counted.values()].map(toSummary);
      kept.clear();
      counted.clear();
      all = 0;
      return sums;
    },
  };
}

function toSummary({ first, count }: { first: LoggedRequest; count: number }): LoggedRequest {
  const path = `(${count} more requests without a credential)`;
  return { ...first, method: '-', path, ms: 0, requestId: '-' };
}
