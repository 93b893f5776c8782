import type { Applied } from './result.ts';

/** A custom field of travelers, with its options, as last read from the travel API. */
export interface CustomField {
  id: string;
  name: string;
  dataType: string;
  disabled: boolean;
  validationRegexp?: string;
  options: { id: string; data: string; disabled: boolean }[];
}

/** A named thing of the travel service that travelers refer to: a cost center, billing profile or travel policy. */
export interface Named {
  id: string;
  name: string;
  archived: boolean;
}

/** One row of the travel API's scimUserMapping collection. */
export interface ScimUserMapping {
  scimAttribute: string;
  customFieldId?: string;
  userAttribute?: string;
}

/** What the bridge looks up in the travel API before it translates, as last read. */
export interface Lookups {
  customFields: CustomField[];
  costCenters: Named[];
  billingProfiles: Named[];
  travelPolicies: Named[];
  scimUserMappings: ScimUserMapping[];
}

/** A travel service that has nothing. */
export const noLookups: Lookups = {
  customFields: [],
  costCenters: [],
  billingProfiles: [],
  travelPolicies: [],
  scimUserMappings: [],
};

/**
 * What became of one raw reference to a manager: a travel user id, or why there is none. `unknown` and `notLinked` may
 * still resolve; `self` and `circle` are left out, and `gone` (it was resolved, and its target left) is absent.
 */
export type Reference =
  | { travelId: string }
  | { unresolved: 'unknown' | 'notLinked' | 'self' | 'circle' | 'gone' };

/** Everything outside the SCIM resource that a translation depends on: plain data, no I/O. */
export interface Snapshot {
  lookups: Lookups;
  /** By the raw value as `referencesOf` gave it. */
  references: ReadonlyMap<string, Reference>;
  /**
   * What was sent before: an id resolved once sticks to its source value until its target is gone
   * (docs/architecture.md, The rules of the plan).
   */
  applied?: Applied;
}

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

/** The roles of the travel service (specification, "user"). */
export const travelRoles = [
  'accountant',
  'admin',
  'authAdmin',
  'guest',
  'guestCreator',
  'manager',
  'organizer',
  'premium',
] as const;
