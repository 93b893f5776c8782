import type { Json, JsonObject, ScimResource } from '../schema/resource.ts';
import type { FieldKey, Finding, TraceEntry, Translation, WantedField } from './translation.ts';
import {
  type Context,
  elementsOf,
  type Fault,
  faultOfMapping,
  isEqualJson,
  isUnassigned,
  type Reader,
  type Reading,
  typeOf,
} from './values.ts';

/** What became of one field, with its part of the findings and the trace. */
export interface Decision {
  wanted: WantedField;
  findings: Finding[];
  trace: TraceEntry[];
  needsFreshLookups: boolean;
}

/** A value that was tried: what it was, what the transforms made of it, and what came of that. */
interface Trial {
  candidate: Candidate;
  raw: Json;
  source: Json;
  /** The place in the mapping, for a value that the mapping itself names. */
  mappingPath: string | undefined;
  value?: Json;
  faults: Fault[];
}

/** Decides one field: the first candidate value that can be read wins; what was left out on the way is told. */
export function decide(
  field: FieldKey,
  candidates: Candidate[],
  how: { read: Reader; context: Context },
): Decision {
  const trials = trialsOf(candidates, how);
  const wanted = outcomeOf(trials, how.context.applied[field]?.source);
  return {
    wanted,
    findings: trials.flatMap((trial) =>
      trial.faults.map((fault) => findingOf(field, concerned(trial), fault)),
    ),
    trace: traceOf(field, candidates, { trials, wanted }),
    needsFreshLookups: trials.some(({ faults }) => faults.some((fault) => fault.needsFreshLookups === true)),
  };
}

/** Up to the first value that can be read. What is the work address is often the primary one too: it is tried once. */
function trialsOf(candidates: Candidate[], how: { read: Reader; context: Context }): Trial[] {
  const trials: Trial[] = [];
  for (const candidate of candidates) {
    for (const raw of candidate.raws) {
      const trial = attempt(candidate, raw, how);
      if (trials.some((other) => isSameTrial(other, trial))) continue;
      trials.push(trial);
      if (trial.value !== undefined) return trials;
    }
  }
  return trials;
}

function isSameTrial(one: Trial, other: Trial): boolean {
  return one.mappingPath === other.mappingPath && isEqualJson(one.source, other.source);
}

function attempt(
  candidate: Candidate,
  raw: Json,
  { read, context }: { read: Reader; context: Context },
): Trial {
  const prepared = candidate.prepare ? candidate.prepare(raw) : { value: raw };
  if ('fault' in prepared) {
    const { fault } = prepared;
    return { candidate, raw, source: raw, mappingPath: fault.mappingPath, faults: [fault] };
  }
  const mappingPath = prepared.mappingPath ?? candidate.mappingPath;
  const reading = read(prepared.value, context);
  const trial = { candidate, raw, source: prepared.value, mappingPath };
  if ('fault' in reading) return { ...trial, faults: [placed(reading.fault, mappingPath)] };
  return { ...trial, value: reading.value, faults: reading.note ? [reading.note] : [] };
}

/** A fault in the target of a rule has its place already. */
function placed(fault: Fault, mappingPath: string | undefined): Fault {
  return mappingPath === undefined || fault.mappingPath !== undefined
    ? fault
    : faultOfMapping(fault, mappingPath);
}

function outcomeOf(trials: Trial[], appliedSource: Json | undefined): WantedField {
  const last = trials.at(-1);
  if (last?.value !== undefined) return { kind: 'value', value: last.value, source: last.source };
  if (trials.some(({ faults }) => faults.some(({ mappingPath }) => mappingPath !== undefined)))
    return { kind: 'kept' };
  const open = trials.filter(({ faults }) => faults.some(({ kind }) => kind === 'unresolved'));
  // The one that was resolved before, so that what it came to is kept.
  const chosen =
    open.find(({ source }) => appliedSource !== undefined && isEqualJson(source, appliedSource)) ?? open[0];
  return chosen ? { kind: 'unresolved', source: chosen.source } : { kind: 'absent' };
}

/** The value that a finding is about: the mapping's own, or the one of the identity provider. */
function concerned({ raw, source, mappingPath }: Trial): Json {
  return mappingPath === undefined ? raw : source;
}

/** A decision that leaves the field as it is where it would give no value. */
export function withoutRemoval(decision: Decision): Decision {
  return decision.wanted.kind === 'value' ? decision : { ...decision, wanted: { kind: 'kept' } };
}

/** A fault as a finding about a field. */
export function findingOf(
  field: FieldKey,
  value: Json,
  { code, reason, remedy, mappingPath }: Fault,
): Finding {
  return { field, code, value, reason, remedy, ...(mappingPath === undefined ? {} : { mappingPath }) };
}

function traceOf(
  field: FieldKey,
  candidates: Candidate[],
  { trials, wanted }: { trials: Trial[]; wanted: WantedField },
): TraceEntry[] {
  const [first] = candidates;
  if (trials.length === 0) {
    const rule = candidates.map((candidate) => candidate.rule).join(' → ');
    return first ? [{ field, origin: first.origin, rule, outcome: 'absent', reason: 'no value' }] : [];
  }
  if (wanted.kind === 'value') {
    const [winner] = trials.slice(-1).map(({ candidate }) => candidates.indexOf(candidate) + 1);
    return candidates.slice(0, winner).flatMap((one) => entriesOf(field, one, trials));
  }
  // Those that had something to say; the last of them tells how it ended.
  const tried = candidates.filter((one) => trials.some((trial) => trial.candidate === one));
  const entries = tried.flatMap((one) => entriesOf(field, one, trials));
  const end = entries.length - 1;
  return entries.map((entry, index) => (index === end ? { ...entry, outcome: wanted.kind } : entry));
}

function entriesOf(field: FieldKey, candidate: Candidate, trials: Trial[]): TraceEntry[] {
  const { origin, rule, raws } = candidate;
  const own = trials.filter((trial) => trial.candidate === candidate);
  if (own.length === 0) {
    const reason = raws.length > 0 ? 'the same value again' : 'no value';
    return [{ field, origin, rule, outcome: 'skipped', reason }];
  }
  return own.map(({ raw, source, value, faults }) => {
    const mappingPath = faults.find((fault) => fault.mappingPath !== undefined)?.mappingPath;
    return {
      field,
      origin,
      rule,
      outcome: value === undefined ? 'skipped' : 'set',
      before: raw,
      ...(isEqualJson(raw, source) || isEqualJson(value, source) ? {} : { transformed: source }),
      ...(value === undefined ? {} : { after: value }),
      ...(faults.length > 0 ? { reason: faults.map(({ reason }) => reason).join(' ') } : {}),
      ...(mappingPath === undefined ? {} : { mappingPath }),
    };
  });
}

/** One place where a field's value may come from, in the order of preference. */
export interface Candidate {
  origin: TraceEntry['origin'];
  /** What is read, for the trace. */
  rule: string;
  /** What was found there; empty when nothing. */
  raws: Json[];
  /** The place in the mapping where the value stands, if the mapping itself names it. */
  mappingPath?: string;
  /** The transforms of a rule, before the field's own reader. */
  prepare?: (raw: Json) => Reading;
}

/** A candidate of the default rules. */
export function candidate(rule: string, ...values: (Json | undefined)[]): Candidate {
  const raws = values.filter((value) => value !== undefined).filter((value) => !isUnassigned(value));
  return { origin: 'default', rule, raws };
}

/** Elements of a multi-valued attribute in a rule's order of preference, each group with the path that selects it. */
interface Preference {
  path: string;
  elements: JsonObject[];
}

/** The elements by type in the order given, then the primary one, then all; those of a `never` type are left out. */
export function preferred(
  user: ScimResource,
  name: string,
  { types, never = [] }: { types: string[]; never?: string[] },
): Preference[] {
  const elements = elementsOf(user, name).filter((element) => !never.includes(typeOf(element) ?? ''));
  return [
    ...types.map((type) => ({
      path: `${name}[type eq "${type}"]`,
      elements: elements.filter((element) => typeOf(element) === type),
    })),
    { path: `${name}[primary eq true]`, elements: elements.filter(({ primary }) => primary === true) },
    { path: name, elements },
  ];
}

/** What some of the rules contribute to a translation. */
export type Part = Omit<Translation, 'fallbackEmail'>;

/** One field's decision as a part. */
export function partOf(field: FieldKey, { wanted, ...rest }: Decision): Part {
  return { fields: { [field]: wanted }, ...rest };
}

/** Several parts in one, in their order; of a field that several decide, the last decision holds. */
export function joined(parts: Part[]): Part {
  const fields: Part['fields'] = {};
  for (const part of parts) Object.assign(fields, part.fields);
  return {
    fields,
    findings: parts.flatMap(({ findings }) => findings),
    trace: parts.flatMap(({ trace }) => trace),
    needsFreshLookups: parts.some(({ needsFreshLookups }) => needsFreshLookups),
  };
}
