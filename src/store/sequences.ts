import type { Kysely, Transaction } from 'kysely';
import { compiledQuery } from './queries.ts';
import type { Tables } from './tables.ts';

/**
 * The turns of one transaction: it waits until no other writes the same type, so that what it reads after that stays
 * true until the commit, in any database, and what is created later has the higher number.
 */
export class TypeSequences {
  readonly #tx: Transaction<Tables>;
  /** Numbers that were taken, and that nothing has yet. */
  readonly #unused = new Map<string, { next: number; last: number }>();
  /** How many to take at once: who needs many, as sample data do, asks seldom. */
  readonly #portion = new Map<string, number>();
  readonly #latest = new Map<string, number>();

  constructor(tx: Transaction<Tables>) {
    this.#tx = tx;
  }

  /** Waits for these types; always in the same order, so that no two transactions wait for each other. */
  async lockTypes(types: string[]): Promise<void> {
    for (const type of [...new Set(types)].sort()) this.#unused.set(type, await this.#take(type));
  }

  /** The next number in the sequence of a type. */
  async nextNumber(type: string): Promise<number> {
    const numbers = this.#unused.get(type) ?? (await this.#take(type));
    if (numbers.next === numbers.last) this.#unused.delete(type);
    else this.#unused.set(type, { ...numbers, next: numbers.next + 1 });
    return numbers.next;
  }

  /** The time of a type's last resource, once its turn was taken: what comes now comes after it, and is the last itself. */
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

/** Takes numbers of a sequence that nobody else gets, in whatever database, and its turn; answers the last of them. */
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
