import type { Json } from '../schema/resource.ts';

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
  applied?: AppliedFields;
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

/**
 * The name of one planned unit of a traveler: a plain field (`email`), an address part (`address.city`),
 * one custom field (`customFields.<customFieldId>`) or one role (`roles.<value>`).
 */
export type FieldKey = string;

/**
 * What the rules want of one field. `source` is the SCIM value it came from: an unresolved field keeps
 * what was applied as long as its source is unchanged. A kept field stays as it is, owned or not, because the mapping
 * itself is at fault. A custom field's value is its `values` array, a role's is `true`.
 */
export type WantedField =
  | { kind: 'value'; value: Json; source: Json }
  | { kind: 'absent' }
  | { kind: 'unresolved'; source: Json }
  | { kind: 'kept' };

/** Something an admin should know: what was left out of a traveler, why, and what would help. Never an error to the IdP. */
export interface Finding {
  field: FieldKey;
  code: string;
  /** The SCIM value concerned, where there is one. */
  value?: Json;
  reason: string;
  remedy: string;
  /** The place in the mapping that is at fault, e.g. `defaults.billingProfile.name`. */
  mappingPath?: string;
}

/** One rule's part in one travel field: what it read, what it made of it, or why it was passed over. */
export interface TraceEntry {
  field: FieldKey;
  origin: 'file' | 'collection' | 'default';
  /** The SCIM path the rule reads, with its transforms, e.g. `title | trim`. */
  rule: string;
  outcome: 'set' | 'absent' | 'unresolved' | 'kept' | 'skipped';
  before?: Json;
  /** The value after the transforms of the rule, if it is neither `before` nor `after`. */
  transformed?: Json;
  after?: Json;
  reason?: string;
  /** The place to mend in the mapping, e.g. `defaults.billingProfile.name`. */
  mappingPath?: string;
}

/** The outcome of translating one SCIM user. */
export interface Translation {
  /** Every field that any rule targets has an entry. */
  fields: Record<FieldKey, WantedField>;
  findings: Finding[];
  trace: TraceEntry[];
  /** True when an id or name was not found in the lookups: fresher lookups may know it. */
  needsFreshLookups: boolean;
  /** The userName, where it is an address other than the wanted one: it serves when somebody else has that. */
  fallbackEmail?: string;
}

/** What was sent for a field, what the travel API made of it, and the SCIM value it came from. */
export interface AppliedField {
  sent: Json;
  answered: Json;
  source: Json;
  /** The answer to a call that touched this field was lost: the travel service may hold what was sent, or what was before. */
  unsure?: true;
}

/** The fields that are ours on one traveler. */
export type AppliedFields = Record<FieldKey, AppliedField>;

/** Values the travel API refused, each under the basis (rules and lookups version) it was refused under. */
export type RefusedFields = Record<FieldKey, { value: Json; basis: string; reason: string }>;
