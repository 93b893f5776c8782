import { type Attribute, findAttribute, type Schema } from './attribute.ts';
import { commonAttributes } from './common-attributes.ts';
import { discoverySchemas } from './discovery-schemas.ts';
import { enterpriseSchema } from './enterprise-schema.ts';
import type { AttributePath } from './expression.ts';
import { groupSchema } from './group-schema.ts';
import { travelSchema } from './travel-schema.ts';
import { userSchema } from './user-schema.ts';

/** A kind of resource (RFC 7643 §6). */
export interface ResourceType {
  name: 'User' | 'Group';
  endpoint: '/Users' | '/Groups';
  description: string;
  schema: Schema;
  extensions: readonly Schema[];
}

/** Users, with both extensions. */
export const userType: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'People who travel.',
  schema: userSchema,
  extensions: [enterpriseSchema, travelSchema],
};

/** Groups. */
export const groupType: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Groups of users.',
  schema: groupSchema,
  extensions: [],
};

/** What a qualified name stands for. `urn` is that of an extension, in its canonical spelling when the extension is known. */
export interface Resolved {
  urn: string | undefined;
  /** Undefined when no schema has it; kept all the same in an extension. */
  attribute: Attribute | undefined;
  /** Undefined when the URN alone was named. */
  name: string | undefined;
}

/** Finds what a name means in a resource type; names and URNs compare without case (RFC 7643 §2.1, §3.3). */
export function resolve(
  type: ResourceType,
  { urn, attribute: name }: Pick<AttributePath, 'urn' | 'attribute'>,
): Resolved {
  const folded = urn?.toLowerCase();
  if (folded === undefined || folded === type.schema.id.toLowerCase()) return resolveCore(type, name);
  const extension = type.extensions.find(({ id }) => id.toLowerCase() === folded);
  if (extension) return inExtension(extension, name);
  if (!baseSchemas.has(folded)) return { urn, attribute: undefined, name };
  // The base schema of another resource type is no extension of this one: the name is an unknown core attribute.
  const unknown = [urn, name].filter((part) => part !== undefined).join(':');
  return { urn: undefined, attribute: undefined, name: unknown };
}

/** The base schemas of all resource types, in lower case. */
const baseSchemas = new Set([userSchema, groupSchema, ...discoverySchemas].map(({ id }) => id.toLowerCase()));

function resolveCore(type: ResourceType, name: string | undefined): Resolved {
  if (name === undefined) return { urn: undefined, attribute: undefined, name };
  const attribute = findAttribute(type.schema.attributes, name) ?? findAttribute(commonAttributes, name);
  if (attribute) return { urn: undefined, attribute, name: attribute.name };
  // Older Entra says `manager` and means that of the enterprise extension.
  const [enterprise] = type.extensions;
  const isEnterprise = enterprise && findAttribute(enterprise.attributes, name) !== undefined;
  return isEnterprise ? inExtension(enterprise, name) : { urn: undefined, attribute: undefined, name };
}

function inExtension(extension: Schema, name: string | undefined): Resolved {
  const attribute = name === undefined ? undefined : findAttribute(extension.attributes, name);
  return { urn: extension.id, attribute, name: attribute?.name ?? name };
}
