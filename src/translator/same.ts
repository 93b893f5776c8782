import { isObject } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';

/** Equality of two JSON values; the order of an object's names does not matter. */
export function same(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other || typeof one !== 'object' || typeof other !== 'object') return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

/** JSON text in which equal values are equal texts: the names of objects are sorted. */
export function canonicalJson(value: Json): string {
  return JSON.stringify(value, (_name, part: Json) => (isObject(part) ? sorted(part) : part));
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)));
}
