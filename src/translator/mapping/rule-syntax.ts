import { findAttribute } from '../../schema/attributes.ts';
import {
  type AttributeExpression,
  type AttributePath,
  attributeExpressionsIn,
  type Filter,
  parseFilter,
  parsePath,
} from '../../schema/filter-parser.ts';
import { urns } from '../../schema/resource.ts';
import { isCustomAttribute, resolveAttribute, userType } from '../../schema/resource-types.ts';
import { nearest } from '../../schema/similar-words.ts';

/** A fault of the syntax of a path, template or condition of a rule, and its correction. */
export interface SyntaxProblem {
  problem: string;
  remedy: string;
}

/** Returns true for the result of a parser that could not parse. */
export function isSyntaxProblem(parsed: object): parsed is SyntaxProblem {
  return 'problem' in parsed && 'remedy' in parsed;
}

/** A SCIM path that a rule reads. */
export interface RulePath {
  /** The path as the rule has it. */
  text: string;
  path: AttributePath;
}

/** A part of a template: literal text, a SCIM path whose value is inserted, or a part that vanishes without values. */
export type TemplatePart = PlainPart | { optional: PlainPart[] };

type PlainPart = string | RulePath;

/** Returns the SCIM paths of a template, those in optional parts included. */
export function pathsOfTemplate(parts: readonly TemplatePart[]): RulePath[] {
  return parts
    .flatMap((part) => (typeof part === 'object' && 'optional' in part ? part.optional : part))
    .filter((part) => typeof part === 'object');
}

/** The maximum number of SCIM paths in one template. It bounds the length of a value. */
const MAX_TEMPLATE_PATHS = 20;

/** Parses the path of a rule. Attributes of schemas must be writable; users may have any custom ones, and extensions with any attributes. */
export function parseRulePath(text: string): AttributePath | SyntaxProblem {
  const parsed = parsePath(text);
  const path = 'fault' in parsed ? parsed : withAttributesOnly(parsed);
  if ('fault' in path) {
    const remedy = 'Write a SCIM path, e.g. title, name.middleName or emails[type eq "work"].value.';
    return { problem: `is not a SCIM path: ${path.fault} (at ${path.position})`, remedy };
  }
  return nameProblem(path) ?? path;
}

/**
 * Parses a path of `sources` or of a template. Names in brackets must exist, too; they are not checked in a
 * `scimAttribute`, because mappings that are in force may have unknown ones there.
 */
export function parseSourcePath(text: string): AttributePath | SyntaxProblem {
  const path = parseRulePath(text);
  return isSyntaxProblem(path) ? path : (bracketProblem(path) ?? path);
}

/** Parses a path that a rule reads, and keeps its text. */
export function parseInputPath(text: string, parse = parseRulePath): RulePath | SyntaxProblem {
  const path = parse(text);
  return isSyntaxProblem(path) ? path : { text, path };
}

/** Parses a condition: a SCIM filter (RFC 7644 §3.4.2.2) whose attributes users have. */
export function parseCondition(text: string): Filter | SyntaxProblem {
  const filter = parseFilter(text);
  if ('fault' in filter) {
    const problem = `is not a SCIM filter: ${filter.fault} (at ${filter.position})`;
    return { problem, remedy: 'Write a SCIM filter, e.g. userType eq "Contractor".' };
  }
  const problem = firstProblem(filter, (path) => {
    const named = withAttributesOnly(path);
    return nameProblem(named) ?? bracketProblem(named);
  });
  return problem ?? filter;
}

/** The members of a mapping rule that name what it reads. */
interface WrittenInput {
  scimAttribute?: string | undefined;
  sources?: readonly string[] | undefined;
  template?: string | undefined;
}

/** Returns what a mapping rule reads, each path with its place in the rule. Texts that cannot be parsed have none. */
export function inputPaths({
  scimAttribute,
  sources = [],
  template = '',
}: WrittenInput): (RulePath & { member: PropertyKey[] })[] {
  const texts = [
    ...(scimAttribute === undefined ? [] : [{ member: ['scimAttribute'], text: scimAttribute }]),
    ...sources.map((text, index) => ({ member: ['sources', index], text })),
  ];
  const parsed = parseTemplate(template);
  const inTemplate = isSyntaxProblem(parsed) ? [] : pathsOfTemplate(parsed.parts);
  return [
    ...texts.flatMap(({ member, text }) => {
      const path = parseInputPath(text);
      return isSyntaxProblem(path) ? [] : [{ ...path, member }];
    }),
    ...inTemplate.map((path) => ({ ...path, member: ['template'] })),
  ];
}

/** Returns the comparisons of a condition; none if there is no condition, or if it cannot be parsed. */
export function conditionExpressions(text: string | undefined): AttributeExpression[] {
  const filter = text === undefined ? undefined : parseCondition(text);
  return filter && !isSyntaxProblem(filter) ? attributeExpressionsIn(filter) : [];
}

/**
 * The tokens of a template: doubled braces, the beginning of an optional part, a part in braces, a single brace, and
 * literal text. A quoted string in a part may contain braces.
 */
const templateToken = /\{\{|\}\}|\{\[|\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*\}|[{}]|[^{}]+/sy;

/** The tokens of an optional part. `]}` ends it; everywhere else these are literal text. */
const optionalToken = /\]\}|\{\{|\}\}|\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*\}|[{}]|(?:(?!\]\})[^{}])+/sy;

/**
 * Parses a template: text with SCIM paths in braces. `{{` and `}}` are literal braces. A part between `{[` and `]}` vanishes if a path in it
 * has no value.
 */
export function parseTemplate(text: string): { parts: TemplatePart[] } | SyntaxProblem {
  if (text.trim() === '') {
    const remedy = 'Write text with SCIM paths in braces, e.g. {name.givenName} {name.familyName}.';
    return { problem: 'is empty', remedy };
  }
  const parts: TemplatePart[] = [];
  let optional: { at: number; parts: PlainPart[] } | undefined;
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at, optional ? optionalToken : templateToken);
    if (!optional && token === '{[') optional = { at, parts: [] };
    else if (optional && token === ']}') {
      if (pathsOfTemplate(optional.parts).length === 0) return optionalWithoutPath(optional.at);
      parts.push({ optional: optional.parts });
      optional = undefined;
    } else {
      const part = parseToken(token, at);
      if (typeof part === 'object' && isSyntaxProblem(part)) return part;
      (optional?.parts ?? parts).push(part);
    }
    at += token.length;
  }
  if (optional)
    return {
      problem: `has an optional part that is not closed (at ${optional.at})`,
      remedy: 'Close it by ]}.',
    };
  if (pathsOfTemplate(parts).length <= MAX_TEMPLATE_PATHS) return { parts };
  const problem = `has more than ${MAX_TEMPLATE_PATHS} SCIM paths`;
  return { problem, remedy: `Keep at most ${MAX_TEMPLATE_PATHS} of them.` };
}

/** Every character begins a token. */
function tokenAt(text: string, at: number, tokens: RegExp): string {
  tokens.lastIndex = at;
  return tokens.exec(text)?.[0] ?? '';
}

function optionalWithoutPath(at: number): SyntaxProblem {
  const remedy = 'Write a SCIM path in it, e.g. {[ {name.middleName}]}, or remove its brackets.';
  return { problem: `has an optional part without a SCIM path (at ${at})`, remedy };
}

function parseToken(token: string, at: number): PlainPart | SyntaxProblem {
  if (token === '{{' || token === '}}') return token.charAt(0);
  if (token === '{') {
    const remedy = 'Close it after a SCIM path, e.g. {name.givenName}, or write {{ for a brace.';
    return { problem: `has a brace that is not closed (at ${at})`, remedy };
  }
  if (token === '}') {
    const remedy = 'Write { in front of the SCIM path, or }} for a brace.';
    return { problem: `closes a brace that is not open (at ${at})`, remedy };
  }
  return token.startsWith('{') ? parsePart(token, at) : token;
}

function parsePart(token: string, at: number): RulePath | SyntaxProblem {
  const text = token.slice(1, -1);
  const parsed = parseInputPath(text, parseSourcePath);
  const fault = isSyntaxProblem(parsed) ? parsed : complexProblem(parsed.path);
  if (!fault && !isSyntaxProblem(parsed)) return parsed;
  const { problem = '', remedy = '' } = fault ?? {};
  return { problem: `has the part ${token} (at ${at}): ${problem}`, remedy };
}

/** Returns a problem for a complex attribute without a value of its own, which cannot become text. */
function complexProblem(path: AttributePath): SyntaxProblem | undefined {
  const { attribute, name = '' } = resolveAttribute(userType, path);
  const { subAttributes = [] } = attribute ?? {};
  if (path.sub !== undefined || attribute?.type !== 'complex' || findAttribute(subAttributes, 'value'))
    return undefined;
  const names = subAttributes.map((sub) => `${name}.${sub.name}`);
  return { problem: 'has no single value', remedy: `Write one of ${names.join(', ')}.` };
}

/**
 * Removes the interpretations in which the whole path is an extension URN: a rule reads an attribute and never a whole
 * extension.
 */
function withAttributesOnly(path: AttributePath): AttributePath {
  const { readings, ...rest } = path;
  if (!readings) return path;
  return { ...rest, readings: readings.filter(({ attribute }) => attribute !== undefined) };
}

/** Returns the reason for which users cannot have a value at a path, and its remedy; undefined if they can. */
function nameProblem(path: AttributePath): SyntaxProblem | undefined {
  const resolved = resolveAttribute(userType, path);
  const { urn, attribute, name } = resolved;
  if (name === undefined)
    return { problem: 'names a schema and no attribute', remedy: `Write ${path.urn ?? ''}:attribute.` };
  if (isCustomAttribute(userType, resolved)) return misspeltName(undeclaredName(path));
  if (!attribute) return urn === undefined ? unknownAttribute(name, userType.schema.attributes) : undefined;
  if (isGroupPath(path)) return groupProblem(path);
  if (attribute.mutability !== 'readWrite') {
    return { problem: `${name} is not kept`, remedy: 'Read an attribute that the identity provider writes.' };
  }
  const { subAttributes } = attribute;
  if (path.sub === undefined || findAttribute(subAttributes, path.sub)) return undefined;
  return unknownAttribute(`${name}.${path.sub}`, subAttributes, name);
}

/** The names that a path may have without a URN. */
const plainNames = [userType.schema, ...userType.extensions.slice(0, 1)].flatMap(({ attributes }) =>
  attributes.map(({ name }) => name),
);

/** Returns a problem for the name of a custom attribute that is probably a misspelt one; with its URN it is accepted. */
function misspeltName(name: string | undefined): SyntaxProblem | undefined {
  if (name === undefined) return undefined;
  const meant = nearest(name, plainNames);
  if (meant === undefined) return undefined;
  const remedy = `Did you mean ${meant}? Correct the name, or put the URN of its schema in front: ${urns.user}:${name} is a custom attribute.`;
  return { problem: `a user has no attribute ${name}`, remedy };
}

/** Returns the name of a custom attribute of users that has no URN in front, so that it may be misspelt; undefined for any other path. */
export function undeclaredName(path: AttributePath): string | undefined {
  const resolved = resolveAttribute(userType, path);
  return path.urn === undefined && isCustomAttribute(userType, resolved) ? resolved.name : undefined;
}

/** True for a path that names the groups of which the user is a direct member. */
export function isGroupPath(path: AttributePath): boolean {
  const { urn, name } = resolveAttribute(userType, path);
  return urn === undefined && name === 'groups';
}

/** The parts of a group that a rule can read. No group has another one. */
const groupParts = ['display', 'value'];

function groupProblem({ sub, filter }: AttributePath): SyntaxProblem | undefined {
  const inner = filter ? attributeExpressionsIn(filter).map(({ path }) => path.attribute ?? '') : [];
  const unknown = [...(sub === undefined ? [] : [sub]), ...inner].find(
    (part) => !groupParts.includes(part.toLowerCase()),
  );
  if (unknown === undefined) return undefined;
  return {
    problem: `a rule can read no groups.${unknown}`,
    remedy: 'Write groups.display, the name of a group, or groups.value, its id.',
  };
}

/** Returns a problem for a name in brackets that the elements of the attribute do not have. */
function bracketProblem(path: AttributePath): SyntaxProblem | undefined {
  const { attribute, name = '' } = resolveAttribute(userType, path);
  if (!path.filter || attribute?.type !== 'complex') return undefined;
  const { subAttributes } = attribute;
  return firstProblem(path.filter, ({ attribute: part = '' }) =>
    findAttribute(subAttributes, part) ? undefined : unknownAttribute(`${name}.${part}`, subAttributes, name),
  );
}

/** Checks the paths of a filter in order, without those in brackets. Returns the first problem. */
function firstProblem(
  filter: Filter,
  check: (path: AttributePath) => SyntaxProblem | undefined,
): SyntaxProblem | undefined {
  for (const { path } of attributeExpressionsIn(filter)) {
    const problem = check(path);
    if (problem) return problem;
  }
  return undefined;
}

function unknownAttribute(
  name: string,
  known: readonly { name: string }[] = [],
  parent?: string,
): SyntaxProblem {
  const names = known.map((attribute) =>
    parent === undefined ? attribute.name : `${parent}.${attribute.name}`,
  );
  const meant = nearest(name, names);
  return {
    problem: `a user has no attribute ${name}`,
    remedy: `${meant === undefined ? '' : `Did you mean ${meant}? `}Correct the name, or put the URN of its extension in front.`,
  };
}
