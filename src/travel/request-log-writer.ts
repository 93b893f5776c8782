import { everyMinute, MinuteQuota } from '../http/minute-quota.ts';
import { StoreUnavailable } from '../store/unavailable.ts';
import type { Log, LoggedRequest, RequestLog } from './ports.ts';

/** The longest time that a request waits to be written in a batch, in milliseconds, and the size of a batch. */
const WAIT_MS = 100;
const BATCH = 200;
/** Maximum number of waiting requests while the database is slow: about 60 MB if their bodies are long. */
const MAX_WAITING = 2_000;
const RETENTION_MS = 30 * 24 * 60 * 60_000;
const DELETE_EVERY_MS = 60_000;
const DELETE_BATCH = 500;
/** Pause between two batches of deletions, so that other work can use the database. */
const PAUSE_MS = 20;
const REPORT_LOSS_EVERY_MS = 60_000;
/** Delay before the first retry while the store is unavailable; it doubles up to the maximum. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 10_000;
/** Unauthenticated requests that are recorded in full in a minute; the others are summed up. */
const UNAUTHENTICATED = { ofAddress: 100, all: 200 };

/** Dependencies of the request log writer. */
export interface RequestLogWriterDeps {
  requests: RequestLog;
  clock: {
    /** Epoch milliseconds. */
    now(): number;
    /** Returns early when aborted; never rejects. */
    wait(ms: number, signal?: AbortSignal): Promise<void>;
  };
  log: Log;
}

/** Writes requests to the log in the background. */
export interface RequestLogWriter {
  /** Queues a request. The client address matters only for unauthenticated requests. */
  write(request: LoggedRequest, address?: string): void;
  /** Writes the waiting requests and stops. */
  close(): Promise<void>;
}

/**
 * Collects requests and writes them in batches: a batch costs little more than a single write. Also deletes old
 * entries.
 */
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
  const unauthenticated = unauthenticatedQuota();
  const summing = everyMinute(clock, end.signal, () => {
    for (const sum of unauthenticated.takeSummaries()) keep(sum);
  });
  const sweeping = deleteOldRequests(deps, end.signal);
  return {
    write: (request, address = '') => {
      if (request.userId !== undefined || unauthenticated.admits(request, address)) keep(request);
    },
    close: async () => {
      end.abort();
      await summing;
      await Promise.all([writing, sweeping]);
    },
  };
}

/** Logs lost requests at most once a minute: during database trouble one message for each would flood the log. */
function lossReporter({ clock, log }: RequestLogWriterDeps): { count(lost: number, error?: unknown): void } {
  let count = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    count: (lost, error) => {
      count += lost;
      // The absolute difference is compared, because the clock can be set back.
      if (Math.abs(clock.now() - reportedAt) < REPORT_LOSS_EVERY_MS) return;
      log.error(
        { err: error, requests: count },
        'requests were not recorded: the database is too slow, or fails',
      );
      count = 0;
      reportedAt = clock.now();
    },
  };
}

/** Deletes expired requests in small batches, because one large deletion would block other writes. */
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
      log.error({ err: error }, 'old entries of the request log could not be deleted; retrying');
    }
  }
}

/** Limits the unauthenticated requests that are recorded in full. */
function unauthenticatedQuota() {
  const quota = new MinuteQuota<number>(UNAUTHENTICATED);
  /** The first request of each status that is only counted. */
  const firsts = new Map<number, LoggedRequest>();
  return {
    /** Returns false if the request is only counted. */
    admits: (request: LoggedRequest, address: string): boolean => {
      if (quota.admits(address, request.status)) return true;
      if (!firsts.has(request.status)) firsts.set(request.status, request);
      return false;
    },
    /** Begins the next minute. Returns one summary for each status of the requests that were only counted. */
    takeSummaries: (): LoggedRequest[] => {
      const counted = quota.next();
      const sums = [...firsts].map(([status, first]) => toSummary(first, counted.get(status) ?? 0));
      firsts.clear();
      return sums;
    },
  };
}

function toSummary(first: LoggedRequest, count: number): LoggedRequest {
  const path = `(${count} more requests without a credential)`;
  return { ...first, method: '-', path, ms: 0, requestId: '-' };
}
