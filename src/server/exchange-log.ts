import { Counter } from 'prom-client';
import type { Settings } from '../config/settings.ts';
import type { HttpMetrics } from '../http/monitoring.ts';
import type { ExchangeRecorder } from '../provisioning/exchange-ports.ts';
import type { Runtime } from '../provisioning/runtime-ports.ts';
import type { Database } from '../store/database.ts';
import { type ByteEncryption, encryption, parseEncryptionKey } from '../store/encryption.ts';
import {
  type ExchangeKeys,
  type ExchangeReadKeys,
  exchangeStore,
  isNewestSegmentReadable,
} from '../store/exchange-log.ts';
import { type ExchangeReader, exchangeReader } from '../store/exchange-reader.ts';
import { currentEncryptionKey, existingEncryptionKey } from './encryption-keys.ts';
import { exchangeRecorder } from './exchange-recorder.ts';

type KeySettings = Pick<Settings, 'key' | 'previousKey' | 'data'>;

/** Returns the keys of the log of exchanges: the present one, which is created if missing, and JETBRIDGE_KEY_PREVIOUS if it is set. */
export function exchangeKeys(settings: KeySettings): ExchangeKeys {
  return [encryption(currentEncryptionKey(settings)), ...previousKeys(settings)];
}

function previousKeys({ previousKey }: KeySettings): ByteEncryption[] {
  const previous = previousKey && parseEncryptionKey(previousKey);
  return previous ? [encryption(previous)] : [];
}

/** The log of exchanges, opened for one command. */
export interface OpenedExchangeLog extends ExchangeReader {
  /** Returns the number of exchanges that the reads so far have left out, because no key decrypts them. */
  countUnreadable(): number;
}

/** Opens the log of exchanges for a command that reads it, also beside a running server. Creates no key. */
export function openExchangeLog(database: Pick<Database, 'db'>, settings: KeySettings): OpenedExchangeLog {
  const unreadable = new Map<number, number>();
  const reader = exchangeReader(database, existingKeys(settings), ({ last, count }) => {
    unreadable.set(last, count);
  });
  const countUnreadable = () => [...unreadable.values()].reduce((sum, count) => sum + count, 0);
  return { ...reader, countUnreadable };
}

/** True unless the newest entries of the log were encrypted with another key than those of the settings. Creates no key. */
export function isExchangeLogReadable({ db }: Pick<Database, 'db'>, settings: KeySettings): Promise<boolean> {
  return isNewestSegmentReadable(db, existingKeys(settings));
}

function existingKeys(settings: KeySettings): ExchangeReadKeys {
  const current = existingEncryptionKey(settings);
  return [...(current ? [encryption(current)] : []), ...previousKeys(settings)];
}

interface RecordingDeps {
  database: Database;
  /** `now` returns epoch milliseconds. */
  clock: { now(): number; wait: Runtime['wait'] };
  log: Runtime['log'];
  metrics: HttpMetrics;
}

/**
 * Starts the writing side of the log of exchanges. The recorder is undefined if the settings disable the log; what is
 * older than they allow is deleted nevertheless.
 */
export function startExchangeLog(
  settings: Settings,
  { database, clock, log, metrics }: RecordingDeps,
): { recorder: ExchangeRecorder | undefined; close(): Promise<void> } {
  const lost = new Counter({
    name: 'jetbridge_exchanges_lost_total',
    help: 'Exchanges that could not be written to the log of exchanges.',
    registers: [metrics.registry],
  });
  const { keepDays } = settings.exchangeLog;
  const recorder = exchangeRecorder({
    store: exchangeStore(database, encryption(currentEncryptionKey(settings))),
    ...{ clock, log, keepDays },
    onLoss: (count) => lost.inc(count),
  });
  return { recorder: keepDays > 0 ? recorder : undefined, close: recorder.close };
}
