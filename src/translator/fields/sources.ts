import type { CountedParts } from '../../model/translation.ts';
import { isObject, type Json, type JsonObject, type ScimResource, urns } from '../../schema/resource.ts';
import { referenceKey } from '../values/reference-parts.ts';
import { elementsOf, elementType, isUnassigned, toText, valueAt } from '../values/values.ts';

/** A SCIM user as sources read it. */
export interface SourceUser {
  resource: ScimResource;
  /** The element of `addresses` from which all parts of the postal address come. */
  address: ChosenAddress;
  countedParts: CountedParts;
}

/** A possible source for the value of a traveler's field: a SCIM attribute. */
export interface Source {
  /** The SCIM path, as the trace shows it. */
  rule: string;
  /** The path with which a mapping rule reads the same values; absent if no path says the same. */
  path?: string;
  /** Returns the values of the source, the preferred one first; empty if it has none. Unassigned values are left out. */
  valuesOf: (user: SourceUser) => readonly Json[];
}

/** Prepares a user for reading. */
export function toSourceUser(given: ScimResource, countedParts: CountedParts = {}): SourceUser {
  const resource = withPrimaryFirst(given);
  return { resource, address: chooseAddress(resource), countedParts };
}

/**
 * Moves the primary element of each multi-valued attribute, extensions included, to its beginning: it is "the preferred
 * value" (RFC 7643 §2.4), so of several elements of one type it is read before the others.
 */
function withPrimaryFirst(resource: ScimResource): ScimResource {
  const ordered = Object.entries(resource).map(([name, value]): [string, Json] => [
    name,
    name.includes(':') && isObject(value) ? withPrimaryFirst(value) : primaryFirst(value),
  ]);
  return Object.fromEntries(ordered);
}

function primaryFirst(value: Json): Json {
  if (!Array.isArray(value)) return value;
  const index = value.findIndex((element) => isObject(element) && element.primary === true);
  const primary = value[index];
  return index <= 0 || primary === undefined ? value : [primary, ...value.toSpliced(index, 1)];
}

const noValues: readonly Json[] = [];

function toValues(value: Json | undefined): readonly Json[] {
  return value === undefined || isUnassigned(value) ? noValues : [value];
}

/** Makes the source for a core attribute, e.g. `name.givenName`. */
export function coreAttribute(...names: string[]): Source {
  const rule = names.join('.');
  return { rule, path: rule, valuesOf: ({ resource }) => toValues(valueAt(resource, ...names)) };
}

/** Makes the source for an attribute of the travel extension. */
export function travelAttribute(...names: string[]): Source {
  return extensionAttribute(urns.travel, names);
}

/** Makes the source for an attribute of the enterprise extension (RFC 7643 §4.3). */
export function enterpriseAttribute(...names: string[]): Source {
  return extensionAttribute(urns.enterprise, names);
}

function extensionAttribute(urn: string, names: string[]): Source {
  const [name = '', ...parts] = names;
  const key = referenceKey(urn, name);
  const rule = `${urn}:${names.join('.')}`;
  return {
    ...{ rule, path: rule },
    valuesOf: ({ resource, countedParts }) => {
      const value = valueAt(resource, urn, ...names);
      const counted = countedParts[key];
      if (counted === undefined) return toValues(value);
      if (parts.length === 0) {
        if (!isObject(value)) return toValues(value);
        // The part that counts may be an attribute beside this one, such as costCenterId.
        return Object.hasOwn(value, counted) ? toValues({ [counted]: value[counted] ?? null }) : noValues;
      }
      return parts[0] === counted ? toValues(value) : noValues;
    },
  };
}

const managerValue = extensionAttribute(urns.enterprise, ['manager', 'value']);
const managerRef = extensionAttribute(urns.enterprise, ['manager', '$ref']);

/** The source for a manager who is named by a URI (`manager.$ref`, RFC 7643 §4.3): usually it repeats `manager.value`. */
export const managerUri: Source = {
  ...managerRef,
  valuesOf: (user) => (managerValue.valuesOf(user).length > 0 ? noValues : managerRef.valuesOf(user)),
};

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

/** Makes the sources for a multi-valued attribute such as `emails`, from the `value` of its elements. */
export function multiValuedAttribute(name: string, { types, never = [] }: Preference): Source[] {
  return elementGroups(name, types).map(({ path, isMember }) => ({
    rule: `${path}.value`,
    path: `${withoutTypes(path, never)}.value`,
    valuesOf: ({ resource }) => {
      const values: Json[] = [];
      for (const element of elementsOf(resource, name)) {
        const { value } = element;
        if (value === undefined || isUnassigned(value) || !isMember(element)) continue;
        if (!never.includes(elementType(element) ?? '')) values.push(value);
      }
      return values;
    },
  }));
}

/** Excludes elements of these types from a path, unless it selects another type. */
function withoutTypes(path: string, never: string[]): string {
  if (never.length === 0 || path.includes('[type eq')) return path;
  const [name = '', filter] = path.split(/[[\]]/);
  const conditions = [
    ...(filter === undefined ? [] : [filter]),
    ...never.map((type) => `not (type eq "${type}")`),
  ];
  return `${name}[${conditions.join(' and ')}]`;
}

interface ElementGroup {
  /** The SCIM path that selects the elements. */
  path: string;
  isMember: (element: JsonObject) => boolean;
}

/** Groups the elements of a multi-valued attribute in order of preference. */
function elementGroups(name: string, types: string[]): ElementGroup[] {
  return [
    ...types.map((type) => ({
      path: `${name}[type eq "${type}"]`,
      isMember: (element: JsonObject) => elementType(element) === type,
    })),
    { path: `${name}[primary eq true]`, isMember: ({ primary }) => primary === true },
    { path: name, isMember: () => true },
  ];
}

const addressGroups = elementGroups('addresses', ['work']);
const addressParts = ['streetAddress', 'locality', 'region', 'postalCode', 'country'];

/** An element of `addresses`, and the index of the group in which it was found. */
interface ChosenAddress {
  group: number;
  element: JsonObject;
}

/**
 * Chooses the postal address: the preferred element among those with any part. `formatted` is ignored, because Entra ID
 * puts the name of the office there.
 */
function chooseAddress(resource: ScimResource): ChosenAddress {
  const elements = elementsOf(resource, 'addresses').filter((address) =>
    addressParts.some((name) => !isUnassigned(address[name])),
  );
  for (const [group, { isMember }] of addressGroups.entries()) {
    const element = elements.find(isMember);
    if (element) return { group, element };
  }
  return { group: addressGroups.length - 1, element: {} };
}

/** Makes the sources for one part of the postal address. Only that of the chosen element is used (`pickAddress`). */
export function addressAttribute(part: string): Source[] {
  return addressGroups.map(({ path }) => ({
    ...{ rule: `${path}.${part}`, path: `${path}.${part}` },
    valuesOf: ({ address }) => toValues(address.element[part]),
  }));
}

/** Returns the index of the source that reads the chosen address. */
export function pickAddress({ address }: SourceUser): number {
  return address.group;
}

/** The attributes with the whole name of a person. */
const wholeNames = [['name', 'formatted'], ['displayName']] as const;

/** The sources for the first name: `name.givenName`, then parts of `name.formatted` and `displayName`. */
export const firstNames: readonly Source[] = [
  coreAttribute('name', 'givenName'),
  ...wholeNames.map(
    (path): Source => ({
      rule: `${path.join('.')}, first part`,
      valuesOf: ({ resource }) => {
        const familyName = toText(valueAt(resource, 'name', 'familyName'));
        return toValues(splitName(wholeName(resource, path), { familyName }).first);
      },
    }),
  ),
];

/** The sources for the last name: `name.familyName`, then parts of `name.formatted` and `displayName`. */
export const lastNames: readonly Source[] = [
  coreAttribute('name', 'familyName'),
  ...wholeNames.map(
    (path): Source => ({
      rule: `${path.join('.')}, last part`,
      valuesOf: ({ resource }) => {
        const givenName = toText(valueAt(resource, 'name', 'givenName'));
        return toValues(splitName(wholeName(resource, path), { givenName }).last);
      },
    }),
  ),
];

function wholeName(resource: ScimResource, path: readonly string[]): string {
  const text = toText(valueAt(resource, ...path)) ?? '';
  // If a person has no name, some directories send the email address instead; ignore it.
  return text.includes('@') ? '' : text;
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
