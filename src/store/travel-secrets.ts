import type { Kysely } from 'kysely';
import type { ResourceRef } from '../travel/ports.ts';
import type { Sealed } from './sealed.ts';
import type { Tables } from './tables.ts';

/** Keeps a secret of a resource; of those before, each ends at its time. */
export async function keepSecret(
  tx: Kysely<Tables>,
  sealed: Sealed,
  { ref: { type, id }, secret, othersEnd }: { ref: ResourceRef; secret: string; othersEnd: number },
): Promise<void> {
  await tx
    .updateTable('travel_secret')
    .set({ until: othersEnd })
    .where('type', '=', type)
    .where('id', '=', id)
    .where('until', 'is', null)
    .execute();
  await tx
    .insertInto('travel_secret')
    .values({ type, id, sealed: sealed.seal(secret, placeOf({ type, id })), until: null })
    .execute();
}

/** The secrets of a resource that hold at a time, the newest first; those that cannot be opened are left out. */
export async function secretsOf(
  db: Kysely<Tables>,
  sealed: Sealed,
  { ref: { type, id }, now }: { ref: ResourceRef; now: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('travel_secret')
    .select(['sealed', 'until'])
    .where('type', '=', type)
    .where('id', '=', id)
    .where((row) => row.or([row('until', 'is', null), row('until', '>', now)]))
    .execute();
  const endOf = ({ until }: { until: number | null }) => until ?? Number.MAX_SAFE_INTEGER;
  return rows
    .sort((one, other) => endOf(other) - endOf(one))
    .flatMap((row) => sealed.open(row.sealed, placeOf({ type, id })) ?? []);
}

/** Removes at most so many secrets that ended before a time. */
export async function expireSecrets(db: Kysely<Tables>, before: number, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('travel_secret')
    .where('sealed', 'in', (ended) =>
      ended.selectFrom('travel_secret').select('sealed').where('until', '<', before).limit(limit),
    )
    .where('until', '<', before)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

function placeOf({ type, id }: ResourceRef): string {
  return `${type}/${id}`;
}
