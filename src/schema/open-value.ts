import { SchemaFault } from './fault.ts';
import { MAX_NAME } from './names.ts';
import { isObject } from './own.ts';
import type { Json, JsonObject } from './resource.ts';
import { checkedText } from './text.ts';

/** Bounds the recursion; no extension is nested so deeply. */
const MAX_DEPTH = 16;

/** As many values as a declared attribute may have, and as many names as an extension (`checkRoom`). */
const MAX_INSIDE = 250;

/** A value that no schema declares, as sent; without what is unassigned (RFC 7643 §2.5). Undefined: nothing is left. */
export function openValue(value: Json, where: string, depth = 0): Json | undefined {
  if (typeof value === 'string') return checkedText(value, where);
  if (typeof value === 'number') return checkedNumber(value, where);
  if (typeof value === 'boolean') return value;
  if (value === null) return undefined;
  if (depth > MAX_DEPTH) throw new SchemaFault('value', `The value of ${where} is nested too deeply.`);
  return isObject(value) ? openObject(value, where, depth) : openArray(value, where, depth);
}

function openArray(values: Json[], where: string, depth: number): Json[] | undefined {
  checkCount(values.length, where);
  const kept: Json[] = [];
  for (const value of values) {
    const open = openValue(value, where, depth + 1);
    if (open !== undefined) kept.push(open);
  }
  return kept.length > 0 ? kept : undefined;
}

function openObject(value: JsonObject, where: string, depth: number): JsonObject | undefined {
  const names = Object.keys(value);
  checkCount(names.length, where);
  const kept: [string, Json][] = [];
  for (const name of names) {
    const open = openValue(value[name] ?? null, where, depth + 1);
    if (open !== undefined && isSafeName(name)) kept.push([checkedName(name, where), open]);
  }
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function checkCount(count: number, where: string): void {
  if (count > MAX_INSIDE) throw new SchemaFault('value', `${where} has too many values.`);
}

/** What JSON cannot write again, or only rounded, would not come back as it was sent. */
export function checkedNumber(value: number, where: string): number {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
    throw new SchemaFault('value', `The value of ${where} is beyond what numbers hold; send it as a string.`);
  }
  // JSON has a negative zero, and writes it as 0.
  return value === 0 ? 0 : value;
}

/** A name of an undeclared attribute that can be kept. */
export function checkedName(name: string, where: string): string {
  if (name.length > MAX_NAME) throw new SchemaFault('value', `${where} has a name that is too long.`);
  return checkedText(name, where);
}

/** Assigning to `__proto__` would change what an object inherits. */
export function isSafeName(name: string): boolean {
  return name !== '__proto__';
}
