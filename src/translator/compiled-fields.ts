import { pathReader } from '../schema/filter-match.ts';
import { isObject, type Json, type ScimResource } from '../schema/resource.ts';
import { userType } from '../schema/resource-types.ts';
import type { Field } from './fields.ts';
import type { Mapping } from './mapping-file.ts';
import { readManager, readText } from './readers.ts';
import { findRule, type Rule, type Rules } from './rules.ts';
import { type Source, type SourceUser, toSourceUser } from './sources.ts';
import type { FieldKey, RuleReference, TraceEntry } from './translation.ts';
import { isUnassigned, type Reader, type Reading, toText } from './values.ts';

/** A source as the rules in force use it. */
export interface CompiledSource extends Source {
  origin: TraceEntry['origin'];
  /** How a trace names the source. */
  reference: RuleReference;
  /** The JSON path of the value, if the mapping file contains it. */
  mappingPath?: string;
  /** Applies the transforms of a mapping rule, before the value is read. */
  prepare?: (raw: Json) => Reading;
}

/** A field with everything about it that depends on the rules only. */
export interface CompiledField {
  key: FieldKey;
  read: Reader;
  /** The sources in order of preference: that of a mapping rule, or those of the default rule. */
  sources: readonly CompiledSource[];
  /** Set if only one of the sources may be used: returns its index. */
  pickSource?: (user: SourceUser) => number;
  /** True if an unusable value causes no finding when a later one is used. */
  skipsSilently: boolean;
  /**
   * True if the collection has a faulty row that would set the field if it were correct. Its value is then never removed.
   */
  neverRemoves: boolean;
  /** The entries of the mapping rules that another rule with the same target overrides. */
  overridden: readonly TraceEntry[];
}

/** Caches the compiled fields of each version of the rules. Rules never change. */
const compiled = new WeakMap<Rules, CompiledField[]>();

/** Returns the fields of the table with the rules that set them. */
export function compiledFields(rules: Rules): CompiledField[] {
  const known = compiled.get(rules) ?? rules.fields.map((field) => compileField(field, rules));
  compiled.set(rules, known);
  return known;
}

function compileField(field: Field, rules: Rules): CompiledField {
  const { key, read, pickSource, skipsSilently = false } = field;
  const rule = findRule(rules, key);
  const common = { key, read, skipsSilently, overridden: rule ? overriddenEntries(rule, rules) : [] };
  if (rule) return { ...common, sources: [ruleSource(rule)], neverRemoves: false };
  const sources = [
    ...field.sources.map((source, index) => ({ ...source, origin: 'default', reference: index }) as const),
    ...settingSources(field, rules.mapping),
  ];
  const neverRemoves = rules.faults.some((fault) => fault.field === key);
  return { ...common, sources, neverRemoves, ...(pickSource ? { pickSource } : {}) };
}

function overriddenEntries(used: Rule, { rules }: Rules): TraceEntry[] {
  const others = rules.filter(
    ({ target }) =>
      target.kind === 'field' && used.target.kind === 'field' && target.field === used.target.field,
  );
  const where = used.origin === 'file' ? 'the mapping file' : 'the scimUserMapping collection';
  const reason = `${where} sets this field from ${used.text}`;
  return others
    .filter((rule) => rule !== used)
    .map(({ origin, text }) => ({
      field: used.target.kind === 'field' ? used.target.field : '',
      origin,
      rule: text,
      outcome: 'skipped',
      reason,
    }));
}

/** Makes the source for a setting of the mapping file; an empty list if the file does not have the setting. */
export function settingSources({ setting, sources }: Field, mapping: Mapping): CompiledSource[] {
  const value = setting?.valueIn(mapping);
  if (!setting || value === undefined || isUnassigned(value)) return [];
  const { path } = setting;
  const keys = typeof value === 'string' ? [] : Object.keys(value);
  const mappingPath = [path, ...keys].join('.');
  return [{ rule: path, valuesOf: () => [value], origin: 'file', reference: sources.length, mappingPath }];
}

/** Makes the source of a mapping rule. */
export function ruleSource({ origin, path, text, transform, hasDefault }: Rule): CompiledSource {
  const read = pathReader(userType, path);
  const valuesOf = ({ resource }: SourceUser): Json[] => {
    const found = read(resource)
      .map(toSimpleValue)
      .filter((value) => !isUnassigned(value));
    // Null represents a missing value, so that the `default` transform is applied to it.
    const isMissing = hasDefault && found.every((value) => toText(value) === undefined);
    return isMissing ? [...found, null] : found;
  };
  const source = { rule: text, valuesOf, origin, reference: `${origin} ${text}` } as const;
  return transform ? { ...source, prepare: (raw) => transformValue(raw, transform) } : source;
}

/** Returns the `value` of an element of a multi-valued attribute (RFC 7643 §2.4); any other value unchanged. */
function toSimpleValue(value: Json): Json {
  return isObject(value) && value.value !== undefined ? value.value : value;
}

function transformValue(raw: Json, transform: (text: string | undefined) => Reading): Reading {
  const text = toText(raw);
  return text === undefined && raw !== null ? readText(raw) : transform(text);
}

/** Returns the sources of a field that may be used for a user. */
export function usableSources({ sources, pickSource }: CompiledField, user: SourceUser): CompiledSource[] {
  if (!pickSource) return [...sources];
  const index = pickSource(user);
  return sources.slice(index, index + 1);
}

/**
 * Returns the SCIM values that name a user's manager, the preferred one first. Provisioning resolves them before it
 * translates the user.
 */
export function findManagerReferences(rules: Rules, resource: ScimResource): string[] {
  const user = toSourceUser(resource);
  const references = new Set<string>();
  for (const field of compiledFields(rules)) {
    if (field.read !== readManager) continue;
    for (const { valuesOf, prepare } of usableSources(field, user)) {
      for (const raw of valuesOf(user)) {
        const prepared = prepare ? prepare(raw) : { value: raw };
        const text = 'value' in prepared ? toText(prepared.value) : undefined;
        if (text !== undefined) references.add(text);
      }
    }
  }
  return [...references];
}
