import type { CallCause } from '../log/exchange.ts';
import type { TravelAnswer } from '../provisioning/travel-ports.ts';
import { asObject, asString, type Envelope, toCollectionAnswer } from './answers.ts';
import type { TravelClient } from './client.ts';

/** Items per request when a whole collection is read. */
const PAGE_SIZE = 100;
/** Maximum number of items of a page, and of a collection; a larger one is not read. No travel account has so many cost centers. */
const MAX_ITEMS = 100_000;
/** Maximum size of a collection, in characters of its JSON. */
const MAX_SIZE = 100_000_000;

/** The size that a collection may still have, in characters of its JSON. Collections that are kept together share one. */
export interface SizeBudget {
  left: number;
}

/** Returns the budget for one collection, or for several that are kept together. */
export function newSizeBudget(): SizeBudget {
  return { left: MAX_SIZE };
}

/** The maximum number of times that a collection is read if it changes during each reading. */
const MAX_READINGS = 3;

/** One page of a collection. */
export interface Page<T> {
  items: T[];
  /** The items that cannot be read, as received. */
  unreadable: unknown[];
  total: number;
  /** False if the travel API gives no total; `total` is then the number of items known to exist. */
  isTotalGiven: boolean;
  /** True if no items follow. Without a total, a page that is not full is the last one. */
  isLast: boolean;
  /** The number of items received, including unreadable ones. */
  length: number;
}

interface PageRequest<T> {
  path: string;
  query: Record<string, string | number>;
  read: (item: unknown) => T | undefined;
  timeoutMs?: number | undefined;
  cause?: CallCause | undefined;
}

/** Reads one page of a collection (specification, "Pagination"). */
export async function readPage<T>(
  client: TravelClient,
  { path, query, read, timeoutMs, cause }: PageRequest<T>,
): Promise<TravelAnswer<Page<T>>> {
  const request = { method: 'GET', path, query, timeoutMs, cause } as const;
  const answer = await client.call(request, (body) => parsePage(body, query, read));
  return toCollectionAnswer(`GET ${path}`, answer);
}

function parsePage<T>(
  { data, meta }: Envelope,
  query: PageRequest<T>['query'],
  read: PageRequest<T>['read'],
): Page<T> | undefined {
  if (!Array.isArray(data) || data.length > MAX_ITEMS) return undefined;
  const { length } = data;
  const end = Number(query.offset ?? 0) + length;
  const { total, limit } = asObject(meta) ?? {};
  // A travel API with a lower page limit names it in `meta.limit`.
  const isFull = length >= Math.min(Number(query.limit), isCount(limit) && limit > 0 ? limit : Infinity);
  const items: T[] = [];
  const unreadable: unknown[] = [];
  for (const item of data) {
    const value = read(item);
    if (value === undefined) unreadable.push(item);
    else items.push(value);
  }
  const common = { items, unreadable, length };
  if (isCount(total)) return { ...common, total, isTotalGiven: true, isLast: length === 0 || end >= total };
  return { ...common, total: end + (isFull ? 1 : 0), isTotalGiven: false, isLast: length === 0 || !isFull };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/**
 * Reads a whole collection page by page. When an item is deleted meanwhile, offsets shift, and an item that is skipped
 * would look deleted. So the collection is read again until a reading is complete, or until two readings are equal.
 */
export async function readCollection<T>(
  client: TravelClient,
  path: string,
  read: (item: unknown) => T | undefined,
  budget = newSizeBudget(),
): Promise<TravelAnswer<T[]>> {
  let before: string | undefined;
  for (let reading = 0; reading < MAX_READINGS; reading += 1) {
    const answer = await readPages(client, path, { read, budget });
    if (answer.kind !== 'ok') return answer;
    const { items, isComplete } = answer.value;
    if (isComplete) return { kind: 'ok', value: [...items.values()] };
    const seen = toComparableText(items);
    if (seen === before) return { kind: 'ok', value: [...items.values()] };
    before = seen;
  }
  return { kind: 'unavailable', text: `GET ${path}: it changes faster than it can be read` };
}

/** Returns a text that is equal for collections with equal items, whatever their order. */
function toComparableText(items: Map<string, unknown>): string {
  return JSON.stringify([...items].sort(([one], [other]) => (one < other ? -1 : 1)));
}

interface CollectionReading<T> {
  /** The items by id, so that an item that occurs on two pages counts once. */
  items: Map<string, T>;
  /** True if no item can be missing: the total did not change, and the number of different items equals it. */
  isComplete: boolean;
}

async function readPages<T>(
  client: TravelClient,
  path: string,
  { read, budget }: { read: (item: unknown) => T | undefined; budget: SizeBudget },
): Promise<TravelAnswer<CollectionReading<T>>> {
  const raw = new Map<string, unknown>();
  const totals = new Set<number>();
  let offset = 0;
  while (offset < MAX_ITEMS && budget.left > 0) {
    const query = { limit: PAGE_SIZE, offset };
    const answer = await readPage(client, { path, query, read: (item) => ({ item }) });
    if (answer.kind !== 'ok') return answer;
    const { items, length, total, isTotalGiven, isLast } = answer.value;
    const before = raw.size;
    for (const { item } of items) {
      raw.set(keyOf(item), item);
      budget.left -= JSON.stringify(item).length;
    }
    totals.add(total);
    offset += length;
    // Stop when a page brings nothing new: a travel API that ignores the offset sends the same page for ever.
    if (!isLast && raw.size > before) continue;
    const isTotalStable = isTotalGiven ? totals.size === 1 && offset === total : totals.size === 1;
    return {
      kind: 'ok',
      value: { items: readEntries(raw, read), isComplete: isTotalStable && raw.size === offset },
    };
  }
  return { kind: 'unavailable', text: `GET ${path}: more than ${MAX_ITEMS} items or ${MAX_SIZE} characters` };
}

function keyOf(item: unknown): string {
  return asString(asObject(item)?.id) ?? JSON.stringify(item);
}

function readEntries<T>(raw: Map<string, unknown>, read: (item: unknown) => T | undefined): Map<string, T> {
  const items = new Map<string, T>();
  for (const [key, item] of raw) {
    const value = read(item);
    if (value !== undefined) items.set(key, value);
  }
  return items;
}
