import type { TraceEntry } from '../../translator/translation.ts';
import type { FieldStanding } from './explain-fields.ts';
import type { ExplainedReference, PersonStatus } from './explain-person.ts';

// The words in which the page and the commands explain a person. The file imports nothing, because it is in the page, too.

/** The status of a person in a word or two. */
export const statusTexts = {
  synced: 'synced',
  archived: 'archived',
  noTraveler: 'no traveler',
  waiting: 'waiting',
  held: 'held',
  refused: 'refused',
  outOfScope: 'out of scope',
  imported: 'imported',
} satisfies Record<PersonStatus, string>;

/** The sentence that explains the status `imported`. */
export const IMPORTED_TEXT =
  'The traveler was found in the travel service, and no identity provider has written the user.';

/** How a manager that a user names stands. */
export const referenceTexts = {
  resolved: 'resolved',
  unknown: 'waiting: no user has this id, address or userName; it follows by itself once there is one',
  notLinked: 'waiting: the manager has no traveler yet; it follows by itself',
  self: 'left out: the person would be their own manager',
  circle: 'left out: the managers would form a circle',
} satisfies Record<ExplainedReference['standing'], string>;

/** Where a field stands, beside its values. Empty for one that is in step. */
export const standingTexts = {
  same: '',
  drift: 'changed in the travel service',
  uncertain: 'the outcome of the last call is not known; the traveler is read again',
  refused: 'the travel API refuses the value',
  notSent: 'not sent',
  notApplied: 'accepted by the travel API and not applied, see the findings',
  leftOut: 'left out, see the findings',
  imported: 'as imported; the identity provider has not changed it since',
  unread: 'the traveler must be read again',
  foreign: 'left to the travel service: no rule has a value',
} satisfies Record<FieldStanding, string>;

/** The origins of rules. */
export const originTexts = {
  file: 'mapping',
  collection: 'scimUserMapping',
  default: 'default rule',
} satisfies Record<TraceEntry['origin'], string>;

/** The names of ids. */
type Names = Readonly<Record<string, string>>;

/** Returns the name of a field: that of a custom field, or the key. */
export function fieldName(field: string, names: Names): string {
  if (field === '*') return 'all fields';
  const id = field.startsWith('customFields.') ? field.slice('customFields.'.length) : undefined;
  return id === undefined ? field : (names[id] ?? field);
}

/** Returns a value in one line. Names stand for the ids of resources and options. Empty for no value. */
export function valueText(value: unknown, names: Names): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return names[value] ?? value;
  if (Array.isArray(value)) return value.map((one) => valueText(one, names)).join(', ');
  if (typeof value !== 'object') return String(value);
  const { customFieldOptionId, data }: { customFieldOptionId?: unknown; data?: unknown } = value;
  const shown = customFieldOptionId ?? data;
  return shown === undefined ? JSON.stringify(value) : valueText(shown, names);
}

/** The members of a rule that was applied which the texts describe. */
type AppliedRule = Pick<TraceEntry, 'outcome'> &
  Partial<Record<'when' | 'group' | 'read' | 'reason', string | undefined>>;

/** The rules that decided: without those that were skipped, unless all were. */
export function decidingRules<Rule extends Pick<AppliedRule, 'outcome'>>(rules: Rule[]): Rule[] {
  const used = rules.filter(({ outcome }) => outcome !== 'skipped');
  return used.length > 0 ? used : rules;
}

/** Describes the path that the rule read, its condition, and its outcome; empty if it just set a value. */
export function ruleDetails({ when, group, read, outcome, reason }: AppliedRule): string {
  return [
    ...(read === undefined ? [] : [`read from ${read}`]),
    ...(when === undefined ? [] : [`when ${when}`]),
    ...(group === undefined ? [] : [`as a member of ${group}`]),
    ...(outcome === 'set' ? [] : [outcome]),
    ...(reason === undefined ? [] : [reason]),
  ].join(', ');
}

/** Returns what the identity provider said of a field in its own word: `active` is the opposite of `archived`. */
export function idpValue({ field, source }: { field: string; source?: unknown }): unknown {
  return field === 'archived' && source !== undefined ? `active: ${source}` : source;
}
