import type { TravelAnswer } from '../provisioning/travel-ports.ts';
import { type Body, ofCollection, record, text } from './answers.ts';
import type { TravelClient } from './client.ts';

const PAGE = 100;
/** A collection longer than this is not read: no travel account has so many cost centers. */
const ITEMS = 100_000;
const READINGS = 3;

/** Some items of a collection, and how many there are in all. */
export interface Page<T> {
  items: T[];
  /** The items that cannot be read, as they came. */
  unreadable: unknown[];
  total: number;
  /** False where the travel API gives no total: `total` then counts the items that are known to exist. */
  isTotalGiven: boolean;
  /** True when no more items follow. Without a total, a page that is not full is the last one. */
  isLast: boolean;
  /** Items as they came, those that cannot be read included. */
  length: number;
}

interface Asked<T> {
  path: string;
  query: Record<string, string | number>;
  read: (item: unknown) => T | undefined;
  timeoutMs?: number | undefined;
}

/** One page of a collection (specification, "Pagination"). Items that cannot be read are passed over. */
export async function page<T>(client: TravelClient, asked: Asked<T>): Promise<TravelAnswer<Page<T>>> {
  const { path, query, read, timeoutMs } = asked;
  const request = { method: 'GET', path, query, ...(timeoutMs === undefined ? {} : { timeoutMs }) } as const;
  const answer = await client.call(request, (body) => readPage(body, query, read));
  return ofCollection(`GET ${path}`, answer);
}

function readPage<T>(
  { data, meta }: Body,
  query: Asked<T>['query'],
  read: Asked<T>['read'],
): Page<T> | undefined {
  if (!Array.isArray(data)) return undefined;
  const { length } = data;
  const end = Number(query.offset ?? 0) + length;
  const { total, limit } = record(meta) ?? {};
  // A service may allow smaller pages than were asked for, and says so.
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
 * A whole collection, page by page. Offsets shift when something is deleted meanwhile, and a cost center that is passed
 * over would look as if it were gone; so it is read again until it is surely whole, or two readings agree.
 */
export async function all<T>(
  client: TravelClient,
  path: string,
  read: (item: unknown) => T | undefined,
): Promise<TravelAnswer<T[]>> {
  let before: string | undefined;
  for (let reading = 0; reading < READINGS; reading += 1) {
    const answer = await once(client, path, read);
    if (answer.kind !== 'ok') return answer;
    const { items, isWhole } = answer.value;
    if (isWhole) return { kind: 'ok', value: [...items.values()] };
    const seen = contentOf(items);
    if (seen === before) return { kind: 'ok', value: [...items.values()] };
    before = seen;
  }
  return { kind: 'unavailable', text: `GET ${path}: it changes faster than it can be read` };
}

/** A text that is the same for the same items in another order. */
function contentOf(items: Map<string, unknown>): string {
  return JSON.stringify([...items].sort(([one], [other]) => (one < other ? -1 : 1)));
}

interface Reading<T> {
  /** By id: an item that is listed twice counts once. */
  items: Map<string, T>;
  /** True when no item can have been passed over: the total did not change, or there was one page only. */
  isWhole: boolean;
}

async function once<T>(
  client: TravelClient,
  path: string,
  read: (item: unknown) => T | undefined,
): Promise<TravelAnswer<Reading<T>>> {
  const raw = new Map<string, unknown>();
  const totals = new Set<number>();
  let offset = 0;
  while (offset < ITEMS) {
    const query = { limit: PAGE, offset };
    const answer = await page(client, { path, query, read: (item) => ({ item }) });
    if (answer.kind !== 'ok') return answer;
    const { items, length, total, isTotalGiven, isLast } = answer.value;
    const before = raw.size;
    for (const { item } of items) raw.set(keyOf(item), item);
    totals.add(total);
    offset += length;
    // A service that passes over the offset would answer the same page for ever.
    if (!isLast && raw.size > before) continue;
    const isAtRest = isTotalGiven ? totals.size === 1 && offset === total : totals.size === 1;
    return { kind: 'ok', value: { items: readAll(raw, read), isWhole: isAtRest && raw.size === offset } };
  }
  return { kind: 'unavailable', text: `GET ${path}: more than ${ITEMS} items` };
}

function keyOf(item: unknown): string {
  return text(record(item)?.id) ?? JSON.stringify(item);
}

function readAll<T>(raw: Map<string, unknown>, read: (item: unknown) => T | undefined): Map<string, T> {
  const items = new Map<string, T>();
  for (const [key, item] of raw) {
    const value = read(item);
    if (value !== undefined) items.set(key, value);
  }
  return items;
}
