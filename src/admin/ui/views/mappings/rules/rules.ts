import { isObject, parseObject } from '../../../components/texts.ts';
import type { TransformKind } from '../editor/completion.ts';

/** A rule of a mapping as it is written. Members of other types than expected are left to the check of the service. */
export type WrittenRule = Record<string, unknown>;

/** The member of a mapping with its rules. */
const RULES = 'scimUserMapping';

/** Parses the rules of the text of a mapping; undefined if it is not a JSON object with a list of rules, or none. */
export function parseRules(text: string): WrittenRule[] | undefined {
  const mapping = parseObject(text);
  if (!mapping) return undefined;
  const { [RULES]: rules = [] } = mapping;
  return Array.isArray(rules) && rules.every(isObject) ? rules : undefined;
}

/** Returns the text of a mapping with other rules, in the layout in which the service stores a mapping. */
export function withRules(text: string, rules: WrittenRule[]): string {
  return `${JSON.stringify({ ...parseObject(text), [RULES]: rules }, null, 2)}\n`;
}

/** Returns a rule with a member set, or without it if the value is undefined. The member takes the place of `instead`. */
export function withMember(
  rule: WrittenRule,
  member: string,
  value: unknown,
  instead: string = member,
): WrittenRule {
  const others = Object.entries(rule).filter(([name]) => name === instead || name !== member);
  const members = others.map(([name, one]) => (name === instead ? [member, value] : [name, one]));
  const all = instead in rule ? members : [...members, [member, value]];
  return Object.fromEntries(all.filter(([, one]) => one !== undefined));
}

/** Returns a list with an item moved by one place, up (-1) or down (1). */
export function moved<T>(list: readonly T[], at: number, by: -1 | 1): T[] {
  return list.toSpliced(at, 1).toSpliced(at + by, 0, ...list.slice(at, at + 1));
}

/** The JSON path of a part of a rule, as faults name it. */
export function faultPath(index: number, part = ''): string {
  return `${RULES}[${index}]${part}`;
}

/** Returns the field that a rule sets: its key, or the name of a custom field. */
export function fieldOf({ userAttribute, customField, customFieldId }: WrittenRule): string {
  return customFieldId === undefined
    ? String(userAttribute ?? customField ?? '?')
    : `customFields.${customFieldId}`;
}

/** Returns the SCIM paths in the braces of a template. */
export function pathsOf(template: string): string[] {
  return [...template.matchAll(/\{([^{}]+)\}/g)].flatMap(([, path]) => path ?? []);
}

/** A transform as it is written: its kind and its option, '' for a word without one. */
export interface WrittenTransform {
  kind: TransformKind;
  option: string | Record<string, string>;
}

/** Reads a transform; undefined if it has not the form of any kind, so that fields cannot show it. */
export function readTransform(value: unknown, kinds: TransformKind[]): WrittenTransform | undefined {
  const find = (name: string) => kinds.find((one) => one.name === name);
  if (typeof value === 'string') {
    const kind = find(value);
    return kind?.isWord ? { kind, option: '' } : undefined;
  }
  const [[name, option] = ['', undefined], ...others] = Object.entries(Object(value));
  const kind = find(name);
  if (!kind || others.length > 0) return undefined;
  if (kind.option === 'text') return typeof option === 'string' ? { kind, option } : undefined;
  return kind.option !== 'none' && isTexts(option) ? { kind, option } : undefined;
}

function isTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((one) => typeof one === 'string');
}

/** Returns a transform of a kind with an empty option, as it is written. */
export function newTransform(kind: TransformKind): unknown {
  if (kind.option === 'none' || kind.option === 'text') return withOption(kind, '');
  return withOption(kind, Object.fromEntries(kind.members.map(([name]) => [name, ''])));
}

/** Returns a transform with an option, as it is written. Without a text it is the word alone, where that is allowed. */
export function withOption({ name, isWord }: TransformKind, option: WrittenTransform['option']): unknown {
  return option === '' && isWord ? name : { [name]: option };
}
