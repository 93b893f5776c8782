import { foldCase } from '../../schema/case-fold.ts';
import { isNestedTooDeep } from '../../schema/json-depth.ts';
import type { Json } from '../../schema/resource.ts';

/** The texts by which records name a person. */
export interface PersonNames {
  /** Email addresses and ids. They name the person wherever they occur in a text. */
  unique: readonly string[];
  /** UserName, externalId, full name and phone number. They name the person only if they are the whole value. */
  whole: readonly string[];
}

/** Recognizes the names of a person in texts. */
export interface NameMatcher {
  /** Returns true if a value names the person. Only for values that are known to refer to a person. */
  matchesValue(value: string): boolean;
  /**
   * Returns true if a value names the person, for values of any meaning. It compares unique names only: `admin` may be
   * a userName and also a role of another person.
   */
  matchesUnique(value: string): boolean;
  /** Returns true if a sentence contains any name of the person. */
  matchesSentence(sentence: string): boolean;
  /** Returns true if the person is named in any string of a JSON text, or in a text that is not JSON. */
  matchesJson(text: string): boolean;
}

/** Returns a matcher that ignores case. A name within a longer word, such as `ann` in `joann`, does not match. */
export function nameMatcher({ unique, whole }: PersonNames): NameMatcher {
  const folded = (texts: readonly string[]) =>
    [...new Set(texts.map(foldCase))].filter((text) => text !== '');
  const parts = folded(unique);
  const values = new Set(folded(whole));
  const inTexts = wholeWordsPattern(parts);
  const inSentences = wholeWordsPattern([...parts, ...values]);
  // The names in the escaped form of JSON, for a quick test that rules out most texts.
  const spelled = [
    ...new Set([...parts, ...values].flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])),
  ];
  const isNamed = (value: string) => {
    const text = foldCase(value);
    return values.has(text) || inTexts.test(text);
  };
  return {
    matchesValue: isNamed,
    matchesUnique: (value) => inTexts.test(foldCase(value)),
    matchesSentence: (sentence) => inSentences.test(foldCase(sentence)),
    matchesJson: (text) => {
      const plain = foldCase(text);
      if (!text.includes('\\u') && !spelled.some((name) => plain.includes(name))) return false;
      const json = tryParseJson(text);
      return json === undefined ? isNamed(unescapeJson(text)) : hasMatchingText(json, isNamed);
    },
  };
}

function wholeWordsPattern(texts: string[]): RegExp {
  if (texts.length === 0) return /(?!)/;
  const any = texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  return new RegExp(
    `(?<![\\p{L}\\p{N}_]|[\\p{L}\\p{N}][.+@\\-])(?:${any})(?![\\p{L}\\p{N}_]|[.+@\\-][\\p{L}\\p{N}])`,
    'u',
  );
}

function tryParseJson(text: string): Json | undefined {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    const json: unknown = JSON.parse(text);
    return isNestedTooDeep(json) ? undefined : (json as Json);
  } catch {
    // The text is not JSON, or was truncated.
    return undefined;
  }
}

/** Replaces escape sequences, which would otherwise join a name with the letter before it. */
function unescapeJson(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\["\\/bfnrt]/g, ' ');
}

function hasMatchingText(value: Json, isNamed: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isNamed(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((one) => hasMatchingText(one, isNamed));
  return Object.entries(value).some(([name, one]) => isNamed(name) || hasMatchingText(one, isNamed));
}

/** The text that replaces the name of an erased person. */
export const REDACTED = 'erased';

/**
 * The two tests for redaction: `matchesValue` for values that refer to a manager, `matchesUnique` for all other values.
 */
export type ValueMatcher = Pick<NameMatcher, 'matchesValue' | 'matchesUnique'>;

/** Returns a copy in which every string that names the person is replaced by `erased`. */
export function redactNames(value: Json, matcher: ValueMatcher, isManager = false): Json {
  const isMeant = isManager ? matcher.matchesValue : matcher.matchesUnique;
  if (typeof value === 'string') return isMeant(value) ? REDACTED : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => redactNames(one, matcher, isManager));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      matcher.matchesUnique(name) ? REDACTED : name,
      redactNames(one, matcher, isManager || isManagerMember(name)),
    ]),
  );
}

/** True for `manager` in SCIM extensions and `managerId` of a traveler. */
export function isManagerMember(name: string): boolean {
  return /^manager/i.test(name);
}

/**
 * In a complex attribute that refers to a person, the members that identify this person. The display name is not among
 * them, because another person may have the same (RFC 7643 §4.3).
 */
const referenceMembers = ['value', 'id', 'email', '$ref'];

/**
 * Returns a copy without the values that name the person, or undefined if nothing is left. A complex attribute that
 * refers to the person is removed as a whole.
 */
export function withoutReferences(value: Json, matcher: ValueMatcher, isManager = false): Json | undefined {
  const isMeant = isManager ? matcher.matchesValue : matcher.matchesUnique;
  if (typeof value === 'string') return isMeant(value) ? undefined : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const kept = value.flatMap((one) => withoutReferences(one, matcher, isManager) ?? []);
    return kept.length === 0 && value.length > 0 ? undefined : kept;
  }
  const entries = Object.entries(value);
  const given = referenceMembers.flatMap((name) => (typeof value[name] === 'string' ? [value[name]] : []));
  if (given.length > 0) return given.some(isMeant) ? undefined : value;
  const kept = entries.flatMap(([name, one]) => {
    const rest = withoutReferences(one, matcher, isManager || isManagerMember(name));
    return rest === undefined ? [] : [[name, rest] as const];
  });
  return kept.length === 0 && entries.length > 0 ? undefined : Object.fromEntries(kept);
}
