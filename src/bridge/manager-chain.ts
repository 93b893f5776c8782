import type { ReferenceRow } from './ports.ts';

/** How far a chain of managers is followed. Longer ones exist only by mistake, and each link costs a look-up. */
const LONGEST_CHAIN = 1_000;

/** Reads the references of one identity. */
export type RowsOf = (id: string) => Promise<ReferenceRow[]>;

/** The manager that an identity has: of several references the first that leads to a traveler. */
export function managerOf(rows: ReferenceRow[]): string | undefined {
  return rows.find(({ travelId }) => travelId !== undefined)?.target;
}

/** An identity, its manager, the manager's manager, and so on; each once. */
export async function managerChain(of: RowsOf, id: string | undefined): Promise<string[]> {
  const chain = new Set<string>();
  let next = id;
  while (next !== undefined && !chain.has(next) && chain.size < LONGEST_CHAIN) {
    chain.add(next);
    next = managerOf(await of(next));
  }
  return [...chain];
}
