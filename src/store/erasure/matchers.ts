import { foldCase } from '../../schema/case-fold.ts';
import type { Json, JsonObject } from '../../schema/resource.ts';

/** The texts by which records name a person. */
export interface PersonNames {
  /** Email addresses and ids. They name the person wherever they occur in a text. */
  unique: readonly string[];
  /** UserName, externalId, employee number, full name and phone number. They name the person only if they are the whole value. */
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
  /** Returns true if a path or a JSON text contains a unique name of the person, or another one as a whole value. */
  matchesText(text: string): boolean;
  /** Returns true if a JSON text contains a unique name of the person. */
  matchesJson(text: string): boolean;
}

/** Returns a matcher that ignores case. A name within a longer word, such as `ann` in `joann`, does not match. */
export function nameMatcher({ unique, whole }: PersonNames): NameMatcher {
  const folded = (texts: readonly string[]) =>
    [...new Set(texts.map(foldCase))].filter((text) => text !== '');
  const parts = folded(unique);
  const values = new Set(folded(whole));
  const inTexts = wholeWordsPattern(parts);
  const wholeValue = quotedPattern([...values]);
  const inSentences = wholeWordsPattern([...parts, ...values]);
  return {
    matchesValue: (value) => values.has(foldCase(value)) || inTexts.test(foldCase(value)),
    matchesUnique: (value) => inTexts.test(foldCase(value)),
    matchesSentence: (sentence) => inSentences.test(foldCase(sentence)),
    matchesText: (text) => {
      const folded = foldCase(text.includes('\\') ? unescapeJson(text) : text);
      return inTexts.test(folded) || wholeValue.test(folded);
    },
    matchesJson: (text) => inTexts.test(foldCase(text.includes('\\') ? unescapeJson(text) : text)),
  };
}

/** Finds a text in quotes, as values stand in JSON and in a filter, or as a segment of a path. */
function quotedPattern(texts: string[]): RegExp {
  return texts.length === 0 ? /(?!)/ : new RegExp(`(?<=["/])(?:${anyOf(texts)})(?=["/?]|$)`, 'u');
}

function anyOf(texts: string[]): string {
  return texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
}

function wholeWordsPattern(texts: string[]): RegExp {
  if (texts.length === 0) return /(?!)/;
  const any = anyOf(texts);
  return new RegExp(
    `(?<![\\p{L}\\p{N}_]|[\\p{L}\\p{N}][.+@\\-])(?:${any})(?![\\p{L}\\p{N}_]|[.+@\\-][\\p{L}\\p{N}])`,
    'u',
  );
}

/** Replaces escape sequences, which would otherwise join a name with the letter before it. */
function unescapeJson(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\["/]/g, (sequence) => sequence.charAt(1))
    .replace(/\\[\\bfnrt]/g, ' ');
}

/** The text that replaces the name of an erased person. */
const REDACTED = 'erased';

/** Returns a copy in which every string that names the person is replaced by `erased`. */
export function redactNames(value: Json, isMeant: (text: string) => boolean): Json {
  if (typeof value === 'string') return isMeant(value) ? REDACTED : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => redactNames(one, isMeant));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [isMeant(name) ? REDACTED : name, redactNames(one, isMeant)]),
  );
}

/** True for `manager` in SCIM extensions and `managerId` of a traveler. */
export function isManagerMember(name: string): boolean {
  return /^manager/i.test(name);
}

/** Returns a copy in which the names of the person are replaced by `erased` where a member tells the manager. */
export function redactManagers(value: Json, { matchesValue }: Pick<NameMatcher, 'matchesValue'>): Json {
  return changeManagers(value, (manager) => redactNames(manager, matchesValue));
}

/** Returns a copy without the managers that are the person. An object of which nothing is left is removed, too. */
export function withoutManagers(object: JsonObject, matcher: Pick<NameMatcher, 'matchesValue'>): JsonObject {
  // An object stays an object: only its members are changed.
  return changeManagers(object, (manager) => withoutReferences(manager, matcher)) as JsonObject;
}

function changeManagers(value: Json, change: (manager: Json) => Json | undefined): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).flatMap(([name, one]) => {
    const changed = isManagerMember(name) ? change(one) : changeManagers(one, change);
    const isEmptied = changed === undefined || (isEmptyObject(changed) && !isEmptyObject(one));
    return isEmptied ? [] : [[name, changed] as const];
  });
  return Object.fromEntries(entries);
}

function isEmptyObject(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/**
 * In a complex attribute that refers to a person, the members that identify this person. The display name is not among
 * them, because another person may have the same (RFC 7643 §4.3).
 */
const referenceMembers = ['value', 'id', 'email', '$ref'];

/**
 * Returns a reference without the values that name the person, or undefined if nothing is left. A complex attribute that
 * refers to the person is removed as a whole.
 */
function withoutReferences(value: Json, matcher: Pick<NameMatcher, 'matchesValue'>): Json | undefined {
  if (typeof value === 'string') return matcher.matchesValue(value) ? undefined : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const kept = value.flatMap((one) => withoutReferences(one, matcher) ?? []);
    return kept.length === 0 && value.length > 0 ? undefined : kept;
  }
  const entries = Object.entries(value);
  const given = referenceMembers.flatMap((name) => (typeof value[name] === 'string' ? [value[name]] : []));
  if (given.length > 0) return given.some(matcher.matchesValue) ? undefined : value;
  const kept = entries.flatMap(([name, one]) => {
    const rest = withoutReferences(one, matcher);
    return rest === undefined ? [] : [[name, rest] as const];
  });
  return kept.length === 0 && entries.length > 0 ? undefined : Object.fromEntries(kept);
}
