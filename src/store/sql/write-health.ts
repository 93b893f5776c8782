import type { Log } from '../../model/runtime-ports.ts';
import { StoreUnavailable } from '../../model/unavailable.ts';
import type { Database } from './database.ts';

/** Minimum time between two probe writes. */
const PROBE_MS = 5_000;
/** Minimum time between two log lines about the same fault. */
const LOG_MS = 60_000;

interface WriteHealthDeps {
  database: Pick<Database, 'onUnavailable' | 'probeWrite'>;
  clock: {
    /** Milliseconds of a monotonic clock. */
    now(): number;
    /** Resolves early when aborted; never rejects. */
    wait(ms: number, signal?: AbortSignal): Promise<void>;
  };
  log: Log;
}

/** Tracks whether the database can be written. While writes fail, it makes probe writes to detect the recovery. */
export class WriteHealth {
  readonly #deps: WriteHealthDeps;
  readonly #end = new AbortController();
  readonly #onRecovery: (() => void)[] = [];
  #failure: StoreUnavailable | undefined;
  /** The number of faults since the last log line about them. */
  #faults = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #isEndDue = false;
  #probedAt = Number.NEGATIVE_INFINITY;
  #probing: Promise<void> | undefined;

  constructor(deps: WriteHealthDeps) {
    this.#deps = deps;
    deps.database.onUnavailable((error) => this.#noteFault(error));
  }

  /** The reason why writes fail, for the operator; undefined while they succeed. */
  failure(): string | undefined {
    return this.#failure?.reason;
  }

  /** Makes a probe write, unless the last one was less than five seconds ago, then returns the same as `failure`. */
  async probe(): Promise<string | undefined> {
    const { database, clock, log } = this.#deps;
    if (clock.now() - this.#probedAt < PROBE_MS) return this.failure();
    this.#probedAt = clock.now();
    try {
      await database.probeWrite();
      this.#noteSuccess();
    } catch (error) {
      // `onUnavailable` has recorded a disk fault already; other errors say nothing about the disk.
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'the probe write failed');
    }
    return this.failure();
  }

  /** Calls the listener each time that writes succeed again. */
  onRecovery(listener: () => void): void {
    this.#onRecovery.push(listener);
  }

  /** Stops the probe writes. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#probing;
  }

  #noteFault(error: StoreUnavailable): void {
    const { clock, log } = this.#deps;
    this.#failure = error;
    this.#faults += 1;
    this.#probing ??= this.#probeUntilRecovered();
    if (clock.now() - this.#loggedAt < LOG_MS) return;
    const fields = { reason: error.reason, cause: error.message, faults: this.#faults };
    log.error(fields, 'the database cannot be written; writes are answered 503 until it can');
    this.#loggedAt = clock.now();
    this.#isEndDue = true;
    this.#faults = 0;
  }

  #noteSuccess(): void {
    if (!this.#failure) return;
    this.#failure = undefined;
    // Log the end of a failure only if its beginning was logged: a disk that is nearly full may fail and recover
    // for hours.
    if (this.#isEndDue) this.#deps.log.info({}, 'the database can be written again');
    this.#isEndDue = false;
    for (const listener of this.#onRecovery) listener();
  }

  async #probeUntilRecovered(): Promise<void> {
    while (this.#failure && !this.#end.signal.aborted) {
      await this.#deps.clock.wait(PROBE_MS, this.#end.signal);
      if (!this.#end.signal.aborted) await this.probe();
    }
    this.#probing = undefined;
  }
}
