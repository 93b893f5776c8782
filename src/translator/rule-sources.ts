import { pathReader } from '../schema/filter-match.ts';
import { isObject, type Json, type ScimResource } from '../schema/resource.ts';
import { userType } from '../schema/resource-types.ts';
import { conditionGroup, groupsOf } from './groups.ts';
import { readText } from './readers.ts';
import { isGroupPath, type RulePath, type TemplatePart } from './rule-syntax.ts';
import { type ConditionalRule, fixedText, type Rule } from './rules.ts';
import type { Source, SourceUser } from './sources.ts';
import type { FieldKey, TraceEntry } from './translation.ts';
import { isUnassigned, MAX_VALUE_LENGTH, type Reading, toText } from './values.ts';

/** A source as the rules in force use it. */
export interface CompiledSource extends Source, Pick<TraceEntry, 'when' | 'read'> {
  origin: TraceEntry['origin'];
  /** The path of a template that has no value, if the source stands for that path. */
  missing?: string;
  /** The JSON path of the value, if the mapping file contains it. */
  mappingPath?: string;
  /** Applies the transforms of a mapping rule, before the value is read. */
  prepare?: (raw: Json) => Reading;
  /** True if the first value decides a field that takes one, even if it is unusable: the groups of a user have an order of our own. */
  firstDecides?: true;
  /** Returns the group of a user that the condition of the rule has found; undefined if the condition names none. */
  groupOf?: (user: SourceUser) => string | undefined;
}

/** The sources of a mapping rule. */
interface RuleSources {
  sources: readonly CompiledSource[];
  /** Returns the index of the source that is used for a user. Undefined for a rule with one source. */
  pickSource?: (user: SourceUser) => number;
}

/** Makes the sources of a mapping rule: one for each of its paths, or those of its template. */
export function ruleSources(rule: Rule): RuleSources {
  const { input } = rule;
  if (input.kind === 'template') return templateSources(rule, input.parts);
  const [first, ...others] = input.paths;
  if (first && others.length === 0) return { sources: [pathSource(rule, first)] };
  const readers = input.paths.map((path) => valuesReader(path, rule));
  return {
    sources: input.paths.map((path) => pathSource(rule, path, { read: path.text })),
    pickSource: ({ resource }) => {
      const index = readers.findIndex((read) => read(resource).length > 0);
      return index < 0 ? readers.length - 1 : index;
    },
  };
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
    const { origin, text: input } = rule;
    const reason = `when ${text} is false`;
    trace?.push({ field, origin, rule: input, when: text, outcome: 'skipped', reason });
  }
  return undefined;
}

function tracedRule({
  origin,
  text,
  condition,
}: Rule): Pick<CompiledSource, 'origin' | 'rule' | 'when' | 'groupOf'> {
  const group = condition && conditionGroup(condition);
  return {
    ...{ origin, rule: text },
    ...(condition ? { when: condition.text } : {}),
    ...(group ? { groupOf: ({ resource }) => group(groupsOf(resource)) } : {}),
  };
}

function pathSource(rule: Rule, path: RulePath, detail: { read?: string } = {}): CompiledSource {
  const { transform, hasDefault } = rule;
  const read = valuesReader(path, rule);
  const valuesOf = ({ resource }: SourceUser): Json[] => {
    const found = read(resource);
    // Null represents a missing value, so that the `default` transform is applied to it.
    const isMissing = hasDefault && found.every((value) => toText(value) === undefined);
    return isMissing ? [...found, null] : found;
  };
  const order = isGroupPath(path.path) ? ({ firstDecides: true } as const) : {};
  const source = { ...tracedRule(rule), ...detail, ...order, valuesOf };
  return transform ? { ...source, prepare: (raw) => transformValue(raw, transform) } : source;
}

/**
 * Makes a function that reads the values at a path, without unassigned ones. The identity provider does not choose the order of groups:
 * that of the entries of `map` counts, and groups without an entry are not read.
 */
export function valuesReader(
  { path }: RulePath,
  { placeInMap }: Pick<Rule, 'placeInMap'> = {},
): (resource: ScimResource) => Json[] {
  const read = pathReader(userType, path);
  const valuesOf = (resource: ScimResource) =>
    read(resource)
      .map(toSimpleValue)
      .filter((value) => !isUnassigned(value));
  if (!placeInMap || !isGroupPath(path)) return valuesOf;
  return (resource) =>
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

function transformValue(raw: Json, transform: (text: string | undefined) => Reading): Reading {
  const text = toText(raw);
  return text === undefined && raw !== null ? readText(raw) : transform(text);
}

/**
 * Makes the sources of a template: the first is the text; each of the others stands for a path that has no value, so
 * that the trace can name it.
 */
function templateSources(rule: Rule, parts: readonly TemplatePart[]): RuleSources {
  const { transform = toReading, hasDefault, input } = rule;
  const traced = tracedRule(rule);
  const { mappingPath } = fixedText(input) ?? {};
  const readers = parts.map(partReader);
  const prepare = (raw: Json) => transformValue(raw, (one) => transform(one, mappingPath));
  const common = { ...traced, prepare, ...(mappingPath === undefined ? {} : { mappingPath }) };
  const text: CompiledSource = {
    ...common,
    valuesOf: ({ resource }) => [renderTemplate(readers, resource)],
  };
  const missing = parts
    .filter((part) => typeof part === 'object')
    .map(
      (part): CompiledSource => ({
        ...common,
        valuesOf: () => (hasDefault ? [null] : []),
        missing: part.text,
      }),
    );
  const paths = readers.filter((_, index) => typeof parts[index] === 'object');
  return {
    sources: [text, ...missing],
    pickSource: ({ resource }) => paths.findIndex((read) => read(resource) === undefined) + 1,
  };
}

function toReading(text: string | undefined): Reading {
  return { value: text ?? null };
}

/** Makes a function that reads one part of a template: its text, a value that is not text, or undefined. */
function partReader(part: TemplatePart): (resource: ScimResource) => Json | undefined {
  if (typeof part === 'string') return () => part;
  const read = valuesReader(part);
  return (resource) => {
    const [first, ...others] = read(resource);
    return [first, ...others].map(toText).find((text) => text !== undefined) ?? first;
  };
}

/** Returns the text of a template, or the first value in it that is not text. */
function renderTemplate(
  readers: readonly ((resource: ScimResource) => Json | undefined)[],
  resource: ScimResource,
): Json {
  let text = '';
  for (const read of readers) {
    const part = read(resource) ?? '';
    if (typeof part !== 'string' || part.length > MAX_VALUE_LENGTH) return part;
    text += part;
    // Longer texts are not used.
    if (text.length > MAX_VALUE_LENGTH) break;
  }
  return text;
}
