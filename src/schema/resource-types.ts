import { type Attribute, attribute, complexAttribute, findAttribute, type Schema } from './attributes.ts';
import { enterpriseSchema, groupSchema, travelSchema, userSchema } from './generated-schemas.ts';
import { coreUrns } from './resource.ts';

const fixed = { mutability: 'readOnly' } as const;

/** What every resource has, in no schema of its own (RFC 7643 §3.1). */
export const commonAttributes: readonly Attribute[] = [
  attribute('id', 'Given by this service; never reused.', {
    ...fixed,
    returned: 'always',
    caseExact: true,
    uniqueness: 'server',
  }),
  attribute('externalId', 'The id that the client knows it by.', { caseExact: true }),
  complexAttribute('meta', 'About the resource itself.', {
    ...fixed,
    subAttributes: [
      attribute('resourceType', 'What kind of resource it is.', { ...fixed, caseExact: true }),
      attribute('created', 'When it was created.', { ...fixed, type: 'dateTime' }),
      attribute('lastModified', 'When it was last changed.', { ...fixed, type: 'dateTime' }),
      attribute('location', 'Its URI.', { ...fixed, type: 'reference', caseExact: true }),
      attribute('version', 'Its version, as in the header ETag.', { ...fixed, caseExact: true }),
    ],
  }),
  attribute('schemas', 'The schemas it is made of.', {
    ...fixed,
    type: 'reference',
    multiValued: true,
    returned: 'always',
    caseExact: true,
  }),
];

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
export interface ResolvedAttribute {
  urn: string | undefined;
  /** Undefined when no schema has it; kept all the same in an extension. */
  attribute: Attribute | undefined;
  /** Undefined when the URN alone was named. */
  name: string | undefined;
}

/** Finds what a name means in a resource type; names and URNs compare without case (RFC 7643 §2.1, §3.3). */
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
  // The base schema of another resource type is no extension of this one: the name is an unknown core attribute.
  const unknown = [urn, name].filter((part) => part !== undefined).join(':');
  return { urn: undefined, attribute: undefined, name: unknown };
}

/** The base schemas of all resource types, in lower case. */
const baseSchemas = new Set(coreUrns.map((urn) => urn.toLowerCase()));

function resolveCoreAttribute(type: ResourceType, name: string | undefined): ResolvedAttribute {
  if (name === undefined) return { urn: undefined, attribute: undefined, name };
  const attribute = findAttribute(type.schema.attributes, name) ?? findAttribute(commonAttributes, name);
  if (attribute) return { urn: undefined, attribute, name: attribute.name };
  // Older Entra says `manager` and means that of the enterprise extension.
  const [enterprise] = type.extensions;
  const isEnterprise = enterprise && findAttribute(enterprise.attributes, name) !== undefined;
  return isEnterprise ? resolveInExtension(enterprise, name) : { urn: undefined, attribute: undefined, name };
}

function resolveInExtension(extension: Schema, name: string | undefined): ResolvedAttribute {
  const attribute = name === undefined ? undefined : findAttribute(extension.attributes, name);
  return { urn: extension.id, attribute, name: attribute?.name ?? name };
}
