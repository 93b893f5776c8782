import { type FieldKey, noLookups } from '../../model/translation.ts';
import type { CustomFieldValue, TravelUser } from '../../model/traveler.ts';
import { isObject, type Json } from '../../schema/resource.ts';
import { type Field, fields, findField, preferencePrefix } from '../fields/fields.ts';
import type { Rules } from '../rules/rules.ts';
import { isEqualJson } from '../values/values.ts';

/** Fields that every traveler has: they can be changed, and never removed. */
export const requiredKeys: readonly FieldKey[] = ['email', 'archived'];

/** The place of a field's value in a traveler. */
type FieldPath =
  | { kind: 'field'; name: string }
  | { kind: 'address'; part: string }
  | { kind: 'preference'; name: string }
  | { kind: 'customField'; id: string }
  | { kind: 'role'; value: string };

/** Parses a key such as `address.city` or `roles.guest`. */
export function parseFieldKey(key: FieldKey): FieldPath {
  const dot = key.indexOf('.');
  if (dot === -1) return { kind: 'field', name: key };
  const [head, name] = [key.slice(0, dot), key.slice(dot + 1)];
  if (head === 'address') return { kind: 'address', part: name };
  if (head === 'travelerPrefs') return { kind: 'preference', name };
  if (head === 'customFields') return { kind: 'customField', id: name };
  if (head === 'roles') return { kind: 'role', value: name };
  return { kind: 'field', name: key };
}

/** True if the field is an element of an array, which a change can only replace whole. */
export function isArrayElement(key: FieldKey): boolean {
  const { kind } = parseFieldKey(key);
  return kind === 'customField' || kind === 'role';
}

/**
 * Returns the value of a field of a traveler, in the form that translations produce; undefined if the traveler has
 * none.
 */
export function readField(traveler: TravelUser, key: FieldKey): Json | undefined {
  const path = parseFieldKey(key);
  switch (path.kind) {
    case 'field':
      return memberOf(traveler, path.name);
    case 'address':
      return memberOf(traveler.address ?? {}, path.part);
    case 'preference':
      return memberOf(traveler.travelerPrefs ?? {}, path.name);
    case 'customField':
      return valuesOf(traveler.customFields?.find(({ customFieldId }) => customFieldId === path.id));
    case 'role':
      return traveler.roles?.includes(path.value) ? true : undefined;
  }
}

/** Returns a member that is a string or a boolean. Inherited members are functions and objects, so they are never returned. */
function memberOf(object: object, name: string): Json | undefined {
  const value: unknown = Reflect.get(object, name);
  return typeof value === 'string' || typeof value === 'boolean' ? value : undefined;
}

function valuesOf(field: CustomFieldValue | undefined): Json | undefined {
  return field && field.values.length > 0 ? toWritableValues(field) : undefined;
}

/**
 * Converts the values of a custom field to the form of a request: an option by its id alone, because the travel API
 * derives its text.
 */
export function toWritableValues({ values }: CustomFieldValue): { [name: string]: string }[] {
  return values.map(({ customFieldOptionId, data }) => {
    if (customFieldOptionId !== undefined) return { customFieldOptionId };
    return data === undefined ? {} : { data };
  });
}

/** Returns the keys of all fields that the traveler has and that can be removed. */
export function removableKeys(traveler: TravelUser, table: readonly Field[] = fields): FieldKey[] {
  const keys = [
    ...table.map(({ key }) => key).filter((key) => !requiredKeys.includes(key)),
    ...Object.keys(traveler.travelerPrefs ?? {}).map((name) => `${preferencePrefix}${name}`),
    ...(traveler.customFields ?? []).map(({ customFieldId }) => `customFields.${customFieldId}`),
    ...(traveler.roles ?? []).map((role) => `roles.${role}`),
  ];
  return [...keys.filter((key) => readField(traveler, key) !== undefined), ...(traveler.otherFields ?? [])];
}

/**
 * Returns true if the traveler's value is equivalent to the wanted one, e.g. a phone number that only differs in
 * spaces.
 */
export function hasValue(
  traveler: TravelUser,
  { key, wanted, rules }: { key: FieldKey; wanted: Json; rules: Rules },
): boolean {
  const observed = readField(traveler, key);
  if (observed === undefined) return false;
  if (isEqualJson(observed, wanted)) return true;
  if (parseFieldKey(key).kind === 'customField') return haveSameOptions(observed, wanted);
  const field = findField(key, rules.fields);
  if (field?.comparison !== 'normalized') return false;
  const countries = [traveler.address?.countryCode?.toUpperCase(), rules.mapping.phone?.defaultCountry];
  const phoneCountries = countries.filter((country) => country !== undefined);
  const context = { lookups: noLookups, references: new Map(), applied: {}, phoneCountries };
  const reading = field.read(observed, context);
  return 'value' in reading && isEqualJson(reading.value, wanted);
}

/** Compares options by their ids; their texts may have changed. */
function haveSameOptions(one: Json, other: Json): boolean {
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
