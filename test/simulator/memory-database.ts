import { CompiledQuery, Kysely, SqliteDialect } from 'kysely';
import { readScopes } from '../../src/store/connection-scopes.ts';
import { ensureConnection } from '../../src/store/connections.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { sqlite } from '../../src/store/sql/dialect.ts';
import { GroupCommit } from '../../src/store/sql/group-commit.ts';
import { migrate } from '../../src/store/sql/migrate.ts';
import { openSqlite } from '../../src/store/sql/sqlite-file.ts';
import type { Tables } from '../../src/store/sql/tables.ts';
import { connections as connectionNames } from '../histories/identity-providers.ts';

/** A database in memory, whose whole content can be kept and put back. */
export interface MemoryDatabase extends Database {
  /** Keeps a copy of the present content under a name. */
  keep(name: string): void;
  /** Puts the content back that was kept under a name. */
  putBack(name: string): void;
  /** The number of rows that were changed so far: while it stays, so does the content. */
  changes(): number;
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
  const file = { ...(await openSqlite(':memory:')), syncLog: async () => {} };
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
  const copyAll = (from: (table: string) => string, to: (table: string) => string) => {
    const copies = tables.map(
      (table) => `delete from ${to(table)}; insert into ${to(table)} select * from ${from(table)}`,
    );
    file.exec(['begin', 'pragma defer_foreign_keys = on', ...copies, 'commit'].join('; '));
  };
  const counting = file.prepare('select total_changes() as changes');
  const kept = new Set<string>();
  const database: MemoryDatabase = {
    ...{ db, dialect: sqlite, transaction: new GroupCommit({ db, file }).run, scopes, migrated },
    scopeOf: (connection) => scopes.of(connection),
    isDuplicate: sqlite.isDuplicate,
    onUnavailable: () => {},
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
    changes: () => Number((counting.all([])[0] as { changes: number }).changes),
    putBack: (name) =>
      copyAll(
        (table) => `temp.${name}_${table}`,
        (table) => `main.${table}`,
      ),
  };
  for (const connection of connections) await ensureConnection(database, connection);
  return database;
}

async function tableNames(db: Kysely<Tables>): Promise<string[]> {
  const query = `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'kysely_%'`;
  const { rows } = await db.executeQuery<{ name: string }>(CompiledQuery.raw(query));
  return rows.map(({ name }) => name);
}
