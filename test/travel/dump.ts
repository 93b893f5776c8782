import { sql } from 'kysely';
import type { Database } from '../../src/store/database.ts';

/** Everything that the tables of the travel service's resources hold, as text: equal when nothing was stored. */
export async function dumpOf({ db }: Database): Promise<string> {
  const tables = await sql<{ name: string }>`
    select name from sqlite_master where type = 'table' and name like 'travel%' order by name`.execute(db);
  const contents = [];
  for (const { name } of tables.rows) {
    // Credentials note when they were used, and requests are logged, whatever becomes of them.
    if (/key|request|client|token/.test(name)) continue;
    contents.push(name, (await sql`select * from ${sql.table(name)}`.execute(db)).rows);
  }
  return JSON.stringify(contents);
}
