import { isObject } from '../schema/own.ts';
import type { Json, JsonObject, ScimResource } from '../schema/resource.ts';

/** The most characters of a value that are looked at: a longer one is no traveler's, and costs time to match. */
export const LONGEST = 10_000;

/** A simple value as trimmed text; undefined when there is none to speak of. */
export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value.length > LONGEST) return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** True for what SCIM calls unassigned (RFC 7643 §2.5), for blank text, and for an object or array of nothing else. */
export function isUnassigned(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return isBlank(value);
  return Object.values(value).every(isBlank);
}

function isBlank(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  return Array.isArray(value) && value.length === 0;
}

/** The value at a path of constant names, or nothing. */
export function valueAt(resource: ScimResource, ...names: string[]): Json | undefined {
  let value: Json | undefined = resource;
  for (const name of names) {
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** The elements of a multi-valued attribute as objects: a bare value stands for `{ value }` (RFC 7643 §2.4). */
export function elementsOf(resource: ScimResource, name: string): JsonObject[] {
  const value = valueAt(resource, name);
  const elements = Array.isArray(value) ? value : [value];
  return elements.flatMap((element) => {
    if (isUnassigned(element) || element === undefined) return [];
    return [isObject(element) ? element : { value: element }];
  });
}

/** The `type` of an element, for comparison. */
export function typeOf(element: JsonObject): string | undefined {
  return textOf(element.type)?.toLowerCase();
}
