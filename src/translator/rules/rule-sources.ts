import type { FieldKey, TraceEntry } from '../../model/translation.ts';
import { MAX_VALUE_LENGTH } from '../../schema/clean-text.ts';
import { pathReader } from '../../schema/filter-match.ts';
import { isObject, type Json, type ScimResource } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import type { Source, SourceUser } from '../fields/sources.ts';
import { isGroupPath, type RulePath, type TemplatePart } from '../mapping/rule-syntax.ts';
import { readText } from '../values/readers.ts';
import { isUnassigned, type Reading, toText } from '../values/values.ts';
import { conditionGroup, groupsOf } from './groups.ts';
import { type ConditionalRule, fixedText, type Rule } from './rules.ts';

/** A source as the rules in force use it. */
export interface CompiledSource extends Source, Pick<TraceEntry, 'when' | 'read'> {
  origin: TraceEntry['origin'];
  /** The path of a template that has no value, if the source stands for that path. */
  missing?: string;
  /** The JSON path of the value, if the mapping file contains it. */
  mappingPath?: string;
  /** Applies the transforms of a mapping rule, before the value is read. A transform may make several values of one. */
  prepare?: (raw: Json) => Reading[];
  /** True if the first value decides a field that takes one, even if it is unusable: the groups of a user have an order of our own. */
  firstDecides?: true;
  /** Returns the group of a user that the condition of the rule has found; undefined if the condition names none. */
  groupOf?: (user: SourceUser) => string | undefined;
}

/** Returns a value of a source after the transforms of its rule. */
export function preparedValues({ prepare }: CompiledSource, raw: Json): Reading[] {
  return prepare ? prepare(raw) : [{ value: raw }];
}

/** The maximum number of values of one source, with the parts of those that `split` divides. It bounds the cost of translating a user. */
const MAX_VALUES = 250;

/** Returns the values of a source after the transforms of its rule: the first `MAX_VALUES`, each with what it was made of. */
export function allPreparedValues(
  source: CompiledSource,
  user: SourceUser,
): { raw: Json; readings: Reading[] }[] {
  const all = [];
  let left = MAX_VALUES;
  for (const raw of source.valuesOf(user)) {
    if (left <= 0) break;
    const readings = preparedValues(source, raw).slice(0, left);
    left -= readings.length;
    all.push({ raw, readings });
  }
  return all;
}

/** The sources of a mapping rule. */
export interface RuleSources {
  sources: readonly CompiledSource[];
  /** Returns the index of the source that is used for a user. Undefined if the sources are tried in order. */
  pickSource?: (user: SourceUser) => number;
  /** True if a later source is used only if the values before it can never be used, e.g. not while one is unresolved. */
  waits?: true;
}

/** Makes the sources of a mapping rule: one for each of its paths, or those of its template. */
export function ruleSources(rule: Rule): RuleSources {
  const { input } = rule;
  if (input.kind === 'template') return templateSources(rule, input.parts);
  const [first, ...others] = input.paths;
  if (input.join) {
    const read = joinedReader(input.paths, input.join.separator);
    return { sources: [pathSource(rule, read)] };
  }
  if (first && others.length === 0)
    return { sources: [pathSource(rule, valuesReader(first, rule), traitsOf(first))] };
  if (input.fallback === 'unusable') return { sources: fallbackSources(rule, input.paths), waits: true };
  const readers = input.paths.map((path) => valuesReader(path, rule));
  return {
    sources: input.paths.map((path) =>
      pathSource(rule, valuesReader(path, rule), { read: path.text, ...traitsOf(path) }),
    ),
    pickSource: (user) => {
      const index = readers.findIndex((read) => read(user).length > 0);
      return index < 0 ? readers.length - 1 : index;
    },
  };
}

/** Makes sources that are tried in order. Only the last one applies the `default` of the rule. */
function fallbackSources(rule: Rule, paths: RulePath[]): CompiledSource[] {
  const { transform } = rule;
  const withoutDefault: Rule = { ...rule, hasDefault: false };
  if (transform) withoutDefault.transform = (text) => transform(text, { skipsDefault: true });
  return paths.map((path, index) =>
    pathSource(index < paths.length - 1 ? withoutDefault : rule, valuesReader(path, rule), {
      read: path.text,
      ...traitsOf(path),
    }),
  );
}

/** Returns the first rule whose condition holds for a user. Adds those before it to the trace, if one is given. */
export function firstThatHolds(
  rules: readonly ConditionalRule[],
  { resource }: SourceUser,
  { field, trace }: { field: FieldKey; trace?: TraceEntry[] | undefined },
): ConditionalRule | undefined {
  for (const rule of rules) {
    const { text, holds } = rule.condition;
    if (holds(resource)) return rule;
    trace?.push({ field, ...tracedRule(rule), outcome: 'skipped', reason: `when ${text} is false` });
  }
  return undefined;
}

/** Returns a rule as trace entries name it. */
export function tracedRule({ origin, text, condition }: Rule): Pick<TraceEntry, 'origin' | 'rule' | 'when'> {
  return {
    origin,
    rule: text,
    ...(condition ? { when: condition.text } : {}),
  };
}

/** Returns what the sources of a rule have in common: how a trace names the rule, and the group that its condition finds. */
function commonOf(rule: Rule): ReturnType<typeof tracedRule> & Pick<CompiledSource, 'groupOf'> {
  const group = rule.condition && conditionGroup(rule.condition);
  return {
    ...tracedRule(rule),
    ...(group ? { groupOf: ({ resource }: SourceUser) => group(groupsOf(resource)) } : {}),
  };
}

function pathSource(
  rule: Rule,
  read: ValuesReader,
  detail: Pick<CompiledSource, 'read' | 'firstDecides'> = {},
): CompiledSource {
  const { transform, hasDefault } = rule;
  const valuesOf = (user: SourceUser): Json[] => {
    const found = read(user);
    // Null represents a missing value, so that the `default` transform is applied to it.
    const isMissing = hasDefault && found.every((value) => toText(value) === undefined);
    return isMissing ? [...found, null] : found;
  };
  const source = { ...commonOf(rule), ...detail, valuesOf };
  return transform ? { ...source, prepare: (raw) => transformValue(raw, transform) } : source;
}

/** Returns what is special about a source that reads one path. The groups of a user are read in an order of our own. */
function traitsOf({ path }: RulePath): Pick<CompiledSource, 'firstDecides'> {
  return isGroupPath(path) ? { firstDecides: true } : {};
}

/** The maximum number of values that `join` reads. It bounds the cost of translating a user. */
const MAX_JOINED = 250;

/** Makes a function that reads the values of all paths: as a list, or joined to one text. */
function joinedReader(paths: RulePath[], separator: string | undefined): ValuesReader {
  const readers = paths.map((path) => valuesReader(path));
  return (user) => {
    const values = readers.flatMap((read) => read(user)).slice(0, MAX_JOINED);
    if (separator === undefined || values.length === 0) return values;
    const notText = values.find((value) => toText(value) === undefined);
    return [notText ?? values.map(toText).join(separator)];
  };
}

/** Reads the values of a source from a user. */
type ValuesReader = (user: SourceUser) => Json[];

/**
 * Makes a function that reads the values at a path, without unassigned ones. The identity provider does not choose the order of groups:
 * that of the entries of `map` counts, and groups without an entry are not read.
 */
export function valuesReader(
  { path }: RulePath,
  { placeInMap }: Pick<Rule, 'placeInMap'> = {},
): ValuesReader {
  const read = pathReader(userType, path);
  const valuesOf = (resource: ScimResource) =>
    read(resource)
      .map(toSimpleValue)
      .filter((value) => !isUnassigned(value));
  if (!placeInMap || !isGroupPath(path)) return ({ resource }) => valuesOf(resource);
  return ({ resource }) =>
    valuesOf(resource)
      .map((value) => ({ value, place: placeInMap(toText(value) ?? '') ?? -1 }))
      .filter(({ place }) => place >= 0)
      .sort((one, other) => one.place - other.place)
      .map(({ value }) => value);
}

/** Returns the `value` of an element of a multi-valued attribute (RFC 7643 §2.4); any other value unchanged. */
function toSimpleValue(value: Json): Json {
  return isObject(value) && value.value !== undefined ? value.value : value;
}

function transformValue(raw: Json, transform: (text: string | undefined) => Reading[]): Reading[] {
  const text = toText(raw);
  return text === undefined && raw !== null ? [readText(raw)] : transform(text);
}

/**
 * Makes the sources of a template: the first is the text; each of the others stands for a path that has no value, so
 * that the trace can name it.
 */
function templateSources(rule: Rule, parts: readonly TemplatePart[]): RuleSources {
  const { transform = toReading, hasDefault, input } = rule;
  const shared = commonOf(rule);
  const { mappingPath } = fixedText(input) ?? {};
  const readers = parts.map(partReader);
  const prepare = (raw: Json) => transformValue(raw, (one) => transform(one, { mappingPath }));
  const common = { ...shared, prepare, ...(mappingPath === undefined ? {} : { mappingPath }) };
  const noValue: Json[] = hasDefault ? [null] : [];
  const text: CompiledSource = {
    ...common,
    valuesOf: (user) => {
      const rendered = renderTemplate(readers, user);
      return rendered === '' ? noValue : [rendered];
    },
  };
  const isRequired = (part: TemplatePart): part is RulePath => typeof part === 'object' && 'path' in part;
  const missing = parts
    .filter(isRequired)
    .map((part): CompiledSource => ({ ...common, valuesOf: () => noValue, missing: part.text }));
  const required = parts.filter(isRequired).map(partReader);
  return {
    sources: [text, ...missing],
    pickSource: (user) => required.findIndex((read) => read(user) === undefined) + 1,
  };
}

function toReading(text: string | undefined): Reading[] {
  return [{ value: text ?? null }];
}

type PartReader = (user: SourceUser) => Json | undefined;

/**
 * Makes a function that reads one part of a template: its text, a value that is not text, or undefined. An optional part
 * without values is the empty text.
 */
function partReader(part: TemplatePart): PartReader {
  if (typeof part === 'string') return () => part;
  if ('optional' in part) {
    const readers = part.optional.map(partReader);
    return (user) => (readers.some((read) => read(user) === undefined) ? '' : renderTemplate(readers, user));
  }
  const read = valuesReader(part);
  return (user) => {
    const [first, ...others] = read(user);
    return [first, ...others].map(toText).find((text) => text !== undefined) ?? first;
  };
}

/**
 * Returns the text of a template, or the first value in it that is not text. Where an optional part vanishes between blanks, those
 * before it stay; at either end of the text, none stay.
 */
function renderTemplate(readers: readonly PartReader[], user: SourceUser): Json {
  let text = '';
  let hasVanished = false;
  for (const read of readers) {
    const part = read(user) ?? '';
    if (typeof part !== 'string' || part.length > MAX_VALUE_LENGTH) return part;
    text += hasVanished && (text === '' || /\s$/.test(text)) ? part.trimStart() : part;
    hasVanished = part === '' || (hasVanished && part.trim() === '');
    // Longer texts are not used.
    if (text.length > MAX_VALUE_LENGTH) break;
  }
  return hasVanished ? text.trimEnd() : text;
}
