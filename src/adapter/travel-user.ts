import type { CustomFieldValue, TravelUser } from '../translator/travel-user.ts';
import { list, readable, record, text, texts } from './fields.ts';

const plain = [
  'billingProfileId',
  'costCenterId',
  'currency',
  'dateOfBirth',
  'firstName',
  'gender',
  'lang',
  'lastName',
  'managerId',
  'phoneNumber',
  'travelPolicyId',
] as const satisfies readonly (keyof TravelUser)[];

const addressParts = ['city', 'countryCode', 'postalCode', 'region', 'streetAddress'] as const;

/**
 * Reads a traveler with tolerance: fields that are unknown or of another type are passed over, enum values are taken as
 * they come. The order of roles and custom fields means nothing, so it is made the same each time. Undefined when there is no id or no email, or it is blank, without which nothing can be decided about anybody.
 */
export function readTravelUser(value: unknown): TravelUser | undefined {
  const source = record(value);
  const id = readTravelUserId(value);
  const email = text(source?.email);
  if (!source || id === undefined || email === undefined || email.trim() === '') return undefined;
  const { address, customFields, roles, separateIcsEmails } = source;
  const parts = record(address);
  return {
    id,
    email,
    archived: source.archived === true,
    createdAt: text(source.createdAt) ?? '',
    ...texts(source, plain),
    ...(parts ? { address: texts(parts, addressParts) } : {}),
    ...(Array.isArray(customFields) ? { customFields: readCustomFieldValues(customFields) } : {}),
    ...(Array.isArray(roles) ? { roles: readable(roles, text).sort() } : {}),
    ...(typeof separateIcsEmails === 'boolean' ? { separateIcsEmails } : {}),
  };
}

/** The id of a traveler that perhaps cannot be read otherwise; undefined when there is none. */
export function readTravelUserId(value: unknown): string | undefined {
  const id = text(record(value)?.id);
  return id === '' ? undefined : id;
}

function readCustomFieldValues(values: unknown[]): CustomFieldValue[] {
  return readable(values, readCustomFieldValue).sort(by(({ customFieldId }) => customFieldId));
}

function readCustomFieldValue(value: unknown): CustomFieldValue | undefined {
  const source = record(value);
  const customFieldId = text(source?.customFieldId);
  if (!source || customFieldId === undefined) return undefined;
  const values = list(source.values).flatMap((item) => {
    const members = record(item);
    return members ? [texts(members, ['customFieldOptionId', 'data', 'displayName'])] : [];
  });
  const ordered = values.sort(
    by(({ customFieldOptionId, data }) => `${customFieldOptionId ?? ''} ${data ?? ''}`),
  );
  return { customFieldId, ...texts(source, ['name']), values: ordered };
}

/** Compares by the codes of characters, which is the same everywhere. */
function by<T>(keyOf: (item: T) => string): (one: T, other: T) => number {
  return (one, other) => {
    const [left, right] = [keyOf(one), keyOf(other)];
    if (left === right) return 0;
    return left < right ? -1 : 1;
  };
}
