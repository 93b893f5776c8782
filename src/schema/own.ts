import { SchemaFault } from './fault.ts';
import type { Json, JsonObject } from './resource.ts';

const MAX_NAMES = 500;

/** An own property, never what every object inherits; an exact name first, then one that differs by case only. */
export function ownValue(container: JsonObject, name: string): Json | undefined {
  const key = ownKey(container, name);
  return key === undefined ? undefined : container[key];
}

/** The spelling that the container uses for a name, when it has it. */
export function ownKey(container: JsonObject, name: string): string | undefined {
  if (Object.hasOwn(container, name)) return name;
  const folded = name.toLowerCase();
  return Object.keys(container).find((key) => key.toLowerCase() === folded);
}

/** Refuses one more name where there are too many; no client needs as many, and each is looked through again and again. */
export function checkRoom(container: JsonObject, name: string): void {
  if (!Object.hasOwn(container, name) && Object.keys(container).length >= MAX_NAMES) {
    throw new SchemaFault('value', 'There are too many attributes.');
  }
}

/** Tells a JSON object from the other values. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
