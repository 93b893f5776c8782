import { type Attribute, attribute, complexAttribute, findAttribute, type Schema } from './attributes.ts';
import { travelSchema } from './generated-travel-schema.ts';
import { coreUrns } from './resource.ts';
import { enterpriseSchema, groupSchema, roleSchema, userSchema } from './scim-schemas.ts';

const readOnly = { mutability: 'readOnly' } as const;

/** The attributes of every resource; no schema lists them (RFC 7643 §3.1). */
const commonAttributes: readonly Attribute[] = [
  attribute('id', 'Given by this service; never reused.', {
    ...readOnly,
    returned: 'always',
    caseExact: true,
    uniqueness: 'server',
  }),
  attribute('externalId', 'The id that the client knows it by.', { caseExact: true }),
  complexAttribute('meta', 'About the resource itself.', {
    ...readOnly,
    subAttributes: [
      attribute('resourceType', 'What kind of resource it is.', { ...readOnly, caseExact: true }),
      attribute('created', 'When it was created.', { ...readOnly, type: 'dateTime' }),
      attribute('lastModified', 'When it was last changed.', { ...readOnly, type: 'dateTime' }),
      attribute('location', 'Its URI.', { ...readOnly, type: 'reference', caseExact: true }),
      attribute('version', 'Its version, as in the header ETag.', { ...readOnly, caseExact: true }),
    ],
  }),
  attribute('schemas', 'The schemas it is made of.', {
    ...readOnly,
    type: 'reference',
    multiValued: true,
    returned: 'always',
    caseExact: true,
  }),
];

/** Attributes that clients send and no schema lists: they are dropped, never stored, returned or searched. */
const droppedAttributes: readonly Attribute[] = [
  attribute('password', 'Accepted and thrown away.', { mutability: 'writeOnly', returned: 'never' }),
];

/** A resource type (RFC 7643 §6): its endpoint, its schema and the schema extensions. */
export interface ResourceType {
  name: 'User' | 'Group' | 'Role';
  endpoint: '/Users' | '/Groups' | '/Roles';
  description: string;
  schema: Schema;
  extensions: readonly Schema[];
}

/** The resource type of users, with the enterprise and the travel extension. */
export const userType: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'People who travel.',
  schema: userSchema,
  extensions: [enterpriseSchema, travelSchema],
};

/** The resource type of groups. */
export const groupType: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Groups of users.',
  schema: groupSchema,
  extensions: [],
};

/** The resource type of the roles that an identity provider can assign to users. They are only read. */
export const roleType: ResourceType = {
  name: 'Role',
  endpoint: '/Roles',
  description: 'Roles of the travel service.',
  schema: roleSchema,
  extensions: [],
};

/** All resource types, in the order of /ResourceTypes. */
export const resourceTypes: readonly ResourceType[] = [userType, groupType, roleType];

/** The schemas of all resource types, extensions included. */
export const resourceSchemas: readonly Schema[] = schemasOf(resourceTypes);

/** Returns the schemas of resource types, extensions included. */
export function schemasOf(types: readonly ResourceType[]): Schema[] {
  return types.flatMap(({ schema, extensions }) => [schema, ...extensions]);
}

/** The result of resolving a qualified name in a resource type. */
export interface ResolvedAttribute {
  /** The URN of the extension; undefined for a core attribute. Spelled as in the schema, if one defines it. */
  urn: string | undefined;
  /** Undefined if no schema defines the attribute. Resources still store such attributes of extensions. */
  attribute: Attribute | undefined;
  /** The name of the attribute, spelled as in the schema, if one defines it; undefined for a URN alone. */
  name: string | undefined;
}

/** Finds the attribute that a name means in a resource type. Names and URNs compare without case (RFC 7643 §2.1, §3.3). */
export function resolveAttribute(
  type: ResourceType,
  { urn, attribute: name }: { urn: string | undefined; attribute: string | undefined },
): ResolvedAttribute {
  const folded = urn?.toLowerCase();
  if (folded === undefined || folded === type.schema.id.toLowerCase())
    return resolveCoreAttribute(type, name);
  const extension = type.extensions.find(({ id }) => id.toLowerCase() === folded);
  if (extension) return resolveInExtension(extension, name);
  if (!baseSchemas.has(folded)) return { urn, attribute: undefined, name };
  // The URN belongs to another resource type and cannot be an extension of this one: treat the whole name as an unknown
  // core attribute.
  const unknown = [urn, name].filter((part) => part !== undefined).join(':');
  return { urn: undefined, attribute: undefined, name: unknown };
}

/**
 * True for an attribute at the top level of a user that no schema lists, such as `badgeNumber`. Some clients send their own attributes
 * in this way; they are stored as those of an undeclared extension are.
 */
export function isCustomAttribute(type: ResourceType, { urn, attribute, name }: ResolvedAttribute): boolean {
  // The name of an attribute of another base schema contains its URN.
  return type.name === 'User' && urn === undefined && !attribute && name !== undefined && !name.includes(':');
}

const baseSchemas = new Set(coreUrns.map((urn) => urn.toLowerCase()));

function resolveCoreAttribute(type: ResourceType, name: string | undefined): ResolvedAttribute {
  if (name === undefined) return { urn: undefined, attribute: undefined, name };
  const attribute =
    findAttribute(type.schema.attributes, name) ??
    findAttribute(commonAttributes, name) ??
    findAttribute(droppedAttributes, name);
  if (attribute) return { urn: undefined, attribute, name: attribute.name };
  // Older Entra ID sends `manager` without the URN of the enterprise extension.
  const [enterprise] = type.extensions;
  const isEnterprise = enterprise && findAttribute(enterprise.attributes, name) !== undefined;
  return isEnterprise ? resolveInExtension(enterprise, name) : { urn: undefined, attribute: undefined, name };
}

function resolveInExtension(extension: Schema, name: string | undefined): ResolvedAttribute {
  const attribute = name === undefined ? undefined : findAttribute(extension.attributes, name);
  return { urn: extension.id, attribute, name: attribute?.name ?? name };
}
