import { type Attribute, subAttribute } from '../schema/attribute.ts';
import { isObject } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';
import { normalizePart } from '../schema/values.ts';
import { badRequest } from './scim-error.ts';
import type { ValueChange } from './value-change.ts';

/** Changes one sub-attribute; unknown ones are 400 invalidPath, lest a typing error go unseen. */
export function changePart(
  attribute: Attribute,
  current: Json | undefined,
  { op, sub, value }: Pick<ValueChange, 'op' | 'value'> & { sub: string },
): JsonObject | undefined {
  const part = subAttribute(attribute, sub);
  if (!part) throw badRequest('invalidPath', `${attribute.name} has no sub-attribute ${sub}.`);
  const next = op === 'remove' ? undefined : normalizePart(attribute, part, value);
  return merge(current, new Map([[part.name, next]]));
}

/**
 * "set of sub-attributes … SHALL be replaced" or added (RFC 7644 §3.5.2.3): what is not named stays. But what
 * describes a reference, `displayName` and `$ref` of a manager, goes with the `value` that it described.
 */
export function mergeParts(
  attribute: Attribute,
  current: Json | undefined,
  parts: Map<string, Json | undefined>,
): JsonObject | undefined {
  const refersElsewhere =
    subAttribute(attribute, 'value') !== undefined &&
    isObject(current) &&
    parts.has('value') &&
    parts.get('value') !== current['value'];
  return merge(refersElsewhere ? undefined : current, parts);
}

function merge(current: Json | undefined, parts: Map<string, Json | undefined>): JsonObject | undefined {
  const merged = new Map<string, Json | undefined>(Object.entries(isObject(current) ? current : {}));
  for (const [name, value] of parts) merged.set(name, value);
  const kept = [...merged].flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}
