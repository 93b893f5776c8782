import type { JsonObject } from './resource.ts';
import { groupType, resolveAttribute, userType } from './resource-types.ts';

/** The parts of a qualified attribute name, as written. */
export interface NameParts {
  /** The schema URN in front, when there was one. */
  urn: string | undefined;
  /** Undefined when the name is a URN and nothing else. */
  attribute: string | undefined;
  sub: string | undefined;
}

/** A qualified attribute name in its parts. */
export interface QualifiedName extends NameParts {
  /**
   * All ways to divide a name whose schema is not one of this service, the longest URN first. Where the URN ends cannot be
   * told from the characters: `urn:acme:1.0:user:custom` is an extension of Okta, or an attribute of `urn:acme:1.0:user`.
   */
  readings?: readonly NameParts[];
}

/** Longer than any name or URN; names are compared again and again. */
export const MAX_NAME_LENGTH = 300;

/** ATTRNAME of RFC 7643 §2.1, and `$ref`, which the same RFC names against its own rule. */
const attributeName = /^\$?[A-Za-z][\w$-]*$/;

/**
 * URNs that end in a version and a resource type, as those of RFC 7643 §10.3. Case tells a resource type from an attribute:
 * `urn:acme:hr:1.0:group` may well be the group of a person.
 */
const endsInType = /:\d+(\.\d+)*:(User|Group)$/;

/** Whether a text can be the URN of a schema. Identity providers let administrators choose it, so only value filters are excluded. */
export function isUrn(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && /^urn:[^\p{Cc}\p{Cs}"[\]]+$/iu.test(text);
}

/**
 * Divides `urn:…:User:name.givenName`, `name.givenName` or `urn:…:User`; undefined when it is none of these. The parts of
 * a name of an unknown schema are the usual ones; `readingIn` finds those that fit a resource.
 */
export function parseAttributeName(text: string): QualifiedName | undefined {
  if (text.length > MAX_NAME_LENGTH) return undefined;
  if (!/^urn:/i.test(text)) return parseDottedName(undefined, text);
  if (!isUrn(text) || /\s/.test(text) || text.endsWith(':')) return undefined;
  const readings = possibleReadings(text);
  const declared = readings.find(isDeclared);
  return declared ?? { ...(likelyReading(readings) ?? urnOnly(text)), readings };
}

/** A name as it divides where these URNs are known: by the longest of them, else as it usually does. */
export function chooseReading<Name extends QualifiedName>(
  name: Name,
  isKnown: (urn: string) => boolean,
): Name {
  const reading = name.readings?.find(({ urn }) => urn !== undefined && isKnown(urn));
  return reading ? { ...name, ...reading } : name;
}

/** Tells whether a resource has an extension of a URN, whatever the case. */
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
 * The URN of the extension that a PATCH path stands for when its value is an object and the resource knows no part of it:
 * all of it. But what follows a URN like those of RFC 7643 §10.3 is an attribute.
 */
export function containerUrn({ readings = [] }: QualifiedName): string | undefined {
  if (readings.some(({ urn = '', attribute }) => attribute !== undefined && endsInType.test(urn)))
    return undefined;
  return readings.find(({ attribute }) => attribute === undefined)?.urn;
}

const resourceTypes = [userType, groupType];
const declaredUrns = new Set(
  resourceTypes.flatMap(({ schema, extensions }) =>
    [schema, ...extensions].map(({ id }) => id.toLowerCase()),
  ),
);

/** Whether a name is a schema of this service, or one of its attributes. */
function isDeclared({ urn = '', attribute }: NameParts): boolean {
  if (!declaredUrns.has(urn.toLowerCase())) return false;
  return (
    attribute === undefined ||
    resourceTypes.some((type) => resolveAttribute(type, { urn, attribute }).attribute !== undefined)
  );
}

/** The URN ends at the end, at one of the last two dots (old Entra ID, SCIM 1.1), or at the last colon. */
function possibleReadings(text: string): NameParts[] {
  const colon = text.lastIndexOf(':');
  const dots = [...text.slice(colon).matchAll(/\./g)].slice(-2).map(({ index }) => colon + index);
  const named = [...dots.toReversed(), colon].flatMap((end) => {
    const urn = text.slice(0, end);
    return /^urn:.*[^:.]/i.test(urn) ? (parseDottedName(urn, text.slice(end + 1)) ?? []) : [];
  });
  return [urnOnly(text), ...named];
}

/** The reading of a name that no resource tells more of: of a usual URN, else the part before the last colon. */
function likelyReading(readings: readonly NameParts[]): NameParts | undefined {
  const [all, ...named] = readings;
  if (all?.urn !== undefined && endsInType.test(all.urn)) return all;
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
