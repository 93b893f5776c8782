import type { Json } from '../schema/resource.ts';

/**
 * The name of a field of a traveler that is planned on its own: a field with one value (`email`), a part of the address
 * (`address.city`), a custom field (`customFields.<customFieldId>`) or a role (`roles.<role>`).
 */
export type FieldKey = string;

/** Everything besides the SCIM user that a translation depends on. */
export interface Snapshot {
  lookups: Lookups;
  /** Managers by the values that `findManagerReferences` returns. */
  references: ReadonlyMap<string, Reference>;
  /**
   * The fields sent before. An id that was once resolved stays while its source value does, until its target is gone
   * (docs/architecture.md, The rules of the plan).
   */
  applied?: AppliedFields;
}

/** The resources of the travel API that translations refer to, as last read. */
export interface Lookups extends Record<NamedCollection, NamedResource[]> {
  customFields: CustomField[];
  scimUserMappings: ScimUserMapping[];
}

/** The collections whose resources a traveler's field can name by id. */
export type NamedCollection = 'billingProfiles' | 'costCenters' | 'travelPolicies';

/** A cost center, billing profile or travel policy. */
export interface NamedResource {
  id: string;
  name: string;
  archived: boolean;
}

/** A custom field of travelers with its options. */
export interface CustomField {
  id: string;
  name: string;
  dataType: string;
  disabled: boolean;
  /** The travel service accepts only texts that match this regular expression. */
  validationRegexp?: string;
  options: { id: string; data: string; disabled: boolean }[];
}

/** One row of the travel API's scimUserMapping collection. */
export interface ScimUserMapping {
  scimAttribute: string;
  customFieldId?: string;
  userAttribute?: string;
}

/** The lookups of a travel service without resources. */
export const noLookups: Lookups = {
  customFields: [],
  costCenters: [],
  billingProfiles: [],
  travelPolicies: [],
  scimUserMappings: [],
};

/**
 * The travel user that a manager's SCIM value stands for, or why there is none. `unknown` and `notLinked` may resolve
 * later. `self` and `circle` are never sent. `gone` was resolved before and its traveler has been deleted.
 */
export type Reference =
  | { travelId: string }
  | { unresolved: 'unknown' | 'notLinked' | 'self' | 'circle' | 'gone' };

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

/** The result of translating one SCIM user. */
export interface Translation {
  /** One entry for every field that a rule can set. */
  fields: Record<FieldKey, WantedField>;
  findings: Finding[];
  trace: TraceEntry[];
  /** True if a name or id was not in the lookups, so that the lookups should be read again. */
  needsFreshLookups: boolean;
  /** The userName, if it is another email address than the wanted one: the traveler gets it if the wanted one is taken. */
  fallbackEmail?: string;
}

/**
 * What the rules want of one field. `source` is the SCIM value that the travel value comes from: an unresolved field keeps
 * its applied value while the source is unchanged. A `kept` field stays as it is, because the mapping is at fault. The
 * value of a custom field is its `values` array, that of a role is `true`.
 */
export type WantedField =
  | { kind: 'value'; value: Json; source: Json }
  | { kind: 'absent' }
  | { kind: 'unresolved'; source: Json }
  | { kind: 'kept' };

/** A note to the admin: which value was not carried over to the traveler, why, and how to mend it. */
export interface Finding {
  field: FieldKey;
  code: string;
  /** The SCIM value, or the value that the mapping contains. */
  value?: Json;
  reason: string;
  remedy: string;
  /** The JSON path in the mapping that is at fault, e.g. `defaults.billingProfile.name`. */
  mappingPath?: string;
}

/** The part of one rule in one field: the value that it read, and what became of it. */
export interface TraceEntry {
  field: FieldKey;
  origin: 'file' | 'collection' | 'default';
  /** The SCIM path that the rule reads, with its transforms, e.g. `title | trim`. */
  rule: string;
  outcome: 'set' | 'absent' | 'unresolved' | 'kept' | 'skipped';
  before?: Json;
  /** The value after the transforms of the rule, if it is neither `before` nor `after`. */
  transformed?: Json;
  after?: Json;
  reason?: string;
  /** The JSON path in the mapping that is at fault, e.g. `defaults.billingProfile.name`. */
  mappingPath?: string;
}

/** One field that the bridge owns on a traveler. */
export interface AppliedField {
  /** The value in the request. */
  sent: Json;
  /** The value in the travel API's response, which may be spelled differently. */
  answered: Json;
  /** The SCIM value that it comes from. */
  source: Json;
  /** True after a call without a known outcome: the traveler may have `sent` or the value from before. */
  unsure?: true;
}

/** The fields that the bridge owns on one traveler. */
export type AppliedFields = Record<FieldKey, AppliedField>;

/** Values that the travel API refused. `basis` is the version of rules and lookups then; under another version the value is sent again. */
export type RefusedFields = Record<FieldKey, { value: Json; basis: string; reason: string }>;
