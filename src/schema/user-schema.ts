import { attribute, complex, type Schema } from './attribute.ts';
import { labels, plural } from './plural.ts';
import { urns } from './resource.ts';

const name = complex('name', 'The parts of the name.', {
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

const addresses = complex('addresses', 'Postal addresses.', {
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

const groups = complex('groups', 'The groups that the user is a member of.', {
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
    plural('emails', 'Email addresses.', { types: ['work', 'home', 'other'], required: true }),
    plural('phoneNumbers', 'Phone numbers.', { types: ['work', 'mobile', 'fax', 'home', 'other', 'pager'] }),
    plural('ims', 'Instant messaging addresses.'),
    plural('photos', 'Pictures.', { value: { type: 'reference', referenceTypes: ['external'] } }),
    addresses,
    groups,
    plural('entitlements', 'What the user may have.'),
    plural('roles', 'What the user may do.'),
    plural('x509Certificates', 'Certificates.', { value: { type: 'binary', caseExact: true } }),
  ],
};
