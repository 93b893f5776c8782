import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { types } from 'node:util';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
  sql,
} from 'kysely';
import { migrate } from './migrate.ts';
import type { ColumnTypes } from './migrations/column-types.ts';
import type { Tables } from './tables.ts';
import { StoreUnavailable } from './unavailable.ts';

/** An open database, with the operations that differ between SQLite and other databases. */
export interface Database {
  db: Kysely<Tables>;
  /**
   * Runs work on a connection whose commits do not wait for the disk. After a crash of the process, such commits are
   * still there; after a power failure, those since the last synced commit may be lost. Use it for records that can be
   * created again: waiting for the disk is most of the cost of a write.
   */
  withRelaxedDurability<T>(db: Kysely<Tables>, work: (relaxed: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** True for a violation of any unique constraint. */
  isDuplicate(error: unknown): boolean;
  /** Calls the listener for every disk fault. The caller of the failed query gets the error too. */
  onUnavailable(listener: (error: StoreUnavailable) => void): void;
  /** Commits a meaningless write. Rejects while the database cannot be written. */
  probeWrite(): Promise<void>;
  /**
   * Copies the write-ahead log into the database file and truncates the log, so that no deleted page stays in it.
   * Returns false while a reader still uses the log.
   */
  emptyLog(): Promise<boolean>;
  /** Resolves if the database can be read; rejects otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** SQLite compares text by code point, and its integers have 64 bits. */
const columnTypes: ColumnTypes = { orderedText: 'text', bigint: 'integer' };

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
    const { db, sqlite } = await openMigrated(directory, (error) => {
      for (const listener of listeners) listener(error);
    });
    return {
      db,
      withRelaxedDurability: (on, work) => runWithRelaxedDurability(sqlite, on, work),
      isDuplicate: (error) => hasMessage(error, 'UNIQUE constraint failed'),
      onUnavailable: (listener) => void listeners.push(listener),
      probeWrite: async () => {
        const content = ' '.repeat(PROBE_BYTES);
        await sql`insert or replace into write_probe (id, content) values (1, ${content})`.execute(db);
      },
      emptyLog: async () => {
        const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db);
        return rows[0]?.busy === 0;
      },
      ping: async () => {
        await db.selectFrom('connection').select('id').limit(1).execute();
      },
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

/** True if the directory contains a database. Does not create one. */
export function hasDatabase(directory: string): boolean {
  return existsSync(join(directory, DATABASE));
}

const DATABASE = 'jetbridge.db';
const LOCK = 'jetbridge.lock';
/**
 * Size of the probe write in bytes, larger than the write of a user: a full disk may still have room for a smaller
 * write.
 */
const PROBE_BYTES = 131_072;

/**
 * Creates a file that only its owner can read, since the database holds personal data. SQLite gives its side files
 * the same mode.
 */
function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}

/**
 * Runs work without syncing commits to disk. Such a commit is written to SQLite's log file, where it survives a crash
 * of the process.
 */
function runWithRelaxedDurability<T>(
  sqlite: Sqlite,
  db: Kysely<Tables>,
  work: (relaxed: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  // SQLite has one connection. While this call holds it, no other write runs.
  return db.connection().execute(async (connection) => {
    sqlite.exec('pragma synchronous = normal');
    try {
      return await work(connection);
    } finally {
      sqlite.exec('pragma synchronous = full');
    }
  });
}

type Sqlite = Awaited<ReturnType<typeof openSqlite>>;

async function openMigrated(
  directory: string,
  onUnavailable: (error: StoreUnavailable) => void,
): Promise<{ db: Kysely<Tables>; sqlite: Sqlite }> {
  const sqlite = await openSqlite(join(directory, DATABASE), (error) => {
    const unavailable = toUnavailable(error);
    if (unavailable) onUnavailable(unavailable);
    return unavailable ?? error;
  });
  try {
    sqlite.exec(
      'pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = on',
    );
    const db = new Kysely<Tables>({ dialect: new ImmediateSqliteDialect({ database: sqlite }) });
    await migrate(db, { types: columnTypes, place: directory, setting: 'JETBRIDGE_DATA' });
    return { db, sqlite };
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/**
 * Holds an exclusive transaction on a separate lock file. The operating system releases it when the process ends, so
 * that the lock cannot become stale.
 */
async function lockDirectory(directory: string): Promise<() => void> {
  const file = await openSqlite(join(directory, LOCK));
  try {
    file.exec('pragma busy_timeout = 0; begin exclusive');
  } catch (error) {
    file.close();
    throw new DatabaseInUse(directory, { cause: error });
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

/**
 * Begins each transaction with the write lock. Otherwise a transaction that reads first may fail with SQLITE_BUSY at
 * its first write.
 */
class ImmediateSqliteDialect extends SqliteDialect {
  readonly #config: ConstructorParameters<typeof SqliteDialect>[0];

  constructor(config: ConstructorParameters<typeof SqliteDialect>[0]) {
    super(config);
    this.#config = config;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateSqliteDriver(this.#config);
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

/** Disk faults that end when the disk is repaired: the message of SQLite, and the reason shown to the operator. */
const diskFaults: [message: string, reason: string][] = [
  ['database or disk is full', 'the disk is full'],
  ['disk I/O error', 'the disk is full, a limit on the size of files is reached, or the disk fails'],
  ['attempt to write a readonly database', 'the database may only be read'],
  ['unable to open database file', 'a file of the database cannot be opened or made'],
];

function toUnavailable(error: unknown): StoreUnavailable | undefined {
  if (!types.isNativeError(error)) return undefined;
  const fault = diskFaults.find(([message]) => hasMessage(error, message));
  return fault && new StoreUnavailable(fault[1], { cause: error });
}

/** Compares the message, since some errors of `@photostructure/sqlite` have no error code. */
function hasMessage(error: unknown, text: string): boolean {
  return types.isNativeError(error) && error.message.includes(text);
}

/** The part of the `node:sqlite` interface in use; `@photostructure/sqlite` has the same. */
interface DatabaseSync {
  exec(sql: string): void;
  prepare(sql: string): StatementSync;
  close(): void;
}

interface StatementSync {
  columns(): unknown[];
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
}

/** Returns the error to throw in place of an error of SQLite. */
type ErrorTranslator = (error: unknown) => unknown;

/**
 * The number of prepared statements in each of the two parts of the cache. The cache must be limited, because `in`
 * lists of different lengths are different statements.
 */
const STATEMENTS_PER_GENERATION = 200;

/**
 * Opens an SQLite file in the form that Kysely's dialect expects. Uses `node:sqlite` from Node 22.13 on, before that
 * `@photostructure/sqlite`. Caches prepared statements, which halves the cost of a lookup.
 */
export async function openSqlite(
  file: string,
  translate: ErrorTranslator = (error) => error,
): Promise<SqliteDatabase & { exec(sql: string): void }> {
  const database = await openFile(file);
  // The cache has two parts: when `young` is full, it replaces `old`. Statements in frequent use are therefore never
  // removed.
  let young = new Map<string, SqliteStatement>();
  let old = new Map<string, SqliteStatement>();
  const keep = (sql: string) => {
    const statement = old.get(sql) ?? toKyselyStatement(database.prepare(sql), translate);
    if (young.size >= STATEMENTS_PER_GENERATION) [old, young] = [young, new Map()];
    young.set(sql, statement);
    return statement;
  };
  return {
    exec: (sql) => withTranslatedErrors(translate, () => database.exec(sql)),
    prepare: (sql) => young.get(sql) ?? withTranslatedErrors(translate, () => keep(sql)),
    close: () => {
      young.clear();
      old.clear();
      database.close();
    },
  };
}

async function openFile(file: string): Promise<DatabaseSync> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const builtIn = major > 22 || (major === 22 && minor >= 13);
  // The name is a variable, because the types of Node 20 do not contain this module.
  const name: string = builtIn ? 'node:sqlite' : '@photostructure/sqlite';
  const module = (await import(name)) as { DatabaseSync: new (path: string) => DatabaseSync };
  return new module.DatabaseSync(file);
}

function withTranslatedErrors<T>(translate: ErrorTranslator, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translate(error);
  }
}

function toKyselyStatement(statement: StatementSync, translate: ErrorTranslator): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => withTranslatedErrors(translate, () => statement.all(...parameters)),
    run: (parameters) => withTranslatedErrors(translate, () => statement.run(...parameters)),
    iterate: (parameters) => statement.iterate(...parameters),
  };
}
