import { CompiledQuery, Kysely, SqliteDialect } from 'kysely';
import { readScopes } from '../../src/store/connection-scopes.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { sqlite } from '../../src/store/sql/dialect.ts';
import { GroupCommit } from '../../src/store/sql/group-commit.ts';
import { migrate } from '../../src/store/sql/migrate.ts';
import { openSqlite, type SqliteFile } from '../../src/store/sql/sqlite-file.ts';
import type { Tables } from '../../src/store/sql/tables.ts';
import { connections as connectionNames } from './people.ts';

/** A database in memory, whose whole content can be kept and put back. */
export interface MemoryDatabase extends Database {
  /** Keeps a copy of the present content under a name. */
  keep(name: string): void;
  /** Puts the content back that was kept under a name. */
  putBack(name: string): void;
  /** The number of statements so far that may have changed a table: while it stays, so does the content. */
  changes(table: keyof Tables): number;
  /** Returns the only row of a query. */
  readRow(sql: string, values: readonly string[]): Record<string, number | null>;
}

/** The travel account of both connections. */
export const ACCOUNT = 'travel';
/** The name under which the database keeps its content before the first event. */
export const EMPTY = 'empty';

/** Opens the database of a simulator, on which histories are played one after the other. */
export async function openSimulator(): Promise<MemoryDatabase> {
  const database = await memoryDatabase(connectionNames.map((id) => ({ id, account: ACCOUNT })));
  database.keep(EMPTY);
  return database;
}

/** Opens a database in memory with these connections. A commit waits for no disk, so that no thread decides the order of events. */
async function memoryDatabase(
  connections: readonly { id: string; account: string }[],
): Promise<MemoryDatabase> {
  const { file, changes, countChange } = withCountedChanges(await openSqlite(':memory:'));
  file.exec('pragma foreign_keys = on; pragma temp_store = memory; pragma journal_mode = memory');
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: file }) });
  const migrated = await migrate(db, {
    dialect: sqlite,
    place: 'memory',
    setting: 'JETBRIDGE_DATA',
    mayCreate: true,
  });
  const scopes = await readScopes(db);
  const tables = await tableNames(db);
  const kept = new Set<string>();
  const copyAll = (from: (table: string) => string, to: (table: string) => string) => {
    const copies = tables.map(
      (table) => `delete from ${to(table)}; insert into ${to(table)} select * from ${from(table)}`,
    );
    // Otherwise emptying one table would empty those that refer to it.
    file.exec(['pragma foreign_keys = off; begin', ...copies, 'commit; pragma foreign_keys = on'].join('; '));
  };
  const database: MemoryDatabase = {
    ...{ db, dialect: sqlite, transaction: new GroupCommit({ db, file }).run, scopes, migrated },
    scopeOf: (connection) => scopes.of(connection),
    isDuplicate: sqlite.isDuplicate,
    onUnavailable: () => {},
    onTransaction: () => {},
    probeWrite: async () => {},
    emptyLog: async () => true,
    ping: async () => {},
    close: () => db.destroy(),
    keep: (name) => {
      if (!kept.has(name))
        for (const table of tables)
          file.exec(`create temp table ${name}_${table} as select * from main.${table} limit 0`);
      kept.add(name);
      copyAll(
        (table) => `main.${table}`,
        (table) => `temp.${name}_${table}`,
      );
    },
    putBack: (name) => {
      copyAll(
        (table) => `temp.${name}_${table}`,
        (table) => `main.${table}`,
      );
      for (const table of tables) countChange(table);
    },
    changes,
    readRow: (sql, values) => file.prepare(sql).all(values)[0] as Record<string, number | null>,
  };
  for (const connection of connections) await ensureConnection(database, connection);
  return database;
}

async function tableNames(db: Kysely<Tables>): Promise<string[]> {
  const query = `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'kysely_%'`;
  const { rows } = await db.executeQuery<{ name: string }>(CompiledQuery.raw(query));
  return rows.map(({ name }) => name);
}

/** The table after each of these words may be changed by the statement. */
const WRITTEN_TABLE = /(?:insert into|update|delete from) "?(\w+)/gi;

/** Returns the file, with the numbers of statements that may have changed its tables. */
function withCountedChanges(file: SqliteFile) {
  const counts = new Map<string, number>();
  const written = new Map<string, string[]>();
  const tablesOf = (sql: string): string[] => {
    const known = written.get(sql);
    if (known) return known;
    const tables = [...sql.matchAll(WRITTEN_TABLE)].map(([, table = '']) => table);
    written.set(sql, tables);
    return tables;
  };
  const changes = (table: string) => counts.get(table) ?? 0;
  const countChange = (table: string) => counts.set(table, changes(table) + 1);
  const prepare: SqliteFile['prepare'] = (sql) => {
    for (const table of tablesOf(sql)) countChange(table);
    return file.prepare(sql);
  };
  return { file: { ...file, prepare, syncLog: async () => {} }, changes, countChange };
}
