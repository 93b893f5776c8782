import type { ReconcileQueue } from '../store-ports.ts';
import { listPeople, type People, type PeopleFilter } from './people.ts';

/** Makes everybody whom a filter selects due for an attempt now, page by page, and returns their number. */
export async function reconcilePeople(
  { people, reconcileQueue }: { people: People; reconcileQueue: Pick<ReconcileQueue, 'markDirty'> },
  { connections, filter }: { connections: string[]; filter: PeopleFilter },
  now: () => number,
): Promise<number> {
  let count = 0;
  for (const connection of connections)
    for await (const page of listPeople(people, [connection], filter)) {
      const ids = page.map(({ id }) => id);
      await reconcileQueue.markDirty(connection, ids, now());
      count += ids.length;
    }
  return count;
}
