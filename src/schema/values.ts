import { MAX_NAME_LENGTH } from './attribute-names.ts';
import { type Attribute, findAttribute } from './attributes.ts';
import { isValueFault, leftOutValue, type Tolerance, tolerate } from './left-out.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  ownValue,
  SchemaFault,
  type ScimResource,
} from './resource.ts';

/** The maximum number of values of a multi-valued attribute. It limits the cost of one resource. */
export const MAX_ELEMENTS = 250;

/**
 * Converts a value to the type of its attribute, with the names of the schema (RFC 7643 §2); text stays verbatim. Returns
 * undefined for an unassigned value: null and `[]` (RFC 7643 §2.5), and `""` where the type is not a string. Throws a
 * SchemaFault for a value of another type, unless `tolerance` leaves out the part that does not fit.
 */
export function normalizeValue(attribute: Attribute, value: Json, tolerance?: Tolerance): Json | undefined {
  if (attribute.type === 'any') return normalizeUndeclared(value, attribute.name);
  return attribute.multiValued
    ? normalizeElements(attribute, value, tolerance)
    : normalizeSingle(attribute, value, tolerance);
}

/**
 * Normalizes each sub-attribute of a complex value. In the result, undefined means that the client sent the
 * sub-attribute as unassigned.
 */
export function normalizeSubAttributes(
  attribute: Attribute,
  value: Json,
  tolerance?: Tolerance,
): Map<string, Json | undefined> {
  const unwrapped = unwrapSingleElement(attribute, value, tolerance);
  if (!isObject(unwrapped)) return new Map(textAsValue(attribute, unwrapped));
  const parts = new Map<string, Json | undefined>();
  for (const [name, inner] of Object.entries(unwrapped)) {
    const part = findAttribute(attribute.subAttributes, name) ?? partOfValue(attribute, name);
    const isOther = part?.name.toLowerCase() !== name.toLowerCase();
    if (!part || (isOther && parts.has(part.name))) continue;
    const where = { attribute: `${attribute.name}.${part.name}`, value: inner };
    const fitting = tolerate(tolerance, where, () =>
      normalizeSubAttribute(attribute, part, inner, tolerance),
    );
    if (fitting) parts.set(part.name, fitting.result);
  }
  return parts;
}

/**
 * Normalizes one sub-attribute of a complex value. Empty text in a single-valued reference such as `manager` means that it is
 * unassigned (docs/architecture.md, SCIM requests).
 */
export function normalizeSubAttribute(
  attribute: Attribute,
  part: Attribute,
  value: Json,
  tolerance?: Tolerance,
): Json | undefined {
  const isReference = !attribute.multiValued && findAttribute(attribute.subAttributes, 'value') !== undefined;
  const normalized = normalizeValue(part, value, tolerance);
  return isReference && normalized === '' ? undefined : normalized;
}

/** Returns true if a value means unassigned (RFC 7643 §2.5). */
export function isUnassigned(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function normalizeElements(
  attribute: Attribute,
  value: Json,
  tolerance: Tolerance | undefined,
): Json[] | undefined {
  const { name } = attribute;
  const given = (Array.isArray(value) ? value : [value]).filter((element) => element !== null);
  const counted = tolerate(tolerance, { attribute: name, value: `${given.length} values` }, () => {
    if (given.length > MAX_ELEMENTS) throw new SchemaFault('value', `${name} has too many values.`);
  });
  const elements = given.slice(0, counted ? given.length : MAX_ELEMENTS).flatMap((element) => {
    const fitting = tolerate(tolerance, { attribute: name, value: element }, () => {
      if (Array.isArray(element)) throw wrongTypeFault(attribute, 'an array of values');
      return normalizeSingle(attribute, element, tolerance);
    });
    return fitting?.result ?? [];
  });
  // Remove duplicates before and after, because elements can become equal when one of them is no longer primary.
  return elements.length > 0 ? removeDuplicates(keepOnePrimary(removeDuplicates(elements))) : undefined;
}

/** Removes the elements that equal an earlier one in every sub-attribute. */
export function removeDuplicates(elements: Json[]): Json[] {
  if (elements.length < 2) return elements;
  const seen = new Set<string>();
  return elements.filter((element) => {
    const text = JSON.stringify(isObject(element) ? Object.entries(element).sort(byName) : element);
    return !seen.has(text) && seen.add(text);
  });
}

function byName([first]: [string, Json], [second]: [string, Json]): number {
  return first < second ? -1 : 1;
}

/**
 * Removes `primary` from all primary elements except the first: "The primary attribute value 'true' MUST appear no more
 * than once" (RFC 7643 §2.4).
 */
function keepOnePrimary(elements: Json[]): Json[] {
  const first = elements.findIndex((element) => isObject(element) && element['primary'] === true);
  return elements.map((element, index) =>
    index > first && isObject(element) && element['primary'] === true
      ? { ...element, primary: false }
      : element,
  );
}

function normalizeSingle(
  attribute: Attribute,
  value: Json,
  tolerance: Tolerance | undefined,
): Json | undefined {
  const unwrapped = unwrapSingleElement(attribute, value, tolerance);
  if (isUnassigned(unwrapped)) return undefined;
  if (attribute.type === 'complex') return normalizeComplex(attribute, unwrapped, tolerance);
  if (attribute.type === 'boolean') return toBoolean(attribute, unwrapped);
  if (isObject(unwrapped) && namingAttributes.includes(attribute.name)) {
    const named = simpleValueIn(attribute, unwrapped);
    if (named !== undefined && !isObject(named)) return normalizeSingle(attribute, named, tolerance);
  }
  if (typeof unwrapped === 'number') return String(checkNumber(unwrapped, attribute.name));
  if (typeof unwrapped !== 'string') throw wrongTypeFault(attribute, 'a string');
  if (unwrapped === '' && attribute.type !== 'string') return undefined;
  return checkText(unwrapped, attribute.name);
}

/**
 * Accepts `[value]` for `value`, and `[{ "value": value }]`, which older Entra ID sends for simple attributes. The first usable one of
 * several values counts if the tolerance leaves the others out.
 */
function unwrapSingleElement(attribute: Attribute, value: Json, tolerance: Tolerance | undefined): Json {
  if (!Array.isArray(value) || value.length === 0) return value;
  const only = value.length === 1 ? value[0] : firstUsable(attribute, value, tolerance);
  if (only === undefined || Array.isArray(only)) throw wrongTypeFault(attribute, 'a single value');
  return attribute.type !== 'complex' && isObject(only) ? (simpleValueIn(attribute, only) ?? null) : only;
}

/** Returns the value that an object in place of a simple value holds, as in `{"value": "Sales"}`. */
function simpleValueIn({ name }: Attribute, object: JsonObject): Json | undefined {
  return (
    ownValue(object, 'value') ?? (namingAttributes.includes(name) ? ownValue(object, 'name') : undefined)
  );
}

/**
 * Texts of the enterprise extension that name a unit of the organization (RFC 7643 §4.3). Clients that keep units as records send
 * `{"value": "Sales"}` or `{"name": "Sales"}`.
 */
const namingAttributes = ['costCenter', 'organization', 'division', 'department'];

/** Returns the first value of a list that the attribute can have, and reports that the others are left out. */
function firstUsable(
  attribute: Attribute,
  values: Json[],
  tolerance: Tolerance | undefined,
): Json | undefined {
  if (!tolerance || tolerance.leavesOut === 'nothing' || values.length > MAX_ELEMENTS) return undefined;
  // A person must not be known by one of several names at random.
  if (attribute.name === 'userName') return undefined;
  const usable = values.find((element) => isUsable(attribute, element));
  const fault = wrongTypeFault(attribute, 'a single value').message;
  if (usable !== undefined)
    tolerance.report(leftOutValue('severalValues', { attribute: attribute.name, value: values, fault }));
  return usable;
}

/** True for an element of a list that the attribute can have as its only value. */
function isUsable(attribute: Attribute, element: Json): boolean {
  if (Array.isArray(element)) return false;
  try {
    const normalized = normalizeSingle(attribute, [element], undefined);
    return normalized !== undefined && normalized !== '';
  } catch (error) {
    if (isValueFault(error)) return false;
    throw error;
  }
}

function normalizeComplex(
  attribute: Attribute,
  value: Json,
  tolerance: Tolerance | undefined,
): JsonObject | undefined {
  const assigned: JsonObject = {};
  let isAssigned = false;
  for (const [name, part] of normalizeSubAttributes(attribute, value, tolerance)) {
    if (part === undefined) continue;
    assigned[name] = part;
    isAssigned = true;
  }
  return isAssigned ? assigned : undefined;
}

/**
 * `value` means the name of a reference that has no such part, e.g. `{"value": "Sales"}` as a cost center. `managerId` of SCIM 1.1 means the
 * `value` of a manager.
 */
function partOfValue({ name: parent, subAttributes }: Attribute, name: string): Attribute | undefined {
  const folded = name.toLowerCase();
  if (parent === 'manager' && folded === 'managerid') return findAttribute(subAttributes, 'value');
  const isReference = findAttribute(subAttributes, 'id') !== undefined;
  return isReference && folded === 'value' ? findAttribute(subAttributes, 'name') : undefined;
}

/** Text in place of a complex value means its `value`: `"manager": "26118915"`, `"emails": "ada@corp.example"`. */
function textAsValue(attribute: Attribute, text: Json): [string, Json | undefined][] {
  if (text === '' || text === null) return [];
  const part = findAttribute(attribute.subAttributes, 'value') ?? partOfValue(attribute, 'value');
  if (!part) throw wrongTypeFault(attribute, 'an object');
  return [[part.name, normalizeValue(part, text)]];
}

/** Entra ID sends "True" and "False" as text. Other text is refused. */
function toBoolean(attribute: Attribute, value: Json): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : undefined;
  if (text === '') return undefined;
  if (text !== 'true' && text !== 'false') throw wrongTypeFault(attribute, 'true or false');
  return text === 'true';
}

function wrongTypeFault(attribute: Attribute, wanted: string): SchemaFault {
  return new SchemaFault('value', `The value of ${attribute.name} must be ${wanted}.`);
}

/** The deepest nesting of an undeclared value. The limit bounds the recursion. */
const MAX_DEPTH = 16;

/** The most values of an undeclared array, and the most names of an undeclared object. */
const MAX_UNDECLARED_VALUES = 250;

/**
 * Returns a value that no schema defines as the client sent it, without unassigned parts (RFC 7643 §2.5); undefined if nothing
 * is left. `where` names the attribute in error messages.
 */
function normalizeUndeclared(value: Json, where: string, depth = 0): Json | undefined {
  if (typeof value === 'string') return checkText(value, where);
  if (typeof value === 'number') return checkNumber(value, where);
  if (typeof value === 'boolean') return value;
  if (value === null) return undefined;
  if (depth > MAX_DEPTH) throw new SchemaFault('value', `The value of ${where} is nested too deeply.`);
  return isObject(value)
    ? normalizeUndeclaredObject(value, where, depth)
    : normalizeUndeclaredArray(value, where, depth);
}

function normalizeUndeclaredArray(values: Json[], where: string, depth: number): Json[] | undefined {
  checkValueCount(values.length, where);
  const assigned: Json[] = [];
  for (const value of values) {
    const normalized = normalizeUndeclared(value, where, depth + 1);
    if (normalized !== undefined) assigned.push(normalized);
  }
  return assigned.length > 0 ? assigned : undefined;
}

function normalizeUndeclaredObject(value: JsonObject, where: string, depth: number): JsonObject | undefined {
  const names = Object.keys(value);
  checkValueCount(names.length, where);
  const assigned: [string, Json][] = [];
  for (const name of names) {
    const normalized = normalizeUndeclared(value[name] ?? null, where, depth + 1);
    if (normalized !== undefined && isSafeName(name)) assigned.push([checkName(name, where), normalized]);
  }
  return assigned.length > 0 ? Object.fromEntries(assigned) : undefined;
}

function checkValueCount(count: number, where: string): void {
  if (count > MAX_UNDECLARED_VALUES) throw new SchemaFault('value', `${where} has too many values.`);
}

/** Throws for a number that JSON cannot represent exactly, because it would be returned with another value. */
function checkNumber(value: number, where: string): number {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
    throw new SchemaFault('value', `The value of ${where} is beyond what numbers hold; send it as a string.`);
  }
  // JSON.parse accepts -0, but JSON.stringify writes it as 0.
  return value === 0 ? 0 : value;
}

/** Returns the name of an undeclared attribute. Throws a SchemaFault if it is too long or cannot be stored. */
export function checkName(name: string, where: string): string {
  if (name.length > MAX_NAME_LENGTH) throw new SchemaFault('value', `${where} has a name that is too long.`);
  return checkText(name, where);
}

/**
 * Returns false for `__proto__`: assigning it would change the prototype of an object, so such attributes are dropped.
 */
export function isSafeName(name: string): boolean {
  return name !== '__proto__';
}

/** The longest text of a value, in UTF-16 code units. */
const MAX_LENGTH = 65_536;

/** Returns text that the store can keep. Throws a SchemaFault for NUL characters and unpaired surrogates. */
export function checkText(text: string, where: string): string {
  if (text.length > MAX_LENGTH) throw new SchemaFault('value', `The value of ${where} is too long.`);
  if (text.includes('\0')) throw new SchemaFault('value', `The value of ${where} has a NUL character.`);
  if (/\p{Surrogate}/u.test(text))
    throw new SchemaFault('value', `The value of ${where} is no Unicode text.`);
  return text;
}

/** The largest resource, in characters of JSON. A page of the largest resources still fits into memory. */
const MAX_SIZE = 262_144;

/** Throws a SchemaFault if the JSON of a resource is too long. */
export function checkSize(resource: ScimResource): void {
  if (JSON.stringify(resource).length > MAX_SIZE) {
    throw new SchemaFault('value', `The resource is larger than ${MAX_SIZE} characters.`);
  }
}
