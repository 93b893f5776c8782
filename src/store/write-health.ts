import type { Log } from '../bridge/ports.ts';
import type { Database } from './database.ts';
import type { StoreUnavailable } from './unavailable.ts';

/** The shortest time between two probe writes. */
const PROBE_MS = 5_000;
/** The shortest time between two log lines about the same trouble. */
const LOG_MS = 60_000;

/** Whether the database can be written, as far as is known. */
export interface WriteHealth {
  /** Why writes fail, in plain words; undefined while they work. */
  failure(): string | undefined;
  /** The same, after a probe write unless the last one was made less than five seconds ago. */
  probe(): Promise<string | undefined>;
  /** Ends the probes. */
  stop(): Promise<void>;
}

interface WriteHealthDeps {
  database: Pick<Database, 'onUnavailable' | 'probeWrite'>;
  clock: {
    /** Milliseconds of a clock that only goes forward. */
    now(): number;
    /** Ends early when aborted; never rejects. */
    wait(ms: number, signal?: AbortSignal): Promise<void>;
  };
  log: Log;
}

/** Follows every fault of the database; while writes fail, a probe write finds out when they work again. */
export function writeHealth({ database, clock, log }: WriteHealthDeps): WriteHealth {
  const end = new AbortController();
  let failure: StoreUnavailable | undefined;
  let faults = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let isLogged = false;
  let probedAt = Number.NEGATIVE_INFINITY;
  let recovering: Promise<void> | undefined;
  const logFailure = (error: StoreUnavailable) => {
    if (clock.now() - loggedAt < LOG_MS) return;
    loggedAt = clock.now();
    isLogged = true;
    const fields = { reason: error.reason, cause: error.message, faults };
    log.error(fields, 'the database cannot be written; writes are answered 503 until it can');
    faults = 0;
  };
  const probe = async () => {
    if (clock.now() - probedAt < PROBE_MS) return failure?.reason;
    probedAt = clock.now();
    try {
      await database.probeWrite();
      // Writes that fail now and then would otherwise log an end each time.
      if (isLogged) log.info({}, 'the database can be written again');
      isLogged = false;
      failure = undefined;
    } catch (error) {
      // If the store is unavailable, the listener below has noted it; any other fault says nothing about the disk.
      log.error({ err: error }, 'the probe write failed');
    }
    return failure?.reason;
  };
  const recover = async () => {
    while (failure && !end.signal.aborted) {
      await clock.wait(PROBE_MS, end.signal);
      if (!end.signal.aborted) await probe();
    }
    recovering = undefined;
  };
  database.onUnavailable((error) => {
    failure = error;
    faults += 1;
    logFailure(error);
    recovering ??= recover();
  });
  return {
    failure: () => failure?.reason,
    probe,
    stop: async () => {
      end.abort();
      await recovering;
    },
  };
}
