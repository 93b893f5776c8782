import type { NameFault } from '../translator/check-names.ts';
import type { FieldKey, Finding } from '../translator/result.ts';
import type { CustomField } from '../translator/snapshot.ts';
import type { Change, Difference } from './difference.ts';
import type { Identity } from './identity.ts';

/** What a change of rules would do to one field, over all people. */
export interface FieldTally {
  field: FieldKey;
  /** Gets another value. */
  set: number;
  /** Loses its value. */
  cleared: number;
  /** Is sent again, though the travel API has refused the value before. */
  again: number;
  /** Is ours no longer: the value stays. */
  released: number;
}

/** How often one finding would come, or go. */
export interface FindingTally {
  field: FieldKey;
  code: string;
  comes: number;
  goes: number;
}

/** One of the people whom a change of rules would touch. */
export interface Example {
  id: string;
  userName: string;
  outcome: Exclude<Difference['outcome'], 'same'>;
  changes: Change[];
  comes: Finding[];
  goes: Finding[];
}

/** What a change of rules would do to the people of a connection. */
export interface Rehearsal {
  /** Looked at: all whom an IdP has written and not deleted. */
  people: number;
  /** For whose travelers a call would be made. */
  changed: number;
  /** Who would get a traveler at last. */
  created: number;
  /** Who would not get one any more, for lack of a usable address. */
  pending: number;
  /** The most frequent first. */
  fields: FieldTally[];
  findings: FindingTally[];
  /** The first of those whom it touches. */
  examples: Example[];
  /** What the custom fields are called. */
  names: Record<FieldKey, string>;
  /** The places of the mapping that are at fault; left out when there are none. */
  mappingFaults?: NameFault[];
}

/** Adds up what is found for one person after another. */
export interface Tally {
  add(identity: Identity, difference: Difference): void;
  total(): Rehearsal;
}

/** Nothing yet; keeps no more than so many examples. */
export function tally(mostExamples: number, customFields: CustomField[]): Tally {
  const counts = { people: 0, changed: 0, created: 0, pending: 0 };
  const fields = new Map<string, FieldTally>();
  const findings = new Map<string, FindingTally>();
  const examples: Example[] = [];
  return {
    add: (identity, { outcome, changes, released, comes, goes }) => {
      counts.people += 1;
      for (const field of released) fieldIn(fields, field).released += 1;
      for (const { field, code } of comes) findingIn(findings, field, code).comes += 1;
      for (const { field, code } of goes) findingIn(findings, field, code).goes += 1;
      if (outcome === 'same') return;
      counts[outcome] += 1;
      if (outcome === 'changed')
        for (const change of changes) fieldIn(fields, change.field)[kindOf(change)] += 1;
      if (examples.length >= mostExamples) return;
      const userName = String(identity.desired.userName);
      examples.push({ id: identity.id, userName, outcome, changes, comes, goes });
    },
    total: () => ({
      ...counts,
      fields: [...fields.values()].toSorted(
        (one, other) => touched(other) - touched(one) || (one.field < other.field ? -1 : 1),
      ),
      findings: [...findings.values()].toSorted(
        (one, other) => other.comes + other.goes - one.comes - one.goes,
      ),
      examples,
      names: Object.fromEntries(customFields.flatMap(namesOf)),
    }),
  };
}

function namesOf({ id, name, options }: CustomField): [string, string][] {
  return [
    [`customFields.${id}`, name],
    ...options.map((option): [string, string] => [option.id, option.data]),
  ];
}

function kindOf({ after, isAgain }: Change): 'set' | 'cleared' | 'again' {
  if (isAgain) return 'again';
  return after === null ? 'cleared' : 'set';
}

function touched({ set, cleared, again, released }: FieldTally): number {
  return set + cleared + again + released;
}

function fieldIn(all: Map<string, FieldTally>, field: FieldKey): FieldTally {
  const one = all.get(field) ?? { field, set: 0, cleared: 0, again: 0, released: 0 };
  all.set(field, one);
  return one;
}

function findingIn(all: Map<string, FindingTally>, field: FieldKey, code: string): FindingTally {
  const mark = `${field} ${code}`;
  const one = all.get(mark) ?? { field, code, comes: 0, goes: 0 };
  all.set(mark, one);
  return one;
}
