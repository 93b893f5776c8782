import { ensureConnection } from './connections.ts';
import { countServers } from './queues/replicas.ts';
import type { Database } from './sql/database.ts';
import { parseJson } from './sql/queries.ts';

/** The settings of a connection that was added on the admin page. */
export interface StoredSettings {
  id: string;
  /** As in the settings file; whoever uses them checks them. */
  settings: unknown;
}

type NewConnection = Parameters<typeof ensureConnection>[1];

/** Reads the settings of all connections that are stored in the database. */
export async function readStoredSettings({ db }: Pick<Database, 'db'>): Promise<StoredSettings[]> {
  const rows = await db
    .selectFrom('connection')
    .select(['id', 'settings'])
    .where('settings', 'is not', null)
    .orderBy('id')
    .execute();
  return rows.map(({ id, settings }) => ({ id, settings: parseJson<unknown>(settings ?? '') }));
}

/**
 * Stores a connection. Returns false if one of this name is stored, or a server serves one. A connection of earlier settings, whose people the
 * database still has, is served again.
 */
export async function addStoredConnection(
  database: Database,
  { connection, settings, now }: { connection: NewConnection; settings: object; now: number },
): Promise<boolean> {
  const served = await countServers(database.db, database.dialect, now);
  if (served.has(connection.id)) return false;
  await ensureConnection(database, connection, now);
  const { numUpdatedRows } = await database.db
    .updateTable('connection')
    .set({ settings: JSON.stringify(settings) })
    .where('id', '=', connection.id)
    .where('settings', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Replaces the settings of a stored connection, or ends them (null). Returns false if they are no longer those that were read. */
export async function replaceStoredSettings(
  { db }: Pick<Database, 'db'>,
  { id, settings: before }: StoredSettings,
  settings: object | null,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('connection')
    .set({ settings: settings && JSON.stringify(settings) })
    .where('id', '=', id)
    .where('settings', '=', JSON.stringify(before))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
