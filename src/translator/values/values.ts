import type { AppliedFields, Lookups, Reference } from '../../model/translation.ts';
import { cleanText, MAX_VALUE_LENGTH } from '../../schema/clean-text.ts';
import { isObject, type Json, type JsonObject, type ScimResource } from '../../schema/resource.ts';

/**
 * Converts a string, number or boolean to trimmed text without invisible characters; undefined for any other value, for
 * blank text and for text that is too long.
 */
export function toText(value: Json | undefined): string | undefined {
  const raw = toVerbatimText(value);
  if (raw === undefined) return undefined;
  const text = cleanText(raw).trim();
  return text === '' ? undefined : text;
}

/** Like `toText`, with invisible characters: for comparisons with values that are stored as they were sent. */
export function toVerbatimText(value: Json | undefined): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value.length > MAX_VALUE_LENGTH) return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/**
 * Returns true for null, blank text, an empty array (RFC 7643 §2.5), and for an object or array that contains only such
 * values.
 */
export function isUnassigned(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return isBlank(value);
  return Object.values(value).every(isBlank);
}

function isBlank(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return cleanText(value).trim() === '';
  return Array.isArray(value) && value.length === 0;
}

/** Returns the value at a path of attribute names; undefined if an attribute on the path is missing. */
export function valueAt(resource: ScimResource, ...names: string[]): Json | undefined {
  let value: Json | undefined = resource;
  for (const name of names) {
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** Returns the elements of a multi-valued attribute as objects; a simple value becomes `{ value }` (RFC 7643 §2.4). */
export function elementsOf(resource: ScimResource, name: string): JsonObject[] {
  const value = valueAt(resource, name);
  const elements = Array.isArray(value) ? value : [value];
  return elements.flatMap((element) => {
    if (isUnassigned(element) || element === undefined) return [];
    return [isObject(element) ? element : { value: element }];
  });
}

/** Returns the `type` of an element in lower case. */
export function elementType(element: JsonObject): string | undefined {
  return toText(element.type)?.toLowerCase();
}

/** The fault for which a SCIM value is not used, in words for an admin. */
export interface Fault {
  code: string;
  reason: string;
  remedy: string;
  /**
   * `unusable`: the value is wrong. `unresolved`: it may become usable later, so the applied value stays while the
   * source value is unchanged.
   */
  kind: 'unusable' | 'unresolved';
  /** True if the lookups may be outdated: they should be read again, because the value may be in them by now. */
  needsFreshLookups?: boolean;
  /** If the mapping is at fault: the JSON path of the fault. Such a fault never removes a value from a traveler. */
  mappingPath?: string;
}

/**
 * The result of reading one SCIM value: a travel value, possibly with a note for the admin, or a fault. `mappingPath`
 * is set if the value comes from the mapping file.
 */
export type Reading = { value: Json; note?: Fault; mappingPath?: string } | { fault: Fault };

/** The data that a reader may use besides the value. */
export interface ReadContext {
  lookups: Lookups;
  references: ReadonlyMap<string, Reference>;
  /** The fields sent before. While the source value of a resolved id is unchanged, the id stays. */
  applied: AppliedFields;
  /** The day of the last write of the user, as YYYY-MM-DD; undefined if it is not known. */
  statedOn?: string | undefined;
  /** The countries in which a national phone number is interpreted, the most likely first (ISO 3166-1 alpha-2). */
  phoneCountries: string[];
}

/** Converts one SCIM value to a travel value. */
export type Reader = (raw: Json, context: ReadContext) => Reading;

/** Makes a fault of kind `unusable`. */
export function unusable(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unusable', code, reason, remedy } };
}

/**
 * Makes a fault of kind `unresolved`: the value names something that does not exist or cannot be assigned at present.
 */
export function unresolved(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unresolved', code, reason, remedy } };
}

/** Makes a fault of kind `unresolved` that may disappear when the lookups are read again. */
export function notInLookups(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unresolved', code, reason, remedy, needsFreshLookups: true } };
}

/**
 * Faults that concern one user, or the present state of a manager: a mapping that gives all users this manager is not wrong
 * because of them.
 */
const personalFaults = ['managerSelf', 'managerCircle', 'managerInactive'];

/** Changes a fault of a value into a fault of the mapping, with the JSON path that an admin must correct. */
export function withMappingPath(
  fault: Fault,
  mappingPath: string,
  remedy = `Correct ${mappingPath}.`,
): Fault {
  if (personalFaults.includes(fault.code)) return fault;
  return {
    ...fault,
    reason: `The mapping is at fault (${mappingPath}). ${fault.reason}`,
    remedy: `${remedy} Until then the field stays as it is.`,
    mappingPath,
  };
}

/** Compares two JSON values, ignoring the order of members. */
export function isEqualJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other || typeof one !== 'object' || typeof other !== 'object') return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

/** Returns JSON text with sorted member names, so that equal values have equal texts. */
export function canonicalJson(value: Json | object): string {
  return JSON.stringify(value, (_name, part: Json) => (isObject(part) ? withSortedNames(part) : part));
}

function withSortedNames(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)));
}
