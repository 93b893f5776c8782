import { CompiledQuery, Kysely, SqliteDialect } from 'kysely';
import { readScopes } from '../../src/store/connection-scopes.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { sqlite } from '../../src/store/sql/dialect.ts';
import { GroupCommit } from '../../src/store/sql/group-commit.ts';
import { migrate } from '../../src/store/sql/migrate.ts';
import { openSqlite, type SqliteFile } from '../../src/store/sql/sqlite-file.ts';
import type { Tables } from '../../src/store/sql/tables.ts';
import { connections as connectionNames } from '../histories/identity-providers.ts';

/** A database in memory that can be emptied. */
export interface MemoryDatabase extends Database {
  /** Puts the content back that the database had before the first event. */
  empty(): void;
  /** The number of statements so far that may have changed a table: while it stays, so does the content. */
  changes(table: keyof Tables): number;
  /** Returns the only row of a query. */
  readRow(sql: string, values: readonly string[]): Record<string, number | null>;
}

/** The travel account of both connections. */
export const ACCOUNT = 'travel';

/** Opens the database of a simulator, on which histories are played one after the other. */
export async function openSimulator(): Promise<MemoryDatabase> {
  return memoryDatabase(connectionNames.map((id) => ({ id, account: ACCOUNT })));
}

/** Opens a database in memory with these connections. A commit waits for no disk, so that no thread decides the order of events. */
async function memoryDatabase(
  connections: readonly { id: string; account: string }[],
): Promise<MemoryDatabase> {
  const { file, changes } = withCountedChanges(await openSqlite(':memory:'));
  file.exec('pragma foreign_keys = on; pragma temp_store = memory; pragma journal_mode = memory');
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: file }) });
  await migrate(db, { dialect: sqlite, place: 'memory', setting: 'JETBRIDGE_DATA', mayCreate: true });
  const scopes = await readScopes(db);
  const tables = await tableNames(db);
  const database: MemoryDatabase = {
    ...{ db, dialect: sqlite, transaction: new GroupCommit({ db, file }).run, scopes },
    scopeOf: (connection) => scopes.of(connection),
    isDuplicate: sqlite.isDuplicate,
    onUnavailable: () => {},
    probeWrite: async () => {},
    emptyLog: async () => true,
    ping: async () => {},
    close: () => db.destroy(),
    empty: () => {
      const changed = tables.filter((table) => changes(table) !== emptied.get(table));
      const copies = changed.map(
        (table) => `delete from main.${table}; insert into main.${table} select * from temp.empty_${table}`,
      );
      // Otherwise emptying one table would empty those that refer to it.
      file.exec(
        ['pragma foreign_keys = off; begin', ...copies, 'commit; pragma foreign_keys = on'].join('; '),
      );
      for (const table of changed) emptied.set(table, changes(table));
    },
    changes,
    readRow: (sql, values) => file.prepare(sql).all(values)[0] as Record<string, number | null>,
  };
  for (const connection of connections) await ensureConnection(database, connection);
  for (const table of tables) file.exec(`create temp table empty_${table} as select * from main.${table}`);
  const emptied = new Map(tables.map((table) => [table, changes(table)]));
  return database;
}

async function tableNames(db: Kysely<Tables>): Promise<string[]> {
  const query = `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'kysely_%'`;
  const { rows } = await db.executeQuery<{ name: string }>(CompiledQuery.raw(query));
  return rows.map(({ name }) => name);
}

/** The table after each of these words may be changed by the statement. */
const WRITTEN_TABLE = /(?:insert into|update|delete from) "?(\w+)/gi;

/** Returns the file, and the number of its statements that may have changed a table. */
function withCountedChanges(file: SqliteFile): { file: SqliteFile; changes(table: string): number } {
  const counts = new Map<string, number>();
  const written = new Map<string, string[]>();
  const tablesOf = (sql: string): string[] => {
    const known = written.get(sql) ?? [...sql.matchAll(WRITTEN_TABLE)].map(([, table = '']) => table);
    written.set(sql, known);
    return known;
  };
  const prepare: SqliteFile['prepare'] = (sql) => {
    for (const table of tablesOf(sql)) counts.set(table, (counts.get(table) ?? 0) + 1);
    return file.prepare(sql);
  };
  return { file: { ...file, prepare, syncLog: async () => {} }, changes: (table) => counts.get(table) ?? 0 };
}
