import type { Log, Runtime } from '../../provisioning/runtime-ports.ts';
import type { ConnectionModes } from '../connection-modes.ts';
import type { Database } from '../sql/database.ts';
import type { DatabaseLocation } from '../sql/open-database.ts';
import {
  addWrites,
  type DatabaseRecord,
  ensureDatabaseRecord,
  pauseRestored,
  readDatabaseRecord,
} from './database-record.ts';
import { type KnownDatabase, type WriteFile, writeFileOf } from './write-file.ts';

/** The interval at which the database is compared with what is known of it, and writes are counted in it, in milliseconds. */
const LOOK_MS = 1_000;
/** The longest time between two records that the server is alive, in milliseconds. */
const ALIVE_MS = 60_000;

/** Recognises a database that was replaced by an older state of it, and pauses its connections. */
export interface RestoreWatch {
  /** Counts a write of an IdP. */
  countWrite(): void;
  /** The time before the start in which no server recorded itself in the database, in milliseconds. */
  gapMs: number;
  /** Calls the listener with the connections that were paused, at once if that was at the start. */
  onRestored(listener: (connections: string[]) => void): void;
  /** Calls the listener when a connection has been paused, also by another process. */
  onPause(listener: () => void): void;
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
  /** The connections that were paused, until a listener has received them. */
  paused: string[];
  listener: ((connections: string[]) => void) | undefined;
  pauseListener: () => void;
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
    ...{ aliveAt: record.aliveAt, paused: [], listener: undefined, pauseListener: () => {} },
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
    onPause: (listener) => {
      state.pauseListener = listener;
    },
    close: async () => {
      stop.abort();
      await ended;
    },
  };
}

/** Pauses all connections of a database that was restored, whether or not that can be told. Works while a server runs. */
export async function pauseAfterRestore(
  database: Database,
  location: DatabaseLocation,
  now: number,
): Promise<void> {
  const known = writeFileOf(location).read(await ensureDatabaseRecord(database, now));
  await pauseRestored(database, known, now);
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
  if (isBehind(present, state.known)) await pause(state, present);
  else state.known = present;
  const { isPausedAnew } = await state.modes.refresh(state.runtime.now());
  if (isPausedAnew) state.pauseListener();
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
  return known !== undefined && (present.database !== known.database || present.writes < known.writes);
}

async function pause(state: WatchState, present: DatabaseRecord): Promise<void> {
  const { database, known, log, runtime } = state;
  const connections = await pauseRestored(database, known, runtime.now());
  const counts = { writes: present.writes, known: known?.writes };
  log.error(
    { connections, ...counts },
    'the database is older than it was: it was restored. All connections are paused, and nothing is sent for people whom the IdP does not send again: see docs/operations/restore-a-backup.md',
  );
  state.paused.push(...connections);
  tell(state);
}

function tell({ paused, listener }: WatchState): void {
  if (listener && paused.length > 0) listener(paused.splice(0));
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
