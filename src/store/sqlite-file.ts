import { type FileHandle, open } from 'node:fs/promises';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

/** An SQLite file in the form that Kysely's dialect expects. */
export interface SqliteFile extends SqliteDatabase {
  exec(sql: string): void;
  /** The number of queries so far. */
  executed(): number;
  /** Waits until the write-ahead log is on the disk. Unlike a commit with `synchronous = full`, it does not stop the process. */
  syncLog(): Promise<void>;
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
): Promise<SqliteFile> {
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
  let executed = 0;
  let log: Promise<FileHandle> | undefined;
  return {
    exec: (sql) => withTranslatedErrors(translate, () => database.exec(sql)),
    prepare: (sql) => {
      executed += 1;
      return young.get(sql) ?? withTranslatedErrors(translate, () => keep(sql));
    },
    executed: () => executed,
    syncLog: async () => {
      log ??= open(`${file}-wal`, 'r+');
      await (await log).datasync();
    },
    close: () => {
      log?.then((handle) => handle.close()).catch(() => {});
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
  const names = statement.columns().map(({ name }) => name);
  // Faster by a quarter than objects that the module makes: it sets each of their properties by a call into the engine.
  statement.setReturnArrays?.(true);
  const toRow = (row: unknown) => (Array.isArray(row) ? toObject(names, row) : row);
  return {
    reader: names.length > 0,
    all: (parameters) => withTranslatedErrors(translate, () => statement.all(...parameters).map(toRow)),
    run: (parameters) => withTranslatedErrors(translate, () => statement.run(...parameters)),
    iterate: function* (parameters) {
      for (const row of statement.iterate(...parameters)) yield toRow(row);
    },
  };
}

function toObject(names: string[], values: unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  let index = 0;
  for (const name of names) {
    row[name] = values[index];
    index += 1;
  }
  return row;
}

/** The part of the `node:sqlite` interface in use; `@photostructure/sqlite` has the same. */
interface DatabaseSync {
  exec(sql: string): void;
  prepare(sql: string): StatementSync;
  close(): void;
}

interface StatementSync {
  columns(): { name: string }[];
  /** Missing in the first versions of the built-in module. Without it, rows are objects. */
  setReturnArrays?(enabled: boolean): void;
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
}
