import { type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { type Candidate, candidate, preferred } from './candidate.ts';
import type { PlainField } from './fields.ts';
import type { Mapping } from './mapping.ts';
import { firstNames, lastNames } from './names.ts';
import { isUnassigned, valueAt } from './values.ts';

/** Where the fields come from when no mapping rule says otherwise (DESIGN §5), the first that yields a value first. */
export const defaultRules = {
  email: (user) => [
    ...valuesOf(user, 'emails', { types: ['work'] }),
    candidate('userName', valueAt(user, 'userName')),
  ],
  firstName: firstNames,
  lastName: lastNames,
  phoneNumber: (user) =>
    valuesOf(user, 'phoneNumbers', { types: ['mobile', 'work'], never: ['fax', 'pager'] }),
  lang: (user, { language }) => [
    candidate('preferredLanguage', valueAt(user, 'preferredLanguage')),
    candidate('locale', valueAt(user, 'locale')),
    ...settled('language.default', language?.default),
  ],
  'address.streetAddress': (user) => addressPart(user, 'streetAddress'),
  'address.city': (user) => addressPart(user, 'locality'),
  'address.region': (user) => addressPart(user, 'region'),
  'address.postalCode': (user) => addressPart(user, 'postalCode'),
  'address.countryCode': (user) => addressPart(user, 'country'),
  managerId: (user) => [
    inTravel(user, 'manager', 'id'),
    inTravel(user, 'manager', 'email'),
    candidate(`${urns.enterprise}:manager.value`, valueAt(user, urns.enterprise, 'manager', 'value')),
  ],
  costCenterId: (user, { defaults }) => [
    inTravel(user, 'costCenter'),
    inTravel(user, 'costCenterId'),
    candidate(`${urns.enterprise}:costCenter`, valueAt(user, urns.enterprise, 'costCenter')),
    ...settled('defaults.costCenter', defaults?.costCenter),
  ],
  billingProfileId: (user, { defaults }) => [
    inTravel(user, 'billingProfile'),
    inTravel(user, 'billingProfileId'),
    ...settled('defaults.billingProfile', defaults?.billingProfile),
  ],
  travelPolicyId: (user, { defaults }) => [
    inTravel(user, 'travelPolicy'),
    inTravel(user, 'travelPolicyId'),
    ...settled('defaults.travelPolicy', defaults?.travelPolicy),
  ],
  dateOfBirth: (user) => [inTravel(user, 'dateOfBirth')],
  gender: (user) => [inTravel(user, 'gender')],
  currency: (user) => [inTravel(user, 'currency')],
  separateIcsEmails: (user) => [inTravel(user, 'separateIcsEmails')],
} satisfies Record<PlainField, (user: ScimResource, mapping: Mapping) => Candidate[]>;

function valuesOf(
  user: ScimResource,
  name: string,
  preference: { types: string[]; never?: string[] },
): Candidate[] {
  return preferred(user, name, preference).map(({ path, elements }) =>
    candidate(`${path}.value`, ...elements.map(({ value }) => value)),
  );
}

const addressParts = ['streetAddress', 'locality', 'region', 'postalCode', 'country'];

/** All parts come from one address: the first preferred one that has any. `formatted` is no part: Entra puts the office's name there. */
function addressPart(user: ScimResource, part: string): Candidate[] {
  const hasParts = (address: JsonObject): boolean =>
    addressParts.some((name) => !isUnassigned(address[name]));
  for (const { path, elements } of preferred(user, 'addresses', { types: ['work'] })) {
    const address = elements.find(hasParts);
    if (address) return [candidate(`${path}.${part}`, address[part])];
  }
  return [candidate(`addresses.${part}`)];
}

function inTravel(user: ScimResource, ...names: string[]): Candidate {
  return candidate(`${urns.travel}:${names.join('.')}`, valueAt(user, urns.travel, ...names));
}

/** What the mapping says for everyone. */
function settled(rule: string, value: string | { id: string } | { name: string } | undefined): Candidate[] {
  if (value === undefined) return [];
  const keys = typeof value === 'string' ? [] : Object.keys(value);
  return [{ ...candidate(rule, value), origin: 'file', mappingPath: [rule, ...keys].join('.') }];
}
