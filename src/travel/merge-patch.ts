import { isObject, type Json, type JsonObject } from './json.ts';

/**
 * RFC 7396 §2: "null values in the merge patch are given special meaning to indicate the removal of existing values in
 * the target". Applied to nothing it strips nulls, which is how a create and a replace are read. Neither argument changes.
 */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergedValue(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function mergedValue(target: Json | undefined, patch: Json): Json {
  return isObject(patch) ? mergePatch(isObject(target) ? target : {}, patch) : patch;
}
