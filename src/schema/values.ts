import { MAX_NAME_LENGTH } from './attribute-names.ts';
import { type Attribute, findAttribute } from './attributes.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  ownValue,
  SchemaFault,
  type ScimResource,
} from './resource.ts';

/** More than anybody has; bounds what one resource costs. */
export const MAX_ELEMENTS = 250;

/**
 * A value as it is kept: canonical names and types (RFC 7643 §2), the text itself verbatim. Undefined: unassigned, as
 * null and `[]` are (RFC 7643 §2.5), and `""` where text alone makes no sense.
 */
export function normalizeValue(attribute: Attribute, value: Json): Json | undefined {
  if (attribute.type === 'any') return normalizeUndeclared(value, attribute.name);
  return attribute.multiValued ? normalizeElements(attribute, value) : normalizeSingle(attribute, value);
}

/** The sub-attributes of a complex value that were given; undefined ones are to be cleared. */
export function normalizeSubAttributes(attribute: Attribute, value: Json): Map<string, Json | undefined> {
  const unwrapped = unwrapSingleElement(attribute, value);
  if (!isObject(unwrapped)) return new Map(textAsValue(attribute, unwrapped));
  const parts = new Map<string, Json | undefined>();
  for (const [name, inner] of Object.entries(unwrapped)) {
    const part = findAttribute(attribute.subAttributes, name);
    if (part) parts.set(part.name, normalizeSubAttribute(attribute, part, inner));
  }
  return parts;
}

/**
 * One sub-attribute of a complex value. In a reference, such as manager, empty text refers to nobody
 * (docs/architecture.md, SCIM requests).
 */
export function normalizeSubAttribute(attribute: Attribute, part: Attribute, value: Json): Json | undefined {
  const isReference = !attribute.multiValued && findAttribute(attribute.subAttributes, 'value') !== undefined;
  const normalized = normalizeValue(part, value);
  return isReference && normalized === '' ? undefined : normalized;
}

/** Whether a value says that there is none. */
export function isUnassigned(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function normalizeElements(attribute: Attribute, value: Json): Json[] | undefined {
  const given = (Array.isArray(value) ? value : [value]).filter((element) => element !== null);
  if (given.length > MAX_ELEMENTS) throw new SchemaFault('value', `${attribute.name} has too many values.`);
  const kept = given.flatMap((element) => {
    if (Array.isArray(element)) throw wrongTypeFault(attribute, 'an array of values');
    return normalizeSingle(attribute, element) ?? [];
  });
  // Folded twice: equal elements keep their primary, and with one primary less others can become equal.
  return kept.length > 0 ? removeDuplicates(keepOnePrimary(removeDuplicates(kept))) : undefined;
}

/** The elements without those that are equal to an earlier one in every sub-attribute. */
export function removeDuplicates(elements: Json[]): Json[] {
  if (elements.length < 2) return elements;
  const seen = new Set<string>();
  return elements.filter((element) => {
    const text = JSON.stringify(isObject(element) ? Object.entries(element).sort(byName) : element);
    return !seen.has(text) && seen.add(text);
  });
}

function byName([one]: [string, Json], [other]: [string, Json]): number {
  return one < other ? -1 : 1;
}

/** "The primary attribute value true MUST appear no more than once" (RFC 7643 §2.4): the first one keeps it. */
function keepOnePrimary(kept: Json[]): Json[] {
  const first = kept.findIndex((element) => isObject(element) && element['primary'] === true);
  return kept.map((element, index) =>
    index > first && isObject(element) && element['primary'] === true
      ? { ...element, primary: false }
      : element,
  );
}

function normalizeSingle(attribute: Attribute, value: Json): Json | undefined {
  const unwrapped = unwrapSingleElement(attribute, value);
  if (isUnassigned(unwrapped)) return undefined;
  if (attribute.type === 'complex') return normalizeComplex(attribute, unwrapped);
  if (attribute.type === 'boolean') return toBoolean(attribute, unwrapped);
  if (typeof unwrapped === 'number') return String(checkNumber(unwrapped, attribute.name));
  if (typeof unwrapped !== 'string') throw wrongTypeFault(attribute, 'a string');
  if (unwrapped === '' && attribute.type !== 'string') return undefined;
  return checkText(unwrapped, attribute.name);
}

/** `[value]` for `value`, and `[{ "value": value }]`, which old Entra sends for simple attributes. */
function unwrapSingleElement(attribute: Attribute, value: Json): Json {
  if (!Array.isArray(value) || value.length === 0) return value;
  const [only = null, ...more] = value;
  if (more.length > 0 || Array.isArray(only)) throw wrongTypeFault(attribute, 'a single value');
  return attribute.type !== 'complex' && isObject(only) ? (ownValue(only, 'value') ?? null) : only;
}

function normalizeComplex(attribute: Attribute, value: Json): JsonObject | undefined {
  const kept = [...normalizeSubAttributes(attribute, value)].flatMap(([name, part]) =>
    part === undefined ? [] : [[name, part] as const],
  );
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** Text for a complex value means its `value`: `"manager": "26118915"`, `"emails": "ada@corp.example"`. */
function textAsValue(attribute: Attribute, text: Json): [string, Json | undefined][] {
  if (text === '' || text === null) return [];
  const part = findAttribute(attribute.subAttributes, 'value');
  if (!part) throw wrongTypeFault(attribute, 'an object');
  return [[part.name, normalizeValue(part, text)]];
}

/** Entra sends "True" and "False"; no other text is a boolean, lest "False" become true. */
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

/** Bounds the recursion; no extension is nested so deeply. */
const MAX_DEPTH = 16;

/** As many values as a declared attribute may have, and as many names as an extension (`checkRoom`). */
const MAX_INSIDE = 250;

/** A value that no schema declares, as sent; without what is unassigned (RFC 7643 §2.5). Undefined: nothing is left. */
export function normalizeUndeclared(value: Json, where: string, depth = 0): Json | undefined {
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
  const kept: Json[] = [];
  for (const value of values) {
    const open = normalizeUndeclared(value, where, depth + 1);
    if (open !== undefined) kept.push(open);
  }
  return kept.length > 0 ? kept : undefined;
}

function normalizeUndeclaredObject(value: JsonObject, where: string, depth: number): JsonObject | undefined {
  const names = Object.keys(value);
  checkValueCount(names.length, where);
  const kept: [string, Json][] = [];
  for (const name of names) {
    const open = normalizeUndeclared(value[name] ?? null, where, depth + 1);
    if (open !== undefined && isSafeName(name)) kept.push([checkName(name, where), open]);
  }
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function checkValueCount(count: number, where: string): void {
  if (count > MAX_INSIDE) throw new SchemaFault('value', `${where} has too many values.`);
}

/** What JSON cannot write again, or only rounded, would not come back as it was sent. */
export function checkNumber(value: number, where: string): number {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
    throw new SchemaFault('value', `The value of ${where} is beyond what numbers hold; send it as a string.`);
  }
  // JSON has a negative zero, and writes it as 0.
  return value === 0 ? 0 : value;
}

/** A name of an undeclared attribute that can be kept. */
export function checkName(name: string, where: string): string {
  if (name.length > MAX_NAME_LENGTH) throw new SchemaFault('value', `${where} has a name that is too long.`);
  return checkText(name, where);
}

/** Assigning to `__proto__` would change what an object inherits. */
export function isSafeName(name: string): boolean {
  return name !== '__proto__';
}

/** Longer than any value of use, shorter than what would burden every read. */
const MAX_LENGTH = 65_536;

/** A string that can be kept: databases take neither NUL characters nor halves of surrogate pairs. */
export function checkText(text: string, where: string): string {
  if (text.length > MAX_LENGTH) throw new SchemaFault('value', `The value of ${where} is too long.`);
  if (text.includes('\0')) throw new SchemaFault('value', `The value of ${where} has a NUL character.`);
  if (/\p{Surrogate}/u.test(text))
    throw new SchemaFault('value', `The value of ${where} is no Unicode text.`);
  return text;
}

/** In characters of JSON: more than any person has, and little enough that a page of the largest can be answered. */
const MAX_SIZE = 262_144;

/** Refuses a resource that is too large to be read, filtered and answered in an instant; its nesting is bounded before. */
export function checkSize(resource: ScimResource): void {
  if (JSON.stringify(resource).length > MAX_SIZE) {
    throw new SchemaFault('value', `The resource is larger than ${MAX_SIZE} characters.`);
  }
}
