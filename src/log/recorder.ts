import { everyMinute } from '../http/minute-quota.ts';
import type { Log } from '../provisioning/runtime-ports.ts';
import { StoreUnavailable } from '../store/unavailable.ts';
import type { ExchangeRecorder, NewExchange } from './exchange.ts';
import type { ExchangeStore } from './exchange-store.ts';
import { isOfStranger, toStored } from './stored-exchange.ts';
import { StrangerEntries } from './stranger-entries.ts';

/** The longest time that an exchange waits to be written, in milliseconds. */
const WAIT_MS = 500;
/** A batch is written at once when it has this size: the number of exchanges, and the length of their bodies. */
const BATCH = 1_000;
const BATCH_LENGTH = 262_144;
/** The largest buffer while the database is away: the number of exchanges, and the length of their bodies. */
const MAX_WAITING = 20_000;
const MAX_WAITING_LENGTH = 33_554_432;
/** Delay before the first retry while the database is away, in milliseconds; it doubles up to the maximum. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 10_000;
const REPORT_LOSS_EVERY_MS = 60_000;
/** Interval of reading which connections keep the bodies of reads, in milliseconds. */
const WINDOWS_MS = 2_000;
const DELETE_EVERY_MS = 60_000;
const DELETE_BATCH = 1_000;
/** Pause between two batches of deletions, so that other work can use the database. */
const PAUSE_MS = 20;
const DAY_MS = 24 * 60 * 60_000;

/** Dependencies of the recorder. */
export interface ExchangeRecorderDeps {
  store: ExchangeStore;
  clock: {
    /** Epoch milliseconds. */
    now(): number;
    /** Returns early when aborted; never rejects. */
    wait(ms: number, signal?: AbortSignal): Promise<void>;
  };
  log: Log;
  /** How long exchanges are kept, and the number beyond which the oldest are deleted. */
  keep: { keepDays: number; keepEntries: number };
  /** Receives the number of exchanges that are lost. */
  onLoss(count: number): void;
}

/** A recorder that writes in the background. */
export interface BufferedExchangeRecorder extends ExchangeRecorder {
  /** Writes the waiting exchanges and stops. */
  close(): Promise<void>;
}

/**
 * Collects exchanges and writes them in batches, away from the requests: recording one only appends it to an array. If
 * the database cannot keep up, the oldest are lost. Also deletes what is not to be kept any more.
 */
export function exchangeRecorder(deps: ExchangeRecorderDeps): BufferedExchangeRecorder {
  const { clock } = deps;
  const end = new AbortController();
  const writer = new ExchangeWriter(deps, end.signal);
  const strangers = new StrangerEntries(deps.keep);
  let windows = new Map<string, number>();
  const loops = [
    followWindows(deps, end.signal, (read) => {
      windows = read;
    }),
    deleteOldExchanges(deps, end.signal),
    everyMinute(clock, end.signal, () => {
      const at = clock.now();
      for (const exchange of strangers.sumUp(at)) writer.add({ exchange, at });
    }),
  ];
  return {
    record: (exchange) => {
      if (isOfStranger(exchange) && !strangers.admits(exchange, clock.now())) return;
      writer.add({ exchange, at: Math.round(clock.now() - exchange.ms) });
    },
    keepsReadBodies: (connection) => (windows.get(connection) ?? 0) > clock.now(),
    close: async () => {
      end.abort();
      await Promise.all(loops);
      await writer.isIdle();
    },
  };
}

/** An exchange that waits to be written, and when it began. */
interface WaitingExchange {
  exchange: NewExchange;
  at: number;
}

/** Writes the exchanges that wait, the oldest first. */
class ExchangeWriter {
  readonly #deps: ExchangeRecorderDeps;
  readonly #end: AbortSignal;
  readonly #reportLoss: (count: number, error?: unknown) => void;
  #waiting: WaitingExchange[] = [];
  /** The length of the waiting bodies. */
  #length = 0;
  #full = new AbortController();
  #writing: Promise<void> | undefined;

  constructor(deps: ExchangeRecorderDeps, end: AbortSignal) {
    this.#deps = deps;
    this.#end = end;
    this.#reportLoss = lossReporter(deps);
  }

  add(waiting: WaitingExchange): void {
    this.#waiting.push(waiting);
    this.#length += lengthOf(waiting);
    this.#dropOldest();
    // A string as the reason avoids an AbortError, whose stack trace would be created each time.
    if (this.#isBatchFull() && !this.#full.signal.aborted) this.#full.abort('full');
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when nothing waits any more. */
  async isIdle(): Promise<void> {
    await this.#writing;
  }

  #isBatchFull(): boolean {
    return this.#waiting.length >= BATCH || this.#length >= BATCH_LENGTH;
  }

  async #writeAll(): Promise<void> {
    const { clock } = this.#deps;
    let delay = RETRY_MS;
    while (this.#waiting.length > 0) {
      this.#full = new AbortController();
      if (!this.#isBatchFull()) await clock.wait(WAIT_MS, AbortSignal.any([this.#full.signal, this.#end]));
      if (await this.#writeBatch()) delay = RETRY_MS;
      else {
        await clock.wait(delay, this.#end);
        delay = Math.min(MAX_RETRY_MS, delay * 2);
      }
    }
    this.#writing = undefined;
  }

  /** Writes a batch. Returns false, and puts the batch back, while the database is away; at the end, the batch is lost. */
  async #writeBatch(): Promise<boolean> {
    const batch = this.#takeBatch();
    try {
      await this.#deps.store.append(batch.map(({ exchange, at }) => toStored(exchange, at)));
      return true;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || this.#end.aborted) {
        this.#reportLoss(batch.length, error);
        return true;
      }
      this.#waiting = [...batch, ...this.#waiting];
      for (const waiting of batch) this.#length += lengthOf(waiting);
      this.#dropOldest();
      return false;
    }
  }

  #takeBatch(): WaitingExchange[] {
    let length = 0;
    let count = 0;
    for (const waiting of this.#waiting) {
      if (count === BATCH || length >= BATCH_LENGTH) break;
      length += lengthOf(waiting);
      count += 1;
    }
    this.#length -= length;
    return this.#waiting.splice(0, count);
  }

  /** While the buffer is too large, drops a tenth at a time, so that this is seldom repeated. */
  #dropOldest(): void {
    while (this.#waiting.length > MAX_WAITING || this.#length > MAX_WAITING_LENGTH) {
      const dropped = this.#waiting.splice(0, Math.max(1, Math.floor(this.#waiting.length / 10)));
      for (const waiting of dropped) this.#length -= lengthOf(waiting);
      this.#reportLoss(dropped.length);
    }
  }
}

function lengthOf({ exchange: { requestBody, responseBody } }: WaitingExchange): number {
  return (requestBody?.length ?? 0) + (responseBody?.length ?? 0);
}

/** Logs lost exchanges at most once a minute: during database trouble one line for each would flood the log. */
function lossReporter({ clock, log, onLoss }: ExchangeRecorderDeps): (lost: number, error?: unknown) => void {
  let count = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (lost, error) => {
    onLoss(lost);
    count += lost;
    // The absolute difference is compared, because the clock can be set back.
    if (Math.abs(clock.now() - reportedAt) < REPORT_LOSS_EVERY_MS) return;
    log.error(
      { err: error, exchanges: count },
      'exchanges were not recorded: the database is too slow, or fails',
    );
    count = 0;
    reportedAt = clock.now();
  };
}

/** Reads again and again which connections keep the bodies of reads. While the database is away, the last result holds. */
async function followWindows(
  { store, clock }: ExchangeRecorderDeps,
  signal: AbortSignal,
  onRead: (windows: Map<string, number>) => void,
): Promise<void> {
  while (!signal.aborted) {
    // The store reports that it fails.
    await store.readBodyWindows(clock.now()).then(onRead, () => {});
    await clock.wait(WINDOWS_MS, signal);
  }
}

/** Deletes expired exchanges in small batches, because one large deletion would block other writes. */
async function deleteOldExchanges(
  { store, clock, log, keep: { keepDays, keepEntries } }: ExchangeRecorderDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      let deleted = DELETE_BATCH;
      while (deleted === DELETE_BATCH && !signal.aborted) {
        const bounds = { before: clock.now() - keepDays * DAY_MS, maxEntries: keepEntries };
        deleted = await store.deleteOld(bounds, DELETE_BATCH);
        await clock.wait(PAUSE_MS, signal);
      }
    } catch (error) {
      log.error({ err: error }, 'old exchanges could not be deleted; retrying');
    }
    await clock.wait(DELETE_EVERY_MS, signal);
  }
}
