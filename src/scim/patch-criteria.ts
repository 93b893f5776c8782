import { type Attribute, subAttribute } from '../schema/attribute.ts';
import type { Filter } from '../schema/expression.ts';
import type { Json, JsonObject } from '../schema/resource.ts';
import { normalizeValue } from '../schema/values.ts';

/**
 * The element that a value filter describes, when it says no more than `type` and `primary`. RFC 7644 §3.5.2.3 wants
 * "noTarget" when nothing matches, but Entra and Okta rely on `phoneNumbers[type eq "mobile"].value` making the number
 * (docs/architecture.md, SCIM requests); a filter on anything else seeks what exists.
 */
export function criteriaOf(attribute: Attribute, filter: Filter): JsonObject | undefined {
  const element: [string, Json][] = [];
  for (const criterion of filter.op === 'and' ? filter.operands : [filter]) {
    if (criterion.op !== 'eq' || criterion.path.sub !== undefined || criterion.value === null)
      return undefined;
    const part = subAttribute(attribute, criterion.path.attribute ?? '');
    if (!part || !['type', 'primary'].includes(part.name)) return undefined;
    element.push([part.name, normalizeValue(part, criterion.value) ?? '']);
  }
  return Object.fromEntries(element);
}
