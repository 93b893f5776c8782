import type { AttributeExpression } from '../schema/filter-parser.ts';
import type { Json } from '../schema/resource.ts';

/**
 * The key of a field of a traveler: a field with one value (`email`), a part of the address (`address.city`), a custom
 * field (`customFields.<customFieldId>`) or a role (`roles.<role>`).
 */
export type FieldKey = string;

/** A group of which a user is a direct member, as the attribute `groups` names it (RFC 7643 §4.1.2). */
export interface UserGroup {
  /** The id of the group. */
  value: string;
  display: string;
}

/** All input of a translation besides the SCIM user. */
export interface Snapshot {
  /** The groups of which the user is a direct member, as far as the rules name them. */
  groups?: readonly UserGroup[] | undefined;
  lookups: Lookups;
  /** The resolved managers, by the values that `findManagerReferences` returns. */
  references: ReadonlyMap<string, Reference>;
  /**
   * The fields sent before. While the source value of a resolved id is unchanged, the id stays, also if its resource is
   * gone (docs/architecture.md, The rules of the plan).
   */
  applied?: AppliedFields;
  /** The parts of references that count although others are there; none for a user who was never changed. */
  countedParts?: CountedParts | undefined;
  /** The day of the last write of the user, as YYYY-MM-DD: nobody is born later. By default any day is accepted. */
  statedOn?: string | undefined;
  /** True for a part of the scope that names by equality a group which has not been received; by default none does. */
  namesUnknownGroup?: ((expression: AttributeExpression) => boolean) | undefined;
}

/**
 * The part of a reference that counts although the other parts are still there, by the URN and name of the attribute: the
 * one that the last change of the attribute has changed. An attribute without an entry is read in the usual order of its
 * parts.
 */
export type CountedParts = Readonly<Record<string, string>>;

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
 * The travel user that a manager's SCIM value is resolved to, or why there is none. `inactive`: the IdP has deactivated the
 * manager, who stays (`keep`) or is left out (`clear`). `unknown` and `notLinked` may be
 * resolved later. `self` and `circle` are never sent. `gone`: the value was resolved before, and its traveler has been
 * deleted. `replaced`: the manager has left, and the value or the traveler is that of another person now.
 */
export type Reference =
  | { travelId: string; isInactive?: true }
  /** The manager is active and gets a traveler first. */
  | { unresolved: 'notLinked'; userName?: string }
  | { unresolved: 'unknown' | 'self' | 'circle' | 'gone' | 'replaced' | 'ambiguous' };

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

/** A role that an IdP may give. */
export interface AssignableRole {
  /** The value that gives the role in `roles` of a user. */
  name: string;
  role: string;
}

/** The target of rules that give roles. Each of them adds its roles, so that they are no chain of rules for one field. */
export const rolesTarget = 'roles';

/** Whether a user is in the scope of a mapping. `unresolved`: that depends on a group which has not been received. */
export const scopeVerdicts = ['in', 'out', 'unresolved'] as const;

export type ScopeVerdict = (typeof scopeVerdicts)[number];

/** The result of translating one SCIM user. */
export interface Translation {
  /** One entry for every field that a rule can set. */
  fields: Record<FieldKey, WantedField>;
  findings: Finding[];
  trace: TraceEntry[];
  /** Whether the user is in the scope of the mapping. */
  scope: ScopeVerdict;
  /** True if the connection has a pilot, and the user matches it. */
  isInPilot: boolean;
  /** True if a name or id is missing from the lookups, so that they should be read again. */
  needsFreshLookups: boolean;
  /**
   * The userName, if it is an email address other than the wanted one. The traveler gets this address if another
   * traveler has the wanted one.
   */
  fallbackEmail?: string;
}

/**
 * The wanted state of one field. `source` is the SCIM value from which the travel value is translated: an unresolved
 * field keeps its applied value while the source is unchanged. A `kept` field stays unchanged, because the mapping is
 * at fault. The value of a custom field is its `values` array; the value of a role is `true`.
 */
export type WantedField =
  | { kind: 'value'; value: Json; source: Json }
  | { kind: 'absent' }
  | { kind: 'unresolved'; source: Json }
  | { kind: 'kept' };

/** A message for the admin about a value that was not set on the traveler: the value, the reason, and the remedy. */
export interface Finding {
  field: FieldKey;
  code: string;
  /** The SCIM value, or the value that the mapping contains. */
  value?: Json;
  reason: string;
  remedy: string;
  /** If the mapping is at fault: the JSON path of the fault, e.g. `defaults.billingProfile.name`. */
  mappingPath?: string;
}

export const ruleOrigins = ['file', 'collection', 'default'] as const;

export const ruleOutcomes = ['set', 'absent', 'unresolved', 'kept', 'skipped'] as const;

/** The effect of one rule on one field: the value that it read, and the result. */
export interface TraceEntry {
  field: FieldKey;
  origin: (typeof ruleOrigins)[number];
  /**
   * The input of the rule, with its transforms: a SCIM path, several paths or a template, e.g. `title | trim`,
   * `title → userType` or `"{title} of {userType}"`.
   */
  rule: string;
  /** The condition of the rule. */
  when?: string;
  /** The group of the user that the condition of the rule has found. */
  group?: string;
  /** The SCIM path that was read, if the rule has several. */
  read?: string;
  outcome: (typeof ruleOutcomes)[number];
  before?: Json;
  /** The value after the transforms of the rule, if it differs from both `before` and `after`. */
  transformed?: Json;
  after?: Json;
  reason?: string;
  /** If the mapping is at fault: the JSON path of the fault, e.g. `defaults.billingProfile.name`. */
  mappingPath?: string;
}

/**
 * A trace as it is stored: without the entries that every user without values has (`expandTrace` adds them). In place of the entries
 * of a field that named an erased person there is a list that begins with the field.
 */
export type StoredTrace = (TraceEntry | [field: FieldKey, ...Json[]])[];

/**
 * What is known of a field of a traveler that the bridge owns. It is committed without `seen` before the call that sends the value: until an
 * answer, or a later read, shows the traveler, nobody knows which value it has.
 */
export interface AppliedField {
  /** The value as it was sent; null for a removal. A value that the traveler had already counts as sent. */
  sent: Json;
  /** The SCIM value from which `sent` was translated. */
  source: Json;
  /**
   * The value that the travel API has shown in its answer, or in the read that settled the call; it may be spelled differently. Null means
   * no value; absent until then.
   */
  seen?: Json;
  /** The value before the bridge owned the field; null means none. Absent for email and `archived`, and for what the bridge has created. */
  before?: Json;
  /** The time at which a value is sent again that the travel API has accepted and does not show, in epoch milliseconds. */
  resendAt?: number;
}

/** The fields of one traveler that the bridge owns. */
export type AppliedFields = Record<FieldKey, AppliedField>;

/**
 * Values that the travel API refused. `basis` is the version of rules and lookups at that time; under another version
 * the value is sent again.
 */
export type RefusedFields = Record<FieldKey, { value: Json; basis: string; reason: string }>;

/** A value that the bridge will own after the plan, and the SCIM value from which it was translated. */
export interface PlannedValue {
  value: Json;
  source: Json;
}

/** The changes that bring a traveler to the wanted state. */
export interface Plan {
  /** Fields to send. */
  set: Record<FieldKey, PlannedValue>;
  /** Fields that become owned without a call, because the traveler already has the wanted value. */
  adopt: Record<FieldKey, PlannedValue>;
  /** Fields to remove from the traveler. */
  remove: FieldKey[];
  /**
   * Fields that the bridge stops owning: no rule sets them any more, or the traveler had the role before. Their values stay, unless the value
   * from before the bridge owned them is put back.
   */
  released: FieldKey[];
  /**
   * True if the traveler must be read right before the call, whatever is known of it. An array is replaced whole, so the request must repeat
   * the elements that the bridge does not own. An address is removed whole if its last part is removed. Email, roles and `archived` must not
   * be changed if an administrator or a manual archive is concerned.
   */
  needsFreshRead: boolean;
}
