import { type Field, fields as fieldTable } from './fields.ts';
import { roleSources } from './roles.ts';
import { isSkippedReference, parseReference, type TracedRule } from './rule-reference.ts';
import { EDITION } from './rules.ts';
import type { FieldKey, SkippedReference, Trace, TraceEntry, TraceRecord } from './translation.ts';

/**
 * Returns the entries of a trace: what each rule did for each field when the user was translated. They are those of the
 * rules at that time (`traceVersion`), whatever rules are in force now. An identity that was never translated has none.
 */
export function expandTrace(trace: Trace, table: readonly Field[] = fieldTable): TraceEntry[] {
  const version = traceVersion(trace);
  if (!version) return [];
  const ruleOf = version.edition === EDITION ? defaultRules(table) : () => unknownRule;
  const records = groupByField(trace.slice(1));
  const ofTable = ['archived', ...table.map(({ key }) => key)].flatMap((key) => {
    const rule = ruleOf(key);
    const own = records.get(key);
    records.delete(key);
    const entries = (own ?? []).flatMap((record) => toEntries(record, rule));
    // If all conditions are false, the default rule applies.
    const implied = (own ?? []).every(isSkippedRule) ? rule.implied : undefined;
    return implied ? [...entries, { field: key, ...implied }] : entries;
  });
  // The records of custom fields and roles stay in their order, because rules for different custom fields may alternate.
  const others = trace.slice(1).filter((record) => records.has(keyOf(record)));
  const hasRoles = others.some((record) => keyOf(record).split('.')[0] === 'roles');
  const { implied } = ruleOf('roles');
  return [
    ...ofTable,
    ...others.flatMap((record) => toEntries(record, ruleOf(keyOf(record)))),
    ...(hasRoles || !implied ? [] : [{ field: 'roles', ...implied }]),
  ];
}

function isSkippedRule(record: TraceRecord): boolean {
  return Array.isArray(record) && record[1] !== undefined && isSkippedReference(record[1]);
}

function keyOf(record: TraceRecord): FieldKey {
  return Array.isArray(record) ? record[0] : record.field;
}

/** Returns the rules that a trace belongs to; undefined for an identity that was never translated. */
export function traceVersion([first]: Trace): { edition: number; rulesVersion: string } | undefined {
  if (!Array.isArray(first)) return undefined;
  const [name, edition, rulesVersion] = first;
  if (name !== 'rules') return undefined;
  return typeof edition === 'number' && typeof rulesVersion === 'string'
    ? { edition, rulesVersion }
    : undefined;
}

function groupByField(records: TraceRecord[]): Map<FieldKey, TraceRecord[]> {
  const groups = new Map<FieldKey, TraceRecord[]>();
  for (const record of records) {
    const key = keyOf(record);
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return groups;
}

type EntryWithoutField = Omit<TraceEntry, 'field'>;

/** A source of a default rule as traces show it. */
type TracedSource = Pick<TraceEntry, 'origin' | 'rule'>;

/** A default rule as traces show it. */
interface DefaultRule {
  sources: readonly TracedSource[];
  /** True if only one of the sources may be used; otherwise those before it were skipped. */
  isPicked: boolean;
  /** The entry of a field without a record. */
  implied: EntryWithoutField | undefined;
}

/** The default rules of another edition of the program are not known. */
const unknownRule: DefaultRule = { sources: [], isPicked: true, implied: undefined };

/** Returns a function that finds the default rule of a field. */
function defaultRules(table: readonly Field[]): (key: FieldKey) => DefaultRule {
  return (key) => {
    if (key === 'archived') return activeRule;
    if (key === 'roles' || key.startsWith('roles.')) return rolesRule;
    const field = table.find((row) => row.key === key);
    return field ? fieldRule(field) : unknownRule;
  };
}

function fieldRule(field: Field): DefaultRule {
  const sources = field.sources.map(({ rule }) => ({ origin: 'default', rule }) as const);
  const setting = field.setting ? [{ origin: 'file', rule: field.setting.path } as const] : [];
  const isPicked = field.pickSource !== undefined;
  const tried = isPicked ? sources.slice(-1) : sources;
  return {
    sources: [...sources, ...setting],
    isPicked,
    implied: noValue('default', tried.map(({ rule }) => rule).join(' → ')),
  };
}

const activeRule: DefaultRule = {
  sources: [{ origin: 'default', rule: 'active' }],
  isPicked: true,
  implied: { origin: 'default', rule: 'active', outcome: 'set', before: true, after: false },
};

const rolesRule: DefaultRule = {
  sources: roleSources.map((rule) => ({ origin: 'default', rule })),
  isPicked: true,
  implied: noValue('default', 'roles.value'),
};

function noValue(origin: TraceEntry['origin'], rule: string): EntryWithoutField {
  return { origin, rule, outcome: 'absent', reason: 'no value' };
}

function toEntries(record: TraceRecord, { sources, isPicked }: DefaultRule): TraceEntry[] {
  if (!Array.isArray(record)) return [record];
  const [field, reference, before, after = before, transformed] = record;
  if (reference === undefined) return [];
  if (typeof reference === 'string' && isSkippedReference(reference)) return [skippedEntry(field, reference)];
  const { missing, ...source }: TracedSource & Partial<Omit<TracedRule, 'origin'>> =
    typeof reference === 'number' ? (sources[reference] ?? forgottenSource) : parseReference(reference);
  if (before === undefined || after === undefined) {
    const { read: _, ...rule } = source;
    const reason = missing === undefined ? 'no value' : `no value for ${missing}`;
    return [{ field, ...rule, outcome: 'absent', reason }];
  }
  const earlier = typeof reference === 'number' && !isPicked ? sources.slice(0, reference) : [];
  return [
    ...earlier.map((each): TraceEntry => ({ field, ...each, outcome: 'skipped', reason: 'no value' })),
    {
      field,
      ...source,
      outcome: 'set',
      before,
      ...(transformed === undefined ? {} : { transformed }),
      after,
    },
  ];
}

/** Stands for a source of another edition of the default rules. */
const forgottenSource = { origin: 'default', rule: 'of an earlier version of Jetbridge' } as const;

function skippedEntry(field: FieldKey, reference: SkippedReference): TraceEntry {
  const { missing: _, ...rule } = parseReference(reference);
  return { field, ...rule, outcome: 'skipped', reason: `when ${rule.when} is false` };
}
