import { sql } from 'kysely';
import type { Database } from '../../src/store/sql/database.ts';

/** Dumps the tables of the travel service's resources as text, for comparisons before and after a refused request. */
export async function dumpOf({ db }: Database): Promise<string> {
  const tables = await db.introspection.getTables();
  const contents = [];
  for (const name of tables.map((table) => table.name).toSorted()) {
    // The use of credentials and the request log may change in any case.
    if (!name.startsWith('travel') || /key|request|client|token/.test(name)) continue;
    contents.push(name, (await sql`select * from ${sql.table(name)}`.execute(db)).rows);
  }
  return JSON.stringify(contents);
}
