import type { SqliteDatabase, SqliteStatement } from 'kysely';

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
type Translate = (error: unknown) => unknown;

/** How many prepared statements are kept of each generation; a bound, as the text of a query grows with its `in` lists. */
const STATEMENTS = 200;

/**
 * Opens an SQLite file in the shape Kysely's dialect wants: Node's own module from 22.13 on, else the drop-in whose
 * binaries are inside its package. Prepared statements are kept, which halves the cost of a look-up.
 */
export async function openSqlite(
  file: string,
  translate: Translate = (error) => error,
): Promise<SqliteDatabase & { exec(sql: string): void }> {
  const database = await openFile(file);
  // Those asked since the last change of generations, and those before: rare queries never push out the frequent ones.
  let young = new Map<string, SqliteStatement>();
  let old = new Map<string, SqliteStatement>();
  const keep = (sql: string) => {
    const statement = old.get(sql) ?? toKysely(database.prepare(sql), translate);
    if (young.size >= STATEMENTS) [old, young] = [young, new Map()];
    young.set(sql, statement);
    return statement;
  };
  return {
    exec: (sql) => translated(translate, () => database.exec(sql)),
    prepare: (sql) => young.get(sql) ?? translated(translate, () => keep(sql)),
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

function translated<T>(translate: Translate, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translate(error);
  }
}

function toKysely(statement: StatementSync, translate: Translate): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => translated(translate, () => statement.all(...parameters)),
    run: (parameters) => translated(translate, () => statement.run(...parameters)),
    iterate: (parameters) => statement.iterate(...parameters),
  };
}
