import { type Kysely, sql } from 'kysely';
import { parseJson } from '../sql/queries.ts';
import { personSearchKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';

/** The people whose keys one statement inserts. */
const BATCH = 1_000;

/**
 * Adds the keys by whose parts people are found, and puts deleted people into the index of the last change, along which people are
 * listed (docs/decisions/0059).
 */
export async function addPersonSearch(db: Kysely<Tables>): Promise<void> {
  await sql`drop index identity_last_modified`.execute(db);
  await sql`create index identity_last_modified on identity
    (account, connection_id, last_modified, id, active, deleted_at)`.execute(db);
  for (let after = ['', '', '']; ; ) {
    const { rows } = await sql<Pick<Tables['identity'], 'account' | 'connection_id' | 'id' | 'desired'>>`
      select account, connection_id, id, desired from identity
      where (account, connection_id, id) > (${sql.join(after)})
      order by account, connection_id, id limit ${sql.lit(BATCH)}`.execute(db);
    const last = rows.at(-1);
    if (!last) return;
    after = [last.account, last.connection_id, last.id];
    const keys = rows.map(({ account, connection_id, id, desired }) => ({
      ...{ account, connection_id, identity_id: id },
      email_key: personSearchKey(parseJson(desired)),
    }));
    await db.insertInto('identity_email').values(keys).execute();
  }
}
