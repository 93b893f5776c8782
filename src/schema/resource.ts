/** Any JSON value; `undefined` never stands inside one. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A JSON object, by attribute name. */
export interface JsonObject {
  [name: string]: Json;
}

/** A SCIM resource as it is kept and answered: canonical attribute names and types, the IdP's values verbatim (RFC 7643 §3). */
export type ScimResource = JsonObject;

/** The URNs of the schemas this service knows (RFC 7643 §8, and the travel extension). */
export const urns = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  travel: 'urn:ietf:params:scim:schemas:extension:travel:2.0:User',
} as const;

/** The URNs of all base schemas, those of the discovery endpoints included (RFC 7643 §10.3.1). */
export const coreUrns: readonly string[] = [
  urns.user,
  urns.group,
  'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  'urn:ietf:params:scim:schemas:core:2.0:Schema',
];

const MAX_NAMES = 500;

/** An own property, never what every object inherits; an exact name first, then one that differs by case only. */
export function ownValue(container: JsonObject, name: string): Json | undefined {
  const key = ownKey(container, name);
  return key === undefined ? undefined : container[key];
}

/** The spelling that the container uses for a name, when it has it. */
export function ownKey(container: JsonObject, name: string): string | undefined {
  if (Object.hasOwn(container, name)) return name;
  const folded = name.toLowerCase();
  return Object.keys(container).find((key) => key.toLowerCase() === folded);
}

/** Refuses one more name where there are too many; no client needs as many, and each is looked through again and again. */
export function checkNameCount(container: JsonObject, name: string): void {
  if (!Object.hasOwn(container, name) && Object.keys(container).length >= MAX_NAMES) {
    throw new SchemaFault('value', 'There are too many attributes.');
  }
}

/** Tells a JSON object from the other values. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `value`: a value is of the wrong type or cannot be kept; `schemas`: the body is not of this kind of resource. */
export type SchemaFaultKind = 'value' | 'schemas';

/** Input that does not fit the schema. The message may be read by the client. */
export class SchemaFault extends Error {
  readonly kind: SchemaFaultKind;

  constructor(kind: SchemaFaultKind, message: string) {
    super(message);
    this.name = 'SchemaFault';
    this.kind = kind;
  }
}
