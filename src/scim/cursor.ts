import { createHash } from 'node:crypto';
import type { Key } from '../bridge/list-query.ts';
import { badRequest, type ScimError } from './scim-error.ts';

/** What a cursor belongs to: it leads on in the same list only (RFC 9865 §2). */
export interface CursorOf {
  connection: string;
  resourceType: string;
  /** The filter as it was written. */
  filter: unknown;
  order: { by: string; descending: boolean };
}

/** Longer than any of ours. */
const MAX_LENGTH = 8192;

/** A place in a list as a client carries it: opaque, and fit for a URL. */
export function cursorAt({ value, position }: Key, of: CursorOf): string {
  const place = JSON.stringify([value, position]);
  return `${sealOf(place, of)}${Buffer.from(place).toString('base64url')}`;
}

/** The place that a cursor stands for; whatever is not a cursor of that list is 400 invalidCursor. */
export function keyIn(cursor: string, of: CursorOf): Key {
  if (cursor.length > MAX_LENGTH) throw invalidCursor();
  const place = Buffer.from(cursor.slice(SEAL), 'base64url').toString();
  const key = readKey(place);
  if (!key || !isOf(key, of.order.by) || cursor !== cursorAt(key, of)) throw invalidCursor();
  return key;
}

function readKey(place: string): Key | undefined {
  try {
    const [value, position] = JSON.parse(place);
    return { value, position };
  } catch {
    return undefined;
  }
}

/** Whether an order has such keys; the seal can be made by anybody who reads this. */
function isOf({ value, position }: Key, by: string): boolean {
  if (!Number.isSafeInteger(position)) return false;
  if (by === 'position') return value === null;
  if (by === 'created' || by === 'lastModified') return Number.isSafeInteger(value);
  const isText = typeof value === 'string' && !value.includes('\0');
  return isText || (value === null && (by === 'externalId' || by === 'displayName'));
}

const SEAL = 16;

/**
 * Binds a place to its list. It needs no secret: who makes one up gets no further than the place it names, in a list of
 * their own.
 */
function sealOf(place: string, { connection, resourceType, filter, order }: CursorOf): string {
  const { by, descending } = order;
  const text = JSON.stringify([place, connection, resourceType, filter, by, descending]);
  return createHash('sha256').update(text).digest('base64url').slice(0, SEAL);
}

/** A cursor that leads nowhere in the list that it came with. */
export function invalidCursor(): ScimError {
  const detail = 'The cursor does not belong to this query; leave it empty to begin with the first page.';
  return badRequest('invalidCursor', detail);
}
