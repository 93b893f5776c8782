import { isObject } from '../schema/own.ts';
import type { Json } from '../schema/resource.ts';
import { placeOf } from './fields.ts';
import { readers } from './readers.ts';
import type { FieldKey } from './result.ts';
import { same } from './same.ts';

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
  phoneCountries: [],
};

/** True when what a traveler has is what is wanted, as far as the travel service goes: then there is nothing to send. */
export function alike(key: FieldKey, observed: Json | undefined, wanted: Json): boolean {
  if (observed === undefined) return false;
  if (same(observed, wanted)) return true;
  if (placeOf(key).kind === 'customField') return sameOptions(observed, wanted);
  const field = respelled.find((name) => name === key);
  const reading = field ? readers[field](observed, nothing) : undefined;
  return reading !== undefined && 'value' in reading && same(reading.value, wanted);
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
