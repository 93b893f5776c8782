import { type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import { type Candidate, candidate, preferred } from './decide.ts';
import type { PlainField } from './fields.ts';
import type { Mapping } from './mapping-file.ts';
import { isUnassigned, toText, valueAt } from './values.ts';

/**
 * Where the fields come from when no mapping rule says otherwise (docs/architecture.md, The rules of the plan), the
 * first that yields a value first.
 */
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

/** Where a first name comes from. */
export function firstNames(user: ScimResource): Candidate[] {
  const familyName = toText(valueAt(user, 'name', 'familyName'));
  return [
    candidate('name.givenName', valueAt(user, 'name', 'givenName')),
    ...wholeNames(user).map(({ path, text }) =>
      candidate(`${path}, first part`, split(text, { familyName }).first),
    ),
  ];
}

/** Where a last name comes from. */
export function lastNames(user: ScimResource): Candidate[] {
  const givenName = toText(valueAt(user, 'name', 'givenName'));
  return [
    candidate('name.familyName', valueAt(user, 'name', 'familyName')),
    ...wholeNames(user).map(({ path, text }) =>
      candidate(`${path}, last part`, split(text, { givenName }).last),
    ),
  ];
}

function wholeNames(user: ScimResource): { path: string; text: string }[] {
  const names = [
    { path: 'name.formatted', text: toText(valueAt(user, 'name', 'formatted')) ?? '' },
    { path: 'displayName', text: toText(valueAt(user, 'displayName')) ?? '' },
  ];
  // Some directories show the address where there is no name.
  return names.map(({ path, text }) => ({ path, text: text.includes('@') ? '' : text }));
}

/** What may follow a name behind a comma and is no part of it. */
const suffix = /, *(jr|sr|ii|iii|iv|phd|md|esq)\.?$/i;

interface Parts {
  first?: string | undefined;
  last?: string | undefined;
}

/**
 * Splits a whole name. What is known of it is taken off; else "Last, First" is turned round, and of several words the
 * first is the first name. A single word is a first name.
 */
function split(
  whole: string,
  known: { givenName?: string | undefined; familyName?: string | undefined },
): Parts {
  const text = single(whole).replace(suffix, '');
  const givenName = single(known.givenName ?? '');
  const familyName = single(known.familyName ?? '');
  if (givenName && startsWith(text, givenName)) return { last: rest(text.slice(givenName.length)) };
  if (givenName && endsWith(text, givenName)) return { last: rest(text.slice(0, -givenName.length)) };
  if (familyName && endsWith(text, familyName)) return { first: rest(text.slice(0, -familyName.length)) };
  if (familyName && startsWith(text, familyName)) return { first: rest(text.slice(familyName.length)) };
  const [before = '', after] = text.split(',', 2);
  if (after !== undefined) return { first: rest(after), last: rest(before) };
  const [first, ...others] = before.split(' ');
  return { first: rest(first ?? ''), last: rest(others.join(' ')) };
}

/** With single blanks. */
function single(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function startsWith(text: string, part: string): boolean {
  return (
    `${text} `.toLowerCase().startsWith(`${part.toLowerCase()} `) ||
    text.toLowerCase().startsWith(`${part.toLowerCase()},`)
  );
}

function endsWith(text: string, part: string): boolean {
  return ` ${text}`.toLowerCase().endsWith(` ${part.toLowerCase()}`);
}

function rest(text: string): string | undefined {
  const trimmed = text.replace(/^[\s,]+|[\s,]+$/g, '');
  return trimmed === '' ? undefined : trimmed;
}
