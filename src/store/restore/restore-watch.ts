import type { Log, Runtime } from '../../model/runtime-ports.ts';
import type { ConnectionModes, ConnectionState } from '../connection-modes.ts';
import type { Database } from '../sql/database.ts';
import {
  addWrites,
  type DatabaseRecord,
  ensureDatabaseRecord,
  followRestore,
  readDatabaseRecord,
} from './database-record.ts';
import type { KnownDatabase, WriteFile } from './write-file.ts';

/** The interval at which the database is compared with what is known of it, and writes are counted in it, in milliseconds. */
const LOOK_MS = 1_000;
/** The longest time between two records that the server is alive, in milliseconds. */
const ALIVE_MS = 60_000;

/** Recognises a database that was replaced by an older state of it, and makes everybody in it newly imported. */
export interface RestoreWatch {
  /** Counts a write of an IdP. */
  countWrite(): void;
  /** The time before the start in which no server recorded itself in the database, in milliseconds. */
  gapMs: number;
  /** Calls the listener when this process has recognised a restore, at once if that was at the start. */
  onRestored(listener: () => void): void;
  /** Calls the listener each second with the connections as they are in the database then, in which others have changed them. */
  onLook(listener: (connections: ConnectionState[]) => void): void;
  /** Writes what was counted, and stops. */
  close(): Promise<void>;
}

interface RestoreWatchDeps {
  database: Database;
  modes: ConnectionModes;
  file: WriteFile;
  runtime: Pick<Runtime, 'now' | 'wait'>;
  log: Pick<Log, 'warn' | 'error'>;
}

interface WatchState extends RestoreWatchDeps {
  /** The database as it was last seen. */
  known: KnownDatabase | undefined;
  /** The content of the file; undefined until it was written. */
  filed: KnownDatabase | undefined;
  isFileFailing: boolean;
  /** The writes that are not counted in the database yet. */
  writes: number;
  aliveAt: number;
  /** True after a restore, until a listener has been called. */
  isUntold: boolean;
  listener: (() => void) | undefined;
  onLook(connections: ConnectionState[]): void;
}

/**
 * Compares the database with the file, then again every second with what this process has seen of it. Resolves after the first
 * comparison: nothing may be sent before. The connections must have been created.
 */
export async function watchForRestore(deps: RestoreWatchDeps): Promise<RestoreWatch> {
  const { database, runtime } = deps;
  const record = await ensureDatabaseRecord(database, runtime.now());
  const known = deps.file.read(record);
  const state: WatchState = {
    ...{ ...deps, known, filed: undefined, isFileFailing: false, writes: 0 },
    ...{ aliveAt: record.aliveAt, isUntold: false, listener: undefined, onLook: () => {} },
  };
  await look(state);
  const stop = new AbortController();
  const ended = repeat(state, stop.signal);
  return {
    countWrite: () => {
      state.writes += 1;
    },
    gapMs: runtime.now() - record.aliveAt,
    onRestored: (listener) => {
      state.listener = listener;
      tell(state);
    },
    onLook: (listener) => {
      state.onLook = listener;
    },
    close: async () => {
      stop.abort();
      await ended;
    },
  };
}

/** Makes everybody in a database that was restored newly imported, whether or not that can be told. Works while a server runs. */
export async function restoredByOperator(database: Database, now: number): Promise<void> {
  const record = await ensureDatabaseRecord(database, now);
  await database.transaction((tx) => tx.updateTable('database_record').set({ restored: 1 }).execute());
  await followRestore(database, record, now);
}

async function repeat(state: WatchState, signal: AbortSignal): Promise<void> {
  let isFailing = false;
  while (!signal.aborted) {
    await state.runtime.wait(LOOK_MS, signal);
    try {
      await look(state);
      isFailing = false;
    } catch (error) {
      if (!isFailing) state.log.warn({ err: error }, 'the writes could not be counted; retrying');
      isFailing = true;
    }
  }
}

/**
 * Compares the database with what is known of it, counts the writes since the last time, and records the result. A restore may come
 * between any two of these steps: a record becomes the known one only after it was compared.
 */
async function look(state: WatchState): Promise<void> {
  const present = await readDatabaseRecord(state.database.db);
  if (isBehind(present, state.known)) await follow(state, present);
  else state.known = present;
  state.onLook(await state.modes.refresh(state.runtime.now()));
  await countWrites(state);
  saveKnown(state);
}

async function countWrites(state: WatchState): Promise<void> {
  const { database, known, runtime, writes } = state;
  const now = runtime.now();
  const isAliveRecorded = now - state.aliveAt < ALIVE_MS && now >= state.aliveAt;
  if (!known || (writes === 0 && isAliveRecorded)) return;
  const counted = await addWrites(database, { writes, now, known });
  // The database was restored since the comparison: the next one finds it behind.
  if (!counted) return;
  state.known = counted;
  state.writes -= writes;
  state.aliveAt = now;
}

function isBehind(present: DatabaseRecord, known: KnownDatabase | undefined): boolean {
  if (present.isRestored) return true;
  return known !== undefined && (present.database !== known.database || present.writes < known.writes);
}

async function follow(state: WatchState, present: DatabaseRecord): Promise<void> {
  const { database, known, log, runtime } = state;
  // Another replica may have recognised it at the same moment.
  if (!(await followRestore(database, known ?? present, runtime.now()))) return;
  log.error(
    { writes: present.writes, known: known?.writes },
    'the database is older than it was: it was restored. The travelers stay as they are until the IdP states people again: see docs/operations/restore-a-backup.md',
  );
  state.isUntold = true;
  tell(state);
}

function tell(state: WatchState): void {
  if (!state.listener || !state.isUntold) return;
  state.isUntold = false;
  state.listener();
}

/** Writes the file if the database has changed. A folder that cannot be written weakens the recognition, and nothing else. */
function saveKnown(state: WatchState): void {
  const { known, filed, file, log } = state;
  if (!known || (filed?.database === known.database && filed.writes === known.writes)) return;
  try {
    file.write({ database: known.database, writes: known.writes });
    state.filed = known;
    state.isFileFailing = false;
  } catch (error) {
    if (!state.isFileFailing)
      log.warn(
        { err: error },
        'the file beside the data could not be written: a restored backup may go unnoticed',
      );
    state.isFileFailing = true;
  }
}
