import { type Attribute, findAttribute } from './attribute.ts';
import { SchemaFault } from './fault.ts';
import { checkedNumber, openValue } from './open-value.ts';
import { isObject, ownValue } from './own.ts';
import type { Json, JsonObject } from './resource.ts';
import { checkedText } from './text.ts';

/** More than anybody has; bounds what one resource costs. */
export const MAX_ELEMENTS = 250;

/**
 * A value as it is kept: canonical names and types (RFC 7643 §2), the text itself verbatim. Undefined: unassigned, as
 * null and `[]` are (RFC 7643 §2.5), and `""` where text alone makes no sense.
 */
export function normalizeValue(attribute: Attribute, value: Json): Json | undefined {
  if (attribute.type === 'any') return openValue(value, attribute.name);
  return attribute.multiValued ? elements(attribute, value) : single(attribute, value);
}

/** The sub-attributes of a complex value that were given; undefined ones are to be cleared. */
export function normalizeParts(attribute: Attribute, value: Json): Map<string, Json | undefined> {
  const unwrapped = unwrap(attribute, value);
  if (!isObject(unwrapped)) return new Map(partOfText(attribute, unwrapped));
  const parts = new Map<string, Json | undefined>();
  for (const [name, inner] of Object.entries(unwrapped)) {
    const part = findAttribute(attribute.subAttributes, name);
    if (part) parts.set(part.name, normalizePart(attribute, part, inner));
  }
  return parts;
}

/**
 * One sub-attribute of a complex value. In a reference, such as manager, empty text refers to nobody
 * (docs/architecture.md, SCIM requests).
 */
export function normalizePart(attribute: Attribute, part: Attribute, value: Json): Json | undefined {
  const isReference = !attribute.multiValued && findAttribute(attribute.subAttributes, 'value') !== undefined;
  const normalized = normalizeValue(part, value);
  return isReference && normalized === '' ? undefined : normalized;
}

/** Whether a value says that there is none. */
export function isUnassigned(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function elements(attribute: Attribute, value: Json): Json[] | undefined {
  const given = (Array.isArray(value) ? value : [value]).filter((element) => element !== null);
  if (given.length > MAX_ELEMENTS) throw new SchemaFault('value', `${attribute.name} has too many values.`);
  const kept = given.flatMap((element) => {
    if (Array.isArray(element)) throw wrongType(attribute, 'an array of values');
    return single(attribute, element) ?? [];
  });
  // Folded twice: equal elements keep their primary, and with one primary less others can become equal.
  return kept.length > 0 ? withoutEqual(onePrimary(withoutEqual(kept))) : undefined;
}

/** The elements without those that are equal to an earlier one in every sub-attribute. */
export function withoutEqual(elements: Json[]): Json[] {
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
function onePrimary(kept: Json[]): Json[] {
  const first = kept.findIndex((element) => isObject(element) && element['primary'] === true);
  return kept.map((element, index) =>
    index > first && isObject(element) && element['primary'] === true
      ? { ...element, primary: false }
      : element,
  );
}

function single(attribute: Attribute, value: Json): Json | undefined {
  const unwrapped = unwrap(attribute, value);
  if (isUnassigned(unwrapped)) return undefined;
  if (attribute.type === 'complex') return complexValue(attribute, unwrapped);
  if (attribute.type === 'boolean') return toBoolean(attribute, unwrapped);
  if (typeof unwrapped === 'number') return String(checkedNumber(unwrapped, attribute.name));
  if (typeof unwrapped !== 'string') throw wrongType(attribute, 'a string');
  if (unwrapped === '' && attribute.type !== 'string') return undefined;
  return checkedText(unwrapped, attribute.name);
}

/** `[value]` for `value`, and `[{ "value": value }]`, which old Entra sends for simple attributes. */
function unwrap(attribute: Attribute, value: Json): Json {
  if (!Array.isArray(value) || value.length === 0) return value;
  const [only = null, ...more] = value;
  if (more.length > 0 || Array.isArray(only)) throw wrongType(attribute, 'a single value');
  return attribute.type !== 'complex' && isObject(only) ? (ownValue(only, 'value') ?? null) : only;
}

function complexValue(attribute: Attribute, value: Json): JsonObject | undefined {
  const kept = [...normalizeParts(attribute, value)].flatMap(([name, part]) =>
    part === undefined ? [] : [[name, part] as const],
  );
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** Text for a complex value means its `value`: `"manager": "26118915"`, `"emails": "ada@corp.example"`. */
function partOfText(attribute: Attribute, text: Json): [string, Json | undefined][] {
  if (text === '' || text === null) return [];
  const part = findAttribute(attribute.subAttributes, 'value');
  if (!part) throw wrongType(attribute, 'an object');
  return [[part.name, normalizeValue(part, text)]];
}

/** Entra sends "True" and "False"; no other text is a boolean, lest "False" become true. */
function toBoolean(attribute: Attribute, value: Json): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : undefined;
  if (text === '') return undefined;
  if (text !== 'true' && text !== 'false') throw wrongType(attribute, 'true or false');
  return text === 'true';
}

function wrongType(attribute: Attribute, wanted: string): SchemaFault {
  return new SchemaFault('value', `The value of ${attribute.name} must be ${wanted}.`);
}
