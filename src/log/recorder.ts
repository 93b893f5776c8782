import { everyMinute, type Timer } from '../http/minute-quota.ts';
import type { ExchangeRecorder, NewExchange } from '../model/exchange.ts';
import type { Log } from '../model/runtime-ports.ts';
import { StoreUnavailable } from '../model/unavailable.ts';
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
/** Delay before the next attempt while the database is away, in milliseconds. */
const RETRY_MS = 5_000;
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
  /** `now` returns epoch milliseconds. */
  clock: Timer & { now(): number };
  log: Log;
  /** How long exchanges are kept, and the number beyond which the oldest are deleted. */
  keep: { keepDays: number; keepEntries: number };
  /** Receives the number of exchanges that are lost. */
  onLoss(count: number): void;
}

/**
 * Collects exchanges and writes them in batches, away from the requests: recording one only appends it to an array. If
 * the database cannot keep up, the oldest are lost. Also deletes what is not to be kept any more. `close` writes the waiting exchanges.
 */
export function exchangeRecorder(deps: ExchangeRecorderDeps): ExchangeRecorder & { close(): Promise<void> } {
  const { clock, store } = deps;
  const end = new AbortController();
  const writer = new ExchangeWriter(deps, end.signal);
  const strangers = new StrangerEntries(deps.keep);
  let windows = new Map<string, number>();
  const repeat = async (ms: number, task: () => Promise<void>): Promise<void> => {
    for (; !end.signal.aborted; await clock.wait(ms, end.signal)) await task();
  };
  const loops = [
    repeat(WINDOWS_MS, async () => {
      // The store reports that it fails. The last result holds then.
      windows = await store.readBodyWindows(clock.now()).catch(() => windows);
    }),
    repeat(DELETE_EVERY_MS, () => deleteOldExchanges(deps, end.signal)),
    everyMinute(clock, end.signal, () => {
      for (const exchange of strangers.sumUp(clock.now())) writer.add({ exchange, at: clock.now() });
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
      await writer.writing;
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
  #waiting: WaitingExchange[] = [];
  #full = new AbortController();
  /** The length of the waiting bodies. */
  #length = 0;
  /** Resolves when nothing waits any more. */
  writing: Promise<void> | undefined;

  constructor(deps: ExchangeRecorderDeps, end: AbortSignal) {
    this.#deps = deps;
    this.#end = end;
  }

  add(waiting: WaitingExchange): void {
    this.#waiting.push(waiting);
    this.#length += lengthOf(waiting);
    this.#dropOldest();
    // A string as the reason avoids an AbortError, whose stack trace would be created each time.
    if (this.#isBatchFull()) this.#full.abort('full');
    this.writing ??= this.#writeAll();
  }

  #isBatchFull(): boolean {
    return this.#waiting.length >= BATCH || this.#length >= BATCH_LENGTH;
  }

  async #writeAll(): Promise<void> {
    const { clock } = this.#deps;
    while (this.#waiting.length > 0) {
      this.#full = new AbortController();
      if (!this.#isBatchFull()) await clock.wait(WAIT_MS, AbortSignal.any([this.#full.signal, this.#end]));
      if (!(await this.#writeBatch())) await clock.wait(RETRY_MS, this.#end);
    }
    this.writing = undefined;
  }

  /** Writes a batch. Returns false, and puts the batch back, while the database is away; at the end, the batch is lost. */
  async #writeBatch(): Promise<boolean> {
    let length = 0;
    const tooMany = this.#waiting.findIndex((waiting, index) => {
      const isFull = index === BATCH || length >= BATCH_LENGTH;
      length += lengthOf(waiting);
      return isFull;
    });
    const batch = this.#take(tooMany < 0 ? BATCH : tooMany);
    try {
      await this.#deps.store.append(batch.map(({ exchange, at }) => toStored(exchange, at)));
      return true;
    } catch (error) {
      const isAway = error instanceof StoreUnavailable && !this.#end.aborted;
      if (isAway) {
        this.#waiting = [...batch, ...this.#waiting];
        for (const waiting of batch) this.#length += lengthOf(waiting);
        this.#dropOldest();
      } else this.#lose(batch, error);
      return !isAway;
    }
  }

  /** Removes the oldest from the buffer. */
  #take(count: number): WaitingExchange[] {
    const taken = this.#waiting.splice(0, count);
    for (const waiting of taken) this.#length -= lengthOf(waiting);
    return taken;
  }

  /** While the buffer is too large, drops a tenth at a time, so that this is seldom repeated. */
  #dropOldest(): void {
    while (this.#waiting.length > MAX_WAITING || this.#length > MAX_WAITING_LENGTH)
      this.#lose(this.#take(Math.max(1, Math.floor(this.#waiting.length / 10))));
  }

  #lose({ length: exchanges }: WaitingExchange[], error?: unknown): void {
    this.#deps.onLoss(exchanges);
    const text = 'exchanges were not recorded: the database is too slow, or fails';
    this.#deps.log.error({ err: error, exchanges }, text);
  }
}

function lengthOf({ exchange: { requestBody, responseBody } }: WaitingExchange): number {
  return (requestBody?.length ?? 0) + (responseBody?.length ?? 0);
}

/** Deletes expired exchanges in small batches, because one large deletion would block other writes. */
async function deleteOldExchanges(
  { store, clock, log, keep: { keepDays, keepEntries } }: ExchangeRecorderDeps,
  signal: AbortSignal,
): Promise<void> {
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
}
