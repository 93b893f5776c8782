import { isDeepStrictEqual } from 'node:util';

type Test = (value: unknown, operand: unknown) => boolean;

const lengthOf = (value: unknown): number | undefined =>
  typeof value === 'string' || Array.isArray(value) ? value.length : undefined;

/** Compares two numbers, or two strings such as times; a number and a string never compare. */
const comparison =
  (holds: (value: number | string, operand: number | string) => boolean): Test =>
  (value, operand) =>
    (typeof value === 'number' && typeof operand === 'number' && holds(value, operand)) ||
    (typeof value === 'string' && typeof operand === 'string' && holds(value, operand));

const lengthTest =
  (holds: (length: number, operand: number) => boolean): Test =>
  (value, operand) => {
    const length = lengthOf(value);
    return length !== undefined && typeof operand === 'number' && holds(length, operand);
  };

const isAbsent = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const types = {
  string: (value) => typeof value === 'string' && value !== '',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
} satisfies Record<string, (value: unknown) => boolean>;

const contains: Test = (value, operand) => {
  if (typeof value === 'string') return typeof operand === 'string' && value.includes(operand);
  return Array.isArray(value) && value.some((item) => isDeepStrictEqual(item, operand));
};

/** The matchers of the scenario format, by name. */
const matchers = {
  $exists: (value, operand) => (value !== undefined) === operand,
  $absent: (value, operand) => isAbsent(value) === operand,
  $type: (value, operand) => isType(operand) && types[operand](value),
  $gte: comparison((value, operand) => value >= operand),
  $lte: comparison((value, operand) => value <= operand),
  $regex: (value, operand) =>
    typeof value === 'string' && typeof operand === 'string' && toRegExp(operand).test(value),
  $ieq: (value, operand) =>
    typeof value === 'string' && typeof operand === 'string' && value.toLowerCase() === operand.toLowerCase(),
  $contains: contains,
  $containsAll: (value, operand) => Array.isArray(operand) && operand.every((item) => contains(value, item)),
  $in: (value, operand) =>
    Array.isArray(operand) && operand.some((item) => isDeepStrictEqual(value ?? null, item)),
  $not: (value, operand) => !matches(value, operand),
  $len: lengthTest((length, operand) => length === operand),
  $lenGte: lengthTest((length, operand) => length >= operand),
  $lenLte: lengthTest((length, operand) => length <= operand),
} satisfies Record<string, Test>;

/**
 * Returns true if a value equals the expected literal, type included, or satisfies all matchers of the expected object.
 */
export function matches(value: unknown, expected: unknown): boolean {
  const tests = matcherEntries(expected);
  if (!tests) return isDeepStrictEqual(value, expected);
  return tests.every(([name, operand]) => {
    if (!isMatcher(name)) throw new SyntaxError(`"${name}" is no matcher`);
    return matchers[name](value, operand);
  });
}

/** The names of all matchers. */
export const matcherNames = Object.keys(matchers);

/** The fault of an expectation: an unknown matcher, or a pattern that is no regular expression. */
export type ExpectationFault = { kind: 'unknown'; name: string } | { kind: 'pattern'; pattern: string };

/** Returns the first fault of an expectation; undefined for a literal, or an object of known matchers. */
export function findExpectationFault(expected: unknown): ExpectationFault | undefined {
  for (const [name, operand] of matcherEntries(expected) ?? []) {
    if (!isMatcher(name)) return { kind: 'unknown', name };
    if (name === '$regex' && !isExpression(operand)) return { kind: 'pattern', pattern: String(operand) };
    const inner = name === '$not' ? findExpectationFault(operand) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

function matcherEntries(expected: unknown): [string, unknown][] | undefined {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) return undefined;
  const entries = Object.entries(expected);
  return entries.length > 0 && entries.every(([name]) => name.startsWith('$')) ? entries : undefined;
}

function isMatcher(name: string): name is keyof typeof matchers {
  return Object.hasOwn(matchers, name);
}

function isType(name: unknown): name is keyof typeof types {
  return typeof name === 'string' && Object.hasOwn(types, name);
}

function isExpression(operand: unknown): boolean {
  try {
    return typeof operand === 'string' && toRegExp(operand) !== undefined;
  } catch {
    return false;
  }
}

/** Converts flags at the beginning of a pattern, such as `(?i)`, to flags of a RegExp. */
function toRegExp(pattern: string): RegExp {
  const [, flags = '', rest = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
  return new RegExp(rest, flags);
}

/**
 * Reads the value at a path of `a.b`, `[0]`, `["urn:…"]`, `[?(key=="v")]` (the first item that matches) and `$nulls` (the number of
 * nulls in the value before it). Returns undefined if there is no value. Throws a SyntaxError for an invalid path.
 */
export function readPath(value: unknown, path: string): unknown {
  const readers = parsePath(path);
  if (!readers) throw new SyntaxError(`"${path}" is no path`);
  return readers.reduce((part, read) => read(part), value);
}

/** Returns true if a path is valid for `readPath`. */
export function isPath(path: string): boolean {
  return parsePath(path) !== undefined;
}

/** Reads a part of a value. */
type Reader = (value: unknown) => unknown;

const literal = String.raw`"(?:[^"\\]|\\.)*"`;
const segment = new RegExp(
  [
    String.raw`\[\?\(\s*(?:@\.)?(?<key>[\w$.:-]+)\s*==\s*(?<operand>${literal}|[\w.+-]+)\s*\)\]`,
    String.raw`\[(?<quoted>${literal})\]`,
    String.raw`\[(?<index>\d+)\]`,
    String.raw`\.?(?<name>[^.[\]]+)`,
  ].join('|'),
  'g',
);

function parsePath(path: string): Reader[] | undefined {
  const segments = [...path.matchAll(segment)];
  if (segments.map(([text]) => text).join('') !== path) return undefined;
  return segments.map(({ groups = {} }) => toReader(groups));
}

function toReader({ key, operand = '', quoted, index, name = '' }: Record<string, string>): Reader {
  if (key !== undefined) {
    const wanted = parseLiteral(operand);
    return (list) => (Array.isArray(list) ? list.find((item) => memberOf(item, key) === wanted) : undefined);
  }
  if (index !== undefined) return (list) => (Array.isArray(list) ? list[Number(index)] : undefined);
  if (name === '$nulls') return countNulls;
  const member = quoted === undefined ? name : String(parseLiteral(quoted));
  return (object) => memberOf(object, member);
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function countNulls(value: unknown): number {
  if (value === null) return 1;
  if (typeof value !== 'object') return 0;
  return Object.values(value).reduce((sum: number, member) => sum + countNulls(member), 0);
}

function parseLiteral(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
