import type { ListedPerson } from '../../model/people.ts';
import type { ReconcileQueue } from '../../model/store-ports.ts';

/** Makes people due for an attempt now, page by page, and returns their number. A page has people of one connection. */
export async function reconcilePeople(
  queue: Pick<ReconcileQueue, 'markDirty'>,
  pages: AsyncIterable<ListedPerson[]>,
  now: () => number,
): Promise<number> {
  let count = 0;
  for await (const people of pages) {
    const [first] = people;
    const ids = people.map(({ id }) => id);
    if (first) await queue.markDirty(first.connection, ids, now());
    count += ids.length;
  }
  return count;
}
