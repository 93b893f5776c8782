import { isNestedTooDeep } from '../schema/json-depth.ts';
import type { PersonalKind } from './personal-tokens.ts';

/** Returns the replacement of a text that may be personal or an id. The text of a secret is not passed. */
export type ReplaceText = (text: string, kind: PersonalKind) => string;

/** Attributes with a vocabulary of their own, by their last name in lower case. Their values are not personal. */
const vocabularies = new Set(
  [
    'active country countryCode currency gender lang language locale op preferredLanguage primary resourceType',
    'schemas separateIcsEmails sortBy sortOrder timezone userType attributes excludedAttributes',
  ].flatMap((line) => line.toLowerCase().split(' ')),
);
/** Labels of multi-valued attributes (RFC 7643 §4.1.2) and resource types; others are texts of the organization. */
const labels =
  /^(work|home|other|mobile|fax|pager|direct|indirect|user|group|aim|gtalk|icq|xmpp|msn|skype|qq|yahoo)$/i;
const secrets = /password|secret|token|apikey/i;
const phones = /phone|mobile|pager|fax\b/i;
/** The text in the place of a secret. */
const REMOVED_SECRET = 'Removed-1';

/**
 * Replaces all personal texts of a SCIM body: of a resource, a PATCH, a search or a list. Names of attributes stay, and so do
 * values with a vocabulary of their own, such as locales and labels.
 */
export function replaceInBody(body: unknown, replace: ReplaceText): unknown {
  return replaceInValue(body, '', replace);
}

function replaceInValue(value: unknown, attribute: string, replace: ReplaceText): unknown {
  if (typeof value === 'string') return replaceInText(value, attribute, replace);
  if (typeof value === 'number') return replaceInNumber(value, attribute, replace);
  if (Array.isArray(value)) return value.map((item) => replaceInValue(item, attribute, replace));
  if (typeof value !== 'object' || value === null) return value;
  const members: [string, unknown][] = Object.entries(value);
  if (attribute.toLowerCase() === 'operations') return Object.fromEntries(operationMembers(members, replace));
  return Object.fromEntries(
    members.map(([name, member]) => [
      replaceInPath(name, replace),
      replaceInValue(member, joinNames(attribute, name), replace),
    ]),
  );
}

/** The members of an operation of a PATCH: its path tells the attribute of its value. */
function operationMembers(members: [string, unknown][], replace: ReplaceText): [string, unknown][] {
  const path = members.find(([name]) => name.toLowerCase() === 'path')?.[1];
  const target = typeof path === 'string' ? path : '';
  return members.map(([name, member]) => {
    if (name.toLowerCase() === 'path' && typeof member === 'string')
      return [name, replaceInPath(member, replace)];
    const attribute = name.toLowerCase() === 'op' ? 'op' : target;
    return [name, replaceInValue(member, attribute, replace)];
  });
}

function joinNames(attribute: string, name: string): string {
  return attribute === '' ? name : `${attribute}.${name}`;
}

/** Returns the last name of an attribute path in lower case, e.g. `value` of `emails[type eq "work"].value`. */
function lastName(attribute: string): string {
  return /([^.:\]]*)(\[[^\]]*\])?$/.exec(attribute.toLowerCase())?.[1] ?? '';
}

function replaceInText(text: string, attribute: string, replace: ReplaceText): string {
  const last = lastName(attribute.replace(/\.value$/i, ''));
  if (/^(true|false)?$/i.test(text)) return text;
  if (vocabularies.has(last) && !text.includes('@')) return text;
  if (last === 'type' && labels.test(text)) return text;
  if (secrets.test(last)) return REMOVED_SECRET;
  if (last === 'filter') return replaceInFilter(text, replace);
  const resource = /^https?:\/\/.*\/(Users|Groups)\/([^/?#]+)$/.exec(text);
  if (resource) return `https://scim.example/scim/v2/${resource[1]}/${replace(resource[2] ?? '', 'text')}`;
  const inner = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  if (typeof inner === 'object') return JSON.stringify(replaceInValue(inner, attribute, replace));
  return replace(text, phones.test(attribute) ? 'phone' : 'text');
}

/** Numbers of the protocol stay; any other could be an employee number. */
function replaceInNumber(number: number, attribute: string, replace: ReplaceText): number {
  if (/^(startindex|count|totalresults|itemsperpage|failonerrors)$/.test(lastName(attribute))) return number;
  const replaced = Number(replace(String(number), 'text'));
  return Number.isFinite(replaced) ? replaced : 0;
}

/** Parses a JSON text; returns undefined if it is none, or nested too deep for recursive code. */
export function parseJson(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return isNestedTooDeep(json) ? undefined : json;
  } catch {
    return undefined;
  }
}

/** Replaces the operands in the filters of an attribute path, e.g. in `members[value eq "…"]`. */
function replaceInPath(path: string, replace: ReplaceText): string {
  if (path.includes('[') || path.includes('"')) return replaceInFilter(path, replace);
  return path.includes('@') ? replace(path, 'text') : path;
}

const comparison = /([\w$.:[\]-]+)\s+(?:eq|ne|co|sw|ew|gt|ge|lt|le)\s+("(?:[^"\\]|\\.)*"?|[^\s()\][]+)/giu;

/** Replaces the operands of the comparisons in a filter; the whole text if it has none and is no filter. */
export function replaceInFilter(filter: string, replace: ReplaceText): string {
  if (filter.search(comparison) < 0 && !/\bpr\b|\[/i.test(filter)) return replace(filter, 'text');
  return filter.replace(comparison, (all, attribute: string, operand: string) => {
    const start = all.slice(0, all.length - operand.length);
    if (/^(true|false|null|-?\d+(\.\d+)?)$/i.test(operand)) return all;
    return start + replaceOperand(operand, attribute.replace('[', '.'), replace);
  });
}

function replaceOperand(operand: string, attribute: string, replace: ReplaceText): string {
  if (!operand.startsWith('"')) return replaceInText(operand, attribute, replace);
  const text = parseJson(operand);
  if (typeof text !== 'string') return `"${replaceInText(operand.slice(1), attribute, replace)}`;
  // Times of the service are not personal.
  if (/^meta\./i.test(attribute)) return operand;
  return JSON.stringify(replaceInText(text, attribute, replace));
}

/** Endpoints whose paths name no resource of a person (RFC 7644 §3.2). */
const plainEndpoints = /^(ServiceProviderConfig|ResourceTypes|Schemas|Me|Bulk|\.search)$/i;

/** Replaces the ids, filters and other texts of a request's path and query, which keep the client's percent-encoding. */
export function replaceInTarget(target: string, replace: ReplaceText): string {
  const [path = '', ...query] = target.split('?');
  const [, endpoint = '', ...rest] = path.split('/');
  const replaceSegment = (segment: string) =>
    segment === '.search' || plainEndpoints.test(endpoint)
      ? segment
      : replaceEncoded(segment, (text) => replace(text, 'text'));
  const known = /^(Users|Groups|)$/i.test(endpoint) ? endpoint : replaceSegment(endpoint);
  const parameters = query
    .join('?')
    .split('&')
    .map((parameter) => replaceInParameter(parameter, replace));
  return (
    ['', known, ...rest.map(replaceSegment)].join('/') +
    (query.length === 0 ? '' : `?${parameters.join('&')}`)
  );
}

/** Parameters whose values are not personal. */
const plainParameters = /^(startIndex|count|attributes|excludedAttributes|sortBy|sortOrder)$/i;

function replaceInParameter(parameter: string, replace: ReplaceText): string {
  const [name = '', ...values] = parameter.split('=');
  if (values.length === 0 || plainParameters.test(name)) return parameter;
  const replaceValue = (text: string) =>
    /^filter$/i.test(name) ? replaceInFilter(text, replace) : replace(text, 'text');
  return `${name}=${replaceEncoded(values.join('='), replaceValue)}`;
}

/** Replaces in a percent-encoded text. Characters that stay keep their encoding, and new ones follow its spaces. */
function replaceEncoded(encoded: string, replace: (text: string) => string): string {
  const units = encoded.match(/(?:%[0-9a-f]{2})+|./gisu) ?? [];
  const forms = new Map<string, string>();
  let text = '';
  for (const unit of units) {
    const decoded = decodeUnit(unit);
    for (const character of decoded)
      forms.set(character, [...decoded].length === 1 ? unit : encodeURIComponent(character));
    text += decoded;
  }
  // A variable is encoded when it is substituted.
  const parts = replace(text).split(/(\{\{\w+\}\})/);
  const encode = (character: string) => forms.get(character) ?? encodeURIComponent(character);
  return parts.map((part, index) => (index % 2 === 1 ? part : [...part].map(encode).join(''))).join('');
}

function decodeUnit(unit: string): string {
  if (unit === '+') return ' ';
  try {
    return decodeURIComponent(unit);
  } catch {
    return unit;
  }
}
