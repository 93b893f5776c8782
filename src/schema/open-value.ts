import { SchemaFault } from './fault.ts';
import { isObject } from './own.ts';
import type { Json, JsonObject } from './resource.ts';
import { checkedText } from './text.ts';

/** Bounds the recursion; no extension is nested so deeply. */
const MAX_DEPTH = 16;

/** A value that no schema declares, as sent; without what is unassigned (RFC 7643 §2.5). Undefined: nothing is left. */
export function openValue(value: Json, where: string, depth = 0): Json | undefined {
  if (depth > MAX_DEPTH) throw new SchemaFault('value', `The value of ${where} is nested too deeply.`);
  if (typeof value === 'string') return checkedText(value, where);
  if (Array.isArray(value)) {
    const elements = value.flatMap((element) => openValue(element, where, depth + 1) ?? []);
    return elements.length > 0 ? elements : undefined;
  }
  if (isObject(value)) return openObject(value, where, depth);
  return value ?? undefined;
}

function openObject(value: JsonObject, where: string, depth: number): JsonObject | undefined {
  const kept: [string, Json][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const open = openValue(inner, where, depth + 1);
    if (open !== undefined && isSafeName(name)) kept.push([checkedText(name, where), open]);
  }
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** Assigning to `__proto__` would change what an object inherits. */
export function isSafeName(name: string): boolean {
  return name !== '__proto__';
}
