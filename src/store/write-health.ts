import type { Log } from '../provisioning/runtime-ports.ts';
import type { Database } from './database.ts';
import { StoreUnavailable } from './unavailable.ts';

/** The shortest time between two probe writes. */
const PROBE_MS = 5_000;
/** The shortest time between two log lines about the same trouble. */
const LOG_MS = 60_000;

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

/** Whether the database can be written, as far as is known. While writes fail, probe writes find out when they work again. */
export class WriteHealth {
  readonly #deps: WriteHealthDeps;
  readonly #end = new AbortController();
  readonly #onRecovery: (() => void)[] = [];
  #failure: StoreUnavailable | undefined;
  /** How many faults there were since the last line about them. */
  #faults = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #isEndDue = false;
  #probedAt = Number.NEGATIVE_INFINITY;
  #probing: Promise<void> | undefined;

  constructor(deps: WriteHealthDeps) {
    this.#deps = deps;
    deps.database.onUnavailable((error) => this.#noteFault(error));
  }

  /** Why writes fail, in plain words; undefined while they work. */
  failure(): string | undefined {
    return this.#failure?.reason;
  }

  /** The same, after a probe write unless the last one was made less than five seconds ago. */
  async probe(): Promise<string | undefined> {
    const { database, clock, log } = this.#deps;
    if (clock.now() - this.#probedAt < PROBE_MS) return this.failure();
    this.#probedAt = clock.now();
    try {
      await database.probeWrite();
      this.#noteSuccess();
    } catch (error) {
      // A fault of the disk is noted below already; any other says nothing about the disk.
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'the probe write failed');
    }
    return this.failure();
  }

  /** Calls the listener each time when writes work again. */
  onRecovery(listener: () => void): void {
    this.#onRecovery.push(listener);
  }

  /** Ends the probes. */
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
    // Without a line about the beginning there is none about the end: writes may fail now and then for hours.
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
