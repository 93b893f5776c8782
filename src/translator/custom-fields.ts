import type {
  AppliedField,
  CustomField,
  FieldKey,
  Lookups,
  TraceEntry,
  WantedField,
} from '../model/translation.ts';
import type { Json } from '../schema/resource.ts';
import {
  absentEntry,
  addDecision,
  type Decision,
  decideField,
  namedSource,
  type TranslationDraft,
  type TranslationInput,
  toFinalDecision,
  toFinding,
  translateField,
} from './decide.ts';
import type { SourceUser } from './fields/sources.ts';
import { type CompiledField, overriddenEntry, usableSources } from './rules/compiled-fields.ts';
import { type CustomFieldTarget, customFieldReader, findCustomField } from './rules/custom-field-values.ts';
import {
  allPreparedValues,
  type CompiledSource,
  firstThatHolds,
  preparedValues,
  ruleSources,
} from './rules/rule-sources.ts';
import { type ConditionalRule, type Rule, type Rules, toRuleChain } from './rules/rules.ts';
import { type Fault, isEqualJson, type ReadContext, unusable, withMappingPath } from './values/values.ts';

/**
 * Decides the value of every custom field that a rule sets. If several rules set the same field, the first in order of
 * precedence is used.
 */
export function translateCustomFields(draft: TranslationDraft, rules: Rules, input: TranslationInput): void {
  const compiled = compiledCustomFields(rules, input.context.lookups);
  if (compiled.isFaulty) keepUndecided(draft, input.context, compiled.known);
  for (const unknown of compiled.unknown) translateUnknown(draft, input, unknown);
  for (const known of compiled.known) translateKnown(draft, input, known);
}

/** The rules for custom fields with everything that depends on the rules and lookups only. */
interface CompiledCustomFields {
  lookups: Lookups;
  unknown: UnknownField[];
  known: KnownField[];
  /** True if a rule may mean any custom field, because its own one is unknown. */
  isFaulty: boolean;
}

/** The rules that name one custom field which cannot be found. */
interface UnknownField {
  fault: Fault;
  target: CustomFieldTarget;
  rules: Rule[];
}

/** The rules that set one custom field. */
interface KnownField {
  field: CustomField;
  rules: Rule[];
  compiled: ReadonlyMap<Rule, CompiledRule>;
  /** True if a rule of the file that names an unknown custom field may mean this one. */
  isInDoubt: boolean;
}

/** A rule for a known custom field. */
interface CompiledRule extends CompiledField {
  /** The rules with an unknown custom field that come first and may mean this one, if their condition holds. */
  undecided: ConditionalRule[];
}

/** Caches for each version of the rules what was compiled with the last lookups. Neither ever changes. */
const cache = new WeakMap<Rules, CompiledCustomFields>();

function compiledCustomFields(rules: Rules, lookups: Lookups): CompiledCustomFields {
  const cached = cache.get(rules);
  if (cached?.lookups === lookups) return cached;
  const compiled = compileCustomFields(rules, lookups);
  cache.set(rules, compiled);
  return compiled;
}

function compileCustomFields({ rules, faults }: Rules, lookups: Lookups): CompiledCustomFields {
  const known = new Map<FieldKey, { field: CustomField; rules: Rule[] }>();
  const unknown = new Map<string, UnknownField>();
  for (const rule of rules) {
    const { target } = rule;
    if (target.kind !== 'customField') continue;
    const field = findCustomField(target, lookups.customFields);
    if ('code' in field) {
      const key = `${target.by} ${target.value}`;
      const { rules: others = [] } = unknown.get(key) ?? {};
      unknown.set(key, { fault: field, target, rules: [...others, rule] });
    } else {
      const { rules: others = [] } = known.get(field.id) ?? {};
      known.set(field.id, { field, rules: [...others, rule] });
    }
  }
  const undecided = [...unknown.values()].flatMap((field) => toRuleChain(field.rules).conditional);
  const isInDoubt = [...unknown.values()].some((field) =>
    field.rules.some(({ origin }) => origin === 'file'),
  );
  const compile = (rule: Rule, field: CustomField): CompiledRule => {
    const neverRemoves = rule.origin === 'collection' && isInDoubt;
    // Another list would take options away.
    const mayReplace = neverRemoves && field.dataType !== 'optionsList';
    const earlier = rules.slice(0, rules.indexOf(rule));
    return {
      ...{ key: keyOf(field.id), read: customFieldReader(field, rule.targetPath), ...ruleSources(rule) },
      ...{ skipsSilently: false, neverRemoves, overridden: [] },
      undecided: mayReplace ? [] : undecided.filter((other) => earlier.includes(other)),
    };
  };
  return {
    lookups,
    unknown: [...unknown.values()],
    known: [...known.values()].map(({ field, rules: own }) => ({
      ...{ field, rules: own, isInDoubt },
      compiled: new Map(own.map((rule) => [rule, compile(rule, field)])),
    })),
    isFaulty: unknown.size > 0 || faults.some((fault) => fault.field.startsWith(keyOf(''))),
  };
}

/**
 * Keeps the applied custom fields that no known rule sets. A rule with an unknown name may mean any of them, so they
 * stay unchanged and owned until the mapping is corrected.
 */
function keepUndecided({ fields }: TranslationDraft, { applied }: ReadContext, known: KnownField[]): void {
  const owners = new Set(known.map(({ field }) => keyOf(field.id)));
  for (const key of Object.keys(applied))
    if (key.startsWith(keyOf('')) && !owners.has(key)) fields[key] = { kind: 'kept' };
}

function keyOf(id: string): FieldKey {
  return `customFields.${id}`;
}

/** Finds the rule for a custom field that is used for a user, and those that it overrides for all users. */
function findUsedRule(
  field: FieldKey,
  rules: Rule[],
  { user, trace }: { user: SourceUser; trace: TraceEntry[] },
): { rule: Rule | undefined; overridden: Rule[] } {
  const { conditional, otherwise, overridden } = toRuleChain(rules);
  const chosen = firstThatHolds(conditional, user, { field, trace });
  return chosen ? { rule: chosen, overridden: [] } : { rule: otherwise, overridden };
}

/** Decides an unknown custom field: a finding, unless the user has no value for it. */
function translateUnknown(
  draft: TranslationDraft,
  { user }: TranslationInput,
  { fault, target: { by, value }, rules }: UnknownField,
): void {
  const field = keyOf(value);
  const { rule, overridden } = findUsedRule(field, rules, { user, trace: draft.trace });
  const sources = rule ? usableSources(ruleSources(rule), user) : [];
  const source = sources.find(({ valuesOf }) => valuesOf(user).length > 0) ?? sources[0];
  const [raw] = source?.valuesOf(user) ?? [];
  if (by === 'id') draft.fields[field] = { kind: raw === undefined ? 'absent' : 'kept' };
  if (!rule) return;
  const located = withMappingPath(fault, rule.targetPath, fault.remedy);
  if (source && raw !== undefined) reportUnknown(draft, { field, source, raw, fault: located });
  else if (source) draft.trace.push(absentEntry(field, source));
  draft.trace.push(...overridden.map((other) => overriddenEntry(field, other, rule)));
}

function reportUnknown(
  draft: TranslationDraft,
  { field, source, raw, fault }: { field: FieldKey; source: CompiledSource; raw: Json; fault: Fault },
): void {
  const { reason, mappingPath } = fault;
  const located = mappingPath === undefined ? {} : { mappingPath };
  draft.findings.push(toFinding(field, raw, fault));
  draft.trace.push({ field, ...namedSource(source), outcome: 'kept', before: raw, reason, ...located });
  draft.needsFreshLookups ||= fault.needsFreshLookups === true;
}

/** Decides a custom field. A value is not removed as long as another rule may be meant. */
function translateKnown(
  draft: TranslationDraft,
  input: TranslationInput,
  { field, rules, compiled, isInDoubt }: KnownField,
): void {
  const key = keyOf(field.id);
  const { rule, overridden } = findUsedRule(key, rules, { user: input.user, trace: draft.trace });
  const used = rule && compiled.get(rule);
  if (!used) draft.fields[key] = { kind: isInDoubt ? 'kept' : 'absent' };
  else if (input.context.applied[key] && firstThatHolds(used.undecided, input.user, { field: key }))
    keepApplied(draft, input, { rule, used, field });
  else translateRule(draft, input, used, field);
  if (rule) for (const other of overridden) reportOverridden(draft, other, rule, field);
}

/** Keeps the applied value, because a rule with an unknown custom field comes first and may mean this one. */
function keepApplied(
  draft: TranslationDraft,
  input: TranslationInput,
  { rule, used, field }: { rule: Rule; used: CompiledRule; field: CustomField },
): void {
  // The findings about the value are those of the rule, as before a value was applied.
  const own = { ...draft, trace: [] };
  translateRule(own, input, used, field);
  draft.needsFreshLookups = own.needsFreshLookups;
  draft.fields[used.key] = { kind: 'kept' };
  draft.trace.push({
    ...{ field: used.key, origin: rule.origin, rule: rule.text, outcome: 'kept' },
    reason: 'a rule with an unknown custom field comes first, and may mean this one',
  });
}

function reportOverridden(
  { findings, trace }: TranslationDraft,
  rule: Rule,
  owner: Rule,
  { id, name }: CustomField,
): void {
  trace.push(overriddenEntry(keyOf(id), rule, owner));
  if (owner.origin !== rule.origin) return;
  const { fault } = unusable(
    'customFieldTwice',
    `Two rules set the custom field "${name}"; that of ${owner.text} is used.`,
    'Keep one of the two rules in the mapping.',
  );
  findings.push(toFinding(keyOf(id), rule.text, fault));
}

/** Decides a custom field by a rule. The wanted value has the form of the `values` array of the travel API. */
function translateRule(
  draft: TranslationDraft,
  input: TranslationInput,
  rule: CompiledRule,
  { dataType }: CustomField,
): void {
  if (dataType !== 'optionsList') {
    translateField(draft, rule, input);
    return;
  }
  const decision = decideListField(rule, input);
  if (decision) addDecision(draft, rule.key, toFinalDecision(rule, decision));
}

/** Decides a list of options. Another source is used only if no value of the one before can be used. */
function decideListField(rule: CompiledRule, input: TranslationInput): Decision | undefined {
  const decisions: Decision[] = [];
  for (const source of sourcesWithValues(rule, input.user)) {
    const decision = decideList(rule, source, input);
    decisions.push(decision);
    if (decision.wanted.kind !== 'absent') break;
  }
  const last = decisions.at(-1);
  return (
    last && {
      wanted: last.wanted,
      findings: decisions.flatMap(({ findings }) => findings),
      trace: decisions.flatMap(({ trace }) => trace),
      needsFreshLookups: decisions.some(({ needsFreshLookups }) => needsFreshLookups),
    }
  );
}

/** Returns the sources that have values; the first source if none has. */
function sourcesWithValues(rule: CompiledRule, user: SourceUser): CompiledSource[] {
  const sources = usableSources(rule, user);
  const found = sources.filter(({ valuesOf }) => valuesOf(user).length > 0);
  return found.length > 0 ? found : sources.slice(0, 1);
}

/** Decides a list of options by one source: all usable values are options of the list. */
function decideList(
  { key, read }: CompiledRule,
  source: CompiledSource,
  { user, context }: TranslationInput,
): Decision {
  const raws = source.valuesOf(user);
  const values = allPreparedValues(source, user).flatMap(({ raw, readings }) => {
    // Of a text that a transform divides, findings name the part.
    const isPart = readings.length > 1;
    return readings.map((reading) => ({ raw: isPart && 'value' in reading ? reading.value : raw, reading }));
  });
  if (values.length <= 1) return decideField(key, [source], { user, read, context });
  const prepared = withPreparedSource(context, key, source);
  const each = values.map(({ raw, reading }) => {
    const part = { ...source, valuesOf: () => [raw], prepare: () => [reading] };
    return decideField(key, [part], { user, read, context: prepared });
  });
  return joinOptions(each, raws, context.applied[key]);
}

/** The source of an applied list has the values before the transforms of the rule; readers get them after. */
function withPreparedSource(context: ReadContext, key: FieldKey, source: CompiledSource): ReadContext {
  const applied = context.applied[key];
  if (!source.prepare || !applied || !Array.isArray(applied.source)) return context;
  const prepared = applied.source.flatMap((raw) =>
    preparedValues(source, raw).map((reading) => ('value' in reading ? reading.value : raw)),
  );
  return { ...context, applied: { ...context.applied, [key]: { ...applied, source: prepared } } };
}

/**
 * Combines the options of an `optionsList` to one value. If an option is unresolved, the applied list stays, provided
 * that it came from the same source. If an option is unusable because of the mapping, the applied list stays in any
 * case.
 */
function joinOptions(each: Decision[], raws: readonly Json[], applied: AppliedField | undefined): Decision {
  const values = each.flatMap(({ wanted }) =>
    wanted.kind === 'value' && Array.isArray(wanted.value) ? wanted.value : [],
  );
  const distinct = values.filter(
    (value, index) => values.findIndex((other) => isEqualJson(other, value)) === index,
  );
  const wanted = listWanted({ each, distinct, source: [...raws], applied });
  const { kind } = wanted;
  const stays = kind === 'unresolved' || kind === 'kept';
  return {
    wanted,
    findings: each.flatMap(({ findings }) => findings),
    trace: each.flatMap(({ trace }) => (stays ? trace.map((entry) => keepInTrace(entry, kind)) : trace)),
    needsFreshLookups: each.some((decision) => decision.needsFreshLookups),
  };
}

interface OptionsList {
  each: Decision[];
  /** The usable options without duplicates. */
  distinct: Json[];
  source: Json[];
  applied: AppliedField | undefined;
}

function listWanted({ each, distinct, source, applied }: OptionsList): WantedField {
  const isNothing = distinct.length === 0;
  const has = (kind: WantedField['kind']): boolean => each.some(({ wanted }) => wanted.kind === kind);
  if (has('kept') && (isNothing || applied)) return { kind: 'kept' };
  if (has('unresolved') && (isNothing || isEqualJson(applied?.source, source)))
    return { kind: 'unresolved', source };
  return isNothing ? { kind: 'absent' } : { kind: 'value', value: distinct, source };
}

/** Changes the trace entry of a usable option if the whole list stays as it was applied. */
function keepInTrace(entry: TraceEntry, outcome: 'unresolved' | 'kept'): TraceEntry {
  return entry.outcome === 'set' ? { ...entry, outcome } : entry;
}
