import { randomInt } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { insertInBatches } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** A list with an exact total: the collection under a parent ('': none) or the entries of a counted index, by name. */
export interface CountedList {
  type: string;
  list: string;
  archived: number;
}

/** The changes of totals in one transaction. They are written once, at its end. */
export class CountChanges {
  readonly #changes = new Map<string, CountedList & { by: number }>();

  add({ type, list, archived }: CountedList, by: number): void {
    const key = JSON.stringify([type, list, archived]);
    const before = this.#changes.get(key)?.by ?? 0;
    this.#changes.set(key, { type, list, archived, by: before + by });
  }

  /** Writes the changes to one of the slots of each list, so that concurrent transactions seldom wait for each other. */
  async write(tx: Kysely<Tables>, slots: number): Promise<void> {
    const slot = slots === 1 ? 0 : randomInt(slots);
    // Sorted, so that two transactions that write the same slots cannot deadlock.
    const changes = [...this.#changes].sort(([one], [other]) => (one < other ? -1 : 1));
    const rows = changes.flatMap(([, { type, list, archived, by }]) =>
      by === 0 ? [] : [{ type, parent_id: list, archived, slot, count: by }],
    );
    await insertInBatches(rows, (some) =>
      tx
        .insertInto('travel_count')
        .values(some)
        .onConflict((same) =>
          same
            .columns(['type', 'parent_id', 'archived', 'slot'])
            .doUpdateSet({ count: sql<number>`travel_count.count + excluded.count` }),
        ),
    );
  }
}

/** Returns the number of resources in a list: all, or those that are archived or not. */
export async function readTotal(
  db: Kysely<Tables>,
  { type, list, archived }: { type: string; list: string; archived: boolean | undefined },
): Promise<number> {
  const counted = await db
    .selectFrom('travel_count')
    .select('count')
    .where('type', '=', type)
    .where('parent_id', '=', list)
    .$if(archived !== undefined, (all) => all.where('archived', '=', Number(archived)))
    .execute();
  return counted.reduce((sum, { count }) => sum + count, 0);
}
