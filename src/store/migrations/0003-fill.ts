import type { Kysely } from 'kysely';
import { desiredColumns } from '../identity-row.ts';
import { parseJson } from '../queries.ts';
import type { Tables } from '../tables.ts';

const BATCH = 500;

/** Fills the columns that come from the desired state; in code, as databases do not fold all letters alike. */
export async function fillIdentities(any: Kysely<unknown>): Promise<void> {
  const db = any as Kysely<Tables>; // The tables are as today's code knows them from this migration on.
  let last = { connection_id: '', id: '' };
  for (;;) {
    const rows = await db
      .selectFrom('identity')
      .select(['connection_id', 'id', 'desired'])
      .where((row) => row(row.refTuple('connection_id', 'id'), '>', row.tuple(last.connection_id, last.id)))
      .orderBy('connection_id')
      .orderBy('id')
      .limit(BATCH)
      .execute();
    for (const { connection_id, id, desired } of rows) {
      const { active, display_name_key, extensions } = desiredColumns(parseJson(desired));
      await db
        .updateTable('identity')
        .set({ active, display_name_key, extensions })
        .where('connection_id', '=', connection_id)
        .where('id', '=', id)
        .execute();
    }
    const end = rows.at(-1);
    if (!end || rows.length < BATCH) return;
    last = end;
  }
}
