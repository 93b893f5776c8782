// Generated from src/scim/schemas.ts by "npm run schemas"; do not edit.
import { attribute, complexAttribute, type Schema } from './attributes.ts';

/** The core schema of users (RFC 7643 §4.1). */
export const userSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'A person who travels.',
  attributes: [
    attribute('userName', 'The name to sign in with.', { required: true, uniqueness: 'server' }),
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
    complexAttribute('emails', 'Email addresses.', {
      multiValued: true,
      required: true,
      subAttributes: [
        attribute('value', 'The value itself.'),
        attribute('display', 'A name for people to read.'),
        attribute('type', 'What it is for.', { canonicalValues: ['work', 'home', 'other'] }),
        attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
      ],
    }),
    complexAttribute('phoneNumbers', 'Phone numbers.', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The value itself.'),
        attribute('display', 'A name for people to read.'),
        attribute('type', 'What it is for.', {
          canonicalValues: ['work', 'mobile', 'fax', 'home', 'other', 'pager'],
        }),
        attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
      ],
    }),
    complexAttribute('ims', 'Instant messaging addresses.', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The value itself.'),
        attribute('display', 'A name for people to read.'),
        attribute('type', 'What it is for.'),
        attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
      ],
    }),
    complexAttribute('photos', 'Pictures.', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The value itself.', { type: 'reference', referenceTypes: ['external'] }),
        attribute('display', 'A name for people to read.'),
        attribute('type', 'What it is for.'),
        attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
      ],
    }),
    complexAttribute('addresses', 'Postal addresses.', {
      multiValued: true,
      subAttributes: [
        attribute('formatted', 'The whole address, as it is shown.'),
        attribute('streetAddress', 'Street, number and what else stands above the city.'),
        attribute('locality', 'The city.'),
        attribute('region', 'The state or region.'),
        attribute('postalCode', 'The postal code.'),
        attribute('country', 'The country.'),
        attribute('display', 'A name for people to read.'),
        attribute('type', 'What it is for.', { canonicalValues: ['work', 'home', 'other'] }),
        attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
      ],
    }),
    complexAttribute('groups', 'The groups that the user is a member of.', {
      multiValued: true,
      mutability: 'readOnly',
      subAttributes: [
        attribute('value', 'The id of the group.', { caseExact: true, mutability: 'readOnly' }),
        attribute('$ref', 'The URI of the group.', {
          type: 'reference',
          caseExact: true,
          mutability: 'readOnly',
          referenceTypes: ['Group'],
        }),
        attribute('display', 'The name of the group.', { mutability: 'readOnly' }),
        attribute('type', 'Whether the user is in the group itself, or in a group that is in it.', {
          mutability: 'readOnly',
          canonicalValues: ['direct', 'indirect'],
        }),
      ],
    }),
    complexAttribute('entitlements', 'What the user may have.', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The value itself.'),
        attribute('display', 'A name for people to read.'),
        attribute('type', 'What it is for.'),
        attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
      ],
    }),
    complexAttribute('roles', 'What the user may do.', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The value itself.'),
        attribute('display', 'A name for people to read.'),
        attribute('type', 'What it is for.'),
        attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
      ],
    }),
    complexAttribute('x509Certificates', 'Certificates.', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The value itself.', { type: 'binary', caseExact: true }),
        attribute('display', 'A name for people to read.'),
        attribute('type', 'What it is for.'),
        attribute('primary', 'Whether it is the preferred one; true at most once.', { type: 'boolean' }),
      ],
    }),
  ],
};

/** The core schema of groups (RFC 7643 §4.2). */
export const groupSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'A group of users.',
  attributes: [
    attribute('displayName', 'The name of the group.', { required: true, uniqueness: 'server' }),
    attribute('externalId', 'The id that the client knows the group by.', { caseExact: true }),
    complexAttribute('members', 'The members of the group.', {
      multiValued: true,
      subAttributes: [
        attribute('value', 'The id of the member.', { caseExact: true, mutability: 'immutable' }),
        attribute('$ref', 'The URI of the member.', {
          type: 'reference',
          caseExact: true,
          mutability: 'immutable',
          referenceTypes: ['User', 'Group'],
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

/** The enterprise extension of users (RFC 7643 §4.3). */
export const enterpriseSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
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
          caseExact: true,
          referenceTypes: ['User'],
        }),
        attribute('displayName', 'The name of the manager.'),
      ],
    }),
  ],
};

/** The travel extension of users. */
export const travelSchema: Schema = {
  id: 'urn:ietf:params:scim:schemas:extension:travel:2.0:User',
  name: 'TravelUser',
  description: 'What the travel service needs to know of a user.',
  attributes: [
    complexAttribute('billingProfile', 'The billing profile, by its id or exact name.', {
      subAttributes: [
        attribute('id', 'Its id; wins over the name.', { caseExact: true }),
        attribute('name', 'Its exact name.'),
      ],
    }),
    complexAttribute('costCenter', 'The cost center, by its id or exact name.', {
      subAttributes: [
        attribute('id', 'Its id; wins over the name.', { caseExact: true }),
        attribute('name', 'Its exact name.'),
      ],
    }),
    complexAttribute('travelPolicy', 'The travel policy, by its id or exact name.', {
      subAttributes: [
        attribute('id', 'Its id; wins over the name.', { caseExact: true }),
        attribute('name', 'Its exact name.'),
      ],
    }),
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
    attribute('travelUserId', 'The id of the traveler.', { caseExact: true, mutability: 'readOnly' }),
  ],
};
