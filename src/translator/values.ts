import { isObject, type Json, type JsonObject, type ScimResource } from '../schema/resource.ts';
import type { AppliedFields, Lookups, Reference } from './translation.ts';

/** The most characters of a value that are looked at: a longer one is no traveler's, and costs time to match. */
export const LONGEST = 10_000;

/** A simple value as trimmed text; undefined when there is none to speak of. */
export function toText(value: Json | undefined): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value.length > LONGEST) return undefined;
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** True for what SCIM calls unassigned (RFC 7643 §2.5), for blank text, and for an object or array of nothing else. */
export function isUnassigned(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return isBlank(value);
  return Object.values(value).every(isBlank);
}

function isBlank(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return value.trim() === '';
  return Array.isArray(value) && value.length === 0;
}

/** The value at a path of constant names, or nothing. */
export function valueAt(resource: ScimResource, ...names: string[]): Json | undefined {
  let value: Json | undefined = resource;
  for (const name of names) {
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

/** The elements of a multi-valued attribute as objects: a bare value stands for `{ value }` (RFC 7643 §2.4). */
export function elementsOf(resource: ScimResource, name: string): JsonObject[] {
  const value = valueAt(resource, name);
  const elements = Array.isArray(value) ? value : [value];
  return elements.flatMap((element) => {
    if (isUnassigned(element) || element === undefined) return [];
    return [isObject(element) ? element : { value: element }];
  });
}

/** The `type` of an element, for comparison. */
export function typeOf(element: JsonObject): string | undefined {
  return toText(element.type)?.toLowerCase();
}

/** Why a SCIM value was left out, in words for an admin. */
export interface Fault {
  code: string;
  reason: string;
  remedy: string;
  /** `unresolved`: it may be found later, so that what was applied stays while the value does. */
  kind: 'unusable' | 'unresolved';
  /** Fresher lookups may know it. */
  needsFreshLookups?: boolean;
  /** The place in the mapping that is at fault. Such a fault never removes a value. */
  mappingPath?: string;
}

/**
 * What a reader makes of one SCIM value: a travel value, perhaps with a word about it, or why there is none. A value that
 * the mapping itself names has the place where it stands.
 */
export type Reading = { value: Json; note?: Fault; mappingPath?: string } | { fault: Fault };

/** What reading a value may depend on besides the value. */
export interface Context {
  lookups: Lookups;
  references: ReadonlyMap<string, Reference>;
  /** What was sent before: an id that was resolved once sticks to its source value. */
  applied: AppliedFields;
  /** Countries whose national way of writing a phone number may be meant, the likeliest first. */
  phoneCountries: string[];
}

/** Turns one SCIM value into a travel value. */
export type Reader = (raw: Json, context: Context) => Reading;

/** A fault in a value that cannot be used as it is. */
export function unusable(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unusable', code, reason, remedy } };
}

/** A fault in a value that refers to something which is not there, or not yet. */
export function unresolved(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unresolved', code, reason, remedy } };
}

/** A reference to something that fresher lookups may know. */
export function notInLookups(code: string, reason: string, remedy: string): { fault: Fault } {
  return { fault: { kind: 'unresolved', code, reason, remedy, needsFreshLookups: true } };
}

/** The two faults of a manager that say nothing against the mapping which names one for everybody. */
const personalFaults = ['managerSelf', 'managerCircle'];

/** A fault in a value that the mapping itself names, or in the target of a rule, with the place to mend. */
export function faultOfMapping(fault: Fault, mappingPath: string, remedy = `Correct ${mappingPath}.`): Fault {
  if (personalFaults.includes(fault.code)) return fault;
  return {
    ...fault,
    reason: `The mapping is at fault (${mappingPath}). ${fault.reason}`,
    remedy: `${remedy} Until then the field stays as it is.`,
    mappingPath,
  };
}

/** Equality of two JSON values; the order of an object's names does not matter. */
export function isEqualJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other || typeof one !== 'object' || typeof other !== 'object') return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

/** JSON text in which equal values are equal texts: the names of objects are sorted. */
export function canonicalJson(value: Json): string {
  return JSON.stringify(value, (_name, part: Json) => (isObject(part) ? sorted(part) : part));
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)));
}
