import { cutStrangerText, everyMinute, MinuteQuota } from '../http/minute-quota.ts';
import { redactBody, redactQuery } from '../http/redaction.ts';
import type { ExchangeRecorder, KeptBody, NewExchange } from '../provisioning/exchange-ports.ts';
import type { Log } from '../provisioning/runtime-ports.ts';
import type { ExchangeSegment, ExchangeStore } from '../store/exchange-log.ts';
import { type StoredExchange, userIdInPath } from '../store/exchange-segments.ts';
import { StoreUnavailable } from '../store/unavailable.ts';

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
const DELETE_BATCH = 100;
/** Pause between two batches of deletions, so that other work can use the database. */
const PAUSE_MS = 20;
/** Of requests without a valid token, this number is kept in a minute, so that they cannot fill the disk; the others are summed up. */
const UNAUTHENTICATED = { ofAddress: 200, all: 200 };
const DAY_MS = 24 * 60 * 60_000;
/**
 * Maximum size of a kept body, in bytes. It is less than the first piece of a streamed response, which is all that is kept of
 * it, so that such a body counts as truncated.
 */
const MAX_BODY_BYTES = 64_000;

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
  /** The time for which exchanges are kept, in days. */
  keepDays: number;
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
 * the database cannot keep up, the oldest are lost. Also deletes what is older than `keepDays`.
 */
export function exchangeRecorder(deps: ExchangeRecorderDeps): BufferedExchangeRecorder {
  const { clock } = deps;
  const end = new AbortController();
  const buffer = new ExchangeBuffer(lossReporter(deps));
  let full = new AbortController();
  let writing: Promise<void> | undefined;
  const write = async () => {
    let faults = 0;
    while (buffer.size > 0) {
      full = new AbortController();
      if (!buffer.isBatchFull) await clock.wait(WAIT_MS, AbortSignal.any([full.signal, end.signal]));
      if (await writeBatch(deps, buffer, end.signal)) faults = 0;
      else {
        await clock.wait(Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** Math.min(faults, 10)), end.signal);
        faults += 1;
      }
    }
    writing = undefined;
  };
  const add = (waiting: WaitingExchange) => {
    buffer.add(waiting);
    // A string as the reason avoids an AbortError, whose stack trace would be created each time.
    if (buffer.isBatchFull && !full.signal.aborted) full.abort('full');
    writing ??= write();
  };
  const unauthenticated = new MinuteQuota<number | undefined>(UNAUTHENTICATED);
  let windows = new Map<string, number>();
  const loops = [
    followWindows(deps, end.signal, (read) => {
      windows = read;
    }),
    deleteOldExchanges(deps, end.signal),
    everyMinute(clock, end.signal, () => {
      for (const [status, count] of unauthenticated.next())
        add({ exchange: summaryOf(status, count), at: clock.now() });
    }),
  ];
  return {
    record: (exchange) => {
      if (exchange.connection === undefined && !unauthenticated.admits(ANY_ADDRESS, exchange.status)) return;
      add({ exchange, at: Math.round(clock.now() - exchange.ms) });
    },
    keepsReadBodies: (connection) => {
      const until = windows.get(connection);
      return until !== undefined && until > clock.now();
    },
    close: async () => {
      end.abort();
      await Promise.all(loops);
      await writing;
    },
  };
}

/** Exchanges do not tell the address of the client. */
const ANY_ADDRESS = '';

/** Stands for the requests of a minute without a valid token that were not kept. */
function summaryOf(status: number | undefined, count: number): NewExchange {
  return {
    ...{ direction: 'scim', ms: 0, connection: undefined, person: undefined, requestId: undefined, status },
    ...{ method: '-', path: `(${count} more requests without a valid token)`, error: undefined },
    ...{ requestHeaders: {}, responseHeaders: {}, requestBody: undefined, responseBody: undefined },
  };
}

/** An exchange that waits to be written, and when it began. */
interface WaitingExchange {
  exchange: NewExchange;
  at: number;
}

/** The exchanges that wait to be written, the oldest first. */
class ExchangeBuffer {
  readonly #onLoss: (count: number, error?: unknown) => void;
  #waiting: WaitingExchange[] = [];
  /** The length of the waiting bodies. */
  #length = 0;

  constructor(onLoss: (count: number, error?: unknown) => void) {
    this.#onLoss = onLoss;
  }

  get size(): number {
    return this.#waiting.length;
  }

  get isBatchFull(): boolean {
    return this.#waiting.length >= BATCH || this.#length >= BATCH_LENGTH;
  }

  add(waiting: WaitingExchange): void {
    this.#waiting.push(waiting);
    this.#length += lengthOf(waiting);
    if (this.#waiting.length > MAX_WAITING || this.#length > MAX_WAITING_LENGTH) this.#dropOldest();
  }

  takeBatch(): WaitingExchange[] {
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

  /** Puts back a batch that could not be written. */
  putBack(batch: WaitingExchange[]): void {
    this.#waiting = [...batch, ...this.#waiting];
    for (const waiting of batch) this.#length += lengthOf(waiting);
    if (this.#waiting.length > MAX_WAITING || this.#length > MAX_WAITING_LENGTH) this.#dropOldest();
  }

  lose(batch: WaitingExchange[], error: unknown): void {
    this.#onLoss(batch.length, error);
  }

  /** Drops a tenth, so that this is seldom repeated. */
  #dropOldest(): void {
    let count = 0;
    for (const waiting of this.#waiting) {
      if (count >= MAX_WAITING / 10 && this.#length <= MAX_WAITING_LENGTH) break;
      this.#length -= lengthOf(waiting);
      count += 1;
    }
    this.#waiting.splice(0, count);
    this.#onLoss(count);
  }
}

function lengthOf({ exchange: { requestBody, responseBody } }: WaitingExchange): number {
  return (requestBody?.length ?? 0) + (responseBody?.length ?? 0);
}

/** Writes a batch. Returns false, and puts the batch back, while the database is away; at the end, the batch is lost. */
async function writeBatch(
  { store }: ExchangeRecorderDeps,
  buffer: ExchangeBuffer,
  signal: AbortSignal,
): Promise<boolean> {
  const batch = buffer.takeBatch();
  try {
    await store.append(toSegments(batch));
    return true;
  } catch (error) {
    if (!(error instanceof StoreUnavailable) || signal.aborted) {
      buffer.lose(batch, error);
      return true;
    }
    buffer.putBack(batch);
    return false;
  }
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

/** Divides a batch by connections. */
function toSegments(batch: readonly WaitingExchange[]): ExchangeSegment[] {
  const segments = new Map<string | undefined, StoredExchange[]>();
  for (const waiting of batch) {
    const { connection } = waiting.exchange;
    const segment = segments.get(connection);
    if (segment) segment.push(toStored(waiting));
    else segments.set(connection, [toStored(waiting)]);
  }
  return [...segments].map(([connection, exchanges]) => ({ connection, exchanges }));
}

/** Redacts secrets and truncates long bodies. This is done here, because it takes longer than a request may wait for. */
function toStored({ exchange, at }: WaitingExchange): StoredExchange {
  const { direction, status, path } = exchange;
  const responseBody = toKeptBody(exchange.responseBody);
  const isError = status !== undefined && status >= 400;
  const isStranger = exchange.connection === undefined;
  // Spreading objects into this one would take several times as long.
  return {
    direction,
    at,
    ms: Math.round(exchange.ms * 10) / 10,
    person: exchange.person ?? (direction === 'scim' ? personOf(exchange) : undefined),
    requestId: exchange.requestId,
    method: exchange.method,
    path: isStranger ? cutStrangerText(redactQuery(path)) : redactQuery(path),
    status,
    error: exchange.error ?? (isError ? errorCode(responseBody) : undefined),
    requestHeaders: isStranger ? cutValues(exchange.requestHeaders) : exchange.requestHeaders,
    responseHeaders: exchange.responseHeaders,
    requestBody: toKeptBody(exchange.requestBody),
    responseBody,
  };
}

/** Redaction comes before, because a secret cannot be recognized in a truncated text. */
function cutValues(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, cutStrangerText(value)]));
}

/** The person of a SCIM request is the one in the path or the one that was created. */
function personOf({ path, responseHeaders: { location } }: NewExchange): string | undefined {
  return (
    userIdInPath(path) ??
    (location === undefined ? undefined : /\/Users\/([\w-]{1,100})$/.exec(location)?.[1])
  );
}

function toKeptBody(body: string | Uint8Array | undefined): KeptBody | undefined {
  if (body === undefined || body.length === 0) return undefined;
  const text = typeof body === 'string' ? body : decoder.decode(body);
  const { text: kept, cut } = redactBody(text, MAX_BODY_BYTES);
  return { text: kept, isCut: cut };
}

const decoder = new TextDecoder();

/** Returns the `scimType` of a SCIM error, or the code of an error of the travel API. */
function errorCode(body: KeptBody | undefined): string | undefined {
  if (!body || body.isCut) return undefined;
  try {
    const { scimType, code } = Object(JSON.parse(body.text));
    return [scimType, code].find((value) => typeof value === 'string')?.slice(0, 100);
  } catch {
    return undefined;
  }
}

/** Reads again and again which connections keep the bodies of reads. While the database is away, the last result holds. */
async function followWindows(
  { store, clock }: ExchangeRecorderDeps,
  signal: AbortSignal,
  onRead: (windows: Map<string, number>) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      onRead(await store.readBodyWindows(clock.now()));
    } catch {
      // The store reports that it fails.
    }
    await clock.wait(WINDOWS_MS, signal);
  }
}

/** Deletes expired exchanges in small batches, because one large deletion would block other writes. */
async function deleteOldExchanges(
  { store, clock, log, keepDays }: ExchangeRecorderDeps,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      let deleted = DELETE_BATCH;
      while (deleted === DELETE_BATCH && !signal.aborted) {
        deleted = await store.deleteOlderThan(clock.now() - keepDays * DAY_MS, DELETE_BATCH);
        await clock.wait(PAUSE_MS, signal);
      }
    } catch (error) {
      log.error({ err: error }, 'old exchanges could not be deleted; retrying');
    }
    await clock.wait(DELETE_EVERY_MS, signal);
  }
}
