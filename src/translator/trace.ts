import { type FieldKey, noLookups, type StoredTrace, type TraceEntry } from '../model/translation.ts';
import { compileRules } from './rules/rules.ts';
import { toTravel } from './to-travel.ts';

/**
 * Returns a trace as it is stored: without the entries that the default rules make for a user without any value. If it has no others,
 * the first one is kept, because an empty trace says that the identity was never translated.
 */
export function toStoredTrace(trace: TraceEntry[]): StoredTrace {
  const implied = impliedEntries();
  const stored = trace.filter((entry) => !isSameEntry(entry, implied.get(entry.field)));
  return stored.length > 0 ? stored : trace.slice(0, 1);
}

const comparedMembers = ['origin', 'rule', 'outcome', 'when', 'before', 'after', 'reason'] as const;

function isSameEntry(one: TraceEntry, other: TraceEntry | undefined): boolean {
  return other !== undefined && comparedMembers.every((name) => one[name] === other[name]);
}

/**
 * Returns the entries of a stored trace: what each rule did for each field when the user was translated, whatever rules are in
 * force now. An identity that was never translated has none.
 */
export function expandTrace(stored: StoredTrace): TraceEntry[] {
  if (stored.length === 0) return [];
  const implied = impliedEntries();
  const known = stored.map(fieldOf);
  const hasSentRoles = stored.some(
    (record) =>
      /^roles(\.|$)/.test(fieldOf(record)) && (Array.isArray(record) || record.origin === 'default'),
  );
  return [...new Set([...implied.keys(), ...known])].flatMap((field) => {
    const own = stored.filter((record) => fieldOf(record) === field);
    const entries = own.filter((record): record is TraceEntry => !Array.isArray(record));
    const entry = implied.get(field);
    if (field === 'roles') return hasSentRoles || !entry ? entries : [...entries, entry];
    // If the conditions of all mapping rules are false, the default rule follows.
    const isDefault = entries.length === own.length && entries.every(isConditionFalse);
    return isDefault && entry ? [...entries, entry] : entries;
  });
}

function fieldOf(record: StoredTrace[number]): FieldKey {
  return Array.isArray(record) ? record[0] : record.field;
}

function isConditionFalse({ outcome, when, before }: TraceEntry): boolean {
  return outcome === 'skipped' && when !== undefined && before === undefined;
}

let impliedByField: ReadonlyMap<FieldKey, TraceEntry> | undefined;

/** Returns the entries for a user without any value, by field. They are the same for all users, and made at the first use. */
function impliedEntries(): ReadonlyMap<FieldKey, TraceEntry> {
  if (!impliedByField) {
    const rules = compileRules({ scimUserMapping: [] }, []);
    const { trace } = toTravel(rules, {}, { lookups: noLookups, references: new Map() });
    impliedByField = new Map(trace.map((entry) => [entry.field, entry]));
  }
  return impliedByField;
}
