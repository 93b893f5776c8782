import type { CountedParts, FieldKey, TraceEntry } from '../../model/translation.ts';
import type { ScimResource } from '../../schema/resource.ts';
import type { Field } from '../fields/fields.ts';
import { type SourceUser, toSourceUser } from '../fields/sources.ts';
import type { Mapping } from '../mapping/mapping-file.ts';
import { readManager } from '../values/readers.ts';
import { isUnassigned, type Reader, toVerbatimText } from '../values/values.ts';
import { allPreparedValues, type CompiledSource, firstThatHolds, ruleSources } from './rule-sources.ts';
import {
  type ConditionalRule,
  findRules,
  oncePerRules,
  type Rule,
  type RuleChain,
  type Rules,
} from './rules.ts';

/** A field with everything about it that depends on the rules only. */
export interface CompiledField {
  key: FieldKey;
  read: Reader;
  /** The sources in order of preference: that of a mapping rule, or those of the default rule. */
  sources: readonly CompiledSource[];
  /** Set if only one of the sources may be used: returns its index. */
  pickSource?: (user: SourceUser) => number;
  /** True if a later source is used only if the values before it can never be used, e.g. not while one is unresolved. */
  waits?: true;
  /** True if an unusable value causes no finding when a later one is used. */
  skipsSilently: boolean;
  /**
   * True if the collection has a faulty row that would set the field if it were correct. Its value is then never removed.
   */
  neverRemoves: boolean;
  /** The entries of the mapping rules that another rule with the same target overrides. */
  overridden: readonly TraceEntry[];
  /** The field under each mapping rule with a condition; the first whose condition holds is used instead. */
  conditional?: ReadonlyMap<ConditionalRule, CompiledField>;
}

/** Returns the fields of the table with the rules that set them. */
export const compiledFields = oncePerRules((rules) =>
  rules.fields.map((field) => compileField(field, rules)),
);

function compileField(field: Field, rules: Rules): CompiledField {
  const chain = findRules(rules, field.key);
  const otherwise = compileOtherwise(field, rules, chain);
  if (chain.conditional.length === 0) return otherwise;
  const { key, read, skipsSilently } = otherwise;
  const common = { key, read, skipsSilently, neverRemoves: false, overridden: [] };
  const conditional = chain.conditional.map((rule) => [rule, { ...common, ...ruleSources(rule) }] as const);
  return { ...otherwise, conditional: new Map(conditional) };
}

/** Compiles a field for users for whom no condition of its rules holds. */
function compileOtherwise(field: Field, rules: Rules, { otherwise, overridden }: RuleChain): CompiledField {
  const { key, read, pickSource, skipsSilently = false } = field;
  const common = { key, read, skipsSilently };
  if (otherwise) {
    const entries = overridden.map((rule) => overriddenEntry(key, rule, otherwise));
    return { ...common, ...ruleSources(otherwise), neverRemoves: false, overridden: entries };
  }
  const sources = [
    ...field.sources.map((source) => ({ ...source, origin: 'default' }) as const),
    ...settingSources(field, rules.mapping),
  ];
  const neverRemoves = rules.faults.some((fault) => fault.field === key);
  return { ...common, sources, neverRemoves, overridden: [], ...(pickSource ? { pickSource } : {}) };
}

/** Makes the trace entry of a rule that is never used, because another rule for the same field comes first. */
export function overriddenEntry(field: FieldKey, { origin, text, condition }: Rule, used: Rule): TraceEntry {
  const where = used.origin === 'file' ? 'the mapping file' : 'the scimUserMapping collection';
  const reason = `${where} sets this field from ${used.text}`;
  const when = condition ? { when: condition.text } : {};
  return { field, origin, rule: text, ...when, outcome: 'skipped', reason };
}

/** Makes the source for a setting of the mapping file; an empty list if the file does not have the setting. */
export function settingSources({ setting }: Field, mapping: Mapping): CompiledSource[] {
  const value = setting?.valueIn(mapping);
  if (!setting || value === undefined || isUnassigned(value)) return [];
  const { path } = setting;
  const keys = typeof value === 'string' ? [] : Object.keys(value);
  const mappingPath = [path, ...keys].join('.');
  return [{ rule: path, valuesOf: () => [value], origin: 'file', mappingPath }];
}

/**
 * Returns the field under the first mapping rule whose condition holds for a user, else under the rule without a
 * condition. Adds the rules that are skipped to the trace, if one is given.
 */
export function applicableField(field: CompiledField, user: SourceUser, trace?: TraceEntry[]): CompiledField {
  const { conditional, key } = field;
  const rule = conditional && firstThatHolds([...conditional.keys()], user, { field: key, trace });
  return (rule && conditional.get(rule)) ?? field;
}

/** Returns the sources of a field that may be used for a user. */
export function usableSources(
  { sources, pickSource }: Pick<CompiledField, 'sources' | 'pickSource'>,
  user: SourceUser,
): CompiledSource[] {
  if (!pickSource) return [...sources];
  const index = pickSource(user);
  return sources.slice(index, index + 1);
}

/**
 * Returns the SCIM values that name a user's manager, the preferred one first. Provisioning resolves them before it
 * translates the user.
 */
export function findManagerReferences(
  rules: Rules,
  resource: ScimResource,
  countedParts?: CountedParts,
): string[] {
  return findReferencesOf(rules, toSourceUser(resource, countedParts));
}

/** Returns the values that name the manager of a user that is prepared for reading. */
export function findReferencesOf(rules: Rules, user: SourceUser): string[] {
  const references = new Set<string>();
  for (const field of compiledFields(rules)) {
    if (field.read !== readManager) continue;
    for (const source of usableSources(applicableField(field, user), user)) {
      for (const prepared of allPreparedValues(source, user).flatMap(({ readings }) => readings)) {
        const text = 'value' in prepared ? toVerbatimText(prepared.value) : undefined;
        if (text !== undefined) references.add(text);
      }
    }
  }
  return [...references];
}
