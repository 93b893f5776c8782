import { isDeepStrictEqual } from 'node:util';
import { type Attribute, subAttribute } from '../schema/attribute.ts';
import { foldCase } from '../schema/fold.ts';
import { isObject } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';

/**
 * Whether a value of a multi-valued attribute is the one that is meant: by its `value`, and its `type` where one is
 * given ("(type, value)" pairs, RFC 7643 §2.4), else by all that is given. Which one is primary changes, so that it does
 * not tell them apart.
 */
export function isSame(attribute: Attribute, element: Json, meant: Json): boolean {
  if (!isObject(element) || !isObject(meant)) return isDeepStrictEqual(element, meant);
  return namesOf(meant).every((name) => isEqual(subAttribute(attribute, name), element[name], meant[name]));
}

function namesOf(meant: JsonObject): string[] {
  if ('value' in meant) return 'type' in meant ? ['value', 'type'] : ['value'];
  const names = Object.keys(meant).filter((name) => name !== 'primary');
  return names.length > 0 ? names : Object.keys(meant);
}

function isEqual(part: Attribute | undefined, one: Json | undefined, other: Json | undefined): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return isDeepStrictEqual(one, other);
  return part?.caseExact === true ? one === other : foldCase(one) === foldCase(other);
}
