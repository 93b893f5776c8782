import { isDeepStrictEqual } from 'node:util';
import { type Attribute, findSubAttribute } from '../schema/attributes.ts';
import { matchElements } from '../schema/filter-match.ts';
import type { Filter } from '../schema/filter-parser.ts';
import { isObject, type Json, type JsonObject } from '../schema/resource.ts';
import {
  isUnassigned,
  MAX_ELEMENTS,
  normalizeSubAttribute,
  normalizeSubAttributes,
  normalizeValue,
  removeDuplicates,
} from '../schema/values.ts';
import { badRequest } from './errors.ts';

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
  if (filter && !matchElements(attribute, filter, { elements, fold }).includes(true)) {
    if (op === 'remove') return current;
    throw badRequest('noTarget', `${attribute.name} does not match the filter.`);
  }
  if (sub !== undefined) return changePart(attribute, current, { ...change, sub });
  if (op === 'remove' || isUnassigned(value)) return undefined;
  if (attribute.type !== 'complex') return normalizeValue(attribute, value);
  return value === '' ? undefined : mergeParts(attribute, current, normalizeSubAttributes(attribute, value));
}

/** The values of a multi-valued attribute after a change; undefined when none is left. */
export function changeElements(
  attribute: Attribute,
  current: Json | undefined,
  change: ValueChange,
): Json[] | undefined {
  const elements = Array.isArray(current) ? current : current === undefined ? [] : [current];
  const { filter, op } = change;
  const changed =
    op === 'remove'
      ? removed(attribute, elements, change)
      : filter
        ? setSelected(attribute, elements, { ...change, filter })
        : setAll(attribute, elements, change);
  if (changed.length > MAX_ELEMENTS)
    throw badRequest('invalidValue', `${attribute.name} has too many values.`);
  const kept = changed.filter((element) => !isObject(element) || Object.keys(element).length > 0);
  // What no schema declares is kept verbatim.
  const distinct = attribute.type === 'any' ? kept : removeDuplicates(kept);
  return distinct.length > 0 ? distinct : undefined;
}

/** With a value, only what it lists goes, as Entra means it; RFC 7644 §3.5.2.2 knows no value here. */
function removed(attribute: Attribute, elements: Json[], change: ValueChange): Json[] {
  const { filter, sub, value, fold } = change;
  const hits = filter ? matchElements(attribute, filter, { elements, fold }) : elements.map(() => true);
  if (sub !== undefined) {
    return elements.flatMap((element, index) => (hits[index] ? cleared(attribute, element, sub) : [element]));
  }
  if (filter || value === null) return elements.filter((_, index) => !hits[index]);
  const listed = given(attribute, value);
  return elements.filter(
    (element) => !listed.some((one) => isSame(attribute, { element, meant: one, fold })),
  );
}

function setSelected(
  attribute: Attribute,
  elements: Json[],
  change: ValueChange & { filter: Filter },
): Json[] {
  const { filter, sub, value, fold } = change;
  const hits = matchElements(attribute, filter, { elements, fold });
  if (hits.includes(true)) {
    const changed = elements.map((element, index) =>
      hits[index] ? setOne(attribute, element, change) : [element],
    );
    return onlyPrimary(changed.flat(), new Set(changed.flatMap((kept, index) => (hits[index] ? kept : []))));
  }
  if (isUnassigned(value)) return elements;
  const criteria = criteriaOf(attribute, filter);
  if (!criteria) throw badRequest('noTarget', `No value of ${attribute.name} matches the filter.`);
  const created =
    sub === undefined
      ? { ...criteria, ...element(attribute, value) }
      : part(attribute, criteria, { sub, value });
  return onlyPrimary([...elements, created], new Set([created]));
}

function setOne(attribute: Attribute, current: Json, change: ValueChange & { filter: Filter }): Json[] {
  const { op, filter, sub, value } = change;
  if (isUnassigned(value)) return sub === undefined ? [] : cleared(attribute, current, sub);
  if (sub !== undefined) return [part(attribute, current, { sub, value })];
  const kept = op === 'add' && isObject(current) ? current : criteriaOf(attribute, filter);
  return [{ ...kept, ...element(attribute, value) }];
}

function setAll(attribute: Attribute, elements: Json[], { op, sub, value, fold }: ValueChange): Json[] {
  if (sub !== undefined) {
    if (isUnassigned(value)) return elements.flatMap((current) => cleared(attribute, current, sub));
    return (elements.length > 0 ? elements : [{}]).map((current) => part(attribute, current, { sub, value }));
  }
  const values = given(attribute, value);
  return op === 'replace'
    ? values
    : values.reduce<Json[]>((elements, meant) => added(attribute, elements, { meant, fold }), elements);
}

/** "If the target location already contains the value specified, no changes SHOULD be made" (RFC 7644 §3.5.2.1). */
function added(
  attribute: Attribute,
  elements: Json[],
  { meant: one, fold }: Pick<ValueChange, 'fold'> & { meant: Json },
): Json[] {
  const index = elements.findIndex((element) => isSame(attribute, { element, meant: one, fold }));
  const existing = elements[index];
  if (existing === undefined) return onlyPrimary([...elements, one], new Set([one]));
  if (!isObject(existing) || !isObject(one)) return elements;
  const merged = { ...existing, ...one };
  return onlyPrimary(elements.with(index, merged), new Set([merged]));
}

/** A new primary value takes the place of the old one (RFC 7644 §3.5.2). */
function onlyPrimary(elements: Json[], touched: Set<Json>): Json[] {
  const primary = elements.findLast((element) => touched.has(element) && isPrimary(element));
  if (primary === undefined) return elements;
  return elements.map((element) =>
    element !== primary && isObject(element) && isPrimary(element) ? { ...element, primary: false } : element,
  );
}

function isPrimary(element: Json): boolean {
  return isObject(element) && element['primary'] === true;
}

function part(attribute: Attribute, current: Json, { sub, value }: { sub: string; value: Json }): JsonObject {
  return changePart(attribute, current, { op: 'replace', sub, value }) ?? {};
}

/** An element that has nothing left but its label goes. */
function cleared(attribute: Attribute, current: Json, sub: string): Json[] {
  const rest = changePart(attribute, current, { op: 'remove', sub, value: null }) ?? {};
  return Object.keys(rest).every((name) => ['type', 'primary', 'display'].includes(name)) ? [] : [rest];
}

function given(attribute: Attribute, value: Json): Json[] {
  const normalized = normalizeValue(attribute, value);
  return Array.isArray(normalized) ? normalized : normalized === undefined ? [] : [normalized];
}

function element(attribute: Attribute, value: Json): JsonObject {
  const [one, ...more] = given(attribute, value);
  if (more.length > 0) throw badRequest('invalidValue', `One value of ${attribute.name} cannot become many.`);
  return isObject(one) ? one : {};
}

/** Changes one sub-attribute; unknown ones are 400 invalidPath, lest a typing error go unseen. */
export function changePart(
  attribute: Attribute,
  current: Json | undefined,
  { op, sub, value }: Pick<ValueChange, 'op' | 'value'> & { sub: string },
): JsonObject | undefined {
  const part = findSubAttribute(attribute, sub);
  if (!part) throw badRequest('invalidPath', `${attribute.name} has no sub-attribute ${sub}.`);
  const next = op === 'remove' ? undefined : normalizeSubAttribute(attribute, part, value);
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
    findSubAttribute(attribute, 'value') !== undefined &&
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
    const part = findSubAttribute(attribute, criterion.path.attribute ?? '');
    if (!part || !['type', 'primary'].includes(part.name)) return undefined;
    element.push([part.name, normalizeValue(part, criterion.value) ?? '']);
  }
  return Object.fromEntries(element);
}

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
    return findSubAttribute(attribute, name)?.caseExact !== true && fold(one) === fold(other);
  });
}

type Fold = (text: string) => string;

function namesOf(meant: JsonObject): string[] {
  if ('value' in meant) return 'type' in meant ? ['value', 'type'] : ['value'];
  const names = Object.keys(meant).filter((name) => name !== 'primary');
  return names.length > 0 ? names : Object.keys(meant);
}

/** What a PATCH does to one attribute. A value of null clears. */
export interface ValueChange {
  op: 'add' | 'remove' | 'replace';
  filter: Filter | undefined;
  sub: string | undefined;
  value: Json;
  /** Makes texts comparable without case; it remembers each text of the PATCH. */
  fold(text: string): string;
}
