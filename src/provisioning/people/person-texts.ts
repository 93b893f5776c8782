import type { IdentityState } from '../../model/identity.ts';
import type { TraceEntry } from '../../model/translation.ts';
import type { FieldStanding } from './explain-fields.ts';
import type { ExplainedReference, PersonStatus } from './explain-person.ts';

// The words in which the page, commands, alerts and metrics tell of people. The file imports nothing, because it is in the page, too.

/** The one word for each state. The API, metrics and filters have the states by their own names. */
export const stateWords = {
  synced: 'in step',
  dirty: 'waiting',
  pending: 'incomplete',
  refused: 'refused',
  held: 'held',
} satisfies Record<IdentityState, string>;

/** The word for people whom no identity provider has sent. */
export const UNMANAGED = 'unmanaged';

/** The meaning of the names of states, for descriptions of the API and of metrics. */
export const stateNamesText = Object.entries(stateWords)
  .map(([name, word]) => (name === word ? name : `${name} (${word})`))
  .join(', ');

/** The status of a person in a word or two. Who is archived, out of scope or without a traveler is in step, too. */
const statusWords = {
  synced: stateWords.synced,
  archived: 'archived',
  noTraveler: 'without a traveler',
  waiting: stateWords.dirty,
  held: stateWords.held,
  refused: stateWords.refused,
  outOfScope: 'out of scope',
  imported: UNMANAGED,
} satisfies Record<PersonStatus, string>;

/** Returns the word for the status of a person. Who lacks a traveler for want of data is incomplete. */
export function statusWord(status: PersonStatus, state: IdentityState): string {
  return state === 'pending' ? stateWords.pending : statusWords[status];
}

/** The members of a listed person that decide the status. */
interface StatedPerson {
  state: IdentityState;
  isUnmanaged: boolean;
  isActive: boolean;
  isDeleted: boolean;
  findings: { code: string }[];
}

/** Returns the status of a person in a list. */
export function statusOfListed({ state, ...person }: StatedPerson): PersonStatus {
  if (state !== 'synced') return unsettledStatuses[state];
  const has = (code: string) => person.findings.some((finding) => finding.code === code);
  if (person.isUnmanaged) return 'imported';
  if (has('outOfScope')) return 'outOfScope';
  const isHere = (person.isActive && !person.isDeleted) || has('keptActive');
  return isHere ? 'synced' : 'archived';
}

const unsettledStatuses = {
  dirty: 'waiting',
  pending: 'noTraveler',
  refused: 'refused',
  held: 'held',
} satisfies Record<Exclude<IdentityState, 'synced'>, PersonStatus>;

/** The sentence that explains the status `imported`. */
export const UNMANAGED_TEXT =
  'The traveler was found in the travel service, and no identity provider has sent the person.';

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
  imported: 'as it was found; the identity provider has not changed it since',
  unread: 'the traveler must be read again',
  foreign: 'left to the travel service: no rule has a value',
} satisfies Record<FieldStanding, string>;

/** The origins of rules. */
export const originTexts = {
  file: 'mapping',
  collection: 'travel service',
  default: 'default rule',
} satisfies Record<TraceEntry['origin'], string>;

/** The outcomes of a rule. */
export const outcomeTexts = {
  set: 'set',
  absent: 'no value',
  unresolved: 'not known yet',
  kept: 'what was there stays',
  skipped: 'not used',
} satisfies Record<TraceEntry['outcome'], string>;

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
    ...(outcome === 'set' ? [] : [outcomeTexts[outcome]]),
    ...(reason === undefined ? [] : [reason]),
  ].join(', ');
}

/** Returns what the identity provider said of a field in its own word: `active` is the opposite of `archived`. */
export function idpValue({ field, source }: { field: string; source?: unknown }): unknown {
  return field === 'archived' && source !== undefined ? `active: ${source}` : source;
}
