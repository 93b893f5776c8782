import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  CompiledQuery,
  type ConnectionProvider,
  type DatabaseConnection,
  DefaultConnectionProvider,
  DefaultQueryExecutor,
  type DialectAdapter,
  Kysely,
  type QueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  sql,
} from 'kysely';
import { readScopes } from './connection-scopes.ts';
import type { Database } from './database.ts';
import { hasMessage, sqlite } from './dialect.ts';
import { emptyLog, GroupCommit } from './group-commit.ts';
import { migrate } from './migrate.ts';
import { openSqlite, type SqliteFile } from './sqlite-file.ts';
import type { Tables } from './tables.ts';
import type { StoreUnavailable } from './unavailable.ts';

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
    const scopes = await readScopes(db);
    const transaction = new GroupCommit(open).run;
    return {
      db,
      dialect: sqlite,
      transaction,
      batch: (queries, options) =>
        transaction(async (tx) => {
          const results = [];
          for (const query of queries) results.push(await tx.executeQuery(query));
          return results;
        }, options),
      readBoth: async (first, second) => [await db.executeQuery(first), await db.executeQuery(second)],
      scopes,
      scopeOf: (connection) => scopes.of(connection),
      isDuplicate: sqlite.isDuplicate,
      onUnavailable: (listener) => void listeners.push(listener),
      probeWrite: async () => {
        const content = ' '.repeat(PROBE_BYTES);
        await sql`
          insert into write_probe (id, content) values (1, ${content})
          on conflict (id) do update set content = excluded.content`.execute(db);
      },
      emptyLog: () => emptyLog(db),
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

/** True if the directory contains a database. Does not create one. Throws if that cannot be told, as for a user who may not enter it. */
export function hasDatabaseFile(directory: string): boolean {
  return statSync(join(directory, DATABASE), { throwIfNoEntry: false }) !== undefined;
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
    const db = await createKysely(file);
    await migrate(db, { dialect: sqlite, place: directory, setting: 'JETBRIDGE_DATA', mayCreate: true });
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

/** Creates a Kysely whose queries outside of a transaction are executed at once if the connection is free. */
async function createKysely(file: SqliteFile): Promise<Kysely<Tables>> {
  const dialect = new SqliteDialect({ database: file });
  const driver = new ImmediateSqliteDriver({ database: file });
  await driver.init();
  const executor = new DirectExecutor(driver, dialect.createQueryCompiler());
  return new Kysely<Tables>({ config: { dialect }, dialect, driver, executor });
}

/**
 * Executes a query without acquiring the connection if no transaction holds it: a call of SQLite is synchronous. Acquiring it
 * takes several promises, a third of the time of a short query. Kysely uses its own executor with plugins.
 */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #driver: ImmediateSqliteDriver;
  readonly #compiler: QueryCompiler;

  constructor(driver: ImmediateSqliteDriver, compiler: QueryCompiler) {
    super(compiler, new TransactionalSqliteAdapter(), new DefaultConnectionProvider(driver));
    this.#driver = driver;
    this.#compiler = compiler;
  }

  override async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#driver.executeIfFree<Row>(query) ?? super.executeQuery<Row>(query);
  }

  /** Kysely calls this for a transaction, whose connection it holds already. */
  override withConnectionProvider(provider: ConnectionProvider): DefaultQueryExecutor {
    const held = { driver: this.#driver, adapter: this.adapter, compiler: this.#compiler };
    return new HeldConnectionExecutor(held, provider);
  }
}

interface HeldConnection {
  driver: ImmediateSqliteDriver;
  adapter: DialectAdapter;
  compiler: QueryCompiler;
}

/** Executes the queries of a transaction, each at once: there is only one connection, and the transaction holds it. */
class HeldConnectionExecutor extends DefaultQueryExecutor {
  readonly #held: HeldConnection;

  constructor(held: HeldConnection, provider: ConnectionProvider) {
    super(held.compiler, held.adapter, provider);
    this.#held = held;
  }

  override async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#held.driver.executeHeld<Row>(query);
  }

  override withConnectionProvider(provider: ConnectionProvider): DefaultQueryExecutor {
    return new HeldConnectionExecutor(this.#held, provider);
  }
}

/** SQLite supports DDL in transactions. With this flag, Kysely applies each migration completely or not at all. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateSqliteDriver extends SqliteDriver {
  /** The connection, while no transaction and no query holds it. */
  #free: DatabaseConnection | undefined;
  #held: DatabaseConnection | undefined;
  #isDestroyed = false;

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#held = await super.acquireConnection();
    this.#free = undefined;
    return this.#held;
  }

  override async releaseConnection(): Promise<void> {
    this.#free = this.#held;
    await super.releaseConnection();
  }

  override async destroy(): Promise<void> {
    this.#free = undefined;
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    await super.destroy();
  }

  /** Returns undefined if the connection is not free; the query must then wait for it. */
  executeIfFree<Row>(query: CompiledQuery): Promise<QueryResult<Row>> | undefined {
    return this.#free?.executeQuery<Row>(query);
  }

  /** For the holder of the connection. */
  executeHeld<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (!this.#held) throw new Error('The connection has not been acquired.');
    return this.#held.executeQuery<Row>(query);
  }

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
