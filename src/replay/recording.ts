import type { ExchangeSource, RecordedExchange } from './exchanges.ts';

/** The time that a recording covers, and its surroundings. */
export interface RecordingDeps {
  source: ExchangeSource;
  now(): number;
  /** Resolves after that many milliseconds, or as soon as the recording is ended. */
  pause(ms: number): Promise<void>;
  /** Returns true as soon as the recording is to end. */
  isEnded(): boolean;
  /** Called with the number of exchanges so far whenever it has grown. */
  progress(count: number): void;
}

/** The part of the log to record. */
export interface RecordedTime {
  connection: string;
  /** Epoch milliseconds. */
  since: number;
  /** Epoch milliseconds; undefined for a recording that ends when it is told to. */
  until: number | undefined;
}

const POLL_MS = 1_000;
/** A request is logged after its answer, so the log is read for a while after the end. */
const LOG_DELAY_MS = 2_000;
/** The time for which services are asked to keep the bodies of reads, in milliseconds. A recording that runs asks again; after one that died they stop soon. */
const KEEP_AHEAD_MS = 60_000;

/** Reads the exchanges of a connection from the log, until the time has come or the recording is ended. */
export async function collectExchanges(
  { connection, since, until }: RecordedTime,
  { source, now, pause, isEnded, progress }: RecordingDeps,
): Promise<RecordedExchange[]> {
  const collected: RecordedExchange[] = [];
  let from: Parameters<ExchangeSource['read']>[1] = { since };
  let keptUntil = 0;
  const readOn = async () => {
    const { exchanges, position } = await source.read(connection, from);
    from = { after: position };
    collected.push(...exchanges.filter(({ at }) => at >= since && (until === undefined || at < until)));
    progress(collected.length);
  };
  while (!isEnded() && (until === undefined || now() < until)) {
    if (keptUntil - now() < KEEP_AHEAD_MS / 2) {
      keptUntil = now() + KEEP_AHEAD_MS;
      await source.keepReadBodies?.(connection, keptUntil);
    }
    await readOn();
    await pause(Math.min(POLL_MS, (until ?? Number.POSITIVE_INFINITY) - now()));
  }
  await readOn();
  // The last requests may still be on their way to the log, also those of a recording of the past that ends now.
  if (now() < (until ?? now()) + LOG_DELAY_MS) {
    await pause(LOG_DELAY_MS);
    await readOn();
  }
  if (keptUntil > 0) await source.keepReadBodies?.(connection, now());
  return collected;
}
