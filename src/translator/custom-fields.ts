import type { Json } from '../schema/resource.ts';
import { overriddenEntry, usableSources } from './compiled-fields.ts';
import { type CustomFieldTarget, customFieldReader, findCustomField } from './custom-field-values.ts';
import {
  absentEntry,
  addDecision,
  type Decision,
  decideField,
  namedSource,
  type TranslationDraft,
  type TranslationInput,
  toFinding,
  translateField,
  withoutRemoval,
} from './decide.ts';
import { type CompiledSource, firstThatHolds, ruleSources, toConditional } from './rule-sources.ts';
import { type ConditionalRule, type Rule, type Rules, toRuleChain } from './rules.ts';
import type { AppliedField, CustomField, FieldKey, Lookups, TraceEntry, WantedField } from './translation.ts';
import { type Fault, isEqualJson, type ReadContext, unusable, withMappingPath } from './values.ts';

/**
 * Decides the value of every custom field that a rule sets. If several rules set the same field, the first in order of
 * precedence is used.
 */
export function translateCustomFields(draft: TranslationDraft, rules: Rules, input: TranslationInput): void {
  const { steps, owners, isFaulty } = compiledCustomFields(rules, input.context.lookups);
  if (isFaulty) keepUndecided(draft, input.context, owners);
  for (const step of steps) step(draft, input);
}

/** A step of a translation: the results of one rule, or of all rules for one custom field, are added to the draft. */
type Step = (draft: TranslationDraft, input: TranslationInput) => void;

/** The rules for custom fields with everything that depends on the rules and lookups only. */
interface CompiledCustomFields {
  lookups: Lookups;
  /** The steps of the rules for unknown custom fields, then the others. */
  steps: Step[];
  /** The keys of the custom fields that a rule sets. */
  owners: ReadonlySet<FieldKey>;
  /** True if a rule may mean any custom field, because its own one is unknown. */
  isFaulty: boolean;
}

/** Caches for each version of the rules what was compiled with the last lookups. Neither ever changes. */
const compiled = new WeakMap<Rules, CompiledCustomFields>();

function compiledCustomFields(rules: Rules, lookups: Lookups): CompiledCustomFields {
  const known = compiled.get(rules);
  if (known?.lookups === lookups) return known;
  const fresh = compileCustomFields(rules, lookups);
  compiled.set(rules, fresh);
  return fresh;
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
      const key = keyOf(field.id);
      const { rules: others = [] } = known.get(key) ?? {};
      known.set(key, { field, rules: [...others, rule] });
    }
  }
  const undecided = [...unknown.values()].flatMap((field) => toRuleChain(field.rules).conditional);
  const findUndecidedBefore = (rule: Rule) => {
    const earlier = rules.slice(0, rules.indexOf(rule));
    return undecided.filter((other) => earlier.includes(other));
  };
  const hasUnknown = [...unknown.values()].some((field) =>
    field.rules.some(({ origin }) => origin === 'file'),
  );
  const steps = [
    ...[...unknown.values()].map(unknownFieldStep),
    ...[...known.values()].map((field) => knownFieldStep(field, hasUnknown, findUndecidedBefore)),
  ];
  const isFaulty = unknown.size > 0 || faults.some((fault) => fault.field.startsWith(keyOf('')));
  return { lookups, steps, owners: new Set(known.keys()), isFaulty };
}

/**
 * Keeps the applied custom fields that no known rule sets. A rule with an unknown name may mean any of them, so they
 * stay unchanged and owned until the mapping is corrected.
 */
function keepUndecided(
  { fields }: TranslationDraft,
  { applied }: ReadContext,
  owners: ReadonlySet<FieldKey>,
): void {
  for (const key of Object.keys(applied))
    if (key.startsWith(keyOf('')) && !owners.has(key)) fields[key] = { kind: 'kept' };
}

function keyOf(id: string): FieldKey {
  return `customFields.${id}`;
}

/** The functions that turn the rules for one custom field into steps. */
interface ChainSteps {
  /** Makes the step of a rule that is used. */
  use: (rule: Rule) => Step;
  /** The step for users for whom no rule is used. */
  none: Step;
  /** Makes the step of a rule that is never used, because `owner` comes first. */
  override: (rule: Rule, owner: Rule) => Step;
}

/** Makes the step of all rules for one custom field: the first whose condition holds is used. */
function chainStep(key: FieldKey, rules: Rule[], { use, none, override }: ChainSteps): Step {
  const chain = toRuleChain(rules);
  const owner = chain.otherwise;
  const otherwise = owner ? use(owner) : none;
  const overridden = owner ? chain.overridden.map((rule) => override(rule, owner)) : [];
  const conditional = chain.conditional.map((rule) => toConditional(rule, key, use(rule)));
  if (conditional.length === 0 && overridden.length === 0) return otherwise;
  return (draft, input) => {
    const chosen = firstThatHolds(conditional, input.user, draft.trace);
    for (const step of chosen ? [chosen] : [otherwise, ...overridden]) step(draft, input);
  };
}

/** The rules that name one custom field which cannot be found. */
interface UnknownField {
  fault: Fault;
  target: CustomFieldTarget;
  rules: Rule[];
}

/** Makes the step of the rules for an unknown custom field. */
function unknownFieldStep({ fault, target: { by, value }, rules }: UnknownField): Step {
  const field = keyOf(value);
  return chainStep(field, rules, {
    use: (rule) => unknownRuleStep(rule, fault, { field, by }),
    none: ({ fields }) => {
      if (by === 'id') fields[field] = { kind: 'absent' };
    },
    override: (rule, owner) => {
      const entry = overriddenEntry(field, rule, owner);
      return ({ trace }) => trace.push(entry);
    },
  });
}

/**
 * Makes the step of a rule whose custom field is unknown: a finding, unless the user has no value for the field.
 */
function unknownRuleStep(
  rule: Rule,
  unknown: Fault,
  { field, by }: { field: FieldKey; by: CustomFieldTarget['by'] },
): Step {
  const fault = withMappingPath(unknown, rule.targetPath, unknown.remedy);
  const { reason, mappingPath } = fault;
  const compiledSources = ruleSources(rule);
  const located = mappingPath === undefined ? {} : { mappingPath };
  return (draft, { user }) => {
    const [source] = usableSources(compiledSources, user);
    const [raw] = source?.valuesOf(user) ?? [];
    if (by === 'id') draft.fields[field] = { kind: raw === undefined ? 'absent' : 'kept' };
    if (!source) return;
    if (raw === undefined) {
      draft.trace.push(absentEntry(field, source));
      return;
    }
    draft.findings.push(toFinding(field, raw, fault));
    draft.trace.push({ field, ...namedSource(source), outcome: 'kept', before: raw, reason, ...located });
    draft.needsFreshLookups ||= fault.needsFreshLookups === true;
  };
}

/** The rules that set one custom field. */
interface KnownField {
  field: CustomField;
  rules: Rule[];
}

/**
 * Makes the step of the rules for a custom field. A rule of the file with an unknown custom field may mean this one, and
 * may be the rule that should be used. Until the mapping is corrected, no value is removed because of it.
 */
function knownFieldStep(
  { field, rules }: KnownField,
  hasUnknown: boolean,
  findUndecidedBefore: (rule: Rule) => ConditionalRule[],
): Step {
  const key = keyOf(field.id);
  return chainStep(key, rules, {
    use: (rule) => {
      if (rule.origin === 'collection' && hasUnknown) return customFieldStep(rule, field, true);
      const step = customFieldStep(rule, field, false);
      const undecided = findUndecidedBefore(rule);
      return undecided.length === 0 ? step : undecidedStep(step, { rule, key, undecided });
    },
    none: ({ fields }) => {
      fields[key] = { kind: hasUnknown ? 'kept' : 'absent' };
    },
    override: (rule, owner) => overriddenStep(rule, owner, field),
  });
}

/**
 * Makes a step that keeps the applied value if the condition of an unknown rule holds, which may mean the same custom
 * field and comes first.
 */
function undecidedStep(
  step: Step,
  { rule, key, undecided }: { rule: Rule; key: FieldKey; undecided: ConditionalRule[] },
): Step {
  const tests = undecided.map((other) => toConditional(other, key, other));
  const entry: TraceEntry = {
    field: key,
    origin: rule.origin,
    rule: rule.text,
    outcome: 'kept',
    reason: 'a rule with an unknown custom field comes first, and may mean this one',
  };
  return (draft, input) => {
    if (!input.context.applied[key] || !firstThatHolds(tests, input.user)) return step(draft, input);
    // The findings about the value are those of the rule, as before a value was applied.
    const own = { ...draft, trace: [] };
    step(own, input);
    draft.needsFreshLookups = own.needsFreshLookups;
    draft.fields[key] = { kind: 'kept' };
    draft.trace.push(entry);
  };
}

function overriddenStep(rule: Rule, owner: Rule, { id, name }: CustomField): Step {
  const entry = overriddenEntry(keyOf(id), rule, owner);
  const { fault } = unusable(
    'customFieldTwice',
    `Two rules set the custom field "${name}"; that of ${owner.text} is used.`,
    'Keep one of the two rules in the mapping.',
  );
  const finding = toFinding(keyOf(id), rule.text, fault);
  return ({ findings, trace }) => {
    trace.push(entry);
    if (owner.origin === rule.origin) findings.push(finding);
  };
}

/** Makes the step that decides a custom field by its rule. The wanted value has the form of the `values` array of the travel API. */
function customFieldStep(rule: Rule, field: CustomField, neverRemoves: boolean): Step {
  const key = keyOf(field.id);
  const read = customFieldReader(field, rule.targetPath);
  const common = { key, read, skipsSilently: false, neverRemoves, overridden: [] };
  const compiledField = { ...common, ...ruleSources(rule) };
  if (field.dataType !== 'optionsList') return (draft, input) => translateField(draft, compiledField, input);
  return (draft, input) => {
    const [source] = usableSources(compiledField, input.user);
    const raws = source?.valuesOf(input.user) ?? [];
    if (!source || raws.length <= 1) {
      translateField(draft, compiledField, input);
      return;
    }
    const { context } = input;
    const prepared = withPreparedSource(context, key, source);
    const each = raws.map((raw) => decideField(key, [{ source, raws: [raw] }], { read, context: prepared }));
    const decision = joinOptions(each, raws, context.applied[key]);
    addDecision(draft, key, neverRemoves ? withoutRemoval(decision) : decision);
  };
}

/** The source of an applied list has the values before the transforms of the rule; readers get them after. */
function withPreparedSource(context: ReadContext, key: FieldKey, { prepare }: CompiledSource): ReadContext {
  const applied = context.applied[key];
  if (!prepare || !applied || !Array.isArray(applied.source)) return context;
  const source = applied.source.map((raw) => {
    const prepared = prepare(raw);
    return 'value' in prepared ? prepared.value : raw;
  });
  return { ...context, applied: { ...context.applied, [key]: { ...applied, source } } };
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
