import { isObject, type Json } from '../schema/resource.ts';
import { plainFields } from './fields.ts';
import { readers } from './readers.ts';
import type { Rules } from './rules.ts';
import type { FieldKey } from './translation.ts';
import { isEqualJson } from './values.ts';

/** A traveler as the travel API tells it (specification, "user"). Unknown fields are not kept. */
export interface TravelUser {
  id: string;
  email: string;
  archived: boolean;
  createdAt: string;
  address?: TravelAddress;
  billingProfileId?: string;
  costCenterId?: string;
  currency?: string;
  customFields?: CustomFieldValue[];
  dateOfBirth?: string;
  firstName?: string;
  gender?: string;
  lang?: string;
  lastName?: string;
  managerId?: string;
  phoneNumber?: string;
  roles?: string[];
  separateIcsEmails?: boolean;
  travelPolicyId?: string;
}

/** A traveler's postal address; `countryCode` is ISO 3166-1 alpha-2. */
export interface TravelAddress {
  city?: string;
  countryCode?: string;
  postalCode?: string;
  region?: string;
  streetAddress?: string;
}

/** One custom field of a traveler: one value for `text` and `option`, many for `optionsList`. */
export interface CustomFieldValue {
  customFieldId: string;
  name?: string;
  values: { customFieldOptionId?: string; data?: string; displayName?: string }[];
}

/** What a key stands for on a traveler. */
export type FieldPath =
  | { kind: 'field'; name: string }
  | { kind: 'address'; part: string }
  | { kind: 'customField'; id: string }
  | { kind: 'role'; value: string };

/** Takes a key apart. */
export function parseFieldKey(key: FieldKey): FieldPath {
  const [head = '', ...rest] = key.split('.');
  const name = rest.join('.');
  if (head === 'address') return { kind: 'address', part: name };
  if (head === 'customFields') return { kind: 'customField', id: name };
  if (head === 'roles') return { kind: 'role', value: name };
  return { kind: 'field', name: key };
}

/** What a traveler has at a key, in the shape in which it would be wanted. */
export function readField(traveler: TravelUser, key: FieldKey): Json | undefined {
  const place = parseFieldKey(key);
  switch (place.kind) {
    case 'field':
      return partAt(
        traveler,
        simpleFields.find((name) => name === place.name),
      );
    case 'address':
      return partAt(
        traveler.address ?? {},
        addressParts.find((part) => part === place.part),
      );
    case 'customField':
      return valuesOf(traveler.customFields?.find(({ customFieldId }) => customFieldId === place.id));
    case 'role':
      return traveler.roles?.includes(place.value) ? true : undefined;
  }
}

/** The keys of everything that a traveler has and that can be taken away. */
export function ownableKeys(traveler: TravelUser): FieldKey[] {
  const keys = [
    ...plainFields.filter((key) => key !== 'email'),
    ...(traveler.customFields ?? []).map(({ customFieldId }) => `customFields.${customFieldId}`),
    ...(traveler.roles ?? []).map((role) => `roles.${role}`),
  ];
  return keys.filter((key) => readField(traveler, key) !== undefined);
}

/** A custom field value as it is sent: an option by its id alone, whose text the travel API derives. */
export function bareValues({ values }: CustomFieldValue): { [name: string]: string }[] {
  return values.map(({ customFieldOptionId, data }) => {
    if (customFieldOptionId !== undefined) return { customFieldOptionId };
    return data === undefined ? {} : { data };
  });
}

function partAt<T, K extends keyof T>(object: T, name: K | undefined): T[K] | undefined {
  return name === undefined ? undefined : object[name];
}

function valuesOf(field: CustomFieldValue | undefined): Json | undefined {
  return field && field.values.length > 0 ? bareValues(field) : undefined;
}

const simpleFields = [
  'archived',
  'billingProfileId',
  'costCenterId',
  'currency',
  'dateOfBirth',
  'email',
  'firstName',
  'gender',
  'lang',
  'lastName',
  'managerId',
  'phoneNumber',
  'separateIcsEmails',
  'travelPolicyId',
] as const satisfies (keyof TravelUser)[];

const addressParts = [
  'city',
  'countryCode',
  'postalCode',
  'region',
  'streetAddress',
] as const satisfies (keyof TravelAddress)[];

/** Fields of which a traveler may have the same value spelled otherwise, e.g. a phone number with more spaces. */
const respelled = [
  'firstName',
  'lastName',
  'phoneNumber',
  'address.streetAddress',
  'address.city',
  'address.region',
  'address.postalCode',
  'address.countryCode',
  'currency',
  'gender',
] as const;

const nothing = {
  lookups: {
    customFields: [],
    costCenters: [],
    billingProfiles: [],
    travelPolicies: [],
    scimUserMappings: [],
  },
  references: new Map(),
  applied: {},
};

/** True when what a traveler has is what is wanted, as far as the travel service goes: then there is nothing to send. */
export function hasValue(traveler: TravelUser, { key, wanted, rules }: Aim): boolean {
  const observed = readField(traveler, key);
  if (observed === undefined) return false;
  if (isEqualJson(observed, wanted)) return true;
  if (parseFieldKey(key).kind === 'customField') return sameOptions(observed, wanted);
  const field = respelled.find((name) => name === key);
  const countries = [traveler.address?.countryCode?.toUpperCase(), rules.mapping.phone?.defaultCountry];
  const phoneCountries = countries.filter((country) => country !== undefined);
  const reading = field ? readers[field](observed, { ...nothing, phoneCountries }) : undefined;
  return reading !== undefined && 'value' in reading && isEqualJson(reading.value, wanted);
}

interface Aim {
  key: FieldKey;
  wanted: Json;
  rules: Rules;
}

/** Options are the same by their id, whatever their text is now. */
function sameOptions(one: Json, other: Json): boolean {
  const ids = optionIds(one);
  return ids.length > 0 && isEqualJson(ids, optionIds(other));
}

function optionIds(values: Json): Json[] {
  const all = Array.isArray(values)
    ? values.map((value) => (isObject(value) ? value.customFieldOptionId : undefined))
    : [];
  const ids = all.filter((id) => typeof id === 'string');
  return ids.length === all.length ? ids.toSorted() : [];
}
