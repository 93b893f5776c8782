import { foldCase } from './case-fold.ts';

/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A JSON object, by attribute name. */
export interface JsonObject {
  [name: string]: Json;
}

/**
 * A SCIM resource as it is stored and returned: attribute names and types are normalized to the schema, values are
 * stored as the client sent them (RFC 7643 §3).
 */
export type ScimResource = JsonObject;

/** True for a user that is not deactivated. RFC 7643 leaves open what a user without `active` is: here it is active. */
export function isActive(user: ScimResource): boolean {
  return ownValue(user, 'active') !== false;
}

/** The URNs of the schemas of users and groups (RFC 7643 §10.3.1), of Okta's schema of roles, and of the travel extension. */
export const urns = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  role: 'urn:okta:scim:schemas:core:1.0:Role',
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  travel: 'urn:ietf:params:scim:schemas:extension:travel:2.0:User',
} as const;

/** The URNs of all base schemas, those of the discovery endpoints (RFC 7643 §10.3.1) and of roles included. */
export const coreUrns: readonly string[] = [
  urns.user,
  urns.group,
  urns.role,
  'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  'urn:ietf:params:scim:schemas:core:2.0:Schema',
];

/**
 * Returns an own property by name, never an inherited one: in the exact spelling if there is one, else in a spelling
 * that differs only by case.
 */
export function ownValue(container: JsonObject, name: string): Json | undefined {
  const key = ownKey(container, name);
  return key === undefined ? undefined : container[key];
}

/** Returns the spelling that an object uses for a name, compared without case; undefined if it has no such property. */
export function ownKey(container: JsonObject, name: string): string | undefined {
  if (Object.hasOwn(container, name)) return name;
  const folded = name.toLowerCase();
  return Object.keys(container).find((key) => key.toLowerCase() === folded);
}

/**
 * The maximum number of attributes of one object. Names are searched one after the other, so more of them would be
 * slow.
 */
const MAX_NAMES = 500;

/** The number of attributes up to which a user gets custom ones. The difference leaves room for those that schemas have. */
export const MAX_NAMES_WITH_CUSTOM = 400;

/** Throws a SchemaFault if adding this name would exceed the limit on attributes of one object. */
export function checkNameCount(container: JsonObject, name: string, limit = MAX_NAMES): void {
  if (!Object.hasOwn(container, name) && Object.keys(container).length >= limit) {
    throw new SchemaFault('value', 'There are too many attributes.');
  }
}

/** Tells whether a value is a JSON object: neither null nor an array. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `value`: a value has the wrong type or cannot be stored; `schemas`: the body is another type of resource. */
type SchemaFaultKind = 'value' | 'schemas';

/** Thrown for input that does not fit the schema. The message is sent to the client. */
export class SchemaFault extends Error {
  readonly kind: SchemaFaultKind;

  constructor(kind: SchemaFaultKind, message: string) {
    super(message);
    this.name = 'SchemaFault';
    this.kind = kind;
  }
}

/** The URNs of the extensions that a resource has data of. */
export function extensionsOf(resource: ScimResource): string[] {
  return Object.keys(resource).filter((name) => name.includes(':'));
}

/** The values of a user's email addresses. */
export function emailsOf({ emails }: ScimResource): string[] {
  if (!Array.isArray(emails)) return [];
  return emails
    .map((email) => (isObject(email) ? email['value'] : undefined))
    .filter((value) => typeof value === 'string');
}

/** Returns a text that is not empty; undefined for any other value. */
export function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the employee number of a user (RFC 7643 §4.3). */
export function employeeNumberOf(user: ScimResource): string | undefined {
  const extension = user[urns.enterprise];
  const number = isObject(extension) ? extension['employeeNumber'] : undefined;
  return typeof number === 'string' ? number : undefined;
}

/**
 * Returns the form in which employee numbers are compared: without case, spaces and leading zeros. Undefined if nothing is left, as of
 * a placeholder such as "0000".
 */
export function employeeNumberKey(number: string | undefined): string | undefined {
  const key = foldCase(number ?? '')
    .replace(/\s+/gu, '')
    .replace(/^0+/u, '');
  return key === '' ? undefined : key;
}
