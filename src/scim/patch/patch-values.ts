import { isDeepStrictEqual } from 'node:util';
import { type Attribute, findSubAttribute } from '../../schema/attributes.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { matchElements } from '../../schema/filter-match.ts';
import type { Filter } from '../../schema/filter-parser.ts';
import type { Tolerance } from '../../schema/left-out.ts';
import { isObject, type Json, type JsonObject } from '../../schema/resource.ts';
import {
  isUnassigned,
  MAX_ELEMENTS,
  normalizeSubAttribute,
  normalizeSubAttributes,
  normalizeValue,
  removeDuplicates,
} from '../../schema/values.ts';
import { badRequest } from '../protocol/errors.ts';

/** A change of one attribute by a PATCH. If the value is null, the attribute is removed. */
export interface ValueChange {
  op: 'add' | 'remove' | 'replace';
  /** The value filter of the path, as in `emails[type eq "work"]`. */
  filter: Filter | undefined;
  /** The sub-attribute of the path. */
  sub: string | undefined;
  value: Json;
  /** Leaves out values that do not fit the schema; undefined if they are refused. */
  tolerance?: Tolerance | undefined;
}

/** Returns the value of an attribute after a change; undefined if the attribute is now unassigned. */
export function changeValue(
  attribute: Attribute,
  current: Json | undefined,
  change: ValueChange,
): Json | undefined {
  const changed = isMultiValued(attribute, current, change)
    ? changeElements(attribute, current, change)
    : changeSingle(attribute, current, change);
  // Check the limits of an undeclared value after each change: many small changes could otherwise exceed them.
  return attribute.type === 'any' && changed !== undefined ? normalizeValue(attribute, changed) : changed;
}

/**
 * Returns true if an attribute is multi-valued. One that no schema declares counts as multi-valued if its value is an
 * array or its path has a value filter.
 */
function isMultiValued(
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
  const { op, filter, sub, value, tolerance } = change;
  const elements = current === undefined ? [] : [current];
  if (filter && !matchElements(attribute, filter, elements).includes(true)) {
    if (op === 'remove') return current;
    throw badRequest('noTarget', `${attribute.name} does not match the filter.`);
  }
  if (sub !== undefined) return changeSubAttribute(attribute, current, { ...change, sub });
  if (op === 'remove' || isUnassigned(value)) return undefined;
  if (attribute.type !== 'complex') return normalizeValue(attribute, value, tolerance);
  if (value === '') return undefined;
  return mergeSubAttributes(attribute, current, normalizeSubAttributes(attribute, value, tolerance));
}

/**
 * "set of sub-attributes … SHALL be replaced" or added (RFC 7644 §3.5.2.3): the others keep their values. But the
 * description of a reference, such as `displayName` and `$ref` of a manager, is dropped when its `value` changes.
 */
function mergeSubAttributes(
  attribute: Attribute,
  current: Json | undefined,
  values: Map<string, Json | undefined>,
): JsonObject | undefined {
  const changesReference =
    findSubAttribute(attribute, 'value') !== undefined &&
    isObject(current) &&
    values.has('value') &&
    values.get('value') !== current['value'];
  return mergeValues(changesReference ? undefined : current, values);
}

/** Sets these members of an object; a member whose value is undefined is removed. */
function mergeValues(
  current: Json | undefined,
  values: Map<string, Json | undefined>,
): JsonObject | undefined {
  const merged = new Map<string, Json | undefined>(Object.entries(isObject(current) ? current : {}));
  for (const [name, value] of values) merged.set(name, value);
  const entries = [...merged].flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** Changes one sub-attribute. Throws 400 invalidPath for an unknown one, so that clients notice a misspelt path. */
function changeSubAttribute(
  attribute: Attribute,
  current: Json | undefined,
  { op, sub, value, tolerance }: Pick<ValueChange, 'op' | 'value' | 'tolerance'> & { sub: string },
): JsonObject | undefined {
  const subAttribute = findSubAttribute(attribute, sub);
  if (!subAttribute) throw badRequest('invalidPath', `${attribute.name} has no sub-attribute ${sub}.`);
  const next = op === 'remove' ? undefined : normalizeSubAttribute(attribute, subAttribute, value, tolerance);
  return mergeValues(current, new Map([[subAttribute.name, next]]));
}

function changeElements(
  attribute: Attribute,
  current: Json | undefined,
  change: ValueChange,
): Json[] | undefined {
  const elements = Array.isArray(current) ? current : current === undefined ? [] : [current];
  const { filter, op } = change;
  const changed =
    op === 'remove'
      ? removeElements(attribute, elements, change)
      : filter
        ? changeSelected(attribute, elements, { ...change, filter })
        : changeAll(attribute, elements, change);
  if (changed.length > MAX_ELEMENTS)
    throw badRequest('invalidValue', `${attribute.name} has too many values.`);
  const nonEmpty = changed.filter((element) => !isObject(element) || Object.keys(element).length > 0);
  // An undeclared attribute keeps duplicates, because its value is stored as sent.
  const distinct = attribute.type === 'any' ? nonEmpty : removeDuplicates(nonEmpty);
  return distinct.length > 0 ? distinct : undefined;
}

/**
 * Removes elements. If the operation has a value, only the elements listed in it are removed, as Entra ID expects; RFC
 * 7644 §3.5.2.2 defines no value for `remove`.
 */
function removeElements(attribute: Attribute, elements: Json[], change: ValueChange): Json[] {
  const { filter, sub, value } = change;
  const selected = filter ? matchElements(attribute, filter, elements) : elements.map(() => true);
  if (sub !== undefined) {
    return elements.flatMap((element, index) =>
      selected[index] ? clearSubAttribute(attribute, element, sub) : [element],
    );
  }
  if (filter || value === null) return elements.filter((_, index) => !selected[index]);
  const listed = normalizeElements(attribute, value);
  return elements.filter((element) => !listed.some((other) => isSameElement(attribute, element, other)));
}

function changeSelected(
  attribute: Attribute,
  elements: Json[],
  change: ValueChange & { filter: Filter },
): Json[] {
  const { filter, sub, value, tolerance } = change;
  const selected = matchElements(attribute, filter, elements);
  if (selected.includes(true)) {
    const changed = elements.map((element, index) =>
      selected[index] ? changeElement(attribute, element, change) : [element],
    );
    const touched = changed.flatMap((results, index) => (selected[index] ? results : []));
    return keepOnePrimary(changed.flat(), new Set(touched));
  }
  if (isUnassigned(value)) return elements;
  const criteria = elementOfFilter(attribute, filter);
  if (!criteria) throw badRequest('noTarget', `No value of ${attribute.name} matches the filter.`);
  const created =
    sub === undefined
      ? mergeElement(criteria, normalizeElement(attribute, value, tolerance))
      : setSubAttribute(attribute, criteria, { sub, value, tolerance });
  return keepOnePrimary([...elements, created], new Set([created]));
}

/** Changes one selected element. Returns a list with the changed element, or an empty list if it is removed. */
function changeElement(
  attribute: Attribute,
  current: Json,
  change: ValueChange & { filter: Filter },
): Json[] {
  const { sub, value, tolerance } = change;
  if (isUnassigned(value)) return sub === undefined ? [] : clearSubAttribute(attribute, current, sub);
  if (sub !== undefined) return [setSubAttribute(attribute, current, { sub, value, tolerance })];
  const element = normalizeElement(attribute, value, tolerance);
  return [mergeElement(baseOfChange(attribute, { current, element }, change), element)];
}

/**
 * Returns the sub-attributes that a selected element keeps beside those of its new value. "All matching record values
 * SHALL be replaced" (RFC 7644 §3.5.2.3), and the element keeps the `type` by which it was selected. But one that was selected
 * by its `value`, or whose new value has none, as in `roles[value eq "x"]` with `{ "display": "X" }`, would no longer be that
 * value: it keeps the rest. A description, such as `display`, is dropped with the `value` that it describes.
 */
function baseOfChange(
  attribute: Attribute,
  { current, element }: { current: Json; element: Json },
  { op, filter }: Pick<ValueChange, 'op'> & { filter: Filter },
): JsonObject | undefined {
  if (op === 'add' && isObject(current)) return current;
  const selectedBy = elementOfFilter(attribute, filter);
  if (!isObject(current) || !isObject(element)) return selectedBy;
  const isPartial = !('value' in element) && 'value' in current;
  if (selectedBy && !isPartial) return selectedBy;
  if (isPartial || element['value'] === current['value']) return current;
  const { display: _display, $ref: _reference, ...rest } = current;
  return rest;
}

function changeAll(attribute: Attribute, elements: Json[], change: ValueChange): Json[] {
  const { op, sub, value, tolerance } = change;
  if (sub !== undefined) {
    if (isUnassigned(value)) return elements.flatMap((element) => clearSubAttribute(attribute, element, sub));
    const present = elements.length > 0 ? elements : [{}];
    return present.map((element) => setSubAttribute(attribute, element, { sub, value, tolerance }));
  }
  const values = normalizeElements(attribute, value, tolerance);
  if (op === 'replace') return values;
  return values.reduce<Json[]>((all, added) => addElement(attribute, all, added), elements);
}

/**
 * Adds an element unless it is already there: "If the target location already contains the value specified, no changes
 * SHOULD be made" (RFC 7644 §3.5.2.1).
 */
function addElement(attribute: Attribute, elements: Json[], added: Json): Json[] {
  const index = elements.findIndex((element) => isSameElement(attribute, element, added));
  const existing = elements[index];
  if (existing === undefined) return keepOnePrimary([...elements, added], new Set([added]));
  if (!isObject(existing) || !isObject(added)) return elements;
  const merged = { ...existing, ...added };
  return keepOnePrimary(elements.with(index, merged), new Set([merged]));
}

/** If `touched` contains primary elements, the last of them becomes the only primary element (RFC 7644 §3.5.2). */
function keepOnePrimary(elements: Json[], touched: Set<Json>): Json[] {
  const isPrimary = (element: Json) => isObject(element) && element['primary'] === true;
  const primary = elements.findLast((element) => touched.has(element) && isPrimary(element));
  if (primary === undefined) return elements;
  return elements.map((element) =>
    element !== primary && isObject(element) && isPrimary(element) ? { ...element, primary: false } : element,
  );
}

function setSubAttribute(
  attribute: Attribute,
  current: Json,
  change: Pick<ValueChange, 'value' | 'tolerance'> & { sub: string },
): JsonObject {
  return changeSubAttribute(attribute, current, { ...change, op: 'replace' }) ?? {};
}

/** Removes a sub-attribute of an element. If only labels such as `type` are left, removes the element. */
function clearSubAttribute(attribute: Attribute, current: Json, sub: string): Json[] {
  const rest = changeSubAttribute(attribute, current, { op: 'remove', sub, value: null }) ?? {};
  return Object.keys(rest).every((name) => ['type', 'primary', 'display'].includes(name)) ? [] : [rest];
}

/** If every element is left out, throws the fault of the whole value, because the present elements must stay. */
function normalizeElements(attribute: Attribute, value: Json, tolerance?: Tolerance): Json[] {
  const normalized = normalizeValue(attribute, value, tolerance);
  if (Array.isArray(normalized)) return normalized;
  if (normalized !== undefined) return [normalized];
  const isAssigned = [value].flat().some((element) => !isUnassigned(element) && element !== '');
  if (isAssigned && tolerance?.leavesOut === 'anyValue')
    throw badRequest('invalidValue', `No value of ${attribute.name} can be used.`);
  return [];
}

/** An undeclared attribute may have simple elements, which replace the whole element. */
function mergeElement(base: JsonObject | undefined, element: Json): Json {
  return isObject(element) ? { ...base, ...element } : element;
}

function normalizeElement(attribute: Attribute, value: Json, tolerance: Tolerance | undefined): Json {
  const [element, ...more] = normalizeElements(attribute, value, tolerance);
  if (more.length > 0) throw badRequest('invalidValue', `One value of ${attribute.name} cannot become many.`);
  return element ?? {};
}

/**
 * Returns the element to create for a value filter that matches none; undefined if the filter compares anything but
 * `type` and `primary`. RFC 7644 §3.5.2.3 demands "noTarget" here, but Entra ID and Okta rely on `phoneNumbers[type eq
 * "mobile"].value` creating the number (docs/deviations.md).
 */
function elementOfFilter(attribute: Attribute, filter: Filter): JsonObject | undefined {
  const element: [string, Json][] = [];
  for (const criterion of filter.op === 'and' ? filter.operands : [filter]) {
    if (criterion.op !== 'eq' || criterion.path.sub !== undefined || criterion.value === null)
      return undefined;
    const subAttribute = findSubAttribute(attribute, criterion.path.attribute ?? '');
    if (!subAttribute || !['type', 'primary'].includes(subAttribute.name)) return undefined;
    element.push([subAttribute.name, normalizeValue(subAttribute, criterion.value) ?? '']);
  }
  return Object.fromEntries(element);
}

/**
 * Returns true if two elements of a multi-valued attribute are the same value: equal `value`, and equal `type` if
 * `other` has one ("(type, value)" pairs, RFC 7643 §2.4). Without a `value`, all sub-attributes of `other` are compared
 * except `primary`, which may move between elements.
 */
function isSameElement(attribute: Attribute, element: Json, other: Json): boolean {
  if (!isObject(element) || !isObject(other)) return isDeepStrictEqual(element, other);
  return comparedNames(other).every((name) => {
    const [left, right] = [element[name], other[name]];
    if (typeof left !== 'string' || typeof right !== 'string') return isDeepStrictEqual(left, right);
    if (left === right) return true;
    return findSubAttribute(attribute, name)?.caseExact !== true && foldCase(left) === foldCase(right);
  });
}

function comparedNames(element: JsonObject): string[] {
  if ('value' in element) return 'type' in element ? ['value', 'type'] : ['value'];
  const names = Object.keys(element).filter((name) => name !== 'primary');
  return names.length > 0 ? names : Object.keys(element);
}
