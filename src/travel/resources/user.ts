import { z } from 'zod';
import {
  anything,
  country,
  currency,
  date,
  email,
  flag,
  lang,
  oneOf,
  phoneNumber,
  text,
} from '../declaration/fields.ts';
import { type Change, defineResource } from '../declaration/resource.ts';
import { ApiError, type FieldFault } from '../errors.ts';
import { type JsonObject, stringMember } from '../json.ts';
import type { StoredResource } from '../ports.ts';
import { fieldFault } from '../requests/validation.ts';
import {
  customFieldReferences,
  customFieldsOf,
  customFieldValues,
  serializeCustomFields,
  validateCustomFields,
} from './custom-field-values.ts';

const address = z.strictObject({
  city: text.optional(),
  countryCode: country.optional(),
  postalCode: text.optional(),
  region: text.optional(),
  streetAddress: text.optional(),
});

const role = oneOf([
  'accountant',
  'admin',
  'authAdmin',
  'guest',
  'guestCreator',
  'manager',
  'organizer',
  'premium',
]);

const roles = z.array(role).overwrite((given) => [...new Set(given)]);

/** A traveler. */
export const user = defineResource({
  type: 'user',
  path: 'users',
  idForm: 'B',
  schema: z
    .strictObject({
      address: address.optional(),
      archived: flag,
      billingProfileId: text.optional(),
      costCenterId: text.optional(),
      currency: currency.optional(),
      customFields: customFieldValues.optional(),
      dateOfBirth: date.optional(),
      email,
      firstName: text.optional(),
      gender: oneOf(['female', 'male']).optional(),
      lang: lang.optional(),
      lastName: text.optional(),
      managerId: text.optional(),
      phoneNumber: phoneNumber.optional(),
      roles: roles.optional(),
      separateIcsEmails: flag,
      travelerPrefs: z.object({ flightSeatPosition: text.optional() }).catchall(anything).optional(),
      travelPolicyId: text.optional(),
    })
    .meta({ description: 'A traveler, or somebody who works with travelers' }),
  events: ['created', 'updated', 'deleted'],
  sortBy: ['email'],
  filters: ['archived', 'emails'],
  unique: [{ field: 'email', fold: true }],
  references: [
    { field: 'billingProfileId', to: 'billingProfile' },
    { field: 'costCenterId', to: 'costCenter' },
    { field: 'managerId', to: 'user' },
    { field: 'travelPolicyId', to: 'travelPolicy' },
  ],
  subCollections: [{ type: 'tripProject', path: 'trip-projects', idsIn: 'travelerIds' }],
  rules: {
    check,
    checkDelete: ({ id }, caller) => refuseLosingAdmin(id, caller, false),
    refuses: { patch: [403], replace: [403], delete: [403] },
    index: ({ doc }) => (isAdmin(doc) ? [ADMIN_INDEX] : []),
    references: (doc) => customFieldReferences(customFieldsOf(doc)),
    serialize: serializeCustomFields,
  },
  example: {
    address: { city: 'Paris', countryCode: 'FR', postalCode: '75002', streetAddress: '1 rue de la Paix' },
    currency: 'EUR',
    dateOfBirth: '1992-02-29',
    email: 'Ada.Lovelace@example.com',
    firstName: 'Ada',
    gender: 'female',
    lang: 'en',
    lastName: 'Lovelace',
    phoneNumber: '+33 612345678',
    roles: ['organizer'],
    travelerPrefs: { flightSeatPosition: 'aisle' },
  },
});

/** The index of users who may use the API. */
export const ADMIN_INDEX = { name: 'admin', value: 'active' };

/** "The credential must belong to a user with the `admin` role"; the user must not be archived. */
export function isAdmin(doc: JsonObject): boolean {
  return doc['archived'] !== true && Array.isArray(doc['roles']) && doc['roles'].includes('admin');
}

async function check(change: Change): Promise<{ doc: JsonObject; invalid: FieldFault[] }> {
  const { id, caller, wanted } = change;
  refuseLosingAdmin(id, caller, isAdmin(wanted));
  const { customFields, invalid } = await validateCustomFields(change, 'user');
  if (stringMember(wanted, 'managerId') === id) {
    invalid.push(fieldFault('reference', ['managerId'], wanted, 'must be somebody else'));
  }
  // An empty list removes the field. Otherwise the value is replaced in place, to keep the field order of the schema.
  const { customFields: _wanted, ...others } = wanted;
  return { doc: customFields.length > 0 ? { ...wanted, customFields } : others, invalid };
}

/** Throws `forbidden` if users would archive, delete or demote themselves: they could not undo it. */
function refuseLosingAdmin(id: StoredResource['id'], caller: string, staysAdmin: boolean): void {
  if (id === caller && !staysAdmin) {
    throw new ApiError('forbidden', 'The user on whose behalf the call is made must stay an active admin.');
  }
}
