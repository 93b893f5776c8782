import type { Faker } from '@faker-js/faker';
import { parseJson } from '../schema/json-depth.ts';
import { resourceSchemas } from '../schema/resource-types.ts';
import { readCountry } from '../translator/values/countries.ts';
import type { RecordedExchange } from './exchanges.ts';
import { createPseudonyms, type Pseudonymize } from './pseudonyms.ts';

/**
 * Replaces everything in exchanges that can be of a person or an organization: all texts, numbers and names but those of closed
 * vocabularies, and `vocabulary`. Headers that a scenario does not need are left out.
 */
export function anonymize(
  exchanges: RecordedExchange[],
  { faker, vocabulary }: { faker: Faker; vocabulary: readonly string[] },
): RecordedExchange[] {
  const originals = exchanges.flatMap(({ path, requestHeaders, requestBody = '', responseBody = '' }) => [
    decodeUnit(path),
    ...Object.values(requestHeaders),
    requestBody,
    responseBody,
  ]);
  const invent = createPseudonyms(faker, originals);
  const stays = new Set(vocabulary);
  // A recorded text must not name a variable of the scenario.
  const replace: Pseudonymize = (text) => (stays.has(text) ? text : invent(text).replaceAll('{{', '{ {'));
  return exchanges.map(({ requestBody, responseBody, ...exchange }) => ({
    ...exchange,
    path: replaceTarget(exchange.path, replace),
    requestHeaders: replaceHeaders(exchange.requestHeaders, replace),
    responseHeaders: replaceHeaders(exchange.responseHeaders, replace),
    ...(requestBody === undefined ? {} : { requestBody: replaceBody(requestBody, replace) }),
    ...(responseBody === undefined ? {} : { responseBody: replaceBody(responseBody, replace) }),
  }));
}

/** Replaces a body. One that is not JSON becomes `{`, the shortest text that a server cannot read as JSON either. */
function replaceBody(text: string, replace: Pseudonymize): string {
  const json = parseJson(text);
  if (text.trim() === '') return text;
  return json === undefined ? '{' : JSON.stringify(replaceValue(json, '', replace));
}

const words = (text: string) => text.toLowerCase().split(' ');

/** The parts of names and URNs that RFC 7643, RFC 7644 and the schemas of this service define, in lower case. */
const knownNames = new Set([
  ...words('urn ietf params scim schemas core extension enterprise travel api messages user group schema'),
  ...words(
    'resourceType serviceProviderConfig listResponse searchRequest patchOp bulkRequest bulkResponse error',
  ),
  ...words(
    'id externalId meta created lastModified location version password $ref value display type primary',
  ),
  ...words(
    'operations op path filter attributes excludedAttributes sortBy sortOrder startIndex count cursor',
  ),
  ...words('resources totalResults itemsPerPage nextCursor previousCursor failOnErrors bulkId method data'),
  ...words('detail status scimType'),
  ...resourceSchemas
    .flatMap(({ attributes }) => attributes.flatMap((one) => [one, ...(one.subAttributes ?? [])]))
    .map(({ name }) => name.toLowerCase()),
]);

const languageNames = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
const isLanguage = (tag: string) =>
  /^[a-z]{2,3}([-_][a-z]{2})?$/i.test(tag) && languageNames.of(tag.replace('_', '-')) !== undefined;
const oneOf = (pattern: RegExp) => (text: string) => pattern.test(text);
const labels =
  /^(work|home|other|mobile|fax|pager|direct|indirect|user|group|aim|gtalk|icq|xmpp|msn|skype|qq|yahoo|photo|thumbnail)$/i;

/** The attributes with a closed vocabulary, by their names in lower case, and the test of a text. */
const vocabularies: Record<string, (text: string) => boolean> = {
  op: oneOf(/^(add|remove|replace)$/i),
  type: oneOf(labels),
  resourcetype: oneOf(/^(user|group)$/i),
  usertype: oneOf(/^(contractor|employee|intern|temp|external|unknown)$/i),
  sortorder: oneOf(/^(ascending|descending)$/i),
  gender: oneOf(/^(fe)?male$/i),
  status: oneOf(/^[1-5]\d\d$/),
  scimtype: oneOf(
    /^(invalid(Filter|Syntax|Path|Value|Vers|Cursor|Count)|tooMany|uniqueness|mutability|noTarget|sensitive)$/,
  ),
  version: oneOf(/^W\/"\d+"$/),
  currency: (text) => Intl.supportedValuesOf('currency').includes(text.toUpperCase()),
  timezone: (text) => Intl.supportedValuesOf('timeZone').includes(text),
  country: (text) => 'value' in readCountry(text),
  countrycode: (text) => 'value' in readCountry(text),
  locale: isLanguage,
  preferredlanguage: isLanguage,
  language: isLanguage,
};

function isInVocabulary(attribute: string, text: string): boolean {
  return Object.hasOwn(vocabularies, attribute) && vocabularies[attribute]?.(text) === true;
}

/** The text in the place of a secret. */
const REMOVED_SECRET = 'Removed-1';

/** Attributes whose numbers are of the protocol. Any other number could be an employee number. */
const counts = new Set(words('startIndex count totalResults itemsPerPage failOnErrors'));

/** Replaces the texts of a JSON value. `attribute` is the name of the attribute that has it, in lower case. */
function replaceValue(value: unknown, attribute: string, replace: Pseudonymize): unknown {
  if (typeof value === 'string') return replaceText(value, attribute, replace);
  if (typeof value === 'number')
    return counts.has(attribute) ? value : Number(replace(String(Math.abs(value)))) || 0;
  if (Array.isArray(value)) return value.map((item) => replaceValue(item, attribute, replace));
  if (typeof value !== 'object' || value === null) return value;
  const members: [string, unknown][] = Object.entries(value);
  // The path of an operation names the attribute of its value.
  const path = attribute === 'operations' ? members.find(([name]) => /^path$/i.test(name))?.[1] : undefined;
  const owner = typeof path === 'string' ? attributeOf(path, '') : attribute;
  return Object.fromEntries(
    members.map(([name, member]) => [
      replaceFilter(name, replace),
      replaceValue(member, attributeOf(name, owner), replace),
    ]),
  );
}

/** Returns the last name of a path in lower case. For `value` that is the name before it: `country` of `country.value`. */
function attributeOf(path: string, owner: string): string {
  const names = path
    .toLowerCase()
    .replace(/\[[^\]]*\]?/g, '')
    .split(/[:.]/);
  const last = names.at(-1) ?? '';
  return last === 'value' ? (names.at(-2) ?? owner) : last;
}

function replaceText(text: string, attribute: string, replace: Pseudonymize): string {
  if (/^(true|false)?$/i.test(text) || isInVocabulary(attribute, text)) return text;
  if (attribute === 'password') return REMOVED_SECRET;
  if (['filter', 'path'].includes(attribute)) return replaceFilter(text, replace);
  if (['schemas', 'attributes', 'excludedattributes', 'sortby'].includes(attribute))
    return replaceNames(text, replace);
  const inner = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  return inner === undefined ? replace(text) : JSON.stringify(replaceValue(inner, attribute, replace));
}

/** Replaces the unknown parts of names and URNs. Numbers in a URN are versions. */
function replaceNames(text: string, replace: Pseudonymize): string {
  const isKnown = (part: string) =>
    knownNames.has(part.toLowerCase()) || (/\burn:/i.test(text) && /^\d+$/.test(part));
  return text.replace(/[^:.,\s]+/g, (part) => (isKnown(part) ? part : replace(part)));
}

const operators = /^(eq|ne|co|sw|ew|gt|ge|lt|le)$/i;
const keywords = /^(eq|ne|co|sw|ew|gt|ge|lt|le|pr|and|or|not|true|false|null)$/i;

/** Replaces the operands and unknown names in a filter, a path or a name. A text that is none of them is replaced, too. */
function replaceFilter(filter: string, replace: Pseudonymize): string {
  let attribute = '';
  let isOperand = false;
  return filter.replace(/"(?:[^"\\]|\\.)*"?|[^\s()[\]"]+/gs, (token) => {
    const wasOperand = isOperand;
    isOperand = operators.test(token) && !wasOperand;
    if (token.startsWith('"')) return replaceQuoted(token, attribute, replace);
    if (keywords.test(token)) return token;
    if (wasOperand) return replaceText(token, attribute, replace);
    attribute = attributeOf(token, attribute);
    return replaceNames(token, replace);
  });
}

function replaceQuoted(token: string, attribute: string, replace: Pseudonymize): string {
  const text = parseJson(token);
  if (typeof text === 'string') return JSON.stringify(replaceText(text, attribute, replace));
  return `"${replace(token.slice(1))}`;
}

/** The path segments of RFC 7644 §3.2 and the names of resource types. */
const endpoints = /^(Users?|Groups?|ServiceProviderConfig|ResourceTypes|Schemas|Me|Bulk|\.search|)$/i;

/** Replaces ids, filters and other texts in a request's path and query, which keep the client's percent-encoding. */
function replaceTarget(target: string, replace: Pseudonymize): string {
  const [path = '', ...query] = target.split('?');
  const replaceSegment = (segment: string) =>
    endpoints.test(segment)
      ? segment
      : replaceEncoded(segment, (text) =>
          /^urn:/i.test(text) ? replaceNames(text, replace) : replace(text),
        );
  const segments = path.split('/').map(replaceSegment);
  const parameters = query
    .join('?')
    .split('&')
    .map((parameter) => replaceParameter(parameter, replace));
  return segments.join('/') + (query.length === 0 ? '' : `?${parameters.join('&')}`);
}

function replaceParameter(parameter: string, replace: Pseudonymize): string {
  const [name = '', ...values] = parameter.split('=');
  const attribute = name.toLowerCase();
  const isCount = counts.has(attribute);
  const replaceValueOf = (text: string) =>
    isCount && /^[+-]?\d*$/.test(text) ? text : replaceText(text, attribute, replace);
  const replacedName = knownNames.has(attribute) ? name : replaceEncoded(name, replace);
  return [
    replacedName,
    ...(values.length === 0 ? [] : [replaceEncoded(values.join('='), replaceValueOf)]),
  ].join('=');
}

/** Replaces in a percent-encoded text. Characters that stay keep their encoding, and new ones follow its spaces. */
function replaceEncoded(encoded: string, replace: (text: string) => string): string {
  const units = encoded.match(/(?:%[0-9a-f]{2})+|./gisu) ?? [];
  const forms = new Map<string, string>();
  const decoded = units.map((unit) => {
    const text = decodeUnit(unit);
    for (const character of text)
      forms.set(character, [...text].length === 1 ? unit : encodeURIComponent(character));
    return text;
  });
  return [...replace(decoded.join(''))]
    .map((character) => forms.get(character) ?? encodeURIComponent(character))
    .join('');
}

function decodeUnit(text: string): string {
  return text === '+' ? ' ' : decodeOrKeep(text);
}

/** Decodes a percent-encoded text. One that is not encoded right stays as it is. */
export function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The headers that a scenario needs. Of the authorization only its presence is kept. */
const keptHeaders = words(
  'content-type accept accept-charset user-agent if-match if-none-match authorization',
);

/** Words of media types and of the names of known clients. */
const headerWords = new Set(
  words(
    'application text scim json xml html plain x www form urlencoded charset utf iso us ascii latin1 q w okta client integration onelogin jumpcloud keycloak goauthentik authentik io rippling entra azure ad microsoft idp sync pocket id scimgateway python requests axios node fetch java go http curl',
  ),
);

function replaceHeaders(headers: Record<string, string>, replace: Pseudonymize): Record<string, string> {
  const isKnown = (word: string) => headerWords.has(word.toLowerCase()) || /^\d{1,4}$/.test(word);
  const replaceHeader = (name: string, value: string) => {
    if (name === 'authorization') return '';
    if (name.startsWith('if-') && isInVocabulary('version', value)) return value;
    return value.replace(/[\p{L}\p{M}\p{N}]+/gu, (word) => (isKnown(word) ? word : replace(word)));
  };
  return Object.fromEntries(
    keptHeaders.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, replaceHeader(name, value)] as const];
    }),
  );
}
