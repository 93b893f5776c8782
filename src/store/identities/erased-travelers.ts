import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { batches } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** Returns the ids of the travelers whose person was erased. */
export async function findErasedTravelers(
  db: Kysely<Tables>,
  account: string,
  travelIds: readonly string[],
): Promise<Set<string>> {
  // Most accounts have none, and hashing all travelers of an import takes time.
  const some = db.selectFrom('erased_traveler').select('hash').where('account', '=', account).limit(1);
  if ((await some.execute()).length === 0) return new Set();
  const ids = new Map(travelIds.map((id) => [hashOf(account, id), id]));
  const erased = new Set<string>();
  for (const batch of batches([...ids.keys()])) {
    const rows = await db
      .selectFrom('erased_traveler')
      .select('hash')
      .where('account', '=', account)
      .where('hash', 'in', batch)
      .execute();
    for (const { hash } of rows) erased.add(ids.get(hash) ?? '');
  }
  return erased;
}

/** Records that the person of a traveler was erased. */
export async function recordErasedTraveler(
  db: Kysely<Tables>,
  { account, travelId, now }: { account: string; travelId: string; now: number },
): Promise<void> {
  await db
    .insertInto('erased_traveler')
    .values({ account, hash: hashOf(account, travelId), erased_at: now })
    .onConflict((same) => same.doNothing())
    .execute();
}

/** Only the hash is stored, because a travel id may be an email address. */
function hashOf(account: string, travelId: string): string {
  return createHash('sha256').update(`${account}\n${travelId}`).digest('hex');
}
