import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from './json.ts';

/**
 * The previous values of what a change changed, nested objects by their changed members only (specification, "Events":
 * `previousAttributes`). What had no value before is not named, as null is never sent.
 */
export function previousAttributes(before: JsonObject, after: JsonObject): JsonObject {
  const changed = Object.entries(before).flatMap(([name, old]) => {
    const now = after[name];
    if (isDeepStrictEqual(old, now)) return [];
    return [[name, isObject(old) && isObject(now) ? previousAttributes(old, now) : old] as const];
  });
  return Object.fromEntries(changed);
}
