import {
  type Attribute,
  attribute,
  type Characteristics,
  complexAttribute,
  type Schema,
} from './attributes.ts';
import { urns } from './resource.ts';

/** Ids and URIs are compared with case. */
const exact = { caseExact: true } as const;
const readOnly = { mutability: 'readOnly' } as const;
const immutable = { mutability: 'immutable' } as const;

/** The core schema of users (RFC 7643 §4.1). Clients map what a schema lists, so it does not list `password`, which is dropped. */
export const userSchema: Schema = {
  id: urns.user,
  name: 'User',
  description: 'A person who travels.',
  attributes: [
    attribute('userName', 'The name to sign in with.', { required: true, uniqueness: 'server' }),
    // Provisioning tools map required attributes by default. A user without a name or an email is accepted all the same
    // (docs/architecture.md, SCIM requests).
    complexAttribute('name', 'The parts of the name.', {
      required: true,
      subAttributes: [
        attribute('formatted', 'The whole name, as it is shown.'),
        attribute('familyName', 'The last name.'),
        attribute('givenName', 'The first name.'),
        attribute('middleName', 'The middle names.'),
        attribute('honorificPrefix', 'A title before the name.'),
        attribute('honorificSuffix', 'A suffix after the name.'),
      ],
    }),
    attribute('displayName', 'The name as it is shown.'),
    attribute('nickName', 'The casual name.'),
    attribute('profileUrl', 'A page about the user.', { type: 'reference', referenceTypes: ['external'] }),
    attribute('title', 'The job title.'),
    attribute('userType', 'The relation to the organization.'),
    attribute('preferredLanguage', 'The preferred language, as in Accept-Language.'),
    attribute('locale', 'The place that settles formats.'),
    attribute('timezone', 'The time zone, by its Olson name.'),
    attribute('active', 'Whether the user may travel.', { type: 'boolean' }),
    valuesAttribute('emails', 'Email addresses.', { types: ['work', 'home', 'other'], required: true }),
    // The types that the travel service reads come first.
    valuesAttribute('phoneNumbers', 'Phone numbers.', {
      types: ['work', 'mobile', 'fax', 'home', 'other', 'pager'],
    }),
    // Messaging addresses, pictures and others are stored and not used, so no types are suggested for them.
    valuesAttribute('ims', 'Instant messaging addresses.'),
    valuesAttribute('photos', 'Pictures.', { value: { type: 'reference', referenceTypes: ['external'] } }),
    complexAttribute('addresses', 'Postal addresses.', {
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
    }),
    complexAttribute('groups', 'The groups that the user is a member of.', {
      multiValued: true,
      ...readOnly,
      subAttributes: [
        attribute('value', 'The id of the group.', { ...exact, ...readOnly }),
        // RFC 7643 §8.7.1 lists User as well, but only groups have members.
        reference('The URI of the group.', ['Group'], readOnly),
        attribute('display', 'The name of the group.', readOnly),
        attribute('type', 'Whether the user is in the group itself, or in a group that is in it.', {
          ...readOnly,
          canonicalValues: ['direct', 'indirect'],
        }),
      ],
    }),
    valuesAttribute('entitlements', 'What the user may have.'),
    // No types, so that Entra ID derives the path `roles[primary eq "True"]`.
    valuesAttribute('roles', 'What the user may do.'),
    valuesAttribute('x509Certificates', 'Certificates.', { value: { type: 'binary', ...exact } }),
  ],
};

/** The core schema of groups (RFC 7643 §4.2). */
export const groupSchema: Schema = {
  id: urns.group,
  name: 'Group',
  description: 'A group of users.',
  attributes: [
    // Two groups of a connection cannot have the same name.
    attribute('displayName', 'The name of the group.', { required: true, uniqueness: 'server' }),
    // Every resource has it without a schema (RFC 7643 §3.1); Entra ID maps only what a schema lists.
    attribute('externalId', 'The id that the client knows the group by.', exact),
    complexAttribute('members', 'The members of the group.', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The id of the member.', { ...exact, ...immutable }),
        reference('The URI of the member.', ['User', 'Group'], immutable),
        attribute('type', 'What kind of resource the member is.', {
          ...immutable,
          canonicalValues: ['User', 'Group'],
        }),
        // Not in RFC 7643 §8.7.1.
        attribute('display', 'The name of the member.', immutable),
      ],
    }),
  ],
};

/** The schema of roles that Okta knows. The id of a role is the value that gives it in `roles` of a user. */
export const roleSchema: Schema = {
  id: urns.role,
  name: 'Role',
  description: 'A role that users can have in the travel service.',
  attributes: [attribute('displayName', 'The name of the role.', { ...readOnly, required: true })],
};

/** The enterprise extension of users (RFC 7643 §4.3). */
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
        attribute('value', 'The id of the manager.', exact),
        reference('The URI of the manager.', ['User']),
        // The client's value is stored unchanged, so the attribute is not read-only as in RFC 7643 §4.3.
        attribute('displayName', 'The name of the manager.'),
      ],
    }),
  ],
};

/** Makes a multi-valued attribute with the default sub-attributes (RFC 7643 §2.4). */
function valuesAttribute(
  name: string,
  description: string,
  { value, types, ...traits }: Characteristics & { value?: Characteristics; types?: string[] } = {},
): Attribute {
  return complexAttribute(name, description, {
    multiValued: true,
    ...traits,
    subAttributes: [attribute('value', 'The value itself.', value), ...labels(types)],
  });
}

/** The sub-attributes that describe a value (RFC 7643 §2.4). */
function labels(types?: string[]): Attribute[] {
  return [
    attribute('display', 'A name for people to read.'),
    attribute('type', 'What it is for.', types && { canonicalValues: types }),
    attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
  ];
}

function reference(description: string, types: string[], traits: Characteristics = {}): Attribute {
  return attribute('$ref', description, { type: 'reference', ...exact, ...traits, referenceTypes: types });
}
