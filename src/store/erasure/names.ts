import { foldCase } from '../../schema/case-fold.ts';
import type { Json, JsonObject } from '../../schema/resource.ts';

/** The texts by which records name a person. */
export interface PersonNames {
  /** Email addresses and ids. They name the person wherever they occur in a text. */
  unique: readonly string[];
  /** UserName, externalId, employee number, full name. They name the person only if they are the whole value. */
  whole: readonly string[];
}

/** Recognizes the names of a person, without regard to case. A name within a longer word, such as `ann` in `joann`, does not count. */
export interface NameMatcher {
  /** Returns true if a value has an address or an id of the person, or is another name. */
  matchesValue(value: string): boolean;
  /** Returns true if a path or a JSON text has an address or an id of the person, or another name as a value or segment. */
  matchesText(text: string): boolean;
}

export function nameMatcher({ unique, whole }: PersonNames): NameMatcher {
  const values = new Set(whole.map(foldCase));
  const words = patternOf(unique, [
    '(?<![\\p{L}\\p{N}_]|[\\p{L}\\p{N}][.+@\\-])',
    '(?![\\p{L}\\p{N}_]|[.+@\\-][\\p{L}\\p{N}])',
  ]);
  // Values stand in quotes in JSON and in a filter.
  const quoted = patternOf(whole, ['(?<=["/])', '(?=["/?]|$)']);
  return {
    matchesValue: (value) => values.has(foldCase(value)) || words.test(foldCase(value)),
    matchesText: (text) => {
      const folded = foldCase(text.includes('\\') ? unescapeJson(text) : text);
      return words.test(folded) || quoted.test(folded);
    },
  };
}

function patternOf(texts: readonly string[], [before, after]: [string, string]): RegExp {
  if (texts.length === 0) return /(?!)/;
  const any = texts.map((text) => foldCase(text).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  return new RegExp(`${before}(?:${any})${after}`, 'u');
}

/** Replaces escape sequences, which would otherwise join a name with the letter before it. */
function unescapeJson(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\["/]/g, (sequence) => sequence.charAt(1))
    .replace(/\\[\\bfnrt]/g, ' ');
}

/** Returns a copy in which every string that names the person is replaced by `erased`. */
export function redactNames(value: Json, isMeant: (text: string) => boolean): Json {
  if (typeof value === 'string') return isMeant(value) ? 'erased' : value;
  if (Array.isArray(value)) return value.map((one) => redactNames(one, isMeant));
  if (typeof value !== 'object' || value === null) return value;
  return mapMembers(value, (one) => redactNames(one, isMeant));
}

/** Returns a copy in which the names of the person are replaced by `erased` where a member tells the manager. */
export function redactManagers(object: JsonObject, isMeant: (text: string) => boolean): JsonObject {
  return changeManagers(object, (manager) => redactNames(manager, isMeant));
}

/** Returns a copy without the managers that are the person. An object of which nothing is left is removed, too. */
export function withoutManagers(object: JsonObject, isMeant: (text: string) => boolean): JsonObject {
  const isNamed = (manager: Json) =>
    JSON.stringify(redactNames(manager, isMeant)) !== JSON.stringify(manager);
  return changeManagers(object, (manager) => (isNamed(manager) ? undefined : manager));
}

/** Changes `manager` in SCIM extensions and `managerId` of a traveler. */
function changeManagers(object: JsonObject, change: (manager: Json) => Json | undefined): JsonObject {
  return mapMembers(object, (value, name) => {
    if (/^manager/i.test(name)) return change(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const changed = changeManagers(value, change);
    return Object.keys(changed).length === 0 && Object.keys(value).length > 0 ? undefined : changed;
  });
}

function mapMembers(object: JsonObject, change: (value: Json, name: string) => Json | undefined): JsonObject {
  const entries = Object.entries(object).flatMap(([name, one]): [string, Json][] => {
    const changed = change(one, name);
    return changed === undefined ? [] : [[name, changed]];
  });
  return Object.fromEntries(entries);
}
