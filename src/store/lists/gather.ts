import type { ListPage, SortKey } from '../../provisioning/list-ports.ts';

/** A page in the making: what is passed over, what is taken, and how many there were. */
export interface Gather<Item extends { key: SortKey }> {
  total: number;
  skip: number;
  /** One more than the page has, which tells whether others follow it. */
  wanted: number;
  found: Item[];
}

/** An empty page of at most `limit`, after `skip` others. */
export function gathering<Item extends { key: SortKey }>(skip: number, limit: number): Gather<Item> {
  return { total: 0, skip, wanted: limit > 0 ? limit + 1 : 0, found: [] };
}

/** One more that matches. */
export function gather<Item extends { key: SortKey }>(into: Gather<Item>, item: Item): void {
  into.total += 1;
  if (into.skip > 0) into.skip -= 1;
  else if (!isFull(into)) into.found.push(item);
}

/** Whether all is found that is wanted. */
export function isFull({ found, wanted }: Gather<{ key: SortKey }>): boolean {
  return found.length >= wanted;
}

/** The page without the one too many, and where to go on. */
export function pageOf<Item extends { key: SortKey }>({
  found,
  wanted,
}: Gather<Item>): { items: Item[]; next: ListPage<unknown>['next'] } {
  const items = found.slice(0, Math.max(0, wanted - 1));
  return { items, next: found.length > items.length ? items.at(-1)?.key : undefined };
}
