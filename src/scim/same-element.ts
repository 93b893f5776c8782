import { isDeepStrictEqual } from 'node:util';
import { type Attribute, subAttribute } from '../schema/attribute.ts';
import { isObject } from '../schema/own.ts';
import type { Json } from '../schema/resource.ts';

/**
 * Whether a value of a multi-valued attribute is the one that is meant: by its `value`, and its `type` where one is
 * given ("(type, value)" pairs, RFC 7643 §2.4), else by all that is given.
 */
export function isSame(attribute: Attribute, element: Json, meant: Json): boolean {
  if (!isObject(element) || !isObject(meant)) return isDeepStrictEqual(element, meant);
  const names = 'value' in meant ? ['value', ...('type' in meant ? ['type'] : [])] : Object.keys(meant);
  return names.every((name) => isEqual(subAttribute(attribute, name), element[name], meant[name]));
}

function isEqual(part: Attribute | undefined, one: Json | undefined, other: Json | undefined): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return isDeepStrictEqual(one, other);
  return part?.caseExact === true ? one === other : one.toLowerCase() === other.toLowerCase();
}
