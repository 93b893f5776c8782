import type { Position } from './ports.ts';

/** The cursor of a place in a list; opaque to clients, and of use in that list alone. */
export function encodeCursor(list: string, { value, seq }: Position): string {
  return Buffer.from(JSON.stringify([list, value, seq])).toString('base64url');
}

/** The largest number of a place that every database can compare. */
const MOST = 2 ** 31 - 1;

/**
 * The place that a cursor of this list names, whose values are times of creation or the texts of an index; undefined
 * for anything else, also for what only reads like a cursor that was given out.
 */
export function decodeCursor(list: string, by: 'creation' | 'index', cursor: string): Position | undefined {
  const parts = parsed(Buffer.from(cursor, 'base64url').toString());
  if (!Array.isArray(parts)) return undefined;
  const [of, value, seq]: unknown[] = parts;
  if (of !== list || !Number.isSafeInteger(seq) || Number(seq) < 0 || Number(seq) > MOST) return undefined;
  if (!(by === 'creation' ? Number.isSafeInteger(value) : typeof value === 'string')) return undefined;
  const place = { value: value as Position['value'], seq: Number(seq) };
  // SQLite would compare up to a NUL only, and PostgreSQL refuses it.
  return !String(value).includes('\0') && encodeCursor(list, place) === cursor ? place : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
