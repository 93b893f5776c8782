import { foldCase } from '../../schema/case-fold.ts';
import type { Json } from '../../schema/resource.ts';

/** The texts by which records of others name a person. */
export interface PersonNames {
  /** Addresses and ids: they name the person wherever they stand in a text. */
  unique: readonly string[];
  /** UserName, externalId, full name, phone number: they name the person where they are the whole of a value. */
  whole: readonly string[];
}

/** Finds the names of a person. */
export interface NameMatcher {
  /** Whether a single value names the person, if it is known to refer to somebody. */
  matchesValue(value: string): boolean;
  /** Whether a single value names the person, whatever it is: `admin` may be a userName, and a role of somebody else. */
  matchesUnique(value: string): boolean;
  /** Whether a sentence names the person, by whichever name. */
  matchesSentence(sentence: string): boolean;
  /** Whether any value of a JSON text, or another text, names the person. */
  matchesJson(text: string): boolean;
}

/** Texts are compared without case. A name that is a part of a longer one, such as `ann` in `joann`, does not count. */
export function nameMatcher({ unique, whole }: PersonNames): NameMatcher {
  const folded = (texts: readonly string[]) =>
    [...new Set(texts.map(foldCase))].filter((text) => text !== '');
  const parts = folded(unique);
  const values = new Set(folded(whole));
  const inTexts = wholeWordsPattern(parts);
  const inSentences = wholeWordsPattern([...parts, ...values]);
  // As JSON spells them, for the quick look that most texts end with.
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
    return JSON.parse(text) as Json;
  } catch {
    // The text was cut, or is no JSON.
    return undefined;
  }
}

/** The escapes that would join a name with a letter before it. */
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

/** Stands for a text that named an erased person. */
export const REDACTED = 'erased';

/** What counts as a name of the person: anywhere, and in what is known to refer to a manager. */
export type ValueMatcher = Pick<NameMatcher, 'matchesValue' | 'matchesUnique'>;

/** A value in which every text that names the person is replaced. */
export function redactNames(value: Json, naming: ValueMatcher, isManager = false): Json {
  const isMeant = isManager ? naming.matchesValue : naming.matchesUnique;
  if (typeof value === 'string') return isMeant(value) ? REDACTED : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => redactNames(one, naming, isManager));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      naming.matchesUnique(name) ? REDACTED : name,
      redactNames(one, naming, isManager || isManagerMember(name)),
    ]),
  );
}

/** `manager` in the extensions of SCIM, `managerId` of a traveler. */
export function isManagerMember(name: string): boolean {
  return /^manager/i.test(name);
}

/** The members by which a complex attribute refers to a person; a display name may be that of a namesake (RFC 7643 §4.3). */
const referenceMembers = ['value', 'id', 'email', '$ref'];

/** A resource without the values that name the person; a complex attribute that refers to the person goes as a whole. */
export function withoutReferences(value: Json, naming: ValueMatcher, isManager = false): Json | undefined {
  const isMeant = isManager ? naming.matchesValue : naming.matchesUnique;
  if (typeof value === 'string') return isMeant(value) ? undefined : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const kept = value.flatMap((one) => withoutReferences(one, naming, isManager) ?? []);
    return kept.length === 0 && value.length > 0 ? undefined : kept;
  }
  const entries = Object.entries(value);
  const given = referenceMembers.flatMap((name) => (typeof value[name] === 'string' ? [value[name]] : []));
  if (given.length > 0) return given.some(isMeant) ? undefined : value;
  const kept = entries.flatMap(([name, one]) => {
    const rest = withoutReferences(one, naming, isManager || isManagerMember(name));
    return rest === undefined ? [] : [[name, rest] as const];
  });
  return kept.length === 0 && entries.length > 0 ? undefined : Object.fromEntries(kept);
}
