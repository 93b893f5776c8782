import type { CustomField, NamedResource } from '../../model/translation.ts';
import type { InvalidField } from '../../model/travel-ports.ts';
import type { FieldTypes, TravelerChange, TravelUser } from '../../model/traveler.ts';
import { asObject, asString, type JsonRecord, readItems, readStrings } from '../json.ts';
import { type PageContent, type ProfileSettings, pathsOf, type TravelProfile } from '../profile.ts';
import { toTravelUser } from '../traveler.ts';

const defaultPaths = {
  whoami: '/v1/me',
  users: '/v1/people',
  customFields: '/v1/custom_fields',
  costCenters: '/v1/cost_centers',
  billingProfiles: '/v1/billing_profiles',
  travelPolicies: '/v1/travel_policies',
};

/**
 * A travel API with the habits of many REST APIs, and no product in particular: no envelope, names in snake_case, page tokens, PUT in
 * place of PATCH, people who are deactivated by a sub-resource, keys for creates, and errors without codes. It has no feed of events
 * and no mapping rules.
 */
export function genericRestProfile(settings: ProfileSettings): TravelProfile {
  return {
    paths: pathsOf(defaultPaths, settings),
    unwrap: (body) => body,
    wrap: (person) => person,
    readId: (item) => asString(asObject(item)?.uid),
    pages: {
      query: (limit, start) => ({ page_size: limit, ...(start?.token && { page_token: start.token }) }),
      read: readPage,
    },
    travelers: {
      read: readPerson,
      emailQuery: (emails) => ({ email_address: emails.join(',') }),
      toResource: toPerson,
      update: { method: 'PUT' },
      archiving: { archive: 'deactivate', restore: 'activate' },
      idempotencyHeader: 'Idempotency-Key',
    },
    // A gateway may answer 404 in the same form.
    errors: { isOwn: (status) => status === 403, readInvalidFields },
    lookups: { readCustomField, readNamed },
  };
}

function readPage({ items, next_page_token: token }: JsonRecord): PageContent | undefined {
  if (!Array.isArray(items)) return undefined;
  const nextToken = asString(token) || undefined;
  return { items, isLast: nextToken === undefined, nextToken };
}

type AddressPart<Key> = Key extends `address.${infer Part}` ? Part : never;

const names = {
  email: 'email_address',
  firstName: 'given_name',
  lastName: 'family_name',
  phoneNumber: 'phone',
  lang: 'language',
  managerId: 'manager_uid',
  costCenterId: 'cost_center_uid',
  billingProfileId: 'billing_profile_uid',
  travelPolicyId: 'travel_policy_uid',
  dateOfBirth: 'birth_date',
  gender: 'gender',
  currency: 'currency',
  separateIcsEmails: 'separate_calendar_files',
  address: 'home_address',
  travelerPrefs: 'preferences',
  customFields: 'custom_fields',
  roles: 'roles',
} satisfies Record<
  Exclude<keyof FieldTypes, `address.${string}`> | 'address' | 'travelerPrefs' | 'customFields' | 'roles',
  string
>;

const addressNames = {
  streetAddress: 'street',
  city: 'city',
  region: 'state',
  postalCode: 'zip',
  countryCode: 'country',
} satisfies Record<AddressPart<keyof FieldTypes>, string>;

/** The names of one side by those of the other. */
type Names = ReadonlyMap<string, string>;

const [ownNames, ownPartNames] = [new Map(Object.entries(names)), new Map(Object.entries(addressNames))];
const [fieldNames, partNames] = [inverse(ownNames), inverse(ownPartNames)];

function inverse(table: Names): Names {
  return new Map([...table].map(([name, other]) => [other, name]));
}

/** Renames the members of an object. Unknown ones keep their names, and are left out if that is the name of another one. */
function rename(source: JsonRecord, table: Names): JsonRecord {
  const taken = new Set(table.values());
  const renamed = Object.entries(source).flatMap(([name, value]) => {
    const other = table.get(name) ?? (taken.has(name) ? undefined : name);
    return other === undefined ? [] : [[other, value] as const];
  });
  return Object.fromEntries(renamed);
}

/** Members that the travel API keeps itself. */
const readOnlyMembers = new Set(['uid', 'status', 'created_at', 'updated_at']);

function readPerson(item: unknown): TravelUser | undefined {
  const source = asObject(item);
  if (!source) return undefined;
  const { status } = source;
  const { address, customFields, ...members } = rename(source, fieldNames);
  const [parts, filled] = [asObject(address), asObject(customFields)];
  return toTravelUser(
    {
      ...members,
      id: source.uid,
      createdAt: source.created_at,
      archived: status === 'active' || status === 'inactive' ? status === 'inactive' : undefined,
      address: parts && rename(parts, partNames),
      customFields: filled && Object.entries(filled).map(readCustomFieldValue),
    },
    readOnlyMembers,
  );
}

function readCustomFieldValue([customFieldId, value]: [string, unknown]): object {
  const { text, option_uids: options } = asObject(value) ?? {};
  const chosen = readItems(options, asString).map((customFieldOptionId) => ({ customFieldOptionId }));
  return { customFieldId, values: text === undefined ? chosen : [{ data: text }] };
}

/** Returns a person with the changed members. What the bridge does not know stays as it is. */
function toPerson(
  { archived: _, address, travelerPrefs, customFields, ...values }: TravelerChange,
  before: JsonRecord,
): object {
  const parts = address && { ...asObject(before.home_address), ...rename(address, ownPartNames) };
  const preferences = travelerPrefs && { ...asObject(before.preferences), ...travelerPrefs };
  const changed = {
    ...before,
    ...rename(values, ownNames),
    ...(preferences === undefined ? {} : { preferences: withoutNulls(preferences) }),
    ...(address === undefined ? {} : { home_address: parts && withoutNulls(parts) }),
    ...(customFields === undefined ? {} : { custom_fields: toCustomFields(customFields) }),
  };
  const writable = Object.entries(withoutNulls(changed)).filter(([name]) => !readOnlyMembers.has(name));
  return Object.fromEntries(writable);
}

function toCustomFields(customFields: NonNullable<TravelerChange['customFields']>): JsonRecord {
  const entries = customFields.map(({ customFieldId, values }) => {
    const options = readItems(values, (value) => asString(asObject(value)?.customFieldOptionId));
    const [text] = readItems(values, (value) => asString(asObject(value)?.data));
    return [customFieldId, options.length > 0 ? { option_uids: options } : { text }];
  });
  return Object.fromEntries(entries);
}

function withoutNulls(source: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(source).filter(([, value]) => value !== null));
}

/** The messages of an error are listed by the names of the fields. */
function readInvalidFields({ errors }: JsonRecord): InvalidField[] {
  return Object.entries(asObject(errors) ?? {}).map(([name, messages]) => {
    const [head = '', ...rest] = name.split('.');
    const field = fieldNames.get(head) ?? head;
    const parts = field === 'address' ? rest.map((part) => partNames.get(part) ?? part) : rest;
    const message = readItems(messages, asString).join(', ') || 'invalid';
    return { field: [field, ...parts].join('.'), code: 'invalid', message };
  });
}

/** The kinds of custom fields that the bridge knows; others keep their names, and are not filled. */
const dataTypes: Names = new Map([
  ['choice', 'option'],
  ['choices', 'optionsList'],
]);

function readCustomField(item: unknown): CustomField | undefined {
  const source = asObject(item);
  const { uid: id, label: name, kind, pattern } = readStrings(source, ['uid', 'label', 'kind', 'pattern']);
  if (id === undefined || name === undefined || kind === undefined) return undefined;
  const options = readItems(source?.options, readOption);
  const validation = pattern === undefined ? {} : { validationRegexp: pattern };
  return {
    ...{ id, name, dataType: dataTypes.get(kind) ?? kind, disabled: isInactive(source) },
    ...validation,
    options,
  };
}

function readOption(item: unknown): CustomField['options'][number] | undefined {
  const source = asObject(item);
  const { uid: id, label: data } = readStrings(source, ['uid', 'label']);
  return id === undefined || data === undefined ? undefined : { id, data, disabled: isInactive(source) };
}

function readNamed(item: unknown): NamedResource | undefined {
  const source = asObject(item);
  const { uid: id, label: name } = readStrings(source, ['uid', 'label']);
  return id === undefined || name === undefined ? undefined : { id, name, archived: isInactive(source) };
}

function isInactive(source: JsonRecord | undefined): boolean {
  return source?.status === 'inactive';
}
