import type { Kysely, Transaction } from 'kysely';
import { compiledQuery } from './queries.ts';
import type { Tables } from './tables.ts';

/**
 * The sequences of a transaction, one for each resource type. Taking a number locks the type until the end of the
 * transaction: data that is read afterwards cannot change before the commit, and a resource that is created later gets
 * a higher number. Uses no sequence objects, so it works in every SQL database.
 */
export class TypeSequences {
  readonly #tx: Transaction<Tables>;
  /** Numbers that are allocated in the database but not used yet. */
  readonly #unused = new Map<string, { next: number; last: number }>();
  /**
   * How many numbers to allocate at once. The portion doubles each time, so that a large import rarely needs the
   * database.
   */
  readonly #portion = new Map<string, number>();
  readonly #latest = new Map<string, number>();

  constructor(tx: Transaction<Tables>) {
    this.#tx = tx;
  }

  /** Locks these types. Always in the same order, so that two transactions cannot deadlock. */
  async lockTypes(types: string[]): Promise<void> {
    for (const type of [...new Set(types)].sort()) this.#unused.set(type, await this.#take(type));
  }

  /** Returns the next number in the sequence of a type. */
  async nextNumber(type: string): Promise<number> {
    const numbers = this.#unused.get(type) ?? (await this.#take(type));
    if (numbers.next === numbers.last) this.#unused.delete(type);
    else this.#unused.set(type, { ...numbers, next: numbers.next + 1 });
    return numbers.next;
  }

  /**
   * Returns `time`, or the creation time of the type's last resource if that is later. Call it after the type is
   * locked: creation times then never decrease.
   */
  async nextCreationTime(type: string, time: number): Promise<number> {
    const latest =
      this.#latest.get(type) ?? (await selectLatestCreation(this.#tx, { type })).rows[0]?.created_at ?? 0;
    const now = Math.max(latest, time);
    this.#latest.set(type, now);
    return now;
  }

  async #take(type: string): Promise<{ next: number; last: number }> {
    const portion = this.#portion.get(type) ?? 1;
    this.#portion.set(type, Math.min(portion * 2, MAX_PORTION));
    const last = await allocateNumbers(this.#tx, type, portion);
    return { next: last - portion + 1, last };
  }
}

/** Allocates numbers of a sequence and locks it until the end of the transaction. Returns the last of the numbers. */
export async function allocateNumbers(tx: Kysely<Tables>, type: string, count: number): Promise<number> {
  const [row] = (await incrementSequence(tx, { type, portion: count })).rows;
  if (!row) throw new Error('a turn has no number');
  return row.seq;
}

const MAX_PORTION = 64;

const incrementSequence = compiledQuery<{ type: string; portion: number }, { seq: number }>(
  (db, { type, portion }) =>
    db
      .insertInto('travel_turn')
      .values({ type, seq: portion })
      .onConflict((same) =>
        same.column('type').doUpdateSet((row) => ({ seq: row('travel_turn.seq', '+', portion) })),
      )
      .returning('seq'),
);

const selectLatestCreation = compiledQuery<{ type: string }, { created_at: number }>((db, { type }) =>
  db
    .selectFrom('travel_resource')
    .select('created_at')
    .where('type', '=', type)
    .where('parent_id', '=', '')
    .orderBy('created_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(1),
);
