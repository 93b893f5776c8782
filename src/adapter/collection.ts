import type { CallCause } from '../model/exchange.ts';
import type { TravelAnswer } from '../model/travel-ports.ts';
import { toCollectionAnswer } from './http/answers.ts';
import type { Deadline, TravelClient } from './http/client.ts';
import type { TravelOperation } from './http/measured-call.ts';
import type { JsonRecord } from './json.ts';
import type { PageStart, Query } from './profile.ts';

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
  /** The token of the next page, if the travel API has tokens. */
  nextToken?: string | undefined;
}

interface PageRequest<T> {
  path: string;
  operation: TravelOperation;
  limit: number;
  /** Where the page begins; undefined for a search, whose result is one page. */
  start?: PageStart;
  /** The query that selects the items. */
  search?: Query;
  read: (item: unknown) => T | undefined;
  deadline?: Deadline;
  cause?: CallCause | undefined;
}

/** Reads one page of a collection. */
export async function readPage<T>(
  client: TravelClient,
  request: PageRequest<T>,
): Promise<TravelAnswer<Page<T>>> {
  const { path, operation, limit, start, search, deadline, cause } = request;
  const query = { ...search, ...client.profile.pages.query(limit, start) };
  const answer = await client.call(
    { method: 'GET', path, operation, query, deadline, cause },
    (body) => body && parsePage(client, body, request),
  );
  return toCollectionAnswer(`GET ${path}`, answer);
}

function parsePage<T>(
  { profile }: TravelClient,
  body: JsonRecord,
  { limit, start, read }: PageRequest<T>,
): Page<T> | undefined {
  const page = profile.pages.read(body, limit, start);
  if (!page || page.items.length > MAX_ITEMS) return undefined;
  const { total, isLast, nextToken } = page;
  const { length } = page.items;
  const items: T[] = [];
  const unreadable: unknown[] = [];
  for (const item of page.items) {
    const value = read(item);
    if (value === undefined) unreadable.push(item);
    else items.push(value);
  }
  const known = (start?.offset ?? 0) + length + (isLast ? 0 : 1);
  const counts = { total: total ?? known, isTotalGiven: total !== undefined };
  return { items, unreadable, length, isLast, nextToken, ...counts };
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
  let start: PageStart = { offset: 0 };
  while (start.offset < MAX_ITEMS && budget.left > 0) {
    const request = { path, limit: PAGE_SIZE, start, read: (item: unknown) => ({ item }) };
    const answer = await readPage(client, { ...request, operation: 'readLookups' });
    if (answer.kind !== 'ok') return answer;
    const { items, length, total, isTotalGiven, isLast, nextToken } = answer.value;
    const before = raw.size;
    for (const { item } of items) {
      raw.set(client.profile.readId(item) ?? JSON.stringify(item), item);
      budget.left -= JSON.stringify(item).length;
    }
    totals.add(total);
    start = { offset: start.offset + length, token: nextToken };
    // Stop when a page brings nothing new: a travel API that ignores the offset sends the same page for ever.
    if (!isLast && raw.size > before) continue;
    const isTotalStable = isTotalGiven ? totals.size === 1 && start.offset === total : totals.size === 1;
    return {
      kind: 'ok',
      value: { items: readEntries(raw, read), isComplete: isTotalStable && raw.size === start.offset },
    };
  }
  return { kind: 'unavailable', text: `GET ${path}: more than ${MAX_ITEMS} items or ${MAX_SIZE} characters` };
}

function readEntries<T>(raw: Map<string, unknown>, read: (item: unknown) => T | undefined): Map<string, T> {
  const items = new Map<string, T>();
  for (const [key, item] of raw) {
    const value = read(item);
    if (value !== undefined) items.set(key, value);
  }
  return items;
}
