import type { Position } from './ports.ts';

/** The cursor of a place in a list; opaque to clients, and of use in that list alone. */
export function encodeCursor(list: string, { value, seq }: Position): string {
  return Buffer.from(JSON.stringify([list, value, seq])).toString('base64url');
}

/** The place that a cursor of this list names; undefined for anything else. */
export function decodeCursor(list: string, cursor: string): Position | undefined {
  const parts = parsed(Buffer.from(cursor, 'base64url').toString());
  if (!Array.isArray(parts) || parts.length !== 3) return undefined;
  const [of, value, seq]: unknown[] = parts;
  if (of !== list || !Number.isSafeInteger(seq)) return undefined;
  const isPlace = typeof value === 'string' ? !value.includes('\0') : Number.isSafeInteger(value);
  return isPlace ? { value: value as Position['value'], seq: Number(seq) } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
