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
  /** What was sent before: an id resolved once sticks to its source value until its target is gone (DESIGN §2). */
  applied?: Applied;
}
