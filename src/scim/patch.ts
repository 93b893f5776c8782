import { chooseReading, containerUrn, isUrn, parseAttributeName } from '../schema/attribute-names.ts';
import { type Attribute, undeclaredAttribute } from '../schema/attributes.ts';
import { createFoldCache } from '../schema/case-fold.ts';
import { type AttributePath, type Filter, parsePath } from '../schema/filter-parser.ts';
import { checkRequiredAttributes, includesUrn, isWritable } from '../schema/normalize.ts';
import {
  checkNameCount,
  isObject,
  type Json,
  type JsonObject,
  ownKey,
  ownValue,
  type ScimResource,
} from '../schema/resource.ts';
import { type ResourceType, resolveAttribute } from '../schema/resource-types.ts';
import { checkName, checkSize, isSafeName, isUnassigned } from '../schema/values.ts';
import { badRequest } from './errors.ts';
import { changeValue, type ValueChange } from './patch-values.ts';

/**
 * Applies a PATCH to a resource (RFC 7644 §3.5.2, with the exceptions in docs/architecture.md, SCIM requests): in order,
 * and all or nothing, since the resource it is given is left alone.
 */
export function applyPatch(
  type: ResourceType,
  resource: ScimResource,
  operations: PatchOperation[],
): ScimResource {
  const draft = draftOf(resource);
  const shared = { spend: workMeter(), fold: createFoldCache(), urnKeys: urnKeysOf(draft) };
  for (const step of boundedSteps(operations)) apply(type, draft, { ...step, ...shared });
  checkRequiredAttributes(type, draft);
  checkSize(draft);
  return draft;
}

/** A copy whose attributes, and those of its extensions, can be set one by one; the values themselves are never changed. */
function draftOf(resource: ScimResource): ScimResource {
  const entries = Object.entries(resource);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key.includes(':') && isObject(value) ? { ...value } : value]),
  );
}

/**
 * The keys of a draft that are URNs, by their lower case. They are read once for each PATCH and follow its changes: a PATCH
 * has hundreds of paths, and a resource has hundreds of keys.
 */
type UrnKeys = Map<string, string>;

function urnKeysOf(draft: ScimResource): UrnKeys {
  const keys = Object.keys(draft).filter((key) => key.includes(':'));
  return new Map(keys.map((key) => [key.toLowerCase(), key]));
}

/** The spelling that the draft uses for a URN; a URN that it does not have is its own. */
function urnKeyIn(draft: ScimResource, urn: string, urnKeys: UrnKeys): string {
  return Object.hasOwn(draft, urn) ? urn : (urnKeys.get(urn.toLowerCase()) ?? urn);
}

/** What all steps of a PATCH share. */
interface Shared extends Pick<ValueChange, 'fold'> {
  spend: ReturnType<typeof workMeter>;
  urnKeys: UrnKeys;
}

type Counted = PatchStep & Shared;

function apply(type: ResourceType, draft: ScimResource, counted: Counted): void {
  const step = { ...counted, path: placeIn(counted) };
  const { urn, attribute, name } = resolveAttribute(type, step.path);
  if (name === undefined) applyToAll(type, draft, { ...step, urn });
  else if (urn === undefined && !attribute) return;
  else if (isSafeName(name) && (!attribute || isOpenTo(step, attribute))) {
    const change = { ...step, attribute: attribute ?? undeclaredAttribute(name) };
    if (urn === undefined) changeIn(draft, name, change);
    else changeInExtension(draft, urn, { ...change, name });
  }
}

/** The path as its name divides in this resource: by the URNs that it has, else by the kind of the value. */
function placeIn({ op, path, value, urnKeys }: Counted): AttributePath {
  const known = chooseReading(path, (urn) => urnKeys.has(urn.toLowerCase()));
  if (known !== path || op === 'remove' || !isObject(value)) return known;
  const urn = containerUrn(path);
  return urn === undefined ? path : { urn, attribute: undefined, sub: undefined, filter: undefined };
}

function changeInExtension(
  draft: ScimResource,
  urn: string,
  { name, ...change }: Counted & { name: string; attribute: Attribute },
): void {
  const key = urnKeyIn(draft, urn, change.urnKeys);
  const extension = draft[key];
  const container = isObject(extension) ? extension : {};
  changeIn(container, name, change);
  setExtension(draft, key, Object.keys(container).length > 0 ? container : undefined, change.urnKeys);
}

/** The path is a URN: that of an extension stands for all of it, that of the core schema for the resource. */
function applyToAll(
  type: ResourceType,
  draft: ScimResource,
  step: Counted & { urn: string | undefined },
): void {
  const { op, value, urn, spend, fold, urnKeys } = step;
  if (op === 'remove' || isUnassigned(value) || value === '') {
    if (urn === undefined) throw badRequest('noTarget', 'A resource cannot be cleared as a whole.');
    setExtension(draft, urnKeyIn(draft, urn, urnKeys), undefined, urnKeys);
    return;
  }
  if (!isObject(value)) throw badRequest('invalidValue', 'The value of a schema must be an object.');
  for (const inner of stepsOfKeys(op, value, urn ?? type.schema.id)) {
    if (inner.path.attribute !== undefined) apply(type, draft, { ...inner, spend, fold, urnKeys });
  }
}

/** An `id` named in a path is told; what else is read-only or secret is passed over (RFC 7643 §2.2). */
function isOpenTo({ op, isExplicit }: PatchStep, attribute: Attribute): boolean {
  if (isExplicit && attribute.name === 'id') throw badRequest('mutability', 'id is read-only.');
  // "If the target location … is "required" …, an error … "mutability"" (RFC 7644 §3.5.2.2).
  if (op === 'remove' && attribute.required && attribute.type !== 'complex') {
    throw badRequest('mutability', `${attribute.name} is required.`);
  }
  return isWritable(attribute);
}

function changeIn(
  container: JsonObject,
  name: string,
  { op, path, value = null, attribute, spend, fold }: Counted & { attribute: Attribute },
): void {
  const key = ownKey(container, name) ?? name;
  const change = { op, filter: path.filter, sub: path.sub, value, fold };
  spend(container, container[key], change);
  set(container, key, changeValue(attribute, container[key], change));
}

function setExtension(draft: ScimResource, key: string, value: Json | undefined, urnKeys: UrnKeys): void {
  set(draft, key, value);
  if (value === undefined) urnKeys.delete(key.toLowerCase());
  else urnKeys.set(key.toLowerCase(), key);
}

function set(container: JsonObject, key: string, value: Json | undefined): void {
  if (value === undefined) delete container[key];
  else {
    checkNameCount(container, key);
    container[key] = value;
  }
}

/** What one operation, or one key of a path-less one, does at one place. */
export interface PatchStep {
  op: PatchOperation['op'];
  path: AttributePath;
  value: Json | undefined;
  /** Whether the client named the place in `path`; keys of a path-less value are forgiven more. */
  isExplicit: boolean;
}

/** What one request may weigh: far more than any client sends, and little enough to be done in an instant. */
const MAX_WEIGHT = 1500;

/** The steps of all operations, in order; a PATCH that asks for too much at once is refused. */
export function boundedSteps(operations: PatchOperation[]): PatchStep[] {
  const weight = operations.reduce((sum, operation) => sum + operationWeight(operation), 0);
  if (weight > MAX_WEIGHT)
    throw badRequest('invalidValue', 'The PATCH asks for too much at once; send it in parts.');
  return operations.flatMap(stepsOf);
}

/** Every value is compared with those there are, and a filter with each of them, so both count. */
function operationWeight({ path = '', value }: PatchOperation): number {
  const inner = isObject(value) ? Object.values(value) : [value ?? null];
  const values = inner.map((one) => (typeof one === 'object' && one !== null ? Object.keys(one).length : 1));
  return values.reduce((sum, count) => sum + count, 1 + path.length / 20);
}

/** The path of an operation, or 400 invalidPath. */
export function parsePatchPath(text: string): AttributePath {
  const path = parsePath(text);
  if ('fault' in path) {
    throw badRequest(
      'invalidPath',
      `The path cannot be read at character ${path.position + 1}: ${path.fault}.`,
    );
  }
  return path;
}

function stepsOf({ op, path, value }: PatchOperation): PatchStep[] {
  if (path !== undefined) return [{ op, path: parsePatchPath(path), value, isExplicit: true }];
  return isObject(value) ? stepsOfKeys(op, value, undefined) : [];
}

/** Keys of a path-less value are paths themselves: `name.givenName`, `urn:…:User:department`, `emails[type eq "work"].value`. */
export function stepsOfKeys(
  op: PatchOperation['op'],
  value: JsonObject,
  urn: string | undefined,
): PatchStep[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = pathOfKey(key, inner, urn);
    return path ? [{ op, path, value: inner, isExplicit: false }] : [];
  });
}

/** Names that are none, such as URLs, cannot be attributes; a broken filter is a mistake to tell. */
function pathOfKey(key: string, value: Json, urn: string | undefined): AttributePath | undefined {
  const name = parseAttributeName(key);
  if (name) return { ...name, urn: name.urn ?? urn, filter: undefined };
  if (isUrn(key) && isObject(value))
    return { urn: key, attribute: undefined, filter: undefined, sub: undefined };
  if (key.includes('[')) {
    const path = parsePatchPath(key);
    return { ...path, urn: path.urn ?? urn };
  }
  // An extension that no schema declares is kept as sent, whatever its names are.
  const isOpen = urn !== undefined && (parseAttributeName(urn)?.readings ?? []).length > 0;
  return isOpen ? { urn, attribute: checkName(key, urn), filter: undefined, sub: undefined } : undefined;
}

const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** One operation of a PATCH (RFC 7644 §3.5.2). */
export interface PatchOperation {
  op: 'add' | 'remove' | 'replace';
  path: string | undefined;
  /** Undefined when there was none. */
  value: Json | undefined;
}

/**
 * Reads the body of a PATCH. "Each operation object MUST have exactly one "op" member" (RFC 7644 §3.5.2); its case and
 * that of all names is forgiven, and so are missing `schemas`, which legacy clients leave out. An empty list of operations
 * changes nothing: Microsoft's validator sends one.
 */
export function parsePatch(body: JsonObject): PatchOperation[] {
  checkSchemas(ownValue(body, 'schemas'));
  const operations = ownValue(body, 'Operations');
  if (!Array.isArray(operations)) throw badRequest('invalidSyntax', 'Operations must be an array.');
  return operations.map(parseOperation);
}

function checkSchemas(schemas: Json | undefined): void {
  if (isUnassigned(schemas) || includesUrn(schemas, patchOp)) return;
  throw badRequest('invalidSyntax', `schemas must be ["${patchOp}"].`);
}

function parseOperation(operation: Json, index: number): PatchOperation {
  const where = `Operation ${index + 1}`;
  if (!isObject(operation)) throw badRequest('invalidSyntax', `${where} must be an object.`);
  const op = toOp(ownValue(operation, 'op'), where);
  const path = ownValue(operation, 'path') ?? undefined;
  const value = ownValue(operation, 'value');
  if (path !== undefined && typeof path !== 'string') {
    throw badRequest('invalidPath', `The path of ${where} must be a string.`);
  }
  // "If "path" is unspecified, the operation fails with … "noTarget"" (RFC 7644 §3.5.2.2).
  if (op === 'remove' && path === undefined) throw badRequest('noTarget', `${where} must have a path.`);
  if (op === 'add' && value === undefined) throw badRequest('invalidValue', `${where} must have a value.`);
  if (path === undefined && !isObject(value)) {
    throw badRequest('invalidValue', `${where} has no path, so its value must be an object.`);
  }
  return { op, path, value };
}

function toOp(op: Json | undefined, where: string): PatchOperation['op'] {
  const folded = typeof op === 'string' ? op.toLowerCase() : undefined;
  if (folded === 'add' || folded === 'remove' || folded === 'replace') return folded;
  throw badRequest('invalidSyntax', `${where} must have an op: add, remove or replace.`);
}

/** What one PATCH may cost, in characters looked at; a tenth of a second at the very worst. */
const MAX_WORK = 15_000_000;

/** Deeper values are refused when they are read; counting must not fail before. */
const MAX_DEPTH = 20;

/** What finding a name or a value costs besides its characters. */
const STEP = 16;

/** To look for a text within another costs several times as much as to compare the two. */
const SEARCH = 4;

/**
 * Counts the work of one PATCH, before it is done, and refuses what would be too much: a filter is asked of every value
 * that is there, and each one to be added or removed is compared with all of them, so a small message can ask for a lot.
 */
export function workMeter(): (container: JsonObject, current: Json | undefined, change: ValueChange) => void {
  let left = MAX_WORK;
  return (container, current, { op, filter, value }) => {
    const [there, given] = [valueWeight(current), valueWeight(value)];
    const compared = op === 'replace' ? 0 : there * countOf(value) + given * countOf(current);
    left -=
      Object.keys(container).length * STEP +
      there +
      given +
      compared +
      (filter ? there * termsIn(filter) : 0);
    if (left < 0) throw badRequest('invalidValue', 'The PATCH asks for too much at once; send it in parts.');
  };
}

function valueWeight(value: Json | undefined, depth = 0): number {
  if (typeof value === 'string') return STEP + value.length;
  if (depth > MAX_DEPTH) return STEP;
  if (Array.isArray(value))
    return value.reduce<number>((sum, one) => sum + valueWeight(one, depth + 1), STEP);
  if (!isObject(value)) return STEP;
  const names = Object.entries(value);
  return names.reduce((sum, [name, one]) => sum + name.length + valueWeight(one, depth + 1), STEP);
}

function countOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : 1;
}

function termsIn(filter: Filter): number {
  if (filter.op === 'and' || filter.op === 'or') {
    return filter.operands.reduce((sum, operand) => sum + termsIn(operand), 0);
  }
  if (filter.op === 'not') return termsIn(filter.operand);
  return filter.op === 'co' ? SEARCH : 1;
}
