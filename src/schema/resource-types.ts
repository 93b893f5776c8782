import { type Attribute, attribute, complexAttribute, findAttribute, type Schema } from './attributes.ts';
import { coreUrns, urns } from './resource.ts';

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

/** What differs between the multi-valued attributes of RFC 7643 §4.1.2. */
interface Plural {
  /** The kinds that `type` suggests; none: any text, and none is published. */
  types?: readonly string[];
  required?: boolean;
  value?: Partial<Pick<Attribute, 'type' | 'referenceTypes' | 'caseExact'>>;
}

/** A multi-valued attribute with the sub-attributes of RFC 7643 §2.4. */
export function multiValued(
  name: string,
  description: string,
  { types, required, value }: Plural = {},
): Attribute {
  return complexAttribute(name, description, {
    multiValued: true,
    required: required ?? false,
    subAttributes: [attribute('value', 'The value itself.', value), ...labels(types)],
  });
}

/** display, type and primary (RFC 7643 §2.4). */
export function labels(types: readonly string[] | undefined): Attribute[] {
  return [
    attribute('display', 'A name for people to read.'),
    attribute('type', 'What it is for.', types ? { canonicalValues: types } : {}),
    attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
  ];
}

const name = complexAttribute('name', 'The parts of the name.', {
  required: true,
  subAttributes: [
    attribute('formatted', 'The whole name, as it is shown.'),
    attribute('familyName', 'The last name.'),
    attribute('givenName', 'The first name.'),
    attribute('middleName', 'The middle names.'),
    attribute('honorificPrefix', 'A title before the name.'),
    attribute('honorificSuffix', 'A suffix after the name.'),
  ],
});

const addresses = complexAttribute('addresses', 'Postal addresses.', {
  multiValued: true,
  subAttributes: [
    attribute('formatted', 'The whole address, as it is shown.'),
    attribute('streetAddress', 'Street, number and what else stands above the city.'),
    attribute('locality', 'The city.'),
    attribute('region', 'The state or region.'),
    attribute('postalCode', 'The postal code.'),
    attribute('country', 'The country.'),
    ...labels(['work', 'home', 'other']),
  ],
});

const groups = complexAttribute('groups', 'The groups that the user is a member of.', {
  multiValued: true,
  mutability: 'readOnly',
  subAttributes: [
    attribute('value', 'The id of the group.', { mutability: 'readOnly', caseExact: true }),
    attribute('$ref', 'The URI of the group.', {
      type: 'reference',
      referenceTypes: ['Group'],
      mutability: 'readOnly',
      caseExact: true,
    }),
    attribute('display', 'The name of the group.', { mutability: 'readOnly' }),
    attribute('type', 'Whether the user is in the group itself, or in a group that is in it.', {
      mutability: 'readOnly',
      canonicalValues: ['direct', 'indirect'],
    }),
  ],
});

/**
 * User (RFC 7643 §4.1). `name` and `emails` say required, so that provisioning tools map them; their absence is
 * accepted all the same (docs/architecture.md, SCIM requests). `roles` has no canonical types, so that Entra derives
 * `roles[primary eq "True"]`.
 */
export const userSchema: Schema = {
  id: urns.user,
  name: 'User',
  description: 'A person who travels.',
  attributes: [
    attribute('userName', 'The name to sign in with.', { required: true, uniqueness: 'server' }),
    name,
    attribute('displayName', 'The name as it is shown.'),
    attribute('nickName', 'The casual name.'),
    attribute('profileUrl', 'A page about the user.', { type: 'reference', referenceTypes: ['external'] }),
    attribute('title', 'The job title.'),
    attribute('userType', 'The relation to the organization.'),
    attribute('preferredLanguage', 'The preferred language, as in Accept-Language.'),
    attribute('locale', 'The place that settles formats.'),
    attribute('timezone', 'The time zone, by its Olson name.'),
    attribute('active', 'Whether the user may travel.', { type: 'boolean' }),
    attribute('password', 'Accepted and thrown away.', { mutability: 'writeOnly', returned: 'never' }),
    multiValued('emails', 'Email addresses.', { types: ['work', 'home', 'other'], required: true }),
    multiValued('phoneNumbers', 'Phone numbers.', {
      types: ['work', 'mobile', 'fax', 'home', 'other', 'pager'],
    }),
    multiValued('ims', 'Instant messaging addresses.'),
    multiValued('photos', 'Pictures.', { value: { type: 'reference', referenceTypes: ['external'] } }),
    addresses,
    groups,
    multiValued('entitlements', 'What the user may have.'),
    multiValued('roles', 'What the user may do.'),
    multiValued('x509Certificates', 'Certificates.', { value: { type: 'binary', caseExact: true } }),
  ],
};

/** Group (RFC 7643 §4.2). */
export const groupSchema: Schema = {
  id: urns.group,
  name: 'Group',
  description: 'A group of users.',
  attributes: [
    attribute('displayName', 'The name of the group.', { required: true, uniqueness: 'server' }),
    // Every resource has it without a schema (RFC 7643 §3.1); Entra ID maps only what a schema lists.
    attribute('externalId', 'The id that the client knows the group by.', { caseExact: true }),
    complexAttribute('members', 'The members of the group.', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The id of the member.', { mutability: 'immutable', caseExact: true }),
        attribute('$ref', 'The URI of the member.', {
          type: 'reference',
          referenceTypes: ['User', 'Group'],
          mutability: 'immutable',
          caseExact: true,
        }),
        attribute('type', 'What kind of resource the member is.', {
          mutability: 'immutable',
          canonicalValues: ['User', 'Group'],
        }),
        attribute('display', 'The name of the member.', { mutability: 'immutable' }),
      ],
    }),
  ],
};

/** The enterprise extension (RFC 7643 §4.3). `manager.displayName` is kept as sent, so it is not read-only here. */
export const enterpriseSchema: Schema = {
  id: urns.enterprise,
  name: 'EnterpriseUser',
  description: 'The place of a user in the organization.',
  attributes: [
    attribute('employeeNumber', 'The number given by the employer.'),
    attribute('costCenter', 'The cost center, by its name or id.'),
    attribute('organization', 'The organization.'),
    attribute('division', 'The division.'),
    attribute('department', 'The department.'),
    complexAttribute('manager', "The user's manager.", {
      subAttributes: [
        attribute('value', 'The id of the manager.', { caseExact: true }),
        attribute('$ref', 'The URI of the manager.', {
          type: 'reference',
          referenceTypes: ['User'],
          caseExact: true,
        }),
        attribute('displayName', 'The name of the manager.'),
      ],
    }),
  ],
};

/**
 * What only a travel service knows of a person (an extension, RFC 7643 §3.3); the flat forms are for IdPs that cannot
 * send complex values.
 */
export const travelSchema: Schema = {
  id: urns.travel,
  name: 'TravelUser',
  description: 'What the travel service needs to know of a user.',
  attributes: [
    named('billingProfile', 'The billing profile, by its id or exact name.'),
    named('costCenter', 'The cost center, by its id or exact name.'),
    named('travelPolicy', 'The travel policy, by its id or exact name.'),
    attribute('billingProfileId', 'The id of the billing profile.', { caseExact: true }),
    attribute('costCenterId', 'The id of the cost center.', { caseExact: true }),
    attribute('travelPolicyId', 'The id of the travel policy.', { caseExact: true }),
    complexAttribute('manager', 'The manager, by travel user id or by email.', {
      subAttributes: [
        attribute('id', 'The travel user id of the manager.', { caseExact: true }),
        attribute('email', 'The email address of the manager.'),
      ],
    }),
    attribute('dateOfBirth', 'The date of birth, as YYYY-MM-DD.'),
    attribute('gender', 'The gender, as in travel documents.'),
    attribute('currency', 'The currency, by its ISO 4217 code.'),
    attribute('separateIcsEmails', 'Whether calendar files come in emails of their own.', {
      type: 'boolean',
    }),
    complexAttribute('roles', 'Roles in the travel service.', {
      multiValued: true,
      subAttributes: [attribute('value', 'The role.'), attribute('display', 'A name for people to read.')],
    }),
    attribute('travelUserId', 'The id of the traveler.', { mutability: 'readOnly', caseExact: true }),
  ],
};

function named(name: string, description: string): Attribute {
  return complexAttribute(name, description, {
    subAttributes: [
      attribute('id', 'Its id; wins over the name.', { caseExact: true }),
      attribute('name', 'Its exact name.'),
    ],
  });
}

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
