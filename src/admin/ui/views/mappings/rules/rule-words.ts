import { fieldLabel } from '../../../../../model/value-texts.ts';
import type { PersonField } from '../../../../../operations/people/person.ts';
import { outcomeTexts } from '../../../../../provisioning/people/person-texts.ts';
import { transformText } from '../../../../../translator/values/transform-text.ts';
import { withShortUrns } from '../../../components/texts.ts';
import { fieldOf, pathsOf, type WrittenRule } from './rules.ts';

// The parts of a rule in the words of the form and the table: from what a value comes, and for whom.

/** The kinds of inputs of a rule, each with the member that it is written in. */
export const inputKinds = {
  attribute: { label: 'An attribute', member: 'scimAttribute' },
  attributes: { label: 'The first attribute that has a value', member: 'sources' },
  fixed: { label: 'A fixed value', member: 'template' },
  text: { label: 'A text with attributes', member: 'template' },
} as const;

export type InputKind = keyof typeof inputKinds;

/** The input of a rule: the paths of attributes, or a text. */
export type RuleInput =
  | { kind: 'attribute' | 'attributes'; paths: string[] }
  | { kind: 'fixed' | 'text'; text: string };

/** Returns the input of a rule. A template without a path is a fixed value, in which braces are not written twice. */
export function inputOf({ scimAttribute, sources, template }: WrittenRule): RuleInput {
  if (Array.isArray(sources)) return { kind: 'attributes', paths: sources.map(String) };
  if (template === undefined) return { kind: 'attribute', paths: [String(scimAttribute ?? '')] };
  const text = String(template);
  const isFixed = !/[{}]/.test(text.replaceAll(/\{\{|\}\}/g, ''));
  return isFixed
    ? { kind: 'fixed', text: text.replaceAll('{{', '{').replaceAll('}}', '}') }
    : { kind: 'text', text };
}

/** Returns an input as a rule has it. */
export function writtenInput(input: RuleInput): unknown {
  if ('paths' in input) return input.kind === 'attributes' ? input.paths : (input.paths[0] ?? '');
  return input.kind === 'text' ? input.text : input.text.replaceAll('{', '{{').replaceAll('}', '}}');
}

/** Converts an input to another kind, as far as the other can say the same. */
export function convertInput(input: RuleInput, kind: InputKind): RuleInput {
  const paths = 'text' in input ? pathsOf(input.text) : input.paths.filter((path) => path !== '');
  if (kind === 'attribute') return { kind, paths: paths.slice(0, 1) };
  if (kind === 'attributes') return { kind, paths };
  const [first] = paths;
  if (kind === 'fixed') return { kind, text: '' };
  return { kind, text: first === undefined ? '' : `{${first}}` };
}

/** The people for whom a rule is used. */
export type Whom =
  | { kind: 'everybody' }
  | { kind: 'group'; group: string }
  | { kind: 'attribute'; path: string; value: string }
  | { kind: 'filter'; filter: string };

export const whomKinds = {
  everybody: 'Everybody',
  group: 'Members of a group',
  attribute: 'People with a value in an attribute',
  filter: 'People who match a filter',
} satisfies Record<Whom['kind'], string>;

const TEXT = String.raw`"((?:[^"\\]|\\.)*)"`;
const GROUP = new RegExp(String.raw`^groups(?:\[display eq ${TEXT}\]|\.display eq ${TEXT})$`, 'i');
const ATTRIBUTE = new RegExp(String.raw`^([\w.:$-]+) eq (?:${TEXT}|(true|false))$`, 'i');

/** Reads a condition of a rule. One that the form has no fields for is a filter. */
export function whomOf(when: unknown): Whom {
  if (when === undefined) return { kind: 'everybody' };
  const filter = typeof when === 'string' ? when : JSON.stringify(when);
  const [, inBrackets, afterPath] = GROUP.exec(filter) ?? [];
  const group = inBrackets ?? afterPath;
  if (group !== undefined) return { kind: 'group', group: unquoted(group) };
  const [, path, text, word] = ATTRIBUTE.exec(filter) ?? [];
  if (path === undefined) return { kind: 'filter', filter };
  return { kind: 'attribute', path, value: text === undefined ? String(word) : unquoted(text) };
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

/** Returns the condition as a rule has it: a SCIM filter; undefined for everybody. */
export function writtenWhom(whom: Whom): string | undefined {
  switch (whom.kind) {
    case 'everybody':
      return undefined;
    case 'group':
      return `groups[display eq ${JSON.stringify(whom.group)}]`;
    case 'attribute': {
      const isWord = /^(?:true|false)$/.test(whom.value);
      return `${whom.path} eq ${isWord ? whom.value : JSON.stringify(whom.value)}`;
    }
    case 'filter':
      return whom.filter;
  }
}

/** Returns the people for whom a rule is used in words; a filter as it is written, with short names of URNs. */
export function whomText(when: unknown): string {
  const whom = whomOf(when);
  switch (whom.kind) {
    case 'everybody':
      return 'everybody';
    case 'group':
      return `members of ${whom.group}`;
    case 'attribute':
      return `${withShortUrns(whom.path)} is ${whom.value}`;
    case 'filter':
      return withShortUrns(whom.filter);
  }
}

/** Returns the steps that are applied to a value in words, e.g. `trim, prefix CC-`. */
export function stepsText({ transforms }: WrittenRule): string {
  return Array.isArray(transforms) ? transforms.map(transformText).join(', ') : '';
}

/** Returns a rule in one line, e.g. `Policy ← Executives, for members of Executives`. `names` are those of custom fields. */
export function ruleLine(rule: WrittenRule, names: Partial<Record<string, string>>): string {
  const input = inputOf(rule);
  const read = 'paths' in input ? input.paths.join(', else ') : input.text;
  const [steps, { when }] = [stepsText(rule), rule];
  return [
    `${fieldLabel(fieldOf(rule), names)} ← ${withShortUrns(read)}`,
    ...(steps === '' ? [] : [`then ${steps}`]),
    ...(when === undefined ? [] : [`for ${whomText(when)}`]),
  ].join(', ');
}

/** Returns a rule of a trace in words: its input, and the steps that follow, e.g. `title, then trim`. */
export function appliedText(rule: string): string {
  const [template] = /^"(?:[^"\\]|\\.)*"/.exec(rule) ?? [];
  const [input = '', ...steps] = rule.slice(template?.length ?? 0).split(' | ');
  const read = template === undefined ? input.replaceAll(' → ', ', else ') : unquoted(template.slice(1, -1));
  return [withShortUrns(read), ...(steps.length > 0 ? [`then ${steps.join(', ')}`] : [])].join(', ');
}

type AppliedRule = PersonField['rules'][number];

/** Returns for whom a rule of a trace is, which path it has read, and its outcome; empty if it just set a value for everybody. */
export function appliedDetails({
  when,
  read,
  outcome,
  reason,
}: Omit<AppliedRule, 'rule' | 'origin'>): string {
  if (outcome === 'skipped')
    return when === undefined
      ? `not used: ${reason ?? 'another rule sets the field'}`
      : `only for ${whomText(when)}`;
  return [
    ...(when === undefined ? [] : [`for ${whomText(when)}`]),
    ...(read === undefined ? [] : [`read from ${withShortUrns(read)}`]),
    ...(outcome === 'set' ? [] : [outcomeTexts[outcome]]),
    ...(reason === undefined || reason === outcomeTexts[outcome] ? [] : [reason]),
  ].join(', ');
}
