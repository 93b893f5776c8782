import { RE2JS } from 're2js';
import { cleanText, MAX_VALUE_LENGTH } from '../../schema/clean-text.ts';
import { jsonPath } from '../../schema/json-path.ts';
import { patternSize } from '../../schema/pattern-size.ts';
import { readCountry } from './countries.ts';
import { dateParser, isoDate } from './dates.ts';
import { readLanguage, readPhoneNumber } from './readers.ts';
import { lowercase, titlecase } from './titlecase.ts';
import { toTravelDocumentText } from './travel-document-text.ts';
import { type Reading, unusable, withMappingPath } from './values.ts';

/**
 * The result of a transform: a text, or why there is none. `mappingPath` is set if the text comes from the mapping
 * file.
 */
type State = ({ text: string } | { problem: string }) & { mappingPath?: string };

/** A compiled transform. It makes several values of one only if it divides it. */
type Step = (text: string) => State | State[];

/** The settings of the mapping file that transforms use. */
interface Setting {
  /** The value of the setting `phone.defaultCountry`. */
  country: string | undefined;
}

/** The settings, and the JSON path of the transforms in the mapping file for messages. */
interface LocatedSetting extends Setting {
  path: PropertyKey[];
}

/** The transforms without an option. */
export const plainTransforms = {
  trim: () => (text) => textState(text.trim()),
  lowercase: () => (text) => textState(lowercase(text)),
  uppercase: () => (text) => textState(text.toUpperCase()),
  titlecase: () => (text) => textState(titlecase(text)),
  digits: () => (text) => textState(text.replace(/\D/g, '')),
  ascii: () => (text) => asciiStep(text),
  date: () => (text) => stateOr(isoDate(text.trim()), 'it is not a date of the form YYYY-MM-DD'),
  phone: ({ country }) => phoneStep(country),
  country: () => (text) => toState(readCountry(text)),
  language: () => (text) => toState(readLanguage(text)),
  // The source of the rule reads all values.
  join: () => textState,
} satisfies Record<string, (setting: Setting) => Step>;

/** The transforms with an option: objects with one of these members. */
export interface OptionTransforms {
  /** The format of the date, e.g. `DD/MM/YYYY`. */
  date: string;
  /** The country of national numbers (ISO 3166-1 alpha-2). */
  phone: string;
  prefix: string;
  replace: { pattern: string; with: string };
  map: Record<string, string>;
  /** The separator between the values of all sources. */
  join: string;
  /** The separator at which a text is divided into several values. */
  split: string;
  /** The text to use if there is no value or an earlier transform returns none. */
  default: string;
}

const optionTransforms: {
  [Name in Exclude<keyof OptionTransforms, 'default'>]: (
    option: OptionTransforms[Name],
    path: PropertyKey[],
  ) => Step;
} = {
  date: (format) => {
    const parse = dateParser(format);
    return (text) => stateOr(parse(text.trim()), `it is not a date of the form ${format}`);
  },
  phone: (country) => phoneStep(country),
  prefix: (prefix) => (text) => textState(`${prefix}${text}`),
  replace: (option, path) => replaceStep(option, path),
  map: (entries, path) => mapStep(entries, path),
  join: () => textState,
  split: (separator) => splitStep(separator),
};

/** The name of a transform without an option. */
export type PlainTransform = keyof typeof plainTransforms;

/** One transform, as written in a mapping file. */
export type Transform =
  | PlainTransform
  | { [Name in keyof OptionTransforms]?: OptionTransforms[Name] | undefined };

/** Applies the transforms of a rule. The text is undefined if there is no value, which `default` replaces. */
export type CompiledTransforms = (
  text: string | undefined,
  options?: {
    /** The JSON path of the text, if it comes from the mapping file. */
    mappingPath?: string | undefined;
    /** True if `default` is left out, because another source is tried first. */
    skipsDefault?: boolean;
  },
) => Reading[];

/** Compiles the transforms of a rule to one function. */
export function compileTransforms(
  transforms: Transform[],
  { country, path }: LocatedSetting,
): CompiledTransforms {
  const steps = transforms.map((transform, index) => ({
    apply: compileStep(transform, { country, path: [...path, index] }),
    isDefault: isDefault(transform),
  }));
  return (text, { mappingPath, skipsDefault = false } = {}) => {
    const state: State = text === undefined ? { problem: 'there is no value' } : { text };
    if (mappingPath !== undefined) state.mappingPath = mappingPath;
    let states = [state];
    for (const step of steps) if (!(skipsDefault && step.isDefault)) states = states.flatMap(step.apply);
    return states.map(toReading);
  };
}

/** True for the transform that gives a value if there is none. */
export function isDefault(transform: Transform): boolean {
  return typeof transform === 'object' && transform.default !== undefined;
}

/**
 * Returns the constants of a rule (its fixed text, results of `map`, and `default`) with all later transforms applied.
 */
export function constantsOf(
  transforms: Transform[],
  { country, path }: LocatedSetting,
  fixed: { text: string; mappingPath: string } | undefined,
): Reading[] {
  const steps = transforms.map((transform, index) =>
    compileStep(transform, { country, path: [...path, index] }),
  );
  const transformed = (state: State, done: number): Reading[] =>
    steps
      .slice(done)
      .reduce((before, step) => before.flatMap(step), [state])
      .map(toReading);
  return [
    ...(fixed ? transformed(fixed, 0) : []),
    ...transforms.flatMap((transform, index) =>
      textsIn(transform, [...path, index]).flatMap((state) => transformed(state, index + 1)),
    ),
  ];
}

/** Returns the constants of one transform. An empty result of `map` is intended: the value is then omitted. */
function textsIn(transform: Transform, path: PropertyKey[]): State[] {
  if (typeof transform === 'string') return [];
  const { map = {}, default: fallback } = transform;
  const entries = Object.entries(map)
    .filter(([, text]) => text.trim() !== '')
    .map(([from, text]) => ({ text, mappingPath: jsonPath([...path, 'map', from]) }));
  if (fallback === undefined) return entries;
  return [...entries, { text: fallback, mappingPath: jsonPath([...path, 'default']) }];
}

function toReading(state: State): Reading {
  const { mappingPath } = state;
  if ('text' in state) return { value: state.text, ...(mappingPath === undefined ? {} : { mappingPath }) };
  const { fault } = unusable(
    'transformFailed',
    `The transforms of the rule give no value: ${state.problem}.`,
    'Correct the value in the identity provider, or the transforms in the mapping; a default at their end would give a value.',
  );
  return { fault: mappingPath === undefined ? fault : withMappingPath(fault, mappingPath) };
}

function compileStep(transform: Transform, setting: LocatedSetting): (state: State) => State[] {
  if (typeof transform === 'string') return onText(plainTransforms[transform](setting));
  const { default: fallback } = transform;
  if (fallback === undefined) return onText(stepOf(transform, setting.path));
  const mappingPath = jsonPath([...setting.path, 'default']);
  return (state) => ['text' in state ? state : { text: fallback, mappingPath }];
}

function stepOf(
  { date, phone: country, prefix, replace, map, join, split }: Exclude<Transform, string>,
  path: PropertyKey[],
): Step {
  if (date !== undefined) return optionTransforms.date(date, path);
  if (country !== undefined) return optionTransforms.phone(country, path);
  if (prefix !== undefined) return optionTransforms.prefix(prefix, path);
  if (replace !== undefined) return optionTransforms.replace(replace, path);
  if (join !== undefined) return optionTransforms.join(join, path);
  if (split !== undefined) return optionTransforms.split(split, path);
  return optionTransforms.map(map ?? {}, path);
}

/** Makes a transform of texts a transform of results. A text that comes from the mapping keeps its mapping path. */
function onText(step: Step): (state: State) => State[] {
  return (state) => {
    if (!('text' in state)) return [state];
    return [step(state.text)].flat().map((next) => withLimits(state.mappingPath, next));
  };
}

/** Checks the result of one transform. `mappingPath` is that of the text before it. */
function withLimits(mappingPath: string | undefined, result: State): State {
  const next = { ...(mappingPath === undefined ? {} : { mappingPath }), ...result };
  if (!('text' in next)) return next;
  const { text, ...rest } = next;
  // Limit the length after each transform: a few `replace` transforms in a row could otherwise fill the memory.
  if (text.length > MAX_VALUE_LENGTH)
    return { ...rest, problem: `it becomes longer than ${MAX_VALUE_LENGTH} characters` };
  if (text.trim() !== '') return next;
  // An empty result of this `map` is intended. If a constant of an earlier transform becomes empty, the mapping is at
  // fault.
  const isIntended = mappingPath === undefined || rest.mappingPath !== mappingPath;
  return { ...(isIntended ? {} : { mappingPath }), problem: 'nothing is left of it' };
}

function textState(text: string): { text: string } {
  return { text };
}

function stateOr(text: string | undefined, problem: string): State {
  return text === undefined ? { problem } : { text };
}

function toState(reading: Reading): State {
  if ('fault' in reading) return { problem: reading.fault.reason.replace(/\.$/, '') };
  return { text: String(reading.value) };
}

function phoneStep(country: string | undefined): Step {
  return (text) => toState(readPhoneNumber(text, country === undefined ? [] : [country]));
}

function mapStep(entries: OptionTransforms['map'], path: PropertyKey[]): Step {
  const keyOf = mapKeyFinder(entries);
  return (text) => {
    const key = keyOf(text);
    const entry = key === undefined ? undefined : entries[key];
    if (key === undefined || entry === undefined)
      return { problem: 'the map of the rule has no entry for it' };
    return { text: entry, mappingPath: jsonPath([...path, 'map', key]) };
  };
}

/** Values have no invisible characters any more, so neither have the keys; an exact key comes first. */
function mapKeyFinder(entries: OptionTransforms['map']): (text: string) => string | undefined {
  const keys = new Map(Object.keys(entries).map((key) => [cleanText(key), key] as const));
  return (text) => (Object.hasOwn(entries, text) ? text : keys.get(text));
}

/**
 * Returns a function that finds the entry of the first `map` that a text fits, after the transforms before it, by its place among the
 * entries. Undefined if there is no `map`.
 */
export function compileMapPlace(
  transforms: Transform[],
  { country, path }: LocatedSetting,
): ((text: string) => number | undefined) | undefined {
  const index = transforms.findIndex((one) => typeof one === 'object' && one.map !== undefined);
  const found = transforms[index];
  if (typeof found !== 'object' || found.map === undefined) return undefined;
  const keyOf = mapKeyFinder(found.map);
  const places = new Map(Object.keys(found.map).map((key, place) => [key, place]));
  const before = compileTransforms(transforms.slice(0, index), { country, path });
  return (text) => {
    const keys = before(text).map((reading) =>
      'value' in reading ? keyOf(String(reading.value)) : undefined,
    );
    const found = keys.flatMap((key) => (key === undefined ? [] : (places.get(key) ?? [])));
    return found.length > 0 ? Math.min(...found) : undefined;
  };
}

/** The maximum number of values that `split` makes of one. It bounds the cost of translating a user. */
const MAX_PARTS = 250;

function splitStep(separator: string): Step {
  return (text) => {
    const parts = text.split(separator, MAX_PARTS + 1).map((part) => part.trim());
    if (parts.length > MAX_PARTS) return { problem: `it has more than ${MAX_PARTS} parts` };
    const texts = parts.filter((part) => part !== '');
    return texts.length === 0 ? textState('') : texts.map(textState);
  };
}

/** Returns how a rule joins its values, if it does. */
export function joinOf([first]: Transform[]): { separator?: string } | undefined {
  if (first === 'join') return {};
  if (typeof first !== 'object' || first.join === undefined) return undefined;
  return { separator: first.join };
}

/**
 * The longest text that a pattern reads, in characters. The time of a match grows with the length of the text and with the size of the
 * pattern.
 */
export const MAX_PATTERN_TEXT = 1_000;

/**
 * A text that is too long for a pattern is a fault of the mapping, so that the field stays as it is: the limit must not remove a value
 * that was sent before it existed.
 */
function replaceStep({ pattern, with: replacement }: OptionTransforms['replace'], path: PropertyKey[]): Step {
  const compiled = compilePattern(pattern);
  const mappingPath = jsonPath([...path, 'replace']);
  return (text) => {
    if (text.length > MAX_PATTERN_TEXT)
      return {
        problem: `it has ${text.length} characters, and a pattern reads at most ${MAX_PATTERN_TEXT}`,
        mappingPath,
      };
    if (typeof compiled === 'string')
      return { problem: `the pattern is not a regular expression (${compiled})` };
    return textState(compiled.matcher(text).replaceAll(replacement));
  };
}

/** Letters without a name in the table make the whole text unusable: half a name is worse than none. */
function asciiStep(text: string): State {
  const { ascii, unknown } = toTravelDocumentText(text);
  return unknown === undefined ? textState(ascii) : { problem: `${unknown} is not a Latin letter` };
}

/**
 * Compiles the regular expression of a travel API, whose size nobody has checked. Undefined if it is none in RE2 syntax, or too large to
 * be compiled and matched in a few milliseconds.
 */
export function compileForeignPattern(pattern: string): RE2JS | undefined {
  if (pattern.length > MAX_FOREIGN_LENGTH || patternSize(pattern) > MAX_FOREIGN_SIZE) return undefined;
  const compiled = compilePattern(pattern);
  return typeof compiled === 'string' ? undefined : compiled;
}

const MAX_FOREIGN_LENGTH = 1_000;
const MAX_FOREIGN_SIZE = 1_000;

/** Compiles a regular expression in RE2 syntax, which matches in linear time; returns the error message if it cannot. */
export function compilePattern(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return error instanceof Error ? error.message : 'not a regular expression';
  }
}

/** The number of a group in a replacement that the pattern does not have. `$&` is the whole match and `$$` a dollar; `$0` is no group. */
export function missingGroup(pattern: RE2JS, replacement: string): number | undefined {
  const groups = [...replacement.matchAll(/\$(?:\$|(\d))/g)].flatMap(([, digit]) => digit ?? []).map(Number);
  return groups.find((group) => group === 0 || group > pattern.groupCount());
}
