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
