import type { FieldKey, Finding, TraceEntry, Translation, WantedField } from '../model/translation.ts';
import { withVisibleCharacters } from '../schema/clean-text.ts';
import type { Json } from '../schema/resource.ts';
import type { SourceUser } from './fields/sources.ts';
import { applicableField, type CompiledField, usableSources } from './rules/compiled-fields.ts';
import { type CompiledSource, preparedValues } from './rules/rule-sources.ts';
import {
  type Fault,
  isEqualJson,
  type ReadContext,
  type Reader,
  type Reading,
  withMappingPath,
} from './values/values.ts';

/** The parts of a translation that the rules add to. */
export type TranslationDraft = Omit<Translation, 'fallbackEmail'>;

/** The wanted value of one field, with its findings and trace entries. */
export interface Decision {
  wanted: WantedField;
  findings: Finding[];
  trace: TraceEntry[];
  needsFreshLookups: boolean;
}

/** The user to translate, and the data that readers may use besides the values. */
export interface TranslationInput {
  user: SourceUser;
  context: ReadContext;
}

/** Decides one field and adds the result to a translation. */
export function translateField(
  draft: TranslationDraft,
  compiled: CompiledField,
  { user, context }: TranslationInput,
): void {
  const field = applicableField(compiled, user, draft.trace);
  const sources = usableSources(field, user);
  const { key, read, waits } = field;
  const reading = { user, read, context, ...(waits ? { waits } : {}) };
  const decision = decideAtOnce(key, sources, reading) ?? decideField(key, sources, reading);
  const isSilent = field.skipsSilently && decision.wanted.kind === 'value';
  const reported = isSilent ? { ...decision, findings: [] } : decision;
  addDecision(draft, key, toFinalDecision(field, reported));
  draft.trace.push(...field.overridden);
}

/** Adds the decision about one field to a translation. */
export function addDecision(
  draft: TranslationDraft,
  field: FieldKey,
  { wanted, findings, trace, needsFreshLookups }: Decision,
): void {
  draft.fields[field] = wanted;
  draft.findings.push(...findings);
  draft.trace.push(...trace);
  draft.needsFreshLookups ||= needsFreshLookups;
}

/** A source with its values for one user. */
interface Candidate {
  source: CompiledSource;
  raws: readonly Json[];
  /** The group of the user that the condition of the rule has found. */
  group?: string | undefined;
}

function toCandidate(source: CompiledSource, user: SourceUser): Candidate {
  const raws = source.valuesOf(user);
  return { source, raws: source.firstDecides ? raws.slice(0, 1) : raws, group: source.groupOf?.(user) };
}

/** The user, the reader of a field, and the data that it may use besides the value. */
interface FieldReader {
  user: SourceUser;
  read: Reader;
  context: ReadContext;
  /** True if a later candidate is used only if the values before it can never be used. */
  waits?: true;
}

/** Decides a field whose first value can be used as it is, as most can, and without a report. Undefined for any other field. */
function decideAtOnce(
  field: FieldKey,
  [source]: readonly CompiledSource[],
  { user, read, context }: FieldReader,
): Decision | undefined {
  if (!source || source.prepare || source.groupOf) return undefined;
  const [before] = source.valuesOf(user);
  const reading = before === undefined ? undefined : read(before, context);
  if (before === undefined || !reading || 'fault' in reading || reading.note) return undefined;
  const { value: after } = reading;
  return {
    wanted: { kind: 'value', value: after, source: before },
    findings: [],
    trace: [{ field, ...namedSource(source), outcome: 'set', before, after }],
    needsFreshLookups: false,
  };
}

/** Decides one field. The first value of the sources that can be read is used; unusable values before it become findings. */
export function decideField(
  field: FieldKey,
  sources: readonly CompiledSource[],
  reading: FieldReader,
): Decision {
  const { tried, trials } = trySources(sources, reading);
  const wanted = wantedBy(trials, reading.context.applied[field]?.source);
  return {
    wanted,
    findings: trials.flatMap((trial) =>
      trial.faults.map((fault) => toFinding(field, concernedValue(trial), fault)),
    ),
    trace: traceOf(field, tried, { trials, wanted }),
    needsFreshLookups: trials.some(({ faults }) => faults.some((fault) => fault.needsFreshLookups === true)),
  };
}

/** A candidate value, and the result of reading it. */
interface Trial {
  candidate: Candidate;
  raw: Json;
  /** The value after the transforms of the rule. */
  source: Json;
  /** The JSON path of the value, if the mapping file contains it. */
  mappingPath: string | undefined;
  value?: Json;
  faults: Fault[];
}

/**
 * Reads values until one is usable. A value that occurs in several candidates, e.g. in a primary work email, is read
 * once.
 */
function trySources(
  sources: readonly CompiledSource[],
  reading: FieldReader,
): { tried: Candidate[]; trials: Trial[] } {
  const tried: Candidate[] = [];
  const trials: Trial[] = [];
  for (const source of sources) {
    const candidate = toCandidate(source, reading.user);
    tried.push(candidate);
    for (const raw of candidate.raws) {
      for (const prepared of preparedValues(source, raw)) {
        const trial = tryValue({ candidate, raw, prepared }, reading);
        if (trials.some((other) => isSameTrial(other, trial))) continue;
        trials.push(trial);
        if (trial.value !== undefined) return { tried, trials };
      }
    }
    if (reading.waits && trials.some(mayBecomeUsable)) break;
  }
  return { tried, trials };
}

/** True for a value that is unresolved, or that is not used because the mapping is at fault. */
function mayBecomeUsable({ faults }: Trial): boolean {
  return faults.some(({ kind, mappingPath }) => kind === 'unresolved' || mappingPath !== undefined);
}

function isSameTrial(one: Trial, other: Trial): boolean {
  return one.mappingPath === other.mappingPath && isEqualJson(one.source, other.source);
}

function tryValue(
  { candidate, raw, prepared }: { candidate: Candidate; raw: Json; prepared: Reading },
  { read, context }: FieldReader,
): Trial {
  const { source } = candidate;
  if ('fault' in prepared) {
    const { fault } = prepared;
    return { candidate, raw, source: raw, mappingPath: fault.mappingPath, faults: [fault] };
  }
  const mappingPath = prepared.mappingPath ?? source.mappingPath;
  const reading = read(prepared.value, context);
  const trial = { candidate, raw, source: prepared.value, mappingPath };
  if ('fault' in reading) return { ...trial, faults: [locate(reading.fault, mappingPath)] };
  return { ...trial, value: reading.value, faults: reading.note ? [reading.note] : [] };
}

/** Adds the mapping path of the value to a fault, unless the fault already refers to the target of the rule. */
function locate(fault: Fault, mappingPath: string | undefined): Fault {
  return mappingPath === undefined || fault.mappingPath !== undefined
    ? fault
    : withMappingPath(fault, mappingPath);
}

function wantedBy(trials: Trial[], appliedSource: Json | undefined): WantedField {
  const last = trials.at(-1);
  if (last?.value !== undefined) return { kind: 'value', value: last.value, source: last.source };
  if (trials.some(({ faults }) => faults.some(({ mappingPath }) => mappingPath !== undefined)))
    return { kind: 'kept' };
  const unresolved = trials.filter(({ faults }) => faults.some(({ kind }) => kind === 'unresolved'));
  // Prefer the source of the applied value, so that the applied value stays.
  const chosen =
    unresolved.find(({ source }) => appliedSource !== undefined && isEqualJson(source, appliedSource)) ??
    unresolved[0];
  return chosen ? { kind: 'unresolved', source: chosen.source } : { kind: 'absent' };
}

/** Returns the value to show in a finding: the one in the mapping file, or the one that the IdP sent. */
function concernedValue({ raw, source, mappingPath }: Trial): Json {
  return mappingPath === undefined ? raw : source;
}

/** Keeps the value of a field that has no other, if its rule may not remove one. */
export function toFinalDecision(
  { neverRemoves }: Pick<CompiledField, 'neverRemoves'>,
  decision: Decision,
): Decision {
  const { wanted } = decision;
  return wanted.kind === 'value' || !neverRemoves ? decision : { ...decision, wanted: { kind: 'kept' } };
}

/** Converts a fault in a value to a finding about a field. */
export function toFinding(
  field: FieldKey,
  value: Json,
  { code, reason, remedy, mappingPath }: Fault,
): Finding {
  return {
    field,
    code,
    value: withVisibleCharacters(value),
    reason,
    remedy,
    ...(mappingPath === undefined ? {} : { mappingPath }),
  };
}

function traceOf(
  field: FieldKey,
  candidates: Candidate[],
  { trials, wanted }: { trials: Trial[]; wanted: WantedField },
): TraceEntry[] {
  const [first] = candidates;
  if (trials.length === 0) {
    const rule = [...new Set(candidates.map(({ source }) => source.rule))].join(' → ');
    return first ? [absentEntry(field, { ...first.source, rule })] : [];
  }
  if (wanted.kind === 'value')
    return candidates.flatMap((candidate) => traceOfCandidate(field, candidate, trials));
  // The trace lists only candidates that have values. The last entry shows the outcome of the field.
  const tried = candidates.filter((candidate) => trials.some((trial) => trial.candidate === candidate));
  const entries = tried.flatMap((candidate) => traceOfCandidate(field, candidate, trials));
  const end = entries.length - 1;
  return entries.map((entry, index) => (index === end ? { ...entry, outcome: wanted.kind } : entry));
}

/** Returns the entry of a field for which a rule has no value. */
export function absentEntry(field: FieldKey, source: CompiledSource): TraceEntry {
  const { missing } = source;
  const { read: _, ...rule } = namedSource(source);
  const reason = missing === undefined ? 'no value' : `no value for ${missing}`;
  return { field, ...rule, outcome: 'absent', reason };
}

function traceOfCandidate(field: FieldKey, candidate: Candidate, trials: Trial[]): TraceEntry[] {
  const { group } = candidate;
  const source = namedSource(candidate.source);
  const own = trials.filter((trial) => trial.candidate === candidate);
  if (own.length === 0) {
    const reason = candidate.raws.length > 0 ? 'the same value again' : 'no value';
    return [{ field, ...source, outcome: 'skipped', reason }];
  }
  return own.map(({ raw, source: prepared, value, faults }) => {
    const mappingPath = faults.find((fault) => fault.mappingPath !== undefined)?.mappingPath;
    return {
      field,
      ...source,
      ...(group === undefined ? {} : { group }),
      outcome: value === undefined ? 'skipped' : 'set',
      before: raw,
      ...(isEqualJson(raw, prepared) || isEqualJson(value, prepared) ? {} : { transformed: prepared }),
      ...(value === undefined ? {} : { after: value }),
      ...(faults.length > 0 ? { reason: faults.map(({ reason }) => reason).join(' ') } : {}),
      ...(mappingPath === undefined ? {} : { mappingPath }),
    };
  });
}

/** Returns a source as trace entries name it. */
export function namedSource({
  origin,
  rule,
  when,
  read,
}: CompiledSource): Pick<TraceEntry, 'origin' | 'rule' | 'when' | 'read'> {
  return {
    origin,
    rule,
    ...(when === undefined ? {} : { when }),
    ...(read === undefined ? {} : { read }),
  };
}
