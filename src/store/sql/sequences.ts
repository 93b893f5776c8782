import { type Kysely, sql, type Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/**
 * Locks types until the end of the transaction: a transaction that locks one of them waits for the commit, and its
 * later statements see what was committed. Always in the same order, so that two transactions cannot deadlock.
 */
export async function lockTypes(tx: Transaction<Tables>, types: string[]): Promise<void> {
  if (types.length === 0) return;
  await tx
    .insertInto('travel_turn')
    .values([...new Set(types)].sort().map((type) => ({ type, seq: 0, latest: 0 })))
    .onConflict((same) => same.column('type').doUpdateSet((row) => ({ seq: row.ref('travel_turn.seq') })))
    .execute();
}

/**
 * Takes consecutive numbers of a feed and locks the feed until the end of the transaction: a number that is taken later
 * is higher and becomes visible later. Returns the first of the numbers.
 */
export async function takeFeedNumbers(tx: Kysely<Tables>, type: string, count: number): Promise<number> {
  return (await advanceFeed(tx, { type, count, time: 0 })).first;
}

/**
 * Takes numbers for entries of a feed that were created at these times. Returns the entries with their numbers and with
 * creation times that never decrease within the feed.
 */
export async function numberFeedEntries<Entry extends { created_at: number }>(
  tx: Transaction<Tables>,
  type: string,
  entries: Entry[],
): Promise<(Entry & { seq: number })[]> {
  const time = entries[0]?.created_at ?? 0;
  const { first, latest } = await advanceFeed(tx, { type, count: entries.length, time });
  let last = latest;
  const numbered = entries.map((entry, position) => {
    last = Math.max(last, entry.created_at);
    return { ...entry, created_at: last, seq: first + position };
  });
  if (last > latest) await advanceFeed(tx, { type, count: 0, time: last });
  return numbered;
}

async function advanceFeed(
  tx: Kysely<Tables>,
  { type, count, time }: { type: string; count: number; time: number },
): Promise<{ first: number; latest: number }> {
  const row = await tx
    .insertInto('travel_turn')
    .values({ type, seq: count, latest: time })
    .onConflict((same) =>
      same.column('type').doUpdateSet({
        seq: sql<number>`travel_turn.seq + excluded.seq`,
        latest: sql<number>`case when excluded.latest > travel_turn.latest then excluded.latest else travel_turn.latest end`,
      }),
    )
    .returning(['seq', 'latest'])
    .executeTakeFirstOrThrow();
  return { first: row.seq - count + 1, latest: row.latest };
}

/**
 * Returns a function that numbers resources in the order of their insertion by one process, without the database, by the times of their
 * creation. The numbers are microseconds since 1970, each at random within its millisecond: if two processes take the same number for
 * resources that are otherwise equal in order, the later insert violates a unique index and is repeated with another one.
 */
export function insertionNumbers(random: () => number): (createdAt: number) => number {
  let last = 0;
  return (createdAt) => {
    last = Math.max(last + 1, createdAt * MICROSECONDS + Math.floor(random() * MICROSECONDS));
    return last;
  };
}

/** Microseconds in a millisecond. */
const MICROSECONDS = 1000;
