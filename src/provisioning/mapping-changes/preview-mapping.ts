import type { Connection } from '../../model/connection.ts';
import type { Identity } from '../../model/identity.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type { Identities, IdentityPage } from '../../model/store-ports.ts';
import type { FieldKey, Finding, Lookups } from '../../model/translation.ts';
import type { TravelFailure } from '../../model/travel-ports.ts';
import type { Mapping } from '../../translator/mapping/mapping-file.ts';
import { checkNames, type NameFault } from '../../translator/rules/check-names.ts';
import { usedNames } from '../people/explain-fields.ts';
import type { StoreReadDeps } from '../reconcile/run/store-reads.ts';
import { type RulesSnapshot, toRulesSnapshot } from '../rules/rules-snapshot.ts';
import type { RulesSnapshots } from '../rules/rules-snapshots.ts';
import {
  comparePreviews,
  type FieldChange,
  type PreviewDifference,
  travelerPreviewer,
} from './mapping-effect.ts';

const BATCH = 100;
/** Interval at which a preview yields to other requests, in milliseconds. */
const YIELD_MS = 5;

/** The options of a preview. */
export interface PreviewOptions {
  /** The mapping to preview. Without it, the connection's own mapping is compared with the present state. */
  mapping?: Mapping | undefined;
  /** As `RulesSnapshot.putBackSince` with this mapping. */
  putBackSince?: number | undefined;
  /** The maximum number of examples. */
  examples: number;
  /** Called after each batch of people with the number processed so far. */
  onBatch?(looked: number, total: number): void;
  /** Asked after each batch: true ends the preview before all people were looked at. */
  isOver?(counted: { affected: number }): boolean;
}

/** What the computation of an effect needs. */
export interface EffectDeps extends StoreReadDeps {
  identities: StoreReadDeps['identities'] & Pick<Identities, 'findPage'>;
  runtime: Pick<Runtime, 'now'>;
}

interface MappingPreviewDeps extends EffectDeps {
  rulesSnapshots: Pick<RulesSnapshots, 'current'>;
}

/**
 * Creates the previewer. A preview counts the people of a connection whom a mapping would change, and in which fields.
 * It writes nothing, reads only lookups from the travel API, and works in batches with bounded memory, so that other
 * requests are served meanwhile. Each person is computed independently, with the present email addresses and managers
 * of all others.
 */
export function mappingPreviewer(deps: MappingPreviewDeps) {
  return {
    run: async (connection: Connection, options: PreviewOptions): Promise<MappingPreview | TravelFailure> => {
      const snapshot = await deps.rulesSnapshots.current(connection);
      if ('kind' in snapshot) return snapshot;
      const { mapping, putBackSince } = options;
      const change = mapping
        ? { from: snapshot, to: { ...toRulesSnapshot({ mapping }, snapshot.lookups), putBackSince } }
        : { from: undefined, to: snapshot };
      return previewChange(deps, { connection, ...change }, options);
    },
  };
}

/** The rules to preview, and those that they are compared with; without those, the present state. */
interface RulesChange {
  connection: Connection;
  from: RulesSnapshot | undefined;
  to: RulesSnapshot;
}

/** Computes the effect of a change of rules on everybody. */
export async function previewChange(
  deps: EffectDeps,
  change: RulesChange,
  { examples, onBatch, isOver }: PreviewOptions,
): Promise<MappingPreview> {
  const counter = previewCounter(examples, change.to.lookups);
  const yieldIfDue = yieldBetweenBatches(deps.runtime.now);
  let from: Parameters<Identities['findPage']>[1] = 0;
  for (let done = 0; ; ) {
    const page: IdentityPage = await deps.identities.findPage(change.connection.id, from, BATCH);
    const { identities, total, next } = page;
    for (const identity of identities) {
      // Unclaimed identities follow the travel service and are never sent, whatever the rules.
      if (identity.claimed) counter.add(identity, await differenceFor(deps, change, identity));
      await yieldIfDue();
    }
    done += identities.length;
    onBatch?.(Math.min(done, total), total);
    if (next && !isOver?.({ affected: counter.affected() })) {
      from = next;
      continue;
    }
    const cut = next ? ({ isCut: true } as const) : {};
    return { ...counter.total(), ...cut, ...findMappingFaults(change.to) };
  }
}

function findMappingFaults({ rules, lookups }: RulesSnapshot): Pick<MappingPreview, 'mappingFaults'> {
  const mappingFaults = checkNames(rules, lookups);
  return mappingFaults.length > 0 ? { mappingFaults } : {};
}

async function differenceFor(
  deps: StoreReadDeps,
  { connection, from, to }: RulesChange,
  identity: Identity,
): Promise<PreviewDifference> {
  const preview = travelerPreviewer(deps, { connection, identity });
  return comparePreviews(identity, from && (await preview(from)), await preview(to));
}

/**
 * Returns a function that yields to the event loop if 5 ms have passed, because reads from the embedded database are
 * synchronous.
 */
function yieldBetweenBatches(now: () => number): () => Promise<void> {
  let since = now();
  return async () => {
    if (now() - since < YIELD_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    since = now();
  };
}

/** The effect of a change of rules on one field, over all people. */
export interface FieldCounts {
  field: FieldKey;
  /** The number of people for whom the field gets another value. */
  set: number;
  /** The number of people for whom the field loses its value. */
  cleared: number;
  /** The number of people for whom a value is sent again that the travel API refused before. */
  again: number;
  /** The number of people for whom the bridge stops owning the field; its value stays. */
  released: number;
}

/** The number of people for whom a finding would appear or disappear. */
export interface FindingCounts {
  field: FieldKey;
  code: string;
  comes: number;
  goes: number;
}

/** One of the people whom a change of rules would affect. */
export interface PreviewExample {
  id: string;
  userName: string;
  outcome: Exclude<PreviewDifference['outcome'], 'same'>;
  changes: FieldChange[];
  comes: Finding[];
  goes: Finding[];
}

/** The effect of a change of rules on the people of a connection. */
export interface MappingPreview {
  /** The number of people checked: all whom an IdP has written and not deleted. */
  people: number;
  /** The number of people for whose traveler a call would be sent. */
  changed: number;
  /** The number of those for whom a value would change, and not only be sent again. */
  affected: number;
  /** The number of people for whom a traveler would now be created. */
  created: number;
  /** The number of people for whom no traveler could be created any more, for lack of a usable email address. */
  pending: number;
  /** The number of people whom the scope would leave out, without a call: they have no traveler, or keep it. */
  outOfScope: number;
  /** The fields that would change, those that concern the most people first. */
  fields: FieldCounts[];
  findings: FindingCounts[];
  /** The first affected people. */
  examples: PreviewExample[];
  /** The names of custom fields by key; those of the options, cost centers and so on of the examples by id. */
  names: Record<string, string>;
  /** Set if the preview ended early, so that only the first people were looked at. */
  isCut?: true;
  /** The faulty places of the mapping; absent if there are none. */
  mappingFaults?: NameFault[];
}

/** Adds the effects on each person to the totals of a preview, with at most `mostExamples` examples. */
function previewCounter(mostExamples: number, lookups: Lookups) {
  const counts = { people: 0, changed: 0, affected: 0, created: 0, pending: 0, outOfScope: 0 };
  const fields = counters<FieldCounts, 'field'>({ set: 0, cleared: 0, again: 0, released: 0 });
  const findings = counters<FindingCounts, 'field' | 'code'>({ comes: 0, goes: 0 });
  const examples: PreviewExample[] = [];
  return {
    add: (identity: Identity, { outcome, changes, released, comes, goes }: PreviewDifference): void => {
      counts.people += 1;
      for (const field of released) fields.of({ field }).released += 1;
      for (const { field, code } of comes) findings.of({ field, code }).comes += 1;
      for (const { field, code } of goes) findings.of({ field, code }).goes += 1;
      if (outcome === 'same') return;
      counts[outcome] += 1;
      if (outcome === 'changed' && changes.some(({ isAgain }) => !isAgain)) counts.affected += 1;
      if (outcome === 'changed')
        for (const change of changes) fields.of({ field: change.field })[changeKind(change)] += 1;
      if (examples.length >= mostExamples) return;
      const userName = String(identity.desired.userName);
      examples.push({ id: identity.id, userName, outcome, changes, comes, goes });
    },
    affected: () => counts.affected,
    total: (): MappingPreview => ({
      ...counts,
      fields: fields
        .all()
        .toSorted(
          (one, other) => totalChanges(other) - totalChanges(one) || (one.field < other.field ? -1 : 1),
        ),
      findings: findings.all().toSorted((one, other) => other.comes + other.goes - one.comes - one.goes),
      examples,
      names: { ...fieldNames(lookups), ...usedNames(examples, lookups) },
    }),
  };
}

/** The names of custom fields by key. */
export function fieldNames({ customFields }: Lookups): Record<FieldKey, string> {
  return Object.fromEntries(customFields.map(({ id, name }) => [`customFields.${id}`, name]));
}

function changeKind({ after, isAgain }: FieldChange): 'set' | 'cleared' | 'again' {
  if (isAgain) return 'again';
  return after === null ? 'cleared' : 'set';
}

function totalChanges({ set, cleared, again, released }: FieldCounts): number {
  return set + cleared + again + released;
}

/** Counts by what the members `Name` tell. Every row begins with `zero`. */
function counters<Row, Name extends keyof Row>(zero: Omit<Row, Name>) {
  const all = new Map<string, Row>();
  const of = (counted: Pick<Row, Name>): Row => {
    const key = JSON.stringify(counted);
    const one = all.get(key) ?? ({ ...counted, ...zero } as Row); // Both together have all members.
    all.set(key, one);
    return one;
  };
  return { of, all: () => [...all.values()] };
}
