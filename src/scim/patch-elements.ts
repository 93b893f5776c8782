import type { Attribute } from '../schema/attribute.ts';
import { matchingElements } from '../schema/evaluate.ts';
import type { Filter } from '../schema/expression.ts';
import { isObject } from '../schema/own.ts';
import type { Json, JsonObject } from '../schema/resource.ts';
import { isUnassigned, MAX_ELEMENTS, normalizeValue, withoutEqual } from '../schema/values.ts';
import { criteriaOf } from './patch-criteria.ts';
import { changePart } from './patch-parts.ts';
import { isSame } from './same-element.ts';
import { badRequest } from './scim-error.ts';
import type { ValueChange } from './value-change.ts';

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
  const distinct = attribute.type === 'any' ? kept : withoutEqual(kept);
  return distinct.length > 0 ? distinct : undefined;
}

/** With a value, only what it lists goes, as Entra means it; RFC 7644 §3.5.2.2 knows no value here. */
function removed(attribute: Attribute, elements: Json[], change: ValueChange): Json[] {
  const { filter, sub, value, fold } = change;
  const hits = filter ? matchingElements(attribute, filter, { elements, fold }) : elements.map(() => true);
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
  const hits = matchingElements(attribute, filter, { elements, fold });
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
