import { sql } from 'kysely';
import type { Origin } from '../provisioning/identity.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import type { Database } from './database.ts';
import { batches, parseJson, toJson } from './queries.ts';

/**
 * Marks unclaimed identities as found by a filter of the IdP. Reads first, because most are claimed or marked. The commit does not
 * wait for the disk: an identity that loses its mark is held once more than needed.
 */
export async function markFound({ db, transaction }: Database, scope: Scope, ids: string[]): Promise<void> {
  for (const batch of batches(ids)) {
    const rows = await db
      .selectFrom('identity')
      .select(['id', 'origin'])
      .where(inScope(scope))
      .where('id', 'in', batch)
      .where('claimed', '=', sql.lit(0))
      .execute();
    const unmarked = rows.filter(({ origin }) => parseJson<Origin>(origin).found !== true);
    if (unmarked.length === 0) continue;
    await transaction(
      async (tx) => {
        for (const { id, origin } of unmarked)
          await tx
            .updateTable('identity')
            .set({ origin: toJson({ ...parseJson<Origin>(origin), found: true }) })
            .where(inScope(scope))
            .where('id', '=', id)
            .where('claimed', '=', 0)
            .where('origin', '=', origin)
            .execute();
      },
      { durable: false },
    );
  }
}
