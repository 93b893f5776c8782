import { parseAttributeName } from '../../schema/attribute-names.ts';
import { type Attribute, findAttribute } from '../../schema/attributes.ts';
import {
  type AttributePath,
  attributeExpressionsIn,
  type Filter,
  parseFilter,
} from '../../schema/filter-parser.ts';
import { isObject, type Json, type JsonObject, ownKey, ownValue } from '../../schema/resource.ts';
import { type ResourceType, resolveAttribute } from '../../schema/resource-types.ts';
import { isUnassigned } from '../../schema/values.ts';
import { type PatchOperation, parsePatch, parsePatchPath } from '../patch/patch.ts';
import { badRequest, type ScimError } from '../protocol/errors.ts';

/**
 * Throws 400 invalidFilter if a filter names an attribute that no schema of the resource type defines. A filter that cannot be read is left
 * to the endpoint.
 */
export function checkStrictFilter(type: ResourceType, text: string): void {
  const filter = parseFilter(text, { bareWords: true });
  if ('fault' in filter) return;
  for (const { path } of attributeExpressionsIn(filter)) {
    const attribute = declaredAttribute(type, path);
    const criteria = path.filter ? criteriaOf(path.filter).map(({ name }) => name) : [];
    const subs = path.sub === undefined ? criteria : [...criteria, path.sub];
    const sub = subs.find((name) => !findAttribute(attribute?.subAttributes, name));
    if (attribute && sub === undefined) continue;
    const name = pathText({ ...path, sub });
    throw badRequest('invalidFilter', `${type.name} has no attribute ${name}. ${SCHEMAS_LIST_ALL}`);
  }
}

/** Returns the body of a POST, PUT or PATCH as the endpoint reads it. What is wrong in any profile is left to the endpoint. */
export function readStrictBody(type: ResourceType, method: string, body: JsonObject): JsonObject {
  if (method === 'PATCH') return readPatch(type, body);
  checkResource(type, body);
  return body;
}

const SCHEMAS_LIST_ALL = 'Use the attributes that /Schemas lists.';

/** Finds the attribute that a path names, as /Schemas lists it; undefined if the schema in the path, or the core schema, has none. */
function declaredAttribute(
  type: ResourceType,
  path: Pick<AttributePath, 'urn' | 'attribute'>,
): Attribute | undefined {
  const { urn, attribute } = resolveAttribute(type, path);
  // A name without a URN is of the core schema, also if an extension has it. `password` is in no schema.
  const isElsewhere = path.urn === undefined && urn !== undefined;
  return isElsewhere || attribute?.returned === 'never' ? undefined : attribute;
}

function criteriaOf(filter: Filter): { name: string; value: Json }[] {
  return attributeExpressionsIn(filter).map((expression) => ({
    name: expression.path.attribute ?? '',
    value: expression.op === 'eq' ? expression.value : null,
  }));
}

function pathText({ urn, attribute, sub }: AttributePath): string {
  const name = [urn, attribute].filter((part) => part !== undefined).join(':');
  return sub === undefined ? name : `${name}.${sub}`;
}

/** Checks the body of a POST or PUT, or the attributes of one extension in it. */
function checkResource(type: ResourceType, body: JsonObject): void {
  for (const uri of [ownValue(body, 'schemas') ?? []].flat()) {
    const isDeclared = [type.schema, ...type.extensions].some(({ id }) => isSameUrn(id, uri));
    if (typeof uri === 'string' && !isDeclared) throw undefinedError(type, uri, 'schema');
  }
  for (const [key, value] of Object.entries(body)) {
    const extension = type.extensions.find(({ id }) => isSameUrn(id, key));
    if (extension) checkExtension(type, extension.id, value);
    else checkValue(type, key, parseAttributeName(key), value);
  }
}

function isSameUrn(one: string, other: Json): boolean {
  return typeof other === 'string' && one.toLowerCase() === other.toLowerCase();
}

function checkExtension(type: ResourceType, urn: string, value: Json): void {
  for (const [attribute, inner] of Object.entries(isObject(value) ? value : {}))
    checkValue(type, `${urn}:${attribute}`, { urn, attribute, sub: undefined }, inner);
}

/** Checks the value of an attribute, and the sub-attributes of its elements. */
function checkValue(
  type: ResourceType,
  written: string,
  name: ReturnType<typeof parseAttributeName>,
  value: Json,
): void {
  const attribute = name && name.sub === undefined ? declaredAttribute(type, name) : undefined;
  if (!attribute) throw undefinedError(type, written, 'attribute');
  // Null means that there is no value (RFC 7643 §2.5).
  if (value !== null) checkElements(type, attribute, written, value);
}

function checkElements(type: ResourceType, attribute: Attribute, written: string, value: Json): void {
  if (attribute.multiValued !== Array.isArray(value))
    throw badRequest('invalidValue', `${written} must ${attribute.multiValued ? '' : 'not '}be an array.`);
  for (const element of [value].flat()) {
    if (attribute.type === 'complex' && !isObject(element))
      throw badRequest('invalidValue', `A value of ${written} must be an object.`);
    for (const [name, inner] of Object.entries(isObject(element) ? element : {}))
      checkSubValue(type, attribute, { written: `${written}.${name}`, name, value: inner });
  }
}

function checkSubValue(
  type: ResourceType,
  attribute: Attribute,
  { written, name, value }: { written: string; name: string; value: Json },
): void {
  const sub = findAttribute(attribute.subAttributes, name);
  if (!sub) throw undefinedError(type, written, 'attribute');
  const isListed = sub.canonicalValues?.some((known) => isSameUrn(known, value)) !== false;
  if (value === null || isListed) return;
  throw badRequest('invalidValue', `${written} must be one of ${sub.canonicalValues?.join(', ')}.`);
}

/** The error for what no schema defines, which must be `invalidSyntax`. */
function undefinedError(type: ResourceType, name: string, kind: 'attribute' | 'schema'): ScimError {
  const remedy = kind === 'attribute' ? SCHEMAS_LIST_ALL : 'Use those that /ResourceTypes lists.';
  return badRequest('invalidSyntax', `${type.name} has no ${kind} ${name}. ${remedy}`);
}

/** Checks the operations of a PATCH. Those that replace a single complex value remove it first, so that nothing of it stays. */
function readPatch(type: ResourceType, body: JsonObject): JsonObject {
  const key = ownKey(body, 'Operations') ?? 'Operations';
  const written = [body[key] ?? []].flat();
  for (const [index, operation] of written.entries()) {
    if (isObject(operation) && isUnassigned(ownValue(operation, 'path') ?? null)) throw pathlessError(index);
  }
  const operations = parsePatch(body).flatMap((operation, index) => readOperation(type, operation, index));
  return { ...body, [key]: operations };
}

function pathlessError(index: number): ScimError {
  const example = '{"op":"replace","path":"name.givenName","value":"Ada"}';
  const detail = `Operation ${index + 1} must have a path. Send one operation for each attribute, such as ${example}.`;
  return badRequest('invalidSyntax', detail);
}

interface StrictOperation extends PatchOperation {
  path: string;
  /** The operation in messages. */
  where: string;
}

function readOperation(type: ResourceType, { op, path = '', value }: PatchOperation, index: number): Json[] {
  const written = { op, path, ...(value === undefined ? {} : { value }) };
  const parsed = parsePatchPath(path);
  const extension = type.extensions.find(({ id }) => isSameUrn(id, path));
  if (extension) checkExtension(type, extension.id, value ?? null);
  else if (checkOperation(type, parsed, { op, path, value, where: `operation ${index + 1}` }) === 'whole')
    return [
      { op: 'remove', path },
      { ...written, op: 'add' },
    ];
  return [written];
}

/** Returns `whole` if the operation replaces a single complex value. */
function checkOperation(
  type: ResourceType,
  path: AttributePath,
  operation: StrictOperation,
): 'whole' | 'part' {
  const attribute = declaredAttribute(type, path);
  if (!attribute) throw undefinedError(type, operation.path, 'attribute');
  const { op, value } = operation;
  const { sub, filter } = path;
  for (const criterion of filter ? criteriaOf(filter) : [])
    checkSubValue(type, attribute, { ...criterion, written: `${attribute.name}.${criterion.name}` });
  if (sub !== undefined)
    checkSubValue(type, attribute, { written: operation.path, name: sub, value: value ?? null });
  else if (filter) checkElementPath(attribute, operation);
  if (op === 'remove' || sub !== undefined || filter) return 'part';
  checkElements(type, attribute, operation.path, value ?? null);
  return op === 'replace' && attribute.type === 'complex' && !attribute.multiValued ? 'whole' : 'part';
}

/**
 * A path with a value filter must name a sub-attribute. A member of a group has only immutable ones, so a `remove` can
 * select it as a whole: there is no other way of RFC 7644 to remove one member.
 */
function checkElementPath({ subAttributes = [] }: Attribute, { op, path, where }: StrictOperation): void {
  if (op === 'remove' && subAttributes.every(({ mutability }) => mutability === 'immutable')) return;
  throw badRequest('invalidPath', `The path of ${where} must name a sub-attribute, as in ${path}.value.`);
}
