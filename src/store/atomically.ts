import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/**
 * Does the work in one transaction, which is kept when it comes to one of the `kept` results and undone when it comes
 * to another, or fails. The work awaits nothing but its own queries and, where it is long, a breath for the rest of the
 * process: the whole database may be waiting for it.
 */
export async function atomically<T>(
  db: Kysely<Tables>,
  kept: readonly T[],
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  const undone: { result: T }[] = [];
  try {
    return await db.transaction().execute(async (tx) => {
      const result = await work(tx);
      if (kept.includes(result)) return result;
      undone.push({ result });
      throw new Undo();
    });
  } catch (error) {
    const [first] = undone;
    if (first && error instanceof Undo) return first.result;
    throw error;
  }
}

/** Makes the transaction roll back, and goes no further than the function above. */
class Undo extends Error {}
