import { chooseReading, isUrn, parseAttributeName, type QualifiedName } from './attribute-names.ts';
import { type Attribute, undeclaredAttribute } from './attributes.ts';
import {
  checkNameCount,
  isObject,
  type Json,
  type JsonObject,
  ownKey,
  ownValue,
  SchemaFault,
  type ScimResource,
} from './resource.ts';
import { type ResolvedAttribute, type ResourceType, resolveAttribute } from './resource-types.ts';
import { checkName, checkSize, isSafeName, isUnassigned, normalizeValue } from './values.ts';

const MAX_BODY_NAMES = 2000;

/** A body as it is kept, and the names in it that no schema knows. */
export interface Normalized {
  resource: ScimResource;
  dropped: string[];
}

/**
 * Reads the body of a POST or PUT (RFC 7644 §3.3, §3.5.1): canonical names and types, the values verbatim, without what
 * is read-only, write-only or unassigned. Attributes of unknown extensions are kept, unknown core attributes are not.
 */
export function normalize(type: ResourceType, body: JsonObject): Normalized {
  checkAttributeCount(body);
  checkSchemas(type, ownValue(body, 'schemas'));
  const normalized: Normalized = { resource: {}, dropped: [] };
  addAll(type, normalized, body);
  checkRequiredAttributes(type, normalized.resource);
  checkSize(normalized.resource);
  return normalized;
}

/** Each name costs a look through the others, so their number is bounded, together with those one level below. */
function checkAttributeCount(body: JsonObject): void {
  let names = Object.keys(body).length;
  if (names <= MAX_BODY_NAMES) {
    for (const below of Object.values(body)) if (isObject(below)) names += Object.keys(below).length;
  }
  if (names > MAX_BODY_NAMES) throw new SchemaFault('value', 'There are too many attributes.');
}

/**
 * What must be there is text with something in it; `name` and `emails` may be missing all the same
 * (docs/architecture.md, SCIM requests).
 */
export function checkRequiredAttributes(type: ResourceType, resource: ScimResource): void {
  for (const { name, required, type: kind } of type.schema.attributes) {
    const value = resource[name];
    if (required && kind === 'string' && (typeof value !== 'string' || value.trim() === '')) {
      throw new SchemaFault('value', `${name} is required.`);
    }
  }
}

/** Whether an attribute is the client's to write. */
export function isWritable({ mutability }: Attribute): boolean {
  return mutability === 'readWrite' || mutability === 'immutable';
}

/** Missing and empty lists are forgiven; a list without this resource's schema belongs to something else. */
function checkSchemas(type: ResourceType, schemas: Json | undefined): void {
  if (isUnassigned(schemas) || includesUrn(schemas, type.schema.id)) return;
  throw new SchemaFault('schemas', `schemas must list ${type.schema.id}.`);
}

function addAll(type: ResourceType, into: Normalized, body: JsonObject): void {
  const known = namedUrns(body);
  for (const [key, value] of Object.entries(body)) {
    const name = parseKey(key, value, known);
    if (!name || name.sub !== undefined) into.dropped.push(key);
    else
      addEntry(type, into, {
        ...resolveAttribute(type, name),
        isQualified: name.urn !== undefined,
        key,
        value,
      });
  }
}

/** The URNs that a body names, in lower case: in `schemas`, and as the keys of objects. */
function namedUrns(body: JsonObject): Set<string> {
  const listed = [ownValue(body, 'schemas') ?? []].flat().filter((urn) => typeof urn === 'string');
  const keys = Object.keys(body).filter((key) => isObject(body[key]) && isUrn(key));
  return new Set([...listed, ...keys].map((urn) => urn.toLowerCase()));
}

/**
 * What a key of a body means: an object under a URN is an extension, whatever the URN looks like, unless the key is an
 * attribute of a schema of this service with its URN.
 */
function parseKey(key: string, value: Json, known: Set<string>): QualifiedName | undefined {
  const name = parseAttributeName(key);
  const isDeclared = name !== undefined && name.readings === undefined;
  if (isObject(value) && !isDeclared && isUrn(key)) return { urn: key, attribute: undefined, sub: undefined };
  return name && chooseReading(name, (urn) => known.has(urn.toLowerCase()));
}

interface BodyEntry extends ResolvedAttribute {
  isQualified: boolean;
  key: string;
  value: Json;
}

function addEntry(type: ResourceType, into: Normalized, entry: BodyEntry): void {
  const { urn, attribute, name } = entry;
  if (name === undefined) addContainer(type, into, entry);
  else if (urn === undefined && !attribute) into.dropped.push(entry.key);
  else if (isSafeName(name) && (!attribute || isWritable(attribute))) {
    const value = normalizeValue(attribute ?? undeclaredAttribute(name), entry.value);
    if (urn === undefined) assignValue(into.resource, name, value);
    else setInExtension(into.resource, { urn, name, value, isQualified: entry.isQualified });
  }
}

/** The object under a URN: an extension, or (some clients do) the core schema itself. */
function addContainer(type: ResourceType, into: Normalized, { urn, value, key }: BodyEntry): void {
  if (isUnassigned(value) || value === '') return;
  if (!isObject(value)) throw new SchemaFault('value', `The value of ${key} must be an object.`);
  for (const [inner, innerValue] of Object.entries(value)) {
    const resolved = resolveAttribute(type, { urn: urn ?? type.schema.id, attribute: inner });
    addEntry(type, into, { ...resolved, isQualified: true, key: inner, value: innerValue });
  }
}

/** A name without its URN gives way to one that has it. */
function setInExtension(
  resource: ScimResource,
  {
    urn,
    name,
    value,
    isQualified,
  }: { urn: string; name: string; value: Json | undefined; isQualified: boolean },
): void {
  const key = ownKey(resource, urn) ?? urn;
  const extension = ownValue(resource, key);
  const container = isObject(extension) ? extension : {};
  if (!isQualified && Object.hasOwn(container, name)) return;
  assignValue(container, checkName(name, key), value);
  if (Object.keys(container).length > 0) assignValue(resource, key, container);
}

function assignValue(container: JsonObject, name: string, value: Json | undefined): void {
  if (value === undefined) return;
  const key = ownKey(container, name) ?? name;
  checkNameCount(container, key);
  container[key] = value;
}

/** Whether `schemas` lists a URN; URNs are compared without case, and a single one may stand without an array. */
export function includesUrn(schemas: Json | undefined, urn: string): boolean {
  const folded = urn.toLowerCase();
  return [schemas ?? []].flat().some((one) => typeof one === 'string' && one.toLowerCase() === folded);
}
