import { readCountry } from './countries.ts';
import { readDate } from './dates.ts';
import type { PlainField } from './fields.ts';
import { readLanguage } from './language.ts';
import { readBillingProfile, readCostCenter, readTravelPolicy } from './named.ts';
import { readPhone } from './phone.ts';
import type { Reader } from './reading.ts';
import { readReference } from './references.ts';
import { readBoolean, readCurrency, readEmail, readGender, readStreet, readText } from './simple-readers.ts';

/** How each field reads a SCIM value, whichever rule it comes from. */
export const readers = {
  email: readEmail,
  firstName: readText,
  lastName: readText,
  phoneNumber: readPhone,
  lang: readLanguage,
  'address.streetAddress': readStreet,
  'address.city': readText,
  'address.region': readText,
  'address.postalCode': readText,
  'address.countryCode': readCountry,
  managerId: readReference,
  costCenterId: readCostCenter,
  billingProfileId: readBillingProfile,
  travelPolicyId: readTravelPolicy,
  dateOfBirth: readDate,
  gender: readGender,
  currency: readCurrency,
  separateIcsEmails: readBoolean,
} satisfies Record<PlainField, Reader>;
