import { isObject, type Json, type JsonObject, type ScimResource } from '../schema/resource.ts';
import type { AppliedFields, Lookups, Reference } from './translation.ts';

/** Values longer than this are unusable: no travel field is that long, and matching such a value takes long. In characters. */
export const MAX_VALUE_LENGTH = 10_000;

/** A string, number or boolean as trimmed text; undefined for any other value, for blank text and for text that is too long. */
export function toText(value: Json | undefined): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value.length > MAX_VALUE_LENGTH) return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** True for null, blank text, an empty array (RFC 7643 §2.5), and an object or array that has only such values. */
export function isUnassigned(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return isBlank(value);
  return Object.values(value).every(isBlank);
}

function isBlank(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  return Array.isArray(value) && value.length === 0;
}

/** The value at a path of attribute names; undefined if an attribute on the way is missing. */
export function valueAt(resource: ScimResource, ...names: string[]): Json | undefined {
  let value: Json | undefined = resource;
  for (const name of names) {
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** The elements of a multi-valued attribute as objects; a simple value counts as `{ value }` (RFC 7643 §2.4). */
export function elementsOf(resource: ScimResource, name: string): JsonObject[] {
  const value = valueAt(resource, name);
  const elements = Array.isArray(value) ? value : [value];
  return elements.flatMap((element) => {
    if (isUnassigned(element) || element === undefined) return [];
    return [isObject(element) ? element : { value: element }];
  });
}

/** The `type` of an element in lower case. */
export function elementType(element: JsonObject): string | undefined {
  return toText(element.type)?.toLowerCase();
}

/** The reason why a SCIM value is not used, in words for an admin. */
export interface Fault {
  code: string;
  reason: string;
  remedy: string;
  /** `unusable`: the value is wrong. `unresolved`: it may be found later, so the applied value stays while the source does. */
  kind: 'unusable' | 'unresolved';
  /** True if the value may be known to the travel service by now, so that the lookups should be read again. */
  needsFreshLookups?: boolean;
  /** The JSON path in the mapping that caused the fault. A fault of the mapping never removes a value from a traveler. */
  mappingPath?: string;
}

/**
 * The result of reading one SCIM value: a travel value, with a note if something about it is odd, or a fault.
 * `mappingPath` is set if the mapping file itself contains the value.
 */
export type Reading = { value: Json; note?: Fault; mappingPath?: string } | { fault: Fault };

/** What a reader may use besides the value. */
export interface ReadContext {
  lookups: Lookups;
  references: ReadonlyMap<string, Reference>;
  /** The fields sent before: an id that was once resolved stays while its source value does. */
  applied: AppliedFields;
  /** The countries in which a national phone number is tried, the likeliest first (ISO 3166-1 alpha-2). */
  phoneCountries: string[];
}

/** Converts one SCIM value to a travel value. */
export type Reader = (raw: Json, context: ReadContext) => Reading;

/** A fault of kind `unusable`. */
export function unusable(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unusable', code, reason, remedy } };
}

/** A fault of kind `unresolved`: the value names something that does not exist or cannot be assigned at present. */
export function unresolved(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unresolved', code, reason, remedy } };
}

/** A fault of kind `unresolved` that fresher lookups may settle. */
export function notInLookups(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unresolved', code, reason, remedy, needsFreshLookups: true } };
}

/** Faults of one user's manager; the mapping that names this manager for everybody is not wrong because of them. */
const personalFaults = ['managerSelf', 'managerCircle'];

/** Turns a fault into one of the mapping, with the JSON path of the value or target that an admin must correct. */
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

/** Compares two JSON values; the order of member names does not matter. */
export function isEqualJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other || typeof one !== 'object' || typeof other !== 'object') return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

/** JSON text with sorted member names, so that equal values have equal texts. */
export function canonicalJson(value: Json): string {
  return JSON.stringify(value, (_name, part: Json) => (isObject(part) ? withSortedNames(part) : part));
}

function withSortedNames(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)));
}
