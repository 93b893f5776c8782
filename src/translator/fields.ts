import type { Json } from '../schema/resource.ts';
import type { FieldKey } from './result.ts';
import type { CustomFieldValue, TravelAddress, TravelUser } from './snapshot.ts';

/** The fields of a traveler that have one value each and that rules may target; `archived` is not one, it follows `active`. */
export const plainFields = [
  'email',
  'firstName',
  'lastName',
  'phoneNumber',
  'lang',
  'address.streetAddress',
  'address.city',
  'address.region',
  'address.postalCode',
  'address.countryCode',
  'managerId',
  'costCenterId',
  'billingProfileId',
  'travelPolicyId',
  'dateOfBirth',
  'gender',
  'currency',
  'separateIcsEmails',
] as const;

/** A field that rules may target by name. */
export type PlainField = (typeof plainFields)[number];

/** Narrows any name to a field that rules may target. */
export function isPlainField(name: string): name is PlainField {
  return plainFields.some((field) => field === name);
}

/** What a key stands for on a traveler. */
export type Place =
  | { kind: 'field'; name: string }
  | { kind: 'address'; part: string }
  | { kind: 'customField'; id: string }
  | { kind: 'role'; value: string };

/** Takes a key apart. */
export function placeOf(key: FieldKey): Place {
  const [head = '', ...rest] = key.split('.');
  const name = rest.join('.');
  if (head === 'address') return { kind: 'address', part: name };
  if (head === 'customFields') return { kind: 'customField', id: name };
  if (head === 'roles') return { kind: 'role', value: name };
  return { kind: 'field', name: key };
}

/** What a traveler has at a key, in the shape in which it would be wanted. */
export function readField(traveler: TravelUser, key: FieldKey): Json | undefined {
  const place = placeOf(key);
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
