import { isDeepStrictEqual } from 'node:util';
import { type Attribute, subAttribute } from '../schema/attribute.ts';
import { isObject } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';

/**
 * Whether a value of a multi-valued attribute is the one that is meant: by its `value`, and its `type` where one is
 * given ("(type, value)" pairs, RFC 7643 §2.4), else by all that is given. Which one is primary changes, so that it does
 * not tell them apart.
 */
export function isSame(
  attribute: Attribute,
  { element, meant, fold }: { element: Json; meant: Json; fold: Fold },
): boolean {
  if (!isObject(element) || !isObject(meant)) return isDeepStrictEqual(element, meant);
  return namesOf(meant).every((name) => {
    const [one, other] = [element[name], meant[name]];
    if (typeof one !== 'string' || typeof other !== 'string') return isDeepStrictEqual(one, other);
    if (one === other) return true;
    return subAttribute(attribute, name)?.caseExact !== true && fold(one) === fold(other);
  });
}

type Fold = (text: string) => string;

function namesOf(meant: JsonObject): string[] {
  if ('value' in meant) return 'type' in meant ? ['value', 'type'] : ['value'];
  const names = Object.keys(meant).filter((name) => name !== 'primary');
  return names.length > 0 ? names : Object.keys(meant);
}
