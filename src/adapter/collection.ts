import type { TravelAnswer } from '../bridge/ports.ts';
import { ofCollection } from './answers.ts';
import type { TravelClient } from './client.ts';
import { readable, record } from './fields.ts';

const PAGE = 100;
/** A collection longer than this is not read: no travel account has so many cost centers. */
const ITEMS = 100_000;
const READINGS = 3;

/** Some items of a collection, and how many there are in all. */
export interface Page<T> {
  items: T[];
  total: number;
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
  const answer = await client.call(request, ({ data, meta }) => {
    if (!Array.isArray(data)) return undefined;
    const { length } = data;
    const limit = Number(query.limit);
    // Without a total, a full page says that there may be more.
    const atLeast = Number(query.offset ?? 0) + length + (length >= limit ? 1 : 0);
    const total = record(meta)?.total;
    return {
      items: readable(data, read),
      total: Number.isSafeInteger(total) ? Number(total) : atLeast,
      length,
    };
  });
  return ofCollection(`GET ${path}`, answer);
}

/**
 * A whole collection, page by page. Offsets shift when something is deleted meanwhile, and a cost center that is passed
 * over would look as if it were gone; so it is read again until its length is the announced one, or two readings agree.
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
    if (isWhole) return { kind: 'ok', value: items };
    const seen = JSON.stringify(items);
    if (seen === before) return { kind: 'ok', value: items };
    before = seen;
  }
  return { kind: 'unavailable', text: `GET ${path}: it changes faster than it can be read` };
}

async function once<T>(
  client: TravelClient,
  path: string,
  read: (item: unknown) => T | undefined,
): Promise<TravelAnswer<{ items: T[]; isWhole: boolean }>> {
  const items: T[] = [];
  const totals = new Set<number>();
  let offset = 0;
  while (offset < ITEMS) {
    const answer = await page(client, { path, query: { limit: PAGE, offset }, read });
    if (answer.kind !== 'ok') return answer;
    const { length, total } = answer.value;
    items.push(...answer.value.items);
    totals.add(total);
    offset += length;
    if (length === 0 || offset >= total) return { kind: 'ok', value: { items, isWhole: totals.size === 1 } };
  }
  return { kind: 'unavailable', text: `GET ${path}: more than ${ITEMS} items` };
}
