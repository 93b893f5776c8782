import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { types } from 'node:util';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  Migrator,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
  sql,
} from 'kysely';
import type { ColumnTypes } from './migrations/column-types.ts';
import { migrations } from './migrations/index.ts';
import type { Tables } from './tables.ts';
import { StoreUnavailable } from './unavailable.ts';

/** The database and the few things that differ between its dialects. */
export interface Database {
  db: Kysely<Tables>;
  /**
   * Does work on one connection, for notes of our own that can be made again: what it commits survives the end of the
   * process at once, and a failure of power only from the next other commit on. Waiting for the disk is most of a write.
   */
  withRelaxedDurability<T>(db: Kysely<Tables>, work: (relaxed: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** True for a unique violation, of whatever constraint. */
  isDuplicate(error: unknown): boolean;
  /** Calls the listener with every fault of the disk, which the caller of the database gets as well. */
  onUnavailable(listener: (error: StoreUnavailable) => void): void;
  /** Commits a write that means nothing; rejects while the database cannot be written. */
  probeWrite(): Promise<void>;
  /**
   * Writes all that is in the write-ahead log into the database file and empties the log, so that no older page is left in it;
   * false while somebody still reads from the log.
   */
  emptyLog(): Promise<boolean>;
  /** Answers when the database can be read; rejects otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** What serves as JSON and as a 64-bit integer in the embedded database. */
const columnTypes: ColumnTypes = { json: 'text', time: 'integer' };

/**
 * Opens the embedded database in `directory`, which is made when missing, and migrates it. With `exclusive` a second
 * process that asks for the same is refused with a clear message, as long as this one lives.
 */
export async function openEmbedded(directory: string, exclusive: boolean): Promise<Database> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const file of [DATABASE, LOCK]) createPrivateFile(join(directory, file));
  const release = exclusive ? await lockDirectory(directory) : () => {};
  try {
    const listeners: ((error: StoreUnavailable) => void)[] = [];
    const { db, sqlite } = await openMigrated(join(directory, DATABASE), (error) => {
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

/** Whether a folder has a database already: looking for one makes none. */
export function hasDatabase(directory: string): boolean {
  return existsSync(join(directory, DATABASE));
}

const DATABASE = 'jetbridge.db';
const LOCK = 'jetbridge.lock';
/** More than the write of a user, in bytes: a small write may find a place on a disk that takes nothing else. */
const PROBE_BYTES = 131_072;

/** Makes a file that only its owner reads, as it tells who travels where; what SQLite puts beside it gets the same mode. */
function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
}

/** A commit that is not synchronised is in the log of the database all the same, and that is read after a crash. */
function runWithRelaxedDurability<T>(
  sqlite: Sqlite,
  db: Kysely<Tables>,
  work: (relaxed: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  // There is one connection, and while it is held nobody else writes.
  return db.connection().execute(async (one) => {
    sqlite.exec('pragma synchronous = normal');
    try {
      return await work(one);
    } finally {
      sqlite.exec('pragma synchronous = full');
    }
  });
}

type Sqlite = Awaited<ReturnType<typeof openSqlite>>;

async function openMigrated(
  file: string,
  onUnavailable: (error: StoreUnavailable) => void,
): Promise<{ db: Kysely<Tables>; sqlite: Sqlite }> {
  const sqlite = await openSqlite(file, (error) => {
    const unavailable = toUnavailable(error);
    if (unavailable) onUnavailable(unavailable);
    return unavailable ?? error;
  });
  try {
    sqlite.exec(
      'pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma secure_delete = on',
    );
    const db = new Kysely<Tables>({ dialect: new ImmediateSqliteDialect({ database: sqlite }) });
    await migrate(db);
    return { db, sqlite };
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** An exclusive transaction on a file of its own: the operating system ends it with the process, so it cannot go stale. */
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

/** Whether another process serves from the directory now. Asked rarely: a server that starts at that very moment is refused. */
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

/** Another process serves from the same directory. */
export class DatabaseInUse extends Error {
  constructor(directory: string, options?: ErrorOptions) {
    super(
      `${directory} is in use by another Jetbridge. Stop it, or point JETBRIDGE_DATA at another folder.`,
      options,
    );
    this.name = 'DatabaseInUse';
  }
}

async function migrate(db: Kysely<Tables>): Promise<void> {
  const provider = { getMigrations: async () => migrations(columnTypes) };
  const { error } = await new Migrator({ db, provider }).migrateToLatest();
  if (error) throw error;
}

/** Transactions take the write lock at once: one that starts by reading cannot fail with "busy" when it comes to write. */
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

/** SQLite changes tables in transactions, too: told so, a migration is made wholly or not at all, whenever the process dies. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateSqliteDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  /** SQLite rolls back by itself when the disk is full; what the caller must learn is that, not that nothing is left to undo. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch (error) {
      if (!hasMessage(error, 'no transaction is active')) throw error;
    }
  }
}

/** The faults that pass when the disk is mended, by SQLite's message, and what each means. */
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

/** By the message: SQLite's drop-in leaves the error code out of some errors. */
function hasMessage(error: unknown, text: string): boolean {
  return types.isNativeError(error) && error.message.includes(text);
}

/** The part of the `node:sqlite` interface that is used; `@photostructure/sqlite` has the same. */
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

/** The error to throw in place of one of SQLite's. */
type ErrorTranslator = (error: unknown) => unknown;

/** How many prepared statements are kept of each generation; a bound, as the text of a query grows with its `in` lists. */
const STATEMENTS_PER_GENERATION = 200;

/**
 * Opens an SQLite file in the shape Kysely's dialect wants: Node's own module from 22.13 on, else the drop-in whose
 * binaries are inside its package. Prepared statements are kept, which halves the cost of a look-up.
 */
export async function openSqlite(
  file: string,
  translate: ErrorTranslator = (error) => error,
): Promise<SqliteDatabase & { exec(sql: string): void }> {
  const database = await openFile(file);
  // Those asked since the last change of generations, and those before: rare queries never push out the frequent ones.
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
  // A variable, so that Node 20, whose types lack the module, compiles the import.
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
