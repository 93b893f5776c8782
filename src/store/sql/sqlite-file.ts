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

/** The number of prepared statements that are kept. It is limited, because `in` lists of different lengths are different statements. */
const MAX_STATEMENTS = 400;

/**
 * Opens an SQLite file in the form that Kysely's dialect expects. Uses `node:sqlite` from Node 22.13 on, before that
 * `@photostructure/sqlite`. Keeps prepared statements.
 */
export async function openSqlite(
  file: string,
  translate: ErrorTranslator = (error) => error,
): Promise<SqliteFile> {
  const database = await openFile(file);
  /** The statement that was not used for the longest time comes first. */
  const statements = new Map<string, SqliteStatement>();
  const prepare = (sql: string) => {
    const statement = statements.get(sql) ?? toKyselyStatement(database.prepare(sql), translate);
    statements.delete(sql);
    statements.set(sql, statement);
    const [oldest = ''] = statements.keys();
    if (statements.size > MAX_STATEMENTS) statements.delete(oldest);
    return statement;
  };
  let executed = 0;
  let log: Promise<FileHandle> | undefined;
  return {
    exec: (sql) => withTranslatedErrors(translate, () => database.exec(sql)),
    prepare: (sql) => {
      executed += 1;
      return withTranslatedErrors(translate, () => prepare(sql));
    },
    executed: () => executed,
    syncLog: async () => {
      log ??= open(`${file}-wal`, 'r+');
      await (await log).datasync();
    },
    close: () => {
      log?.then((handle) => handle.close()).catch(() => {});
      statements.clear();
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
  const readNames = () => statement.columns().map(({ name }) => name);
  // A row costs a quarter less as an array that becomes an object here. Node has arrays from 22.16 on.
  statement.setReturnArrays?.(true);
  const toRow = statement.setReturnArrays ? rowMaker(readNames) : (row: unknown) => row;
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => withTranslatedErrors(translate, () => statement.all(...parameters).map(toRow)),
    run: (parameters) => withTranslatedErrors(translate, () => statement.run(...parameters)),
    iterate: function* (parameters) {
      for (const row of statement.iterate(...parameters)) yield toRow(row);
    },
  };
}

/**
 * Returns a function that makes the row of an array of values. A statement with `*` gets more columns if a newer version adds them to the
 * table, from another process: SQLite then prepares the statement again by itself.
 */
function rowMaker(readNames: () => string[]): (values: unknown) => Record<string, unknown> {
  let names = readNames();
  return (array) => {
    const values = array as unknown[]; // See `setReturnArrays`.
    if (values.length !== names.length) names = readNames();
    const row: Record<string, unknown> = {};
    for (const [index, name] of names.entries()) row[name] = values[index];
    return row;
  };
}

/** The part of the `node:sqlite` interface in use; `@photostructure/sqlite` has the same. */
interface DatabaseSync {
  exec(sql: string): void;
  prepare(sql: string): StatementSync;
  close(): void;
}

interface StatementSync {
  columns(): { name: string }[];
  /** Makes each row an array of its values. */
  setReturnArrays?(returnArrays: boolean): void;
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
}
