import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import type { StoreUnavailable } from '../../model/unavailable.ts';
import { commonDatabase } from './common-database.ts';
import type { Database } from './database.ts';
import { hasMessage, sqlite } from './dialect.ts';
import { emptyLog, GroupCommit } from './group-commit.ts';
import { migrate } from './migrate.ts';
import { openSqlite, type SqliteFile } from './sqlite-file.ts';
import type { Tables } from './tables.ts';

/**
 * Opens the embedded database in `directory` and migrates it. Creates the directory if it is missing. With
 * `exclusive`, every further process that opens the directory exclusively gets DatabaseInUse for as long as this one
 * runs.
 */
export async function openEmbedded(directory: string, exclusive: boolean): Promise<Database> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const file of [DATABASE, LOCK]) createPrivateFile(join(directory, file));
  const release = exclusive ? await lockDirectory(directory) : () => {};
  try {
    const listeners: ((error: StoreUnavailable) => void)[] = [];
    const open = await openMigrated(directory, (error) => {
      for (const listener of listeners) listener(error);
    });
    const { db } = open;
    return {
      ...(await commonDatabase({ db, dialect: sqlite, run: new GroupCommit(open).run, listeners })),
      emptyLog: () => emptyLog(db),
      close: async () => {
        await db.destroy();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** True if the directory contains a database. Does not create one. Throws if that cannot be told, as for a user who may not enter it. */
export function hasDatabaseFile(directory: string): boolean {
  return statSync(join(directory, DATABASE), { throwIfNoEntry: false }) !== undefined;
}

const DATABASE = 'jetbridge.db';
const LOCK = 'jetbridge.lock';

/**
 * Creates a file that only its owner can read, since the database holds personal data. SQLite gives its side files
 * the same mode.
 */
function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}

interface OpenFile {
  db: Kysely<Tables>;
  file: SqliteFile;
}

const PRAGMAS = [
  'busy_timeout = 5000',
  'journal_mode = wal',
  'synchronous = full',
  'foreign_keys = on',
  'secure_delete = on',
  // 16 MB: with the default of 2 MB, each insert reads pages of the larger indexes again.
  'cache_size = -16000',
  // The pages to restore if one of the transactions of a commit fails, once they run in savepoints. Otherwise SQLite creates and
  // deletes a file for each such commit that changes more than 64 KB.
  'temp_store = memory',
];

async function openMigrated(
  directory: string,
  onUnavailable: (error: StoreUnavailable) => void,
): Promise<OpenFile> {
  const file = await openSqlite(join(directory, DATABASE), (error) => {
    const unavailable = sqlite.toUnavailable(error);
    if (unavailable) onUnavailable(unavailable);
    return unavailable ?? error;
  });
  try {
    file.exec(PRAGMAS.map((pragma) => `pragma ${pragma}`).join('; '));
    const db = new Kysely<Tables>({ dialect: new EmbeddedDialect(file) });
    const place = { place: directory, setting: 'JETBRIDGE_DATA' } as const;
    await migrate(db, { dialect: sqlite, ...place, mayCreate: true });
    return { db, file };
  } catch (error) {
    file.close();
    throw error;
  }
}

/**
 * Holds an exclusive transaction on a separate lock file. The operating system releases it when the process ends, so
 * that the lock cannot become stale.
 */
async function lockDirectory(directory: string): Promise<() => void> {
  const path = join(directory, LOCK);
  const file = await openSqlite(path);
  try {
    file.exec('pragma busy_timeout = 0; begin exclusive');
  } catch (error) {
    file.close();
    if (hasMessage(error, 'database is locked')) throw new DatabaseInUse(directory, { cause: error });
    // SQLite does not name the file.
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the lock file ${path} cannot be used: ${reason}`, { cause: error });
  }
  return () => file.close();
}

/**
 * True if another process has locked the directory. Takes the lock for a moment itself, so a server that starts in
 * this moment is refused: call it rarely.
 */
export async function isDirectoryInUse(directory: string): Promise<boolean> {
  try {
    const release = await lockDirectory(directory);
    release();
    return false;
  } catch (error) {
    if (error instanceof DatabaseInUse) return true;
    throw error;
  }
}

/** Thrown if another process has locked the data directory. */
export class DatabaseInUse extends Error {
  constructor(directory: string, options?: ErrorOptions) {
    super(
      `${directory} is in use by another Jetbridge. Stop it, or point JETBRIDGE_DATA at another folder.`,
      options,
    );
    this.name = 'DatabaseInUse';
  }
}

class EmbeddedDialect extends SqliteDialect {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    super({ database: file });
    this.#file = file;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateSqliteDriver({ database: this.#file });
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter();
  }
}

/** SQLite supports DDL in transactions. With this flag, Kysely applies each migration completely or not at all. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateSqliteDriver extends SqliteDriver {
  /**
   * Begins each transaction with the write lock. Otherwise a transaction that reads first may fail with SQLITE_BUSY at
   * its first write.
   */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /**
   * SQLite rolls back by itself when the disk is full. The caller must get that error, and not the one that no
   * transaction is active.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch (error) {
      if (!hasMessage(error, 'no transaction is active')) throw error;
    }
  }
}
