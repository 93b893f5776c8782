import { sql } from 'kysely';
import type { Database } from './database.ts';

/** Returns the database system with its version, and the size of the database in bytes. */
export async function databaseFacts({ db, dialect }: Database): Promise<{ name: string; bytes: number }> {
  const query = dialect.isShared
    ? sql<Facts>`select 'PostgreSQL ' || current_setting('server_version') as name, pg_database_size(current_database()) as bytes`
    : sql<Facts>`select 'SQLite ' || sqlite_version() as name, page_count * page_size as bytes
        from pragma_page_count(), pragma_page_size()`;
  const { rows } = await query.execute(db);
  return { name: rows[0]?.name ?? '', bytes: Number(rows[0]?.bytes ?? 0) };
}

interface Facts {
  name: string;
  bytes: number | string;
}
