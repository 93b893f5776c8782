import { type Kysely, sql, type Transaction } from 'kysely';
import { tables } from '../migrations/index.ts';
import type { Database } from '../sql/database.ts';
import { type DatabaseLocation, displayLocation, openDatabase } from '../sql/open-database.ts';
import { compiledInsert, parseJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import { type Backup, BackupFault, type BackupHeader, readBackup } from './backup-file.ts';

type TableName = keyof typeof tables;

/**
 * Fills an empty database with a backup, which is read once before anything is changed, in one transaction. The next server finds that the
 * database was restored. A backup of an earlier version is restored, too: what tables have since is as if a replica of that version had
 * written the rows. Throws a BackupFault, and changes nothing, if the database is not empty or the backup cannot be used.
 */
export async function restoreBackup(location: DatabaseLocation, file: string): Promise<Backup> {
  const backup = await readBackup(file);
  requireKnown(backup.header, file);
  const database = await openDatabase(location, { exclusive: true });
  try {
    await database.transaction((tx) => fill(tx, database, { place: displayLocation(location), file }));
    await database.dialect.updateStatistics(database.db, tableNames);
  } finally {
    await database.close();
  }
  return backup;
}

const tableNames = Object.keys(tables) as TableName[];

/** A newer version may have added tables and columns. */
function requireKnown({ tables: stored, jetbridge }: BackupHeader, file: string): void {
  const isKnown = Object.entries(stored).every(
    ([table, columns]) =>
      table in tables && columns.every((column) => column in tables[table as TableName].columns),
  );
  if (!isKnown)
    throw new BackupFault(
      `${file} was made by version ${jetbridge} of Jetbridge. Restore it with that version.`,
    );
}

async function fill(
  tx: Transaction<Tables>,
  { dialect }: Database,
  { place, file }: { place: string; file: string },
): Promise<void> {
  // A server that starts meanwhile waits at its first look at the connections.
  if (dialect.isShared) await sql`lock table connection in access exclusive mode`.execute(tx);
  for (const table of tableNames) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(tx);
    if (rows.length > 0)
      throw new BackupFault(
        `${place} has data already. A backup is restored into an empty folder or database.`,
      );
  }
  await readBackup(file, async (table, lines, header) => {
    const columns = header.tables[table] ?? [];
    const rows = lines.map((line) => {
      const values = parseJson<unknown[]>(line);
      return Object.fromEntries(columns.map((column, index) => [column, values[index]]));
    });
    await inserts[table as TableName](tx, rows);
  });
  await tx.updateTable('database_record').set({ restored: 1 }).execute();
}

const inserts = Object.fromEntries(
  tableNames.map((table) => [
    table,
    compiledInsert((db, rows: object[]) =>
      (db as Kysely<never>).insertInto(table as never).values(rows as never),
    ),
  ]),
) as Record<TableName, (db: Kysely<Tables>, rows: readonly object[]) => Promise<unknown>>;
