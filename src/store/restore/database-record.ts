import { randomUUID } from 'node:crypto';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Database } from '../sql/database.ts';
import { compiledQuery } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import { makeNewlyImported } from './restored-people.ts';

/**
 * What a database says about itself. It is compared with what is known outside of it: a database that is behind was restored
 * (docs/architecture.md, A restored backup).
 */
export interface DatabaseRecord {
  /** The identity of the database. */
  database: string;
  /** The number of writes of IdPs, which never falls. */
  writes: number;
  /** The last time at which a server recorded itself, by `Runtime.now`. */
  aliveAt: number;
  /** True if a backup was restored into the database, and people are not newly imported yet. */
  isRestored: boolean;
}

/** Reads the record; makes one for a database that has none yet. */
export async function ensureDatabaseRecord({ db }: Database, now: number): Promise<DatabaseRecord> {
  await db
    .insertInto('database_record')
    .values({ id: 1, database_id: randomUUID(), writes: 0, alive_at: now, restored: 0 })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return readDatabaseRecord(db);
}

const selectRecord = compiledQuery((db) =>
  db.selectFrom('database_record').select(['database_id', 'writes', 'alive_at', 'restored']),
);

export async function readDatabaseRecord(db: Kysely<Tables>): Promise<DatabaseRecord> {
  const [row] = (await selectRecord(db, {})).rows;
  if (!row) throw new Error('The database has no record of itself.');
  return toRecord(row);
}

function toRecord(row: Omit<Selectable<Tables['database_record']>, 'id'>): DatabaseRecord {
  return {
    ...{ database: row.database_id, writes: Number(row.writes), aliveAt: Number(row.alive_at) },
    isRestored: row.restored === 1,
  };
}

/**
 * Adds writes to the record, and the time. Returns the record afterwards; undefined, without a change, if the database is behind the known
 * one. The commit is durable: a count that is known outside must not be lost by a power failure.
 */
export async function addWrites(
  { transaction }: Database,
  { writes, now, known }: { writes: number; now: number; known: Pick<DatabaseRecord, 'database' | 'writes'> },
): Promise<DatabaseRecord | undefined> {
  const row = await transaction((tx) =>
    tx
      .updateTable('database_record')
      .set((record) => ({ writes: record('writes', '+', sql.val(writes)), alive_at: sql<number>`${now}` }))
      .where('database_id', '=', known.database)
      .where('writes', '>=', sql<number>`${known.writes}`)
      .returning(['database_id', 'writes', 'alive_at', 'restored'])
      .executeTakeFirst(),
  );
  return row && toRecord(row);
}

/**
 * Makes everybody in a database that was restored newly imported, if it is marked so or behind the known one. In the same transaction the
 * mark ends, and the database takes the identity and a higher count than the known ones: it is found once. Returns false if another
 * process has done that already.
 */
export async function followRestore(
  { transaction }: Database,
  known: Pick<DatabaseRecord, 'database' | 'writes'>,
  now: number,
): Promise<boolean> {
  return transaction(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('database_record')
      .set((record) => ({
        restored: 0,
        database_id: known.database,
        writes: sql<number>`case when ${record.ref('writes')} > ${known.writes} then ${record.ref('writes')} else ${known.writes} end + 1`,
      }))
      .where((record) =>
        record.or([
          record('restored', '=', 1),
          record('database_id', '<>', known.database),
          record('writes', '<', sql<number>`${known.writes}`),
        ]),
      )
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await makeNewlyImported(tx, now);
    // An import shows what has become of the travelers since the backup.
    await tx.updateTable('background_task').set({ requested: 1 }).where('kind', '=', 'import').execute();
    return true;
  });
}
