import type { Attribute } from '../schema/attribute.ts';
import { matchingElements } from '../schema/evaluate.ts';
import type { Json } from '../schema/resource.ts';
import { isUnassigned, normalizeParts, normalizeValue } from '../schema/values.ts';
import { changeElements } from './patch-elements.ts';
import { changePart, mergeParts } from './patch-parts.ts';
import { badRequest } from './scim-error.ts';
import type { ValueChange } from './value-change.ts';

/** The attribute's value after the change; undefined when nothing is left. */
export function changeValue(
  attribute: Attribute,
  current: Json | undefined,
  change: ValueChange,
): Json | undefined {
  const changed = isPlural(attribute, current, change)
    ? changeElements(attribute, current, change)
    : changeSingle(attribute, current, change);
  // What no schema declares has its bounds as a whole: piece by piece it could grow beyond them.
  return attribute.type === 'any' && changed !== undefined ? normalizeValue(attribute, changed) : changed;
}

/** What no schema declares is plural when it looks so. */
function isPlural(
  attribute: Attribute,
  current: Json | undefined,
  { filter, op, value }: ValueChange,
): boolean {
  if (attribute.type !== 'any') return attribute.multiValued;
  return filter !== undefined || Array.isArray(current) || (op === 'add' && Array.isArray(value));
}

function changeSingle(
  attribute: Attribute,
  current: Json | undefined,
  change: ValueChange,
): Json | undefined {
  const { op, filter, sub, value, fold } = change;
  const elements = current === undefined ? [] : [current];
  if (filter && !matchingElements(attribute, filter, { elements, fold }).includes(true)) {
    if (op === 'remove') return current;
    throw badRequest('noTarget', `${attribute.name} does not match the filter.`);
  }
  if (sub !== undefined) return changePart(attribute, current, { ...change, sub });
  if (op === 'remove' || isUnassigned(value)) return undefined;
  if (attribute.type !== 'complex') return normalizeValue(attribute, value);
  return value === '' ? undefined : mergeParts(attribute, current, normalizeParts(attribute, value));
}
