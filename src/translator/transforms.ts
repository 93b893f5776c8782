import { RE2JS } from 're2js';
import { readCountry } from './countries.ts';
import { jsonPath } from './mapping-faults.ts';
import { isoDate, parseDate, readLanguage, readPhoneNumber } from './readers.ts';
import { MAX_VALUE_LENGTH, type Reading, unusable, withMappingPath } from './values.ts';

/** A text, or why there is none; with the place in the mapping, if the mapping itself names the text. */
type State = ({ text: string } | { problem: string }) & { mappingPath?: string };

/** What a step makes of a text, or why nothing comes of it. */
type Step = (text: string) => State;

/** What of the mapping a step may depend on. */
interface Setting {
  /** `phone.defaultCountry`. */
  country: string | undefined;
}

/** The same, with the place of the transforms in the mapping. */
interface Placed extends Setting {
  path: PropertyKey[];
}

/** The transforms that take no option. */
export const plainTransforms = {
  trim: () => (text) => done(text.trim()),
  lowercase: () => (text) => done(text.toLowerCase()),
  uppercase: () => (text) => done(text.toUpperCase()),
  titlecase: () => (text) => done(titlecase(text)),
  digits: () => (text) => done(text.replace(/\D/g, '')),
  date: () => (text) => orElse(isoDate(text.trim()), 'it is not a date of the form YYYY-MM-DD'),
  phone: ({ country }) => phone(country),
  country: () => (text) => fromReading(readCountry(text)),
  language: () => (text) => fromReading(readLanguage(text)),
} satisfies Record<string, (setting: Setting) => Step>;

/** The transforms that take an option, by their one name. */
export interface OptionTransforms {
  /** How the date is written, e.g. `DD/MM/YYYY`. */
  date: string;
  /** The country whose national way of writing is meant. */
  phone: string;
  prefix: string;
  replace: { pattern: string; with: string };
  map: Record<string, string>;
  /** The value where there is none, or where the steps before came to nothing. */
  default: string;
}

const optionTransforms: {
  [Name in Exclude<keyof OptionTransforms, 'default'>]: (
    option: OptionTransforms[Name],
    path: PropertyKey[],
  ) => Step;
} = {
  date: (format) => (text) =>
    orElse(parseDate(text.trim(), format), `it is not a date of the form ${format}`),
  phone: (country) => phone(country),
  prefix: (prefix) => (text) => done(`${prefix}${text}`),
  replace: (option) => replacer(option),
  map: (entries, path) => (text) => {
    const entry = Object.hasOwn(entries, text) ? entries[text] : undefined;
    if (entry === undefined) return { problem: 'the map of the rule has no entry for it' };
    return { text: entry, mappingPath: jsonPath([...path, 'map', text]) };
  },
};

/** The name of a transform that takes no option. */
export type PlainTransform = keyof typeof plainTransforms;

/** One transform as a mapping file has it. */
type Transform = PlainTransform | { [Name in keyof OptionTransforms]?: OptionTransforms[Name] | undefined };

/** Compiles a rule's transforms into one function of a value; no value goes in where a default may come out. */
export function compileTransforms(
  transforms: Transform[],
  { country, path }: Placed,
): (text: string | undefined) => Reading {
  const steps = transforms.map((transform, index) =>
    compileStep(transform, { country, path: [...path, index] }),
  );
  return (text) => {
    let state: State = text === undefined ? { problem: 'there is no value' } : { text };
    for (const step of steps) state = step(state);
    return readingOf(state);
  };
}

/** What each result of a `map` and each `default` becomes in the steps that follow it. */
export function constantsOf(transforms: Transform[], { country, path }: Placed): Reading[] {
  return transforms.flatMap((transform, index) => {
    const own = ownTexts(transform, [...path, index]);
    const steps = transforms
      .slice(index + 1)
      .map((following, next) => compileStep(following, { country, path: [...path, index + 1 + next] }));
    return own.map((state) => readingOf(steps.reduce((before, step) => step(before), state)));
  });
}

/** The texts that a transform brings in. A map may well say that a value becomes nothing. */
function ownTexts(transform: Transform, path: PropertyKey[]): State[] {
  if (typeof transform === 'string') return [];
  const { map = {}, default: fallback } = transform;
  const entries = Object.entries(map)
    .filter(([, text]) => text.trim() !== '')
    .map(([from, text]) => ({ text, mappingPath: jsonPath([...path, 'map', from]) }));
  if (fallback === undefined) return entries;
  return [...entries, { text: fallback, mappingPath: jsonPath([...path, 'default']) }];
}

function readingOf(state: State): Reading {
  const { mappingPath } = state;
  if ('text' in state) return { value: state.text, ...(mappingPath === undefined ? {} : { mappingPath }) };
  const { fault } = unusable(
    'transformFailed',
    `The transforms of the rule give no value: ${state.problem}.`,
    'Correct the value in the identity provider, or the transforms in the mapping; a default at their end would give a value.',
  );
  return { fault: mappingPath === undefined ? fault : withMappingPath(fault, mappingPath) };
}

function compileStep(transform: Transform, setting: Placed): (state: State) => State {
  if (typeof transform === 'string') return onText(plainTransforms[transform](setting));
  const { default: fallback } = transform;
  if (fallback === undefined) return onText(stepOf(transform, setting.path));
  const mappingPath = jsonPath([...setting.path, 'default']);
  return (state) => ('text' in state ? state : { text: fallback, mappingPath });
}

function stepOf(
  { date, phone: country, prefix, replace, map }: Exclude<Transform, string>,
  path: PropertyKey[],
): Step {
  if (date !== undefined) return optionTransforms.date(date, path);
  if (country !== undefined) return optionTransforms.phone(country, path);
  if (prefix !== undefined) return optionTransforms.prefix(prefix, path);
  if (replace !== undefined) return optionTransforms.replace(replace, path);
  return optionTransforms.map(map ?? {}, path);
}

/** How a transform is written in a trace. */
export function describeTransform(transform: Transform): string {
  return typeof transform === 'string' ? transform : JSON.stringify(transform);
}

/** A text that the mapping names stays the mapping's own through the steps that follow. */
function onText(step: Step): (state: State) => State {
  return (state) => {
    if (!('text' in state)) return state;
    const { mappingPath } = state;
    const next = { ...(mappingPath === undefined ? {} : { mappingPath }), ...step(state.text) };
    if (!('text' in next)) return next;
    const { text, ...rest } = next;
    // Steps that write more than they read would, one after another, fill the memory.
    if (text.length > MAX_VALUE_LENGTH)
      return { ...rest, problem: `it becomes longer than ${MAX_VALUE_LENGTH} characters` };
    if (text.trim() !== '') return next;
    // A map may well say that a value becomes nothing: no fault of the mapping. What the mapping itself gave may not.
    const isMeant = mappingPath === undefined || rest.mappingPath !== mappingPath;
    return { ...(isMeant ? {} : { mappingPath }), problem: 'nothing is left of it' };
  };
}

function done(text: string): { text: string } {
  return { text };
}

function orElse(text: string | undefined, problem: string): State {
  return text === undefined ? { problem } : { text };
}

function fromReading(reading: Reading): State {
  if ('fault' in reading) return { problem: reading.fault.reason.replace(/\.$/, '') };
  return { text: String(reading.value) };
}

function phone(country: string | undefined): Step {
  return (text) => fromReading(readPhoneNumber(text, country === undefined ? [] : [country]));
}

function replacer({ pattern, with: replacement }: OptionTransforms['replace']): Step {
  const compiled = compilePattern(pattern);
  return (text) => {
    if (typeof compiled === 'string')
      return { problem: `the pattern is not a regular expression (${compiled})` };
    return done(compiled.matcher(text).replaceAll(replacement));
  };
}

function titlecase(text: string): string {
  return text.toLowerCase().replace(/(^|[\s\-'’])\p{L}/gu, (start) => start.toUpperCase());
}

/** Compiles an admin's regular expression (RE2 syntax, which matches in linear time); a text says what is wrong with it. */
export function compilePattern(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return error instanceof Error ? error.message : 'not a regular expression';
  }
}

/** The number of a group that a replacement names and the pattern does not have; the whole match is `$&` and not `$0`, a dollar `$$`. */
export function missingGroup(pattern: RE2JS, replacement: string): number | undefined {
  const named = [...replacement.matchAll(/\$(?:\$|(\d))/g)].flatMap(([, digit]) => digit ?? []).map(Number);
  return named.find((group) => group === 0 || group > pattern.groupCount());
}
