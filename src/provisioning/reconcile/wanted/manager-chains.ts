import type { Identity } from '../../../model/identity.ts';
import type { ReferenceRow } from '../../../model/store-ports.ts';

/** The result of resolving one reference. */
export interface FoundTarget {
  raw: string;
  target: Identity | undefined;
  /** The travel user to which the reference resolved before, if that traveler or its identity no longer exists. */
  lost: string | undefined;
  /** The identity to which the reference resolved before, if it no longer exists. It is remembered: see `isReplacementFor`. */
  former: string | undefined;
  /** True if the value, or the traveler, is that of another person now. */
  isReplaced: boolean;
  /** True if the value names several active users. */
  isAmbiguous: boolean;
}

/** The targets that the references of an identity were resolved to, and the rows that say so. */
export interface FoundReferences {
  found: FoundTarget[];
  linked: ReferenceRow[];
}

/** Removes the links that would close a cycle of managers. */
export async function withoutCycles(
  readRows: ReadRows,
  id: string,
  { found, linked }: FoundReferences,
): Promise<ReferenceRow[]> {
  const rows: ReferenceRow[] = [];
  for (const [index, row] of linked.entries()) {
    const { travelId } = found[index]?.target ?? {};
    const isLink = row.target !== undefined && travelId !== undefined && row.travelId === travelId;
    const closesCycle = isLink && (await managerChain(readRows, row.target)).includes(id);
    rows.push(closesCycle ? { ...row, travelId: undefined } : row);
  }
  return rows;
}

/** The longest chain of managers that is followed. Longer ones exist only by mistake, and each link costs a lookup. */
const LONGEST_CHAIN = 1_000;

/** Reads the reference rows of one identity. */
export type ReadRows = (id: string) => Promise<ReferenceRow[]>;

/** Returns the id of the manager's identity: the target of the first reference that is resolved to a traveler. */
export function managerOf(rows: ReferenceRow[]): string | undefined {
  return rows.find(({ travelId }) => travelId !== undefined)?.target;
}

/** The ids of an identity, its manager, the manager's manager and so on, each once. */
export async function managerChain(readRows: ReadRows, id: string | undefined): Promise<string[]> {
  const chain = new Set<string>();
  let next = id;
  while (next !== undefined && !chain.has(next) && chain.size < LONGEST_CHAIN) {
    chain.add(next);
    next = managerOf(await readRows(next));
  }
  return [...chain];
}
