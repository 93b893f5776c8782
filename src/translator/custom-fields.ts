import { foldCase } from '../schema/case-fold.ts';
import type { Json, ScimResource } from '../schema/resource.ts';
import {
  type Decision,
  decideField,
  mergeParts,
  type TranslationPart,
  toFinding,
  toPart,
  withoutRemoval,
} from './decide.ts';
import { readText } from './readers.ts';
import { type Rule, type Rules, type Target, toCandidate } from './rules.ts';
import { compilePattern } from './transforms.ts';
import type { AppliedField, CustomField, TraceEntry, WantedField } from './translation.ts';
import {
  type Fault,
  isEqualJson,
  notInLookups,
  type ReadContext,
  type Reader,
  type Reading,
  toText,
  unresolved,
  unusable,
  withMappingPath,
} from './values.ts';

/**
 * Decides the value of every custom field that a rule sets. If several rules set the same field, the first in order of
 * precedence is used.
 */
export function decideCustomFields(
  { rules, faults }: Rules,
  { user, context }: { user: ScimResource; context: ReadContext },
): TranslationPart {
  const known: TranslationPart[] = [];
  const unknown: { rule: Rule; part: TranslationPart }[] = [];
  const owners = new Map<string, Rule>();
  for (const rule of rules) {
    const { target } = rule;
    if (target.kind !== 'customField') continue;
    const field = findCustomField(target, context.lookups.customFields);
    if ('code' in field) {
      unknown.push({ rule, part: unknownFieldPart(rule, field, { user, target }) });
      continue;
    }
    const owner = owners.get(field.id);
    owners.set(field.id, owner ?? rule);
    // A rule of the mapping file may mean this field by a name that is unknown at present. It would take precedence, so
    // this rule of the collection must not remove a value.
    const isUnsure = rule.origin === 'collection' && unknown.some((other) => other.rule.origin === 'file');
    const decide = () => {
      const decision = decideCustomField(rule, field, { user, context });
      return toPart(keyOf(field.id), isUnsure ? withoutRemoval(decision) : decision);
    };
    known.push(owner ? overriddenPart(rule, owner, field) : decide());
  }
  const isFaulty = unknown.length > 0 || faults.some((fault) => fault.field.startsWith(keyOf('')));
  const kept = isFaulty ? [keepUndecided(context, owners)] : [];
  return mergeParts([...kept, ...unknown.map(({ part }) => part), ...known]);
}

/**
 * Keeps the applied custom fields that no known rule sets. A rule with an unknown name may mean any of them, so they
 * stay unchanged and owned until the mapping is corrected.
 */
function keepUndecided({ applied }: ReadContext, owners: Map<string, Rule>): TranslationPart {
  const keys = Object.keys(applied).filter(
    (key) => key.startsWith(keyOf('')) && !owners.has(key.slice(keyOf('').length)),
  );
  const fields = Object.fromEntries(keys.map((key) => [key, { kind: 'kept' } as const]));
  return { fields, findings: [], trace: [], needsFreshLookups: false };
}

function keyOf(id: string): string {
  return `customFields.${id}`;
}

interface UnknownFieldCase {
  user: ScimResource;
  target: CustomFieldTarget;
}

/**
 * Returns the part of a translation for a rule whose custom field is unknown: a finding, unless the user has no value
 * for the field.
 */
function unknownFieldPart(rule: Rule, unknown: Fault, { user, target }: UnknownFieldCase): TranslationPart {
  const fault = withMappingPath(unknown, rule.targetPath, unknown.remedy);
  const [raw] = toCandidate(rule, user).raws;
  const field = keyOf(target.value);
  const entry = { field, origin: rule.origin, rule: rule.text };
  const fieldsWith = (wanted: WantedField): TranslationPart['fields'] =>
    target.by === 'id' ? { [field]: wanted } : {};
  if (raw === undefined) {
    const fields = fieldsWith({ kind: 'absent' });
    const trace: TranslationPart['trace'] = [{ ...entry, outcome: 'absent', reason: 'no value' }];
    return { fields, findings: [], trace, needsFreshLookups: false };
  }
  const { reason, mappingPath } = fault;
  return {
    fields: fieldsWith({ kind: 'kept' }),
    findings: [toFinding(field, raw, fault)],
    trace: [
      {
        ...entry,
        outcome: 'kept',
        before: raw,
        reason,
        ...(mappingPath === undefined ? {} : { mappingPath }),
      },
    ],
    needsFreshLookups: fault.needsFreshLookups === true,
  };
}

function overriddenPart(rule: Rule, owner: Rule, { id, name }: CustomField): TranslationPart {
  const where = owner.origin === 'file' ? 'the mapping file' : 'the scimUserMapping collection';
  const reason = `${where} sets this field from ${owner.text}`;
  const trace: TranslationPart['trace'] = [
    { field: keyOf(id), origin: rule.origin, rule: rule.text, outcome: 'skipped', reason },
  ];
  if (owner.origin !== rule.origin) return { fields: {}, findings: [], trace, needsFreshLookups: false };
  const { fault } = unusable(
    'customFieldTwice',
    `Two rules set the custom field "${name}"; that of ${owner.text} is used.`,
    'Keep one of the two rules in the mapping.',
  );
  return { fields: {}, findings: [toFinding(keyOf(id), rule.text, fault)], trace, needsFreshLookups: false };
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

/** Decides a custom field by its rule. The wanted value has the form of the `values` array of the travel API. */
export function decideCustomField(
  rule: Rule,
  field: CustomField,
  { user, context }: { user: ScimResource; context: ReadContext },
): Decision {
  const key = `customFields.${field.id}`;
  const source = toCandidate(rule, user);
  const read = customFieldReader(field, rule.targetPath);
  if (field.dataType !== 'optionsList' || source.raws.length <= 1)
    return decideField(key, [source], { read, context });
  const each = source.raws.map((raw) => decideField(key, [{ ...source, raws: [raw] }], { read, context }));
  return joinOptions(each, source.raws, context.applied[key]);
}

/**
 * Combines the options of an `optionsList` to one value. If an option is unresolved, the applied list stays, provided
 * that it came from the same source. If an option is unusable because of the mapping, the applied list stays in any
 * case.
 */
function joinOptions(each: Decision[], source: Json[], applied: AppliedField | undefined): Decision {
  const values = each.flatMap(({ wanted }) =>
    wanted.kind === 'value' && Array.isArray(wanted.value) ? wanted.value : [],
  );
  const distinct = values.filter(
    (value, index) => values.findIndex((other) => isEqualJson(other, value)) === index,
  );
  const wanted = listWanted({ each, distinct, source, applied });
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
  return (raw) => readOption(raw, field);
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
function textReader(field: CustomField): Reader {
  const { name, validationRegexp } = field;
  const pattern = compiledPattern(field);
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

/**
 * Caches the compiled pattern of each field: compiling takes longer than the rest of a translation. Field objects never
 * change.
 */
const patterns = new WeakMap<CustomField, ReturnType<typeof compilePattern>>();

function compiledPattern(field: CustomField): Exclude<ReturnType<typeof compilePattern>, string> | undefined {
  if (field.validationRegexp === undefined) return undefined;
  const compiled = patterns.get(field) ?? compilePattern(field.validationRegexp);
  patterns.set(field, compiled);
  return typeof compiled === 'string' ? undefined : compiled;
}

function readOption(raw: Json, { name, options }: CustomField): Reading {
  const text = toText(raw);
  if (text === undefined) return readText(raw);
  const option = findOption(text, options);
  if (!option) {
    const remedy = 'Add the option in the travel service, or correct the value in the identity provider.';
    return notInLookups('optionUnknown', `The custom field "${name}" has no such option.`, remedy);
  }
  if (option.disabled) {
    return unresolved(
      'optionDisabled',
      `This option of the custom field "${name}" is disabled.`,
      remedyDisabled,
    );
  }
  return { value: [{ customFieldOptionId: option.id }] };
}

/** Finds the option with a text: an exact match wins over one without case, an enabled option over a disabled one, then the lowest id. */
function findOption(
  text: string,
  options: CustomField['options'],
): CustomField['options'][number] | undefined {
  const exact = options.filter(({ data }) => data === text);
  const folded = foldCase(text);
  const found = exact.length > 0 ? exact : options.filter(({ data }) => foldCase(data) === folded);
  const enabled = found.filter(({ disabled }) => !disabled);
  const [first, ...others] = enabled.length > 0 ? enabled : found;
  return others.reduce((lowest, option) => (lowest && option.id >= lowest.id ? lowest : option), first);
}
