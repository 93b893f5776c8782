import { foldCase } from '../schema/case-fold.ts';
import type { Json } from '../schema/resource.ts';
import { ruleSource } from './compiled-fields.ts';
import {
  addDecision,
  type Decision,
  decideField,
  type TranslationDraft,
  type TranslationInput,
  toFinding,
  translateField,
  withoutRemoval,
} from './decide.ts';
import { readText } from './readers.ts';
import type { Rule, Rules, Target } from './rules.ts';
import { compilePattern } from './transforms.ts';
import type { AppliedField, CustomField, FieldKey, Lookups, TraceEntry, WantedField } from './translation.ts';
import {
  type Fault,
  isEqualJson,
  notInLookups,
  type ReadContext,
  type Reader,
  toText,
  unresolved,
  unusable,
  withMappingPath,
} from './values.ts';

/**
 * Decides the value of every custom field that a rule sets. If several rules set the same field, the first in order of
 * precedence is used.
 */
export function translateCustomFields(draft: TranslationDraft, rules: Rules, input: TranslationInput): void {
  const { steps, owners, isFaulty } = compiledCustomFields(rules, input.context.lookups);
  if (isFaulty) keepUndecided(draft, input.context, owners);
  for (const step of steps) step(draft, input);
}

/** What one rule adds to a translation. */
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
  const known: Step[] = [];
  const unknown: { rule: Rule; step: Step }[] = [];
  const owners = new Map<string, Rule>();
  for (const rule of rules) {
    const { target } = rule;
    if (target.kind !== 'customField') continue;
    const field = findCustomField(target, lookups.customFields);
    if ('code' in field) {
      unknown.push({ rule, step: unknownFieldStep(rule, field, target) });
      continue;
    }
    const owner = owners.get(keyOf(field.id));
    owners.set(keyOf(field.id), owner ?? rule);
    // A rule of the mapping file may mean this field by a name that is unknown at present. It would take precedence, so
    // this rule of the collection must not remove a value.
    const neverRemoves =
      rule.origin === 'collection' && unknown.some((other) => other.rule.origin === 'file');
    known.push(owner ? overriddenStep(rule, owner, field) : customFieldStep(rule, field, neverRemoves));
  }
  const isFaulty = unknown.length > 0 || faults.some((fault) => fault.field.startsWith(keyOf('')));
  const steps = [...unknown.map(({ step }) => step), ...known];
  return { lookups, steps, owners: new Set(owners.keys()), isFaulty };
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

/**
 * Makes the step of a rule whose custom field is unknown: a finding, unless the user has no value for the field.
 */
function unknownFieldStep(rule: Rule, unknown: Fault, { by, value }: CustomFieldTarget): Step {
  const fault = withMappingPath(unknown, rule.targetPath, unknown.remedy);
  const { reason, mappingPath } = fault;
  const field = keyOf(value);
  const { valuesOf, reference } = ruleSource(rule);
  const entry = { field, origin: rule.origin, rule: rule.text, outcome: 'kept' } as const;
  const located = mappingPath === undefined ? {} : { mappingPath };
  return (draft, { user }) => {
    const [raw] = valuesOf(user);
    if (by === 'id') draft.fields[field] = { kind: raw === undefined ? 'absent' : 'kept' };
    if (raw === undefined) {
      draft.trace.push([field, reference]);
      return;
    }
    draft.findings.push(toFinding(field, raw, fault));
    draft.trace.push({ ...entry, before: raw, reason, ...located });
    draft.needsFreshLookups ||= fault.needsFreshLookups === true;
  };
}

function overriddenStep(rule: Rule, owner: Rule, { id, name }: CustomField): Step {
  const where = owner.origin === 'file' ? 'the mapping file' : 'the scimUserMapping collection';
  const reason = `${where} sets this field from ${owner.text}`;
  const entry: TraceEntry = {
    field: keyOf(id),
    origin: rule.origin,
    rule: rule.text,
    outcome: 'skipped',
    reason,
  };
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

/** The custom field that a rule sets, as the rule names it. */
export type CustomFieldTarget = Extract<Target, { kind: 'customField' }>;

/** Finds the custom field that a rule sets: by id, by exact name, or by name without case. */
export function findCustomField(
  { by, value }: CustomFieldTarget,
  fields: CustomField[],
): CustomField | Fault {
  const found = by === 'id' ? fields.filter(({ id }) => id === value) : fieldsWithName(value, fields);
  const [only] = found;
  if (only && found.length === 1) return only;
  if (only) {
    const reason = `Several custom fields of the travel service are called "${value}".`;
    return unresolved('customFieldAmbiguous', reason, 'Name the custom field by its id in the mapping.')
      .fault;
  }
  const reason = `The travel service has no custom field ${by === 'id' ? value : `called "${value}"`}.`;
  const remedy = 'Create the custom field for users in the travel service, or correct the mapping.';
  return notInLookups('customFieldUnknown', reason, remedy).fault;
}

function fieldsWithName(name: string, fields: CustomField[]): CustomField[] {
  const exact = fields.filter((field) => field.name === name);
  const wanted = foldCase(name);
  return exact.length > 0 ? exact : fields.filter((field) => foldCase(field.name) === wanted);
}

/** Makes the step that decides a custom field by its rule. The wanted value has the form of the `values` array of the travel API. */
function customFieldStep(rule: Rule, field: CustomField, neverRemoves: boolean): Step {
  const key = keyOf(field.id);
  const source = ruleSource(rule);
  const read = customFieldReader(field, rule.targetPath);
  const compiledField = { key, read, sources: [source], skipsSilently: false, neverRemoves, overridden: [] };
  const isList = field.dataType === 'optionsList';
  return (draft, input) => {
    const raws = isList ? source.valuesOf(input.user) : [];
    if (raws.length <= 1) {
      translateField(draft, compiledField, input);
      return;
    }
    const { context } = input;
    const each = raws.map((raw) => decideField(key, [{ ...source, raws: [raw] }], { read, context }));
    const decision = joinOptions(each, raws, context.applied[key]);
    addDecision(draft, key, neverRemoves ? withoutRemoval(decision) : decision);
  };
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

const remedyDisabled = 'Enable it in the travel service, or take the rule or the value away.';

/**
 * Makes the reader of a custom field. `targetPath` is the place in the mapping to which faults of the field itself
 * refer.
 */
export function customFieldReader(field: CustomField, targetPath: string): Reader {
  const fault = customFieldFault(field);
  if (fault) {
    const reading = { fault: withMappingPath(fault, targetPath, fault.remedy) };
    return () => reading;
  }
  if (field.dataType === 'text') return textReader(field);
  return optionReader(field);
}

/** Returns why a custom field accepts no value at all, e.g. because it is disabled; undefined if it accepts values. */
export function customFieldFault({ name, disabled, dataType }: CustomField): Fault | undefined {
  if (disabled) {
    const reason = `The custom field "${name}" is disabled.`;
    return unresolved('customFieldDisabled', reason, remedyDisabled).fault;
  }
  if (dataTypes.includes(dataType)) return undefined;
  const reason = `The custom field "${name}" is of the unknown type ${dataType}.`;
  return unusable('customFieldType', reason, 'Map the attribute to a custom field of text or options.').fault;
}

const dataTypes = ['text', 'option', 'optionsList'];

/** Checks texts against `validationRegexp`. A pattern that RE2 cannot compile is ignored, because the travel API checks values, too. */
function textReader({ name, validationRegexp }: CustomField): Reader {
  const compiledPattern = validationRegexp === undefined ? undefined : compilePattern(validationRegexp);
  const pattern = typeof compiledPattern === 'string' ? undefined : compiledPattern;
  return (raw) => {
    const reading = readText(raw);
    if (!('value' in reading) || typeof reading.value !== 'string') return reading;
    if (!pattern || pattern.matches(reading.value)) return { value: [{ data: reading.value }] };
    return unusable(
      'customFieldPattern',
      `The custom field "${name}" takes only values that match ${validationRegexp}.`,
      'Correct the value in the identity provider, or transform it in the mapping.',
    );
  };
}

/** Checks options by their texts. */
function optionReader({ name, options }: CustomField): Reader {
  const find = optionFinder(options);
  return (raw) => {
    const text = toText(raw);
    if (text === undefined) return readText(raw);
    const option = find(text);
    if (!option) {
      const remedy = 'Add the option in the travel service, or correct the value in the identity provider.';
      return notInLookups('optionUnknown', `The custom field "${name}" has no such option.`, remedy);
    }
    if (!option.disabled) return { value: [{ customFieldOptionId: option.id }] };
    return unresolved(
      'optionDisabled',
      `This option of the custom field "${name}" is disabled.`,
      remedyDisabled,
    );
  };
}

type Option = CustomField['options'][number];

/**
 * Makes a function that finds the option with a text: an exact match wins over one without case, an enabled option over
 * a disabled one, then the lowest id.
 */
function optionFinder(options: Option[]): (text: string) => Option | undefined {
  const exact = new Map<string, Option>();
  const folded = new Map<string, Option>();
  for (const option of options) {
    addPreferred(exact, option.data, option);
    addPreferred(folded, foldCase(option.data), option);
  }
  return (text) => exact.get(text) ?? folded.get(foldCase(text));
}

function addPreferred(options: Map<string, Option>, text: string, option: Option): void {
  const other = options.get(text);
  const isPreferred = !other || (other.disabled === option.disabled ? option.id < other.id : other.disabled);
  if (isPreferred) options.set(text, option);
}
