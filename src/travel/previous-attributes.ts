import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject } from './json.ts';

/**
 * The merge patch (RFC 7396) that leads from a resource back to its state before a change: every changed attribute with its
 * previous value, nested objects by their changed members, and null for an attribute that had no value before.
 */
export function previousAttributes(before: JsonObject, after: JsonObject): JsonObject {
  const now = new Map(Object.entries(after));
  const changed = Object.entries(before).flatMap(([name, old]): [string, Json][] => {
    const current = now.get(name);
    if (isDeepStrictEqual(old, current)) return [];
    return [[name, isObject(old) && isObject(current) ? previousAttributes(old, current) : old]];
  });
  const added = [...now.keys()].filter((name) => !Object.hasOwn(before, name));
  return Object.fromEntries([...changed, ...added.map((name): [string, Json] => [name, null])]);
}
