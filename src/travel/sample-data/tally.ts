import type { ResourceRef, StoredResource, TravelWriting } from '../ports.ts';

/** How much was written. */
export interface Tally {
  /** How many resources were made, of each type. */
  counts: Map<string, number>;
  /** Changes count, too. */
  total: number;
}

/** The same, with every resource counted that comes, and every change. */
export function counting(within: TravelWriting, tally: Tally): TravelWriting {
  const made = (type: string) => {
    tally.counts.set(type, (tally.counts.get(type) ?? 0) + 1);
    tally.total += 1;
  };
  return {
    ...within,
    insert: (resource, keys) => {
      made(resource.type);
      return within.insert(resource, keys);
    },
    append: (resource, topic) => {
      made(resource.type);
      return within.append(resource, topic);
    },
    replace: (resource, keys) => {
      tally.total += 1;
      return within.replace(resource, keys);
    },
  };
}

/** The furniture of the account, which is read for every event, and which no story changes. */
const FURNITURE = ['customField', 'customFieldOption'];

/** The same, reading the furniture once. It must not outlive its transaction, which has the turns of these types. */
export function remembering(within: TravelWriting): TravelWriting {
  const known = new Map<string, StoredResource>();
  const key = ({ type, id }: ResourceRef) => `${type} ${id}`;
  return {
    ...within,
    read: async (refs) => {
      const names = new Set(refs.map(key));
      const unknown = refs.filter((ref) => !known.has(key(ref)));
      const found = unknown.length === 0 ? [] : await within.read(unknown);
      const remembered = [...names].flatMap((name) => known.get(name) ?? []);
      for (const one of found) if (FURNITURE.includes(one.type)) known.set(key(one), one);
      return [...remembered, ...found];
    },
  };
}
