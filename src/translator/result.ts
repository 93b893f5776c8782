import type { Json } from '../schema/resource.ts';

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
export type Wanted =
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
  fields: Record<FieldKey, Wanted>;
  findings: Finding[];
  trace: TraceEntry[];
  /** True when an id or name was not found in the lookups: fresher lookups may know it. */
  missed: boolean;
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
export type Applied = Record<FieldKey, AppliedField>;

/** Values the travel API refused, each under the basis (rules and lookups version) it was refused under. */
export type Refused = Record<FieldKey, { value: Json; basis: string; reason: string }>;
