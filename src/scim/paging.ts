import { BridgeError } from '../bridge/errors.ts';
import type { Key, Listed } from '../bridge/list-query.ts';
import type { Query } from './context.ts';
import { type CursorOf, cursorAt, keyIn } from './cursor.ts';
import type { Page, PageResource } from './endpoint.ts';
import type { JsonText } from './json-text.ts';
import { badRequest } from './scim-error.ts';

/** The largest page; ServiceProviderConfig says the same of filters. */
export const MAX_COUNT = 200;

/** Which part of a list is wanted; `startIndex` counts from 1. */
export interface Paging {
  startIndex: number;
  count: number;
}

/**
 * Reads startIndex and count (RFC 7644 §3.4.2.4): "A value less than 1 SHALL be interpreted as 1", "A negative value
 * SHALL be interpreted as "0"".
 */
export function pagingOf({ startIndex, count }: Query): Paging {
  return {
    startIndex: Math.max(1, integerIn('startIndex', startIndex) ?? 1),
    count: Math.min(MAX_COUNT, Math.max(0, integerIn('count', count) ?? MAX_COUNT)),
  };
}

/** The part of a list that a client asks for, by index or by cursor, and how it is told that it got it. */
export interface Part {
  place: { offset: number } | { after: Key };
  limit: number;
  /** What the page says of its own place, and of what follows it. */
  told(next: Key | undefined): Pick<Page, 'startIndex' | 'nextCursor'>;
  /** A cursor that leads on behind a key; undefined: the list is paged by index. */
  cursorAt: ((key: Key) => string) | undefined;
}

/** How the rows of a page become its resources. */
interface Making<Row, View> {
  part: Part;
  /** What is known of a row already; undefined: it must be read. */
  viewOf(row: Row): View | undefined;
  read(id: string): Promise<View>;
  json(view: View): JsonText;
}

/** The resources of a page, each made when it is written. */
export function resourcesOf<Row extends { id: string }, View>(
  { rows, keys }: Pick<Listed<Row>, 'rows' | 'keys'>,
  { part: { cursorAt }, viewOf, read, json }: Making<Row, View>,
): PageResource[] {
  return rows.map((row, index) => {
    const { id } = row;
    const key = keys[index];
    let view = viewOf(row);
    return {
      json: () => (view ? json(view) : read(id).then(json, unlessGone)),
      release: () => {
        view = undefined;
      },
      cursor: key && cursorAt && (() => cursorAt(key)),
    };
  });
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof BridgeError && error.kind === 'notFound')) throw error;
}

/** Reads the parameters of both ways of paging; cursors belong to `of`. */
export function partOf(query: Query, of: CursorOf): Part {
  if (query['cursor'] !== undefined) return partAtCursor(query, of);
  const { startIndex, count } = pagingOf(query);
  return {
    place: { offset: startIndex - 1 },
    limit: count,
    told: () => ({ startIndex }),
    cursorAt: undefined,
  };
}

/** "cursor: … If this parameter is empty, it means that the client is requesting the first page" (RFC 9865 §2). */
function partAtCursor({ cursor, startIndex, count }: Query, of: CursorOf): Part {
  if (typeof cursor !== 'string') throw badRequest('invalidCursor', 'There must be one cursor.');
  if (startIndex !== undefined) {
    throw badRequest('invalidValue', 'startIndex and cursor cannot be used together.');
  }
  return {
    place: cursor === '' ? { offset: 0 } : { after: keyIn(cursor, of) },
    limit: sizeIn(count),
    told: (next) => ({ nextCursor: next && cursorAt(next, of) }),
    cursorAt: (key) => cursorAt(key, of),
  };
}

/** "count: A positive integer" (RFC 9865 §2): a page of none would lead nowhere. */
function sizeIn(count: unknown): number {
  const size = count === undefined ? MAX_COUNT : integerOf(count);
  if (size === undefined || size < 1) {
    throw badRequest('invalidCount', `With a cursor, count must be an integer from 1 to ${MAX_COUNT}.`);
  }
  return Math.min(MAX_COUNT, size);
}

function integerIn(name: string, parameter: unknown): number | undefined {
  if (parameter === undefined) return undefined;
  const integer = integerOf(parameter);
  if (integer === undefined) throw badRequest('invalidValue', `${name} must be an integer.`);
  return integer;
}

/** A URL has texts, the body of a search may have numbers. */
function integerOf(parameter: unknown): number | undefined {
  const text = typeof parameter === 'number' ? String(parameter) : parameter;
  if (typeof text !== 'string' || !/^[+-]?\d{1,100}$/.test(text)) return undefined;
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
}
