import { isObject } from './json.ts';
import type { Position, TravelStore } from './ports.ts';
import { event } from './resources/event.ts';
import { user } from './resources/user.ts';

/** So many events are read at once. */
const BATCH = 100;

/** Travelers who no longer exist and once had an address of a person, as far as events still tell. */
export async function formerTravelers(
  store: TravelStore,
  isAddress: (email: string) => boolean,
): Promise<string[]> {
  const named = new Set<string>();
  let from: Position | undefined;
  do {
    const edge = from && { after: from };
    const page = await store.pageFrom({ type: event.type, parentId: '', order: 'asc', limit: BATCH }, edge);
    for (const { doc } of page.resources) {
      const { data } = doc;
      if (!isObject(data) || data['type'] !== user.type) continue;
      const { id, email } = data;
      if (typeof id === 'string' && typeof email === 'string' && isAddress(email)) named.add(id);
    }
    from = page.next;
  } while (from);
  const existing = await store.read([...named].map((id) => ({ type: user.type, id })));
  for (const { id } of existing) named.delete(id);
  return [...named];
}
