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
