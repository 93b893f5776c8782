import { checkNames, type NameFault } from '../translator/check-names.ts';
import type { Mapping } from '../translator/mapping-file.ts';
import type { CustomField, FieldKey, Finding } from '../translator/translation.ts';
import type { Connection } from './connection.ts';
import type { Identity } from './identity.ts';
import {
  comparePreviews,
  type FieldChange,
  type PreviewDeps,
  type PreviewDifference,
  travelerPreviewer,
} from './mapping-effect.ts';
import { type RulesSnapshot, type RulesSnapshots, toRulesSnapshot } from './rules-snapshot.ts';
import type { Runtime } from './runtime-ports.ts';
import type { Identities } from './store-ports.ts';
import type { TravelFailure } from './travel-ports.ts';

const BATCH = 100;
/** How long others wait for their turn. */
const PAUSE_MS = 5;

/** Tells what other rules would do, without doing it. */
export interface MappingPreviewer {
  run(connection: Connection, wish: PreviewOptions): Promise<MappingPreview | TravelFailure>;
}

/** What is to be told. */
export interface PreviewOptions {
  /** The mapping that would take the place of the connection's; without it, the connection's own is compared with what was sent. */
  mapping?: Mapping | undefined;
  /** How many examples at most. */
  examples: number;
  /** Called after each batch of people. */
  onBatch?(looked: number, total: number): void;
}

interface Deps extends PreviewDeps {
  identities: PreviewDeps['identities'] & Pick<Identities, 'findPage'>;
  rulesSnapshots: Pick<RulesSnapshots, 'current'>;
  runtime: Pick<Runtime, 'now'>;
}

/**
 * Goes through everybody of a connection and tells how many would change, in which fields, and how. Nothing is written,
 * and the travel API is asked for nothing but lookups. Batch by batch, in bounded memory, and others get their turn in
 * between. Everybody is judged alone: by the addresses that others hold now, and by the managers that others have now.
 */
export function mappingPreviewer(deps: Deps): MappingPreviewer {
  return {
    run: async (connection, wish) => {
      const basis = await deps.rulesSnapshots.current(connection);
      if ('kind' in basis) return basis;
      const { mapping } = wish;
      const change = mapping
        ? { from: basis, to: toRulesSnapshot({ mapping }, basis.lookups) }
        : { from: undefined, to: basis };
      return previewMapping(deps, { connection, ...change }, wish);
    },
  };
}

interface RulesChange {
  connection: Connection;
  from: RulesSnapshot | undefined;
  to: RulesSnapshot;
}

async function previewMapping(
  deps: Deps,
  change: RulesChange,
  { examples, onBatch }: PreviewOptions,
): Promise<MappingPreview> {
  const sum = previewCounter(examples, change.to.lookups.customFields);
  const rest = yieldBetweenBatches(deps.runtime.now);
  for (let offset = 0; ; offset += BATCH) {
    const { identities, total } = await deps.identities.findPage(change.connection.id, offset, BATCH);
    for (const identity of identities) {
      // Who is shown as the travel service has them is never written, whatever the rules.
      if (identity.claimed) sum.add(identity, await differenceFor(deps, change, identity));
      await rest();
    }
    onBatch?.(Math.min(offset + BATCH, total), total);
    if (identities.length < BATCH) return { ...sum.total(), ...faultsOf(change.to) };
  }
}

function faultsOf({ rules, lookups }: RulesSnapshot): Pick<MappingPreview, 'mappingFaults'> {
  const mappingFaults = checkNames(rules, lookups);
  return mappingFaults.length > 0 ? { mappingFaults } : {};
}

async function differenceFor(
  deps: Deps,
  { connection, from, to }: RulesChange,
  identity: Identity,
): Promise<PreviewDifference> {
  const ahead = travelerPreviewer(deps, { connection, identity });
  return comparePreviews(identity, from && (await ahead(from)), await ahead(to));
}

/** Lets others in when it has gone on for a while: what the embedded database answers comes without any waiting. */
export function yieldBetweenBatches(now: () => number): () => Promise<void> {
  let since = now();
  return async () => {
    if (now() - since < PAUSE_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    since = now();
  };
}

/** What a change of rules would do to one field, over all people. */
export interface FieldCounts {
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
export interface FindingCounts {
  field: FieldKey;
  code: string;
  comes: number;
  goes: number;
}

/** One of the people whom a change of rules would touch. */
export interface PreviewExample {
  id: string;
  userName: string;
  outcome: Exclude<PreviewDifference['outcome'], 'same'>;
  changes: FieldChange[];
  comes: Finding[];
  goes: Finding[];
}

/** What a change of rules would do to the people of a connection. */
export interface MappingPreview {
  /** Looked at: all whom an IdP has written and not deleted. */
  people: number;
  /** For whose travelers a call would be made. */
  changed: number;
  /** Who would get a traveler at last. */
  created: number;
  /** Who would not get one any more, for lack of a usable address. */
  pending: number;
  /** The most frequent first. */
  fields: FieldCounts[];
  findings: FindingCounts[];
  /** The first of those whom it touches. */
  examples: PreviewExample[];
  /** What the custom fields are called. */
  names: Record<FieldKey, string>;
  /** The places of the mapping that are at fault; left out when there are none. */
  mappingFaults?: NameFault[];
}

/** Adds up what is found for one person after another. */
export interface PreviewCounter {
  add(identity: Identity, difference: PreviewDifference): void;
  total(): MappingPreview;
}

/** Nothing yet; keeps no more than so many examples. */
export function previewCounter(mostExamples: number, customFields: CustomField[]): PreviewCounter {
  const counts = { people: 0, changed: 0, created: 0, pending: 0 };
  const fields = new Map<string, FieldCounts>();
  const findings = new Map<string, FindingCounts>();
  const examples: PreviewExample[] = [];
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

function kindOf({ after, isAgain }: FieldChange): 'set' | 'cleared' | 'again' {
  if (isAgain) return 'again';
  return after === null ? 'cleared' : 'set';
}

function touched({ set, cleared, again, released }: FieldCounts): number {
  return set + cleared + again + released;
}

function fieldIn(all: Map<string, FieldCounts>, field: FieldKey): FieldCounts {
  const one = all.get(field) ?? { field, set: 0, cleared: 0, again: 0, released: 0 };
  all.set(field, one);
  return one;
}

function findingIn(all: Map<string, FindingCounts>, field: FieldKey, code: string): FindingCounts {
  const mark = `${field} ${code}`;
  const one = all.get(mark) ?? { field, code, comes: 0, goes: 0 };
  all.set(mark, one);
  return one;
}
