import type { ExchangeSegment } from '../store/exchange-log.ts';
import { SegmentBuilder, type StoredExchange } from '../store/exchange-segments.ts';

/** A batch is full when it has this size: the number of exchanges, and the length of their bodies. */
const BATCH = 1_000;
const BATCH_LENGTH = 262_144;
/** The largest buffer while the database is away: the number of exchanges, and the length of their bodies. */
const MAX_WAITING = 20_000;
const MAX_WAITING_LENGTH = 33_554_432;

/** Exchanges that are written together, in a segment for each connection. */
export class ExchangeBatch {
  readonly #segments = new Map<string | undefined, SegmentBuilder>();
  /** The number of exchanges. */
  count = 0;
  /** The length of their bodies. */
  length = 0;

  get isFull(): boolean {
    return this.count >= BATCH || this.length >= BATCH_LENGTH;
  }

  add(connection: string | undefined, exchange: StoredExchange, lengthOfBodies: number): void {
    let segment = this.#segments.get(connection);
    if (!segment) {
      segment = new SegmentBuilder();
      this.#segments.set(connection, segment);
    }
    segment.add(exchange);
    this.count += 1;
    this.length += lengthOfBodies;
  }

  segments(): ExchangeSegment[] {
    return Array.from(this.#segments, ([connection, exchanges]) => ({ connection, exchanges }));
  }
}

/** The exchanges that wait to be written, in batches. If there are too many, the oldest batches are lost. */
export class ExchangeBuffer {
  readonly #onLoss: (count: number) => void;
  /** The batches that need not wait any longer, the oldest first. */
  readonly #due: ExchangeBatch[] = [];
  #open = new ExchangeBatch();
  /** The number of exchanges in all batches, and the length of their bodies. */
  #count = 0;
  #length = 0;

  constructor(onLoss: (count: number) => void) {
    this.#onLoss = onLoss;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get isBatchDue(): boolean {
    return this.#due.length > 0;
  }

  add(connection: string | undefined, exchange: StoredExchange): void {
    const length = lengthOfBodies(exchange);
    this.#open.add(connection, exchange, length);
    this.#count += 1;
    this.#length += length;
    if (this.#open.isFull) {
      this.#due.push(this.#open);
      this.#open = new ExchangeBatch();
    }
    if (this.#isOverfull) this.#dropOldest();
  }

  /** Takes the oldest batch, or the open one if none is due. */
  takeBatch(): ExchangeBatch {
    let batch = this.#due.shift();
    if (!batch) {
      batch = this.#open;
      this.#open = new ExchangeBatch();
    }
    this.#count -= batch.count;
    this.#length -= batch.length;
    return batch;
  }

  /** Puts back a batch that could not be written. */
  putBack(batch: ExchangeBatch): void {
    this.#due.unshift(batch);
    this.#count += batch.count;
    this.#length += batch.length;
    if (this.#isOverfull) this.#dropOldest();
  }

  get #isOverfull(): boolean {
    return this.#count > MAX_WAITING || this.#length > MAX_WAITING_LENGTH;
  }

  /** Drops at least a tenth, so that this is seldom repeated. */
  #dropOldest(): void {
    let lost = 0;
    while (this.isBatchDue && (lost < MAX_WAITING / 10 || this.#isOverfull)) lost += this.takeBatch().count;
    this.#onLoss(lost);
  }
}

function lengthOfBodies({ requestBody, responseBody }: StoredExchange): number {
  return (requestBody?.text.length ?? 0) + (responseBody?.text.length ?? 0);
}
