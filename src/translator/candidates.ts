import { type Json, type JsonObject, type ScimResource, urns } from '../schema/resource.ts';
import type { TraceEntry } from './translation.ts';
import { elementsOf, elementType, isUnassigned, type Reading, toText, valueAt } from './values.ts';

/** A possible source for the value of a traveler's field: a SCIM attribute, or a setting of the mapping file. */
export interface Candidate {
  origin: TraceEntry['origin'];
  /** The SCIM path, or the name of the setting, as the trace shows it. */
  rule: string;
  /** The values of the source, the preferred one first; empty if it has none. */
  raws: Json[];
  /** The JSON path of the value, if the mapping file contains it. */
  mappingPath?: string;
  /** Applies the transforms of a mapping rule, before the value is read. */
  prepare?: (raw: Json) => Reading;
}

/** The settings of a mapping file that give a value to every user. */
export interface MappingDefaults {
  defaults?: { [name in DefaultName]?: { id: string } | { name: string } | undefined } | undefined;
  language?: { default?: string | undefined } | undefined;
}

/** The resources for which a mapping file can set a default. */
export type DefaultName = 'billingProfile' | 'costCenter' | 'travelPolicy';

/** Makes a candidate of a default rule from a SCIM path and its values. Unassigned values are dropped. */
export function candidate(rule: string, ...values: (Json | undefined)[]): Candidate {
  const raws = values.filter((value) => value !== undefined).filter((value) => !isUnassigned(value));
  return { origin: 'default', rule, raws };
}

/** Makes the candidate for a core attribute, e.g. `name.givenName`. */
export function coreAttribute(user: ScimResource, ...names: string[]): Candidate {
  return candidate(names.join('.'), valueAt(user, ...names));
}

/** Makes the candidate for an attribute of the travel extension. */
export function travelAttribute(user: ScimResource, ...names: string[]): Candidate {
  return candidate(`${urns.travel}:${names.join('.')}`, valueAt(user, urns.travel, ...names));
}

/** Makes the candidate for an attribute of the enterprise extension (RFC 7643 §4.3). */
export function enterpriseAttribute(user: ScimResource, ...names: string[]): Candidate {
  return candidate(`${urns.enterprise}:${names.join('.')}`, valueAt(user, urns.enterprise, ...names));
}

/** Makes the candidate for a setting of the mapping file; an empty list if the file does not have the setting. */
export function mappingSetting(
  path: string,
  value: string | { id: string } | { name: string } | undefined,
): Candidate[] {
  if (value === undefined) return [];
  const keys = typeof value === 'string' ? [] : Object.keys(value);
  return [{ ...candidate(path, value), origin: 'file', mappingPath: [path, ...keys].join('.') }];
}

/** Determines the order in which the elements of a multi-valued attribute are tried. */
interface Preference {
  /**
   * Values of `type`, the preferred one first. After the elements of these types come the primary element, then all
   * others.
   */
  types: string[];
  /** Elements of these types are never used. */
  never?: string[];
}

/** Makes the candidates for a multi-valued attribute such as `emails`, from the `value` of its elements. */
export function multiValuedAttribute(user: ScimResource, name: string, preference: Preference): Candidate[] {
  return preferredElements(user, name, preference).map(({ path, elements }) =>
    candidate(`${path}.value`, ...elements.map(({ value }) => value)),
  );
}

const addressParts = ['streetAddress', 'locality', 'region', 'postalCode', 'country'];

/**
 * Makes the candidate for one part of the postal address. All parts come from the same element of `addresses`: the
 * preferred one among those with any part. `formatted` is ignored, because Entra ID puts the name of the office there.
 */
export function addressAttribute(user: ScimResource, part: string): Candidate[] {
  const hasParts = (address: JsonObject): boolean =>
    addressParts.some((name) => !isUnassigned(address[name]));
  for (const { path, elements } of preferredElements(user, 'addresses', { types: ['work'] })) {
    const address = elements.find(hasParts);
    if (address) return [candidate(`${path}.${part}`, address[part])];
  }
  return [candidate(`addresses.${part}`)];
}

/**
 * Groups the elements of a multi-valued attribute in order of preference. Each group has the SCIM path that selects its
 * elements.
 */
function preferredElements(
  user: ScimResource,
  name: string,
  { types, never = [] }: Preference,
): { path: string; elements: JsonObject[] }[] {
  const elements = elementsOf(user, name).filter((element) => !never.includes(elementType(element) ?? ''));
  return [
    ...types.map((type) => ({
      path: `${name}[type eq "${type}"]`,
      elements: elements.filter((element) => elementType(element) === type),
    })),
    { path: `${name}[primary eq true]`, elements: elements.filter(({ primary }) => primary === true) },
    { path: name, elements },
  ];
}

/** Returns the candidates for the first name: `name.givenName`, then parts of `name.formatted` and `displayName`. */
export function firstNames(user: ScimResource): Candidate[] {
  const familyName = toText(valueAt(user, 'name', 'familyName'));
  return [
    coreAttribute(user, 'name', 'givenName'),
    ...wholeNames(user).map(({ path, text }) =>
      candidate(`${path}, first part`, splitName(text, { familyName }).first),
    ),
  ];
}

/** Returns the candidates for the last name: `name.familyName`, then parts of `name.formatted` and `displayName`. */
export function lastNames(user: ScimResource): Candidate[] {
  const givenName = toText(valueAt(user, 'name', 'givenName'));
  return [
    coreAttribute(user, 'name', 'familyName'),
    ...wholeNames(user).map(({ path, text }) =>
      candidate(`${path}, last part`, splitName(text, { givenName }).last),
    ),
  ];
}

function wholeNames(user: ScimResource): { path: string; text: string }[] {
  const names = [
    { path: 'name.formatted', text: toText(valueAt(user, 'name', 'formatted')) ?? '' },
    { path: 'displayName', text: toText(valueAt(user, 'displayName')) ?? '' },
  ];
  // If a person has no name, some directories send the email address instead; ignore it.
  return names.map(({ path, text }) => ({ path, text: text.includes('@') ? '' : text }));
}

/** A title or generation after a comma, such as `, PhD`, which is not part of the name. */
const suffix = /, *(jr|sr|ii|iii|iv|phd|md|esq)\.?$/i;

interface NameParts {
  first?: string | undefined;
  last?: string | undefined;
}

/**
 * Splits a full name. If one part is known, the other part is the rest. Otherwise "Last, First" is split at the comma,
 * and in any other form the first word is the first name.
 */
function splitName(
  whole: string,
  known: { givenName?: string | undefined; familyName?: string | undefined },
): NameParts {
  const text = withSingleBlanks(whole).replace(suffix, '');
  const givenName = withSingleBlanks(known.givenName ?? '');
  const familyName = withSingleBlanks(known.familyName ?? '');
  if (givenName && startsWithPart(text, givenName)) return { last: namePart(text.slice(givenName.length)) };
  if (givenName && endsWithPart(text, givenName)) return { last: namePart(text.slice(0, -givenName.length)) };
  if (familyName && endsWithPart(text, familyName))
    return { first: namePart(text.slice(0, -familyName.length)) };
  if (familyName && startsWithPart(text, familyName))
    return { first: namePart(text.slice(familyName.length)) };
  const [before = '', after] = text.split(',', 2);
  if (after !== undefined) return { first: namePart(after), last: namePart(before) };
  const [first, ...others] = before.split(' ');
  return { first: namePart(first ?? ''), last: namePart(others.join(' ')) };
}

function withSingleBlanks(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function startsWithPart(text: string, part: string): boolean {
  return (
    `${text} `.toLowerCase().startsWith(`${part.toLowerCase()} `) ||
    text.toLowerCase().startsWith(`${part.toLowerCase()},`)
  );
}

function endsWithPart(text: string, part: string): boolean {
  return ` ${text}`.toLowerCase().endsWith(` ${part.toLowerCase()}`);
}

function namePart(text: string): string | undefined {
  const trimmed = text.replace(/^[\s,]+|[\s,]+$/g, '');
  return trimmed === '' ? undefined : trimmed;
}
