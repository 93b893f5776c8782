import { chooseReading, isUrn, parseAttributeName, type QualifiedName } from './attribute-names.ts';
import { type Attribute, undeclaredAttribute } from './attributes.ts';
import { isValueFault, type Tolerance, tolerate } from './left-out.ts';
import {
  checkNameCount,
  isObject,
  type Json,
  type JsonObject,
  MAX_NAMES_WITH_CUSTOM,
  ownKey,
  ownValue,
  SchemaFault,
  type ScimResource,
} from './resource.ts';
import {
  isCustomAttribute,
  type ResolvedAttribute,
  type ResourceType,
  resolveAttribute,
} from './resource-types.ts';
import { checkName, checkSize, isSafeName, isUnassigned, normalizeValue } from './values.ts';

/** The maximum number of names in a body, including those one level below. Each name is searched among all others. */
const MAX_BODY_NAMES = 2000;

/** A normalized body, and the names of attributes that were dropped because no schema defines them. */
export interface Normalized {
  resource: ScimResource;
  dropped: string[];
}

/** The values that are left out, and the resource that is to be replaced. */
interface NormalizeOptions {
  tolerance?: Tolerance | undefined;
  /** Keeps its value of an attribute whose new value is left out. */
  current?: ScimResource | undefined;
}

/**
 * Normalizes the body of a POST or PUT (RFC 7644 §3.3, §3.5.1): names and types become those of the schema, values stay
 * verbatim, and read-only, write-only and unassigned attributes are left out. Attributes of unknown extensions and custom
 * attributes of users are kept, other unknown core attributes are dropped. Throws a SchemaFault for a body that does not fit the schema, except for the values that
 * the tolerance leaves out.
 */
export function normalize(type: ResourceType, body: JsonObject, options: NormalizeOptions = {}): Normalized {
  checkAttributeCount(body);
  checkSchemas(type, ownValue(body, 'schemas'));
  const normalized: Normalized = { resource: {}, dropped: [] };
  addAll(type, { ...normalized, ...options }, body);
  return { ...normalized, resource: checkResource(type, normalized.resource, options) };
}

/**
 * Returns the resource if its required attributes are there and it is not too large. With a tolerance to any value, a required
 * attribute keeps its current value, and of a resource that is too large only `active` is used.
 */
export function checkResource(
  type: ResourceType,
  resource: ScimResource,
  { tolerance, current = {} }: NormalizeOptions,
): ScimResource {
  const { userName } = type.name === 'User' ? current : {};
  const where = { attribute: 'userName', value: resource['userName'] };
  const hasRequired = tolerate(tolerance, where, () => checkRequiredAttributes(type, resource));
  const complete = hasRequired ? resource : { ...resource, ...(userName === undefined ? {} : { userName }) };
  const fits = tolerate(tolerance, { attribute: '*', value: undefined }, () => checkSize(complete));
  const { active } = resource;
  return fits ? complete : { ...current, ...(active === undefined ? {} : { active }) };
}

function checkAttributeCount(body: JsonObject): void {
  let names = Object.keys(body).length;
  if (names <= MAX_BODY_NAMES) {
    for (const below of Object.values(body)) if (isObject(below)) names += Object.keys(below).length;
  }
  if (names > MAX_BODY_NAMES) throw new SchemaFault('value', 'There are too many attributes.');
}

/**
 * Throws a SchemaFault if a required text is missing or blank. `name` and `emails` say required, but are complex and may be
 * missing (docs/architecture.md, SCIM requests).
 */
export function checkRequiredAttributes(type: ResourceType, resource: ScimResource): void {
  for (const { name, required, type: kind } of type.schema.attributes) {
    const value = resource[name];
    if (required && kind === 'string' && (typeof value !== 'string' || value.trim() === '')) {
      throw new SchemaFault('value', `${name} is required.`);
    }
  }
}

/** Returns true if clients may write the attribute. */
export function isWritable({ mutability }: Attribute): boolean {
  return mutability === 'readWrite' || mutability === 'immutable';
}

/** A missing or empty `schemas` is accepted. One that does not list the core schema belongs to another resource type. */
function checkSchemas(type: ResourceType, schemas: Json | undefined): void {
  if (isUnassigned(schemas) || includesUrn(schemas, type.schema.id)) return;
  throw new SchemaFault('schemas', `schemas must list ${type.schema.id}.`);
}

/** The result of the normalization, and what it depends on. */
interface NormalizedDraft extends Normalized, NormalizeOptions {}

function addAll(type: ResourceType, into: NormalizedDraft, body: JsonObject): void {
  const known = namedUrns(body);
  for (const [key, value] of Object.entries(body)) {
    const name = parseKey(key, value, known);
    if (!name || name.sub !== undefined) into.dropped.push(key);
    else
      tolerate(into.tolerance, { attribute: key, value }, () =>
        addEntry(type, into, resolveAttribute(type, name), {
          isQualified: name.urn !== undefined,
          key,
          value,
        }),
      );
  }
}

/** Returns the URNs in `schemas` and those that are keys of objects in the body, in lower case. */
function namedUrns(body: JsonObject): Set<string> {
  const listed = [ownValue(body, 'schemas') ?? []].flat().filter((urn) => typeof urn === 'string');
  const keys = Object.keys(body).filter((key) => isObject(body[key]) && isUrn(key));
  return new Set([...listed, ...keys].map((urn) => urn.toLowerCase()));
}

/**
 * Parses a key of a body. If the key is a URN and its value an object, it is an extension, unless a schema of this
 * service defines the key as an attribute.
 */
function parseKey(key: string, value: Json, known: Set<string>): QualifiedName | undefined {
  const name = parseAttributeName(key);
  const isDeclared = name !== undefined && name.readings === undefined;
  if (isObject(value) && !isDeclared && isUrn(key)) return { urn: key, attribute: undefined, sub: undefined };
  return name && chooseReading(name, (urn) => known.has(urn.toLowerCase()));
}

interface BodyEntry {
  /** True if a URN in front of the key, or around it, names the schema. */
  isQualified: boolean;
  key: string;
  value: Json;
}

function addEntry(
  type: ResourceType,
  into: NormalizedDraft,
  resolved: ResolvedAttribute,
  { isQualified, key, value: given }: BodyEntry,
): void {
  const { urn, attribute, name } = resolved;
  if (name === undefined) addContainer(type, into, urn, { key, value: given });
  else if (isCustomAttribute(type, resolved)) addCustomAttribute(into, name, given);
  else if (urn === undefined && !attribute) into.dropped.push(key);
  else if (isSafeName(name) && (!attribute || isWritable(attribute))) {
    const value = normalizeEntry(attribute ?? undeclaredAttribute(name), into, { urn, name, given });
    if (urn !== undefined) setInExtension(into.resource, { urn, name, value, isQualified });
    // A core attribute has the spelling of the schema, so that no other key can differ from it by case only.
    else if (value !== undefined) into.resource[name] = value;
  }
}

/** A custom attribute that is too large is dropped, so that it does not prevent the request: clients send attributes that nothing reads. */
function addCustomAttribute({ resource, dropped }: NormalizedDraft, name: string, given: Json): void {
  if (!isSafeName(name)) return;
  try {
    checkNameCount(resource, ownKey(resource, name) ?? name, MAX_NAMES_WITH_CUSTOM);
    assignValue(resource, name, normalizeValue(undeclaredAttribute(name), given));
  } catch (error) {
    if (!isValueFault(error)) throw error;
    dropped.push(name);
  }
}

/** Normalizes a value. If nothing of it fits, the attribute keeps the value that the current resource has. */
function normalizeEntry(
  attribute: Attribute,
  { tolerance, current = {} }: NormalizeOptions,
  { urn, name, given }: { urn: string | undefined; name: string; given: Json },
): Json | undefined {
  let isComplete = true;
  const counting = tolerance && {
    ...tolerance,
    report: (value: Parameters<Tolerance['report']>[0]) => {
      isComplete = false;
      tolerance.report(value);
    },
  };
  const fitting = tolerate(counting, { attribute: name, value: given }, () =>
    normalizeValue(attribute, given, counting),
  );
  if (fitting?.result !== undefined || isComplete) return fitting?.result;
  const container = urn === undefined ? current : ownValue(current, urn);
  return isObject(container) ? ownValue(container, name) : undefined;
}

/**
 * Adds the attributes of an object whose key is a URN: an extension, or the core schema, whose URN some clients use as
 * a key.
 */
function addContainer(
  type: ResourceType,
  into: NormalizedDraft,
  urn: string | undefined,
  { key, value }: Pick<BodyEntry, 'key' | 'value'>,
): void {
  if (isUnassigned(value) || value === '') return;
  if (!isObject(value)) {
    const kept = urn === undefined ? undefined : ownValue(into.current ?? {}, urn);
    if (urn !== undefined && isObject(kept)) into.resource[urn] = kept;
    throw new SchemaFault('value', `The value of ${key} must be an object.`);
  }
  for (const [inner, innerValue] of Object.entries(value)) {
    const resolved = resolveAttribute(type, { urn: urn ?? type.schema.id, attribute: inner });
    tolerate(into.tolerance, { attribute: inner, value: innerValue }, () =>
      addEntry(type, into, resolved, { isQualified: true, key: inner, value: innerValue }),
    );
  }
}

/**
 * Sets an attribute of an extension. If the body has the attribute both with and without its URN, the value with the
 * URN is used.
 */
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

/**
 * Returns true if a `schemas` value contains a URN, compared without case. The value may be a single URN instead of an
 * array.
 */
export function includesUrn(schemas: Json | undefined, urn: string): boolean {
  const folded = urn.toLowerCase();
  return [schemas ?? []]
    .flat()
    .some((listed) => typeof listed === 'string' && listed.toLowerCase() === folded);
}
