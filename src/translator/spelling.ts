import { isObject, type Json } from '../schema/resource.ts';
import { placeOf, readField } from './fields.ts';
import { readers } from './readers.ts';
import type { FieldKey } from './result.ts';
import type { Rules } from './rules.ts';
import type { TravelUser } from './snapshot.ts';
import { same } from './values.ts';

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
export function hasAlready(traveler: TravelUser, { key, wanted, rules }: Aim): boolean {
  const observed = readField(traveler, key);
  if (observed === undefined) return false;
  if (same(observed, wanted)) return true;
  if (placeOf(key).kind === 'customField') return sameOptions(observed, wanted);
  const field = respelled.find((name) => name === key);
  const countries = [traveler.address?.countryCode?.toUpperCase(), rules.mapping.phone?.defaultCountry];
  const phoneCountries = countries.filter((country) => country !== undefined);
  const reading = field ? readers[field](observed, { ...nothing, phoneCountries }) : undefined;
  return reading !== undefined && 'value' in reading && same(reading.value, wanted);
}

interface Aim {
  key: FieldKey;
  wanted: Json;
  rules: Rules;
}

/** Options are the same by their id, whatever their text is now. */
function sameOptions(one: Json, other: Json): boolean {
  const ids = optionIds(one);
  return ids.length > 0 && same(ids, optionIds(other));
}

function optionIds(values: Json): Json[] {
  const all = Array.isArray(values)
    ? values.map((value) => (isObject(value) ? value.customFieldOptionId : undefined))
    : [];
  const ids = all.filter((id) => typeof id === 'string');
  return ids.length === all.length ? ids.toSorted() : [];
}
