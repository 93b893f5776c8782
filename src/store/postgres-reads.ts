import type { CompiledQuery, QueryResult } from 'kysely';
import { batches, isShortRead } from './queries.ts';
import { StoreUnavailable } from './unavailable.ts';

/** The maximum number of reads in one message: they run one after the other. */
const MAX_READS = 20;

interface WaitingRead {
  query: CompiledQuery;
  resolve(result: QueryResult<unknown>): void;
  reject(error: unknown): void;
}

/** Executes statements in one message. */
type RunTogether = (queries: CompiledQuery[]) => Promise<QueryResult<unknown>[]>;

/**
 * Sends the short reads of one turn of the event loop in one message. Under load several requests arrive in each turn, and a message
 * costs more than a short read. If one of the reads fails, each is sent again in a message of its own.
 */
export class JoinedReads {
  readonly #runTogether: RunTogether;
  #waiting: WaitingRead[] = [];

  constructor(runTogether: RunTogether) {
    this.#runTogether = runTogether;
  }

  /** Returns undefined for a statement that must have a message of its own. */
  join(query: CompiledQuery): Promise<QueryResult<unknown>> | undefined {
    if (!isShortRead(query)) return undefined;
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#sendWaiting());
      this.#waiting.push({ query, resolve, reject });
    });
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const reads of batches(waiting, MAX_READS)) void this.#send(reads);
  }

  async #send(reads: WaitingRead[]): Promise<void> {
    try {
      const results = await this.#runTogether(reads.map(({ query }) => query));
      for (const [index, { resolve }] of reads.entries()) resolve(results[index] ?? { rows: [] });
    } catch (error) {
      if (reads.length > 1 && !(error instanceof StoreUnavailable))
        for (const read of reads) void this.#send([read]);
      else for (const { reject } of reads) reject(error);
    }
  }
}
