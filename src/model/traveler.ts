import type { Json, JsonObject } from '../schema/resource.ts';
import type { FieldKey } from './translation.ts';

/** The fields of a traveler that have one value each, with their JSON types in the travel API; `address.<part>` is a part of the postal address. */
export interface FieldTypes {
  email: string;
  firstName: string;
  lastName: string;
  phoneNumber: string;
  lang: string;
  'address.streetAddress': string;
  'address.city': string;
  'address.region': string;
  'address.postalCode': string;
  'address.countryCode': string;
  managerId: string;
  costCenterId: string;
  billingProfileId: string;
  travelPolicyId: string;
  dateOfBirth: string;
  gender: string;
  currency: string;
  separateIcsEmails: boolean;
}

/** A traveler as the travel API represents it (specification, "user"). */
export interface TravelUser extends Partial<Omit<FieldTypes, 'email' | `address.${string}`>> {
  id: string;
  email: string;
  archived: boolean;
  /** Set if the travel API does not show whether the traveler is archived; `archived` is then false. */
  isArchivedUnknown?: true;
  createdAt: string;
  address?: TravelAddress;
  customFields?: CustomFieldValue[];
  roles?: string[];
  /** The preferences that are a text or a boolean, by their names. */
  travelerPrefs?: { [name: string]: string | boolean };
  /**
   * The names of members that are no fields of the table, such as lists of preferences (`travelerPrefs.meals`). They are removed if the
   * traveler passes to another person.
   */
  otherFields?: string[];
}

/** A traveler's postal address; `countryCode` is ISO 3166-1 alpha-2. */
export type TravelAddress = {
  [Key in keyof FieldTypes as Key extends `address.${infer Part}` ? Part : never]?: FieldTypes[Key];
};

/** One custom field of a traveler: one value for `text` and `option`, any number for `optionsList`. */
export interface CustomFieldValue {
  customFieldId: string;
  name?: string;
  values: { customFieldOptionId?: string; data?: string; displayName?: string }[];
}

/**
 * What a call changes of a traveler: the new value of each field, or null for a field that is removed. The parts of the address are changed
 * one by one; custom fields and roles are whole lists. A profile of the adapter turns it into a request of the travel API.
 */
export interface TravelerChange {
  [field: string]: Json;
  email?: string;
  archived?: boolean;
  /** Null removes the whole address. */
  address?: JsonObject | null;
  /** The preferences that are changed or removed, one by one. */
  travelerPrefs?: JsonObject;
  /** All custom fields that the traveler has after the change. */
  customFields?: { customFieldId: string; values: Json }[];
  /** All roles that the traveler has after the change. */
  roles?: string[];
}

/** Roles that administer the travel service. */
export const administratorRoles = ['admin', 'authAdmin'];

/** True if the traveler administers the travel service, whether the mapping or the travel service gave the role. */
export function isAdministrator({ roles = [] }: TravelUser): boolean {
  return roles.some((role) => administratorRoles.includes(role));
}

/** True for the key of the field (`roles.admin`) that holds a role which administers the travel service. */
export function isAdministratorRole(key: FieldKey): boolean {
  return administratorRoles.some((role) => key === `roles.${role}`);
}
