import type { Transaction } from 'kysely';
import { prepared } from './prepared.ts';
import type { Tables } from './tables.ts';

/**
 * The turns of one transaction: it waits until no other writes the same type, so that what it reads after that stays
 * true until the commit, in any database, and what is created later has the higher number.
 */
export class Turns {
  readonly #tx: Transaction<Tables>;
  /** Numbers that came with a turn, and that nothing has yet. */
  readonly #unused = new Map<string, number>();

  constructor(tx: Transaction<Tables>) {
    this.#tx = tx;
  }

  /** Waits for these types; always in the same order, so that no two transactions wait for each other. */
  async await(types: string[]): Promise<void> {
    for (const type of [...new Set(types)].sort()) this.#unused.set(type, await this.#take(type));
  }

  /** The next number in the sequence of a type. */
  async number(type: string): Promise<number> {
    const unused = this.#unused.get(type);
    this.#unused.delete(type);
    return unused ?? this.#take(type);
  }

  async #take(type: string): Promise<number> {
    const { rows } = await takeTurn(this.#tx, { type });
    const [row] = rows;
    if (!row) throw new Error('a turn has no number');
    return row.seq;
  }
}

const takeTurn = prepared<{ type: string }, { seq: number }>((db, { type }) =>
  db
    .insertInto('travel_turn')
    .values({ type, seq: 1 })
    .onConflict((same) => same.column('type').doUpdateSet((row) => ({ seq: row('travel_turn.seq', '+', 1) })))
    .returning('seq'),
);
