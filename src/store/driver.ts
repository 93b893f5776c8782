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

/** How many prepared statements are kept; a bound, as the text of a query grows with its `in` lists. */
const STATEMENTS = 400;

/**
 * Opens an SQLite file in the shape Kysely's dialect wants: Node's own module from 22.13 on, else the drop-in whose
 * binaries are inside its package. Prepared statements are kept, which halves the cost of a look-up.
 */
export async function openSqlite(file: string): Promise<SqliteDatabase & { exec(sql: string): void }> {
  const database = await openFile(file);
  const statements = new Map<string, SqliteStatement>();
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = statements.get(sql) ?? toKysely(database.prepare(sql));
      // Set anew, it is the last to go: rare queries never push out the frequent ones.
      statements.delete(sql);
      if (statements.size >= STATEMENTS) statements.delete(statements.keys().next().value ?? '');
      statements.set(sql, statement);
      return statement;
    },
    close: () => {
      statements.clear();
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

function toKysely(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...parameters),
    run: (parameters) => statement.run(...parameters),
    iterate: (parameters) => statement.iterate(...parameters),
  };
}
