import type { JsonObject } from './resource.ts';
import { resolveAttribute, resourceSchemas, resourceTypes } from './resource-types.ts';

/** The parts into which a qualified attribute name is split, in the client's spelling. */
export interface NameParts {
  /** The schema URN in front of the name; undefined for a name without one. */
  urn: string | undefined;
  /** Undefined if the text is only a URN. */
  attribute: string | undefined;
  /** The name of the sub-attribute, e.g. `givenName` in `name.givenName`. */
  sub: string | undefined;
}

/** A qualified attribute name, split into URN, attribute and sub-attribute in the most likely way. */
export interface QualifiedName extends NameParts {
  /**
   * All possible ways to split the name if this service does not define its schema, the longest URN first. The text
   * alone is ambiguous: `urn:acme:1.0:user:custom` is an extension, or the attribute `custom` of `urn:acme:1.0:user`.
   */
  readings?: readonly NameParts[];
}

/** The longest attribute name or URN, in characters. Names are compared many times, so their length is limited. */
export const MAX_NAME_LENGTH = 300;

/** ATTRNAME of RFC 7643 §2.1, and `$ref`, an attribute of the same RFC that its grammar does not allow. */
const attributeName = /^\$?[A-Za-z][\w$-]*$/;

/**
 * URNs that end in a version and a resource type, like those of RFC 7643 §10.3. The case matters: the last part of
 * `urn:acme:hr:1.0:group` may be an attribute.
 */
const typedUrn = /:\d+(\.\d+)*:(User|Group)$/;

/**
 * Tells whether a text can be the URN of a schema. Administrators choose the URNs of extensions freely, so all characters
 * are allowed except control characters, quotes and brackets; the latter belong to value filters.
 */
export function isUrn(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && /^urn:[^\p{Cc}\p{Cs}"[\]]+$/iu.test(text);
}

/**
 * Splits an attribute name such as `urn:…:User:name.givenName` or `name.givenName`, or a URN. Returns undefined for
 * other text. If the URN is unknown, the name is split in the most likely way; `chooseReading` corrects that for a
 * resource.
 */
export function parseAttributeName(text: string): QualifiedName | undefined {
  if (text.length > MAX_NAME_LENGTH) return undefined;
  if (!/^urn:/i.test(text)) return parseDottedName(undefined, text);
  if (!isUrn(text) || /\s/.test(text) || text.endsWith(':')) return undefined;
  const readings = possibleReadings(text);
  const declared = readings.find(isDeclared);
  return declared ?? { ...(likelyReading(readings) ?? urnOnly(text)), readings };
}

/**
 * Splits a name again so that its URN is the longest known one. If none is known, the name stays split in the most
 * likely way.
 */
export function chooseReading<Name extends QualifiedName>(
  name: Name,
  isKnown: (urn: string) => boolean,
): Name {
  const reading = name.readings?.find(({ urn }) => urn !== undefined && isKnown(urn));
  return reading ? { ...name, ...reading } : name;
}

/** Returns a function that tells whether the resource has an extension with this URN, compared without case. */
export function extensionTest(resource: JsonObject): (urn: string) => boolean {
  let known: Set<string> | undefined;
  return (urn) => {
    known ??= new Set(
      Object.keys(resource)
        .filter((key) => key.includes(':'))
        .map((key) => key.toLowerCase()),
    );
    return known.has(urn.toLowerCase());
  };
}

/**
 * Returns the URN of the extension that a PATCH path names if its value is an object and the resource has no such
 * extension yet: the whole path is the URN. Returns undefined if the path is a URN like those of RFC 7643 §10.3,
 * followed by an attribute.
 */
export function containerUrn({ readings = [] }: QualifiedName): string | undefined {
  if (readings.some(({ urn = '', attribute }) => attribute !== undefined && typedUrn.test(urn)))
    return undefined;
  return readings.find(({ attribute }) => attribute === undefined)?.urn;
}

const declaredUrns = new Set(resourceSchemas.map(({ id }) => id.toLowerCase()));

/** Returns true if this service has a schema with this URN and, if the name has an attribute, the schema defines it. */
function isDeclared({ urn = '', attribute }: NameParts): boolean {
  if (!declaredUrns.has(urn.toLowerCase())) return false;
  return (
    attribute === undefined ||
    resourceTypes.some((type) => resolveAttribute(type, { urn, attribute }).attribute !== undefined)
  );
}

/**
 * Returns all ways to split a text that begins with a URN. The URN may be the whole text, or end at the last colon or
 * at one of the last two dots: older Entra ID and SCIM 1.1 put a dot between the URN and the attribute.
 */
function possibleReadings(text: string): NameParts[] {
  const colon = text.lastIndexOf(':');
  const dots = [...text.slice(colon).matchAll(/\./g)].slice(-2).map(({ index }) => colon + index);
  const named = [...dots.toReversed(), colon].flatMap((end) => {
    const urn = text.slice(0, end);
    return /^urn:.*[^:.]/i.test(urn) ? (parseDottedName(urn, text.slice(end + 1)) ?? []) : [];
  });
  return [urnOnly(text), ...named];
}

/**
 * Chooses the most likely way: a URN that ends in a resource type, else a URN of this service, else the URN up to the
 * last colon.
 */
function likelyReading(readings: readonly NameParts[]): NameParts | undefined {
  const [all, ...named] = readings;
  if (all?.urn !== undefined && typedUrn.test(all.urn)) return all;
  const typed = named.find(
    ({ urn = '' }) => declaredUrns.has(urn.toLowerCase()) || /:(User|Group)$/.test(urn),
  );
  return typed ?? named.at(-1);
}

function urnOnly(urn: string): NameParts {
  return { urn, attribute: undefined, sub: undefined };
}

function parseDottedName(urn: string | undefined, dotted: string): NameParts | undefined {
  const [attribute, sub, ...more] = dotted.split('.');
  if (attribute === undefined || !attributeName.test(attribute) || more.length > 0) return undefined;
  if (sub !== undefined && !attributeName.test(sub)) return undefined;
  return { urn, attribute, sub };
}
