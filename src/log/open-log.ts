import {
  currentEncryptionKey,
  existingEncryptionKey,
  type KeySettings,
  previousEncryptionKey,
} from '../store/credentials/encryption.ts';
import type { Database } from '../store/sql/database.ts';
import type { ExchangeRecorder } from './exchange.ts';
import { exchangeStore, isNewestExchangeReadable, reencryptExchanges } from './exchange-store.ts';
import { type LogKey, type LogKeys, type LogReadKeys, logKey } from './keys.ts';
import { type ExchangeRecorderDeps, exchangeRecorder } from './recorder.ts';
import { type ExchangeReader, exchangeReader } from './search.ts';

/** Returns the keys of the log of exchanges: the present one, which is created if missing, and JETBRIDGE_KEY_PREVIOUS if it is set. */
export function exchangeKeys(settings: KeySettings): LogKeys {
  return [logKey(currentEncryptionKey(settings)), ...previousKeys(settings)];
}

function previousKeys(settings: KeySettings): LogKey[] {
  const previous = previousEncryptionKey(settings);
  return previous ? [logKey(previous)] : [];
}

/** The log of exchanges, opened for one command. */
export interface OpenedExchangeLog extends ExchangeReader {
  /** Returns the number of exchanges that the reads so far have left out, because no key decrypts them. */
  countUnreadable(): number;
}

/** Opens the log of exchanges for a command that reads it, also beside a running server. Creates no key. */
export function openExchangeLog(database: Pick<Database, 'db'>, settings: KeySettings): OpenedExchangeLog {
  const unreadable = new Set<number>();
  const reader = exchangeReader(database, existingKeys(settings), (position) => unreadable.add(position));
  return { ...reader, countUnreadable: () => unreadable.size };
}

/** True unless the newest entries of the log were encrypted with another key than those of the settings. Creates no key. */
export function isExchangeLogReadable({ db }: Pick<Database, 'db'>, settings: KeySettings): Promise<boolean> {
  return isNewestExchangeReadable(db, existingKeys(settings));
}

function existingKeys(settings: KeySettings): LogReadKeys {
  const current = existingEncryptionKey(settings);
  return [...(current ? [logKey(current)] : []), ...previousKeys(settings)];
}

interface RecordingDeps extends Pick<ExchangeRecorderDeps, 'clock' | 'log' | 'onLoss'> {
  database: Database;
}

/**
 * Starts the writing side of the log of exchanges, and encrypts what the previous key has encrypted with the present one. The recorder
 * is undefined if the settings disable the log; what is older than they allow is deleted nevertheless.
 */
export function startExchangeLog(
  settings: KeySettings & { requestLog: ExchangeRecorderDeps['keep'] },
  { database, log, ...deps }: RecordingDeps,
): { recorder: ExchangeRecorder | undefined; close(): Promise<void> } {
  const keys = exchangeKeys(settings);
  const recorder = exchangeRecorder({
    ...{ ...deps, log, keep: settings.requestLog },
    store: exchangeStore(database, keys[0]),
  });
  const end = new AbortController();
  const reencrypting = reencryptExchanges(database, keys, end.signal).then(
    (exchanges) => {
      if (exchanges > 0) log.info({ exchanges }, 'the log of exchanges was encrypted with the new key');
    },
    (error: unknown) =>
      log.error(
        { err: error },
        'the log of exchanges was not encrypted with the new key; the next start goes on',
      ),
  );
  return {
    recorder: settings.requestLog.keepDays > 0 ? recorder : undefined,
    close: async () => {
      end.abort();
      await Promise.all([recorder.close(), reencrypting]);
    },
  };
}
