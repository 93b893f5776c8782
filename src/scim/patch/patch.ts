import { chooseReading, containerUrn, isUrn, parseAttributeName } from '../../schema/attribute-names.ts';
import { type Attribute, undeclaredAttribute } from '../../schema/attributes.ts';
import {
  type AttributePath,
  attributeExpressionsIn,
  type Filter,
  parsePath,
} from '../../schema/filter-parser.ts';
import { isValueFault, leftOutValue, type Tolerance, tolerate } from '../../schema/left-out.ts';
import { checkResource, includesUrn, isWritable } from '../../schema/normalize.ts';
import {
  checkNameCount,
  isObject,
  type Json,
  type JsonObject,
  MAX_NAMES_WITH_CUSTOM,
  ownKey,
  ownValue,
  type ScimResource,
} from '../../schema/resource.ts';
import { isCustomAttribute, type ResourceType, resolveAttribute } from '../../schema/resource-types.ts';
import type { StatedPath } from '../../schema/stated-attributes.ts';
import { checkName, isSafeName, isUnassigned } from '../../schema/values.ts';
import { badRequest, ScimError } from '../protocol/errors.ts';
import { changeValue, type ValueChange } from './patch-values.ts';

/** One operation of a PATCH (RFC 7644 §3.5.2). */
export interface PatchOperation {
  op: 'add' | 'remove' | 'replace';
  path: string | undefined;
  /** Undefined if the operation has no value; null is a value. */
  value: Json | undefined;
}

const patchOpUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/**
 * Parses the body of a PATCH. "Each operation object MUST have exactly one "op" member" (RFC 7644 §3.5.2); the case of `op`
 * and of all names is ignored, and `schemas` may be missing, as legacy clients leave it out. An empty list of operations
 * changes nothing: Microsoft's validator sends one.
 */
export function parsePatch(body: JsonObject): PatchOperation[] {
  const schemas = ownValue(body, 'schemas');
  if (!isUnassigned(schemas) && !includesUrn(schemas, patchOpUrn)) {
    throw badRequest('invalidSyntax', `schemas must be ["${patchOpUrn}"].`);
  }
  const operations = ownValue(body, 'Operations');
  if (!Array.isArray(operations)) throw badRequest('invalidSyntax', 'Operations must be an array.');
  return operations.map(parseOperation);
}

function parseOperation(operation: Json, index: number): PatchOperation {
  const where = `Operation ${index + 1}`;
  if (!isObject(operation)) throw badRequest('invalidSyntax', `${where} must be an object.`);
  const given = ownValue(operation, 'op');
  const op = typeof given === 'string' ? given.toLowerCase() : undefined;
  if (!(op === 'add' || op === 'remove' || op === 'replace')) {
    throw badRequest('invalidSyntax', `${where} must have an op: add, remove or replace.`);
  }
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

/**
 * Applies a PATCH to a resource and returns the new resource (RFC 7644 §3.5.2, with the exceptions in docs/deviations.md).
 * The given resource is not changed, so a PATCH that fails in any operation changes nothing. With a tolerance to any value, a change
 * is left out whose value does not fit.
 */
export function applyPatch(
  type: ResourceType,
  resource: ScimResource,
  operations: PatchOperation[],
  tolerance?: Tolerance,
): ScimResource {
  const draft = copyForChange(resource);
  // Find the URN keys once per PATCH and keep them up to date: a PATCH may have hundreds of paths.
  const keys = Object.keys(draft).filter((key) => key.includes(':'));
  const urnKeys: UrnKeys = new Map(keys.map((key) => [key.toLowerCase(), key]));
  const shared = { chargeWork: createWorkMeter(), urnKeys, tolerance };
  for (const step of toSteps(type, operations, tolerance))
    applyIfTolerable(type, draft, { ...step, ...shared });
  return checkResource(type, draft, { tolerance, current: resource });
}

/** True for an error that the value of an operation causes, whatever the form of the operation. */
export function isPatchValueFault(error: unknown): boolean {
  const isRefusedValue = error instanceof ScimError && error.scimType === 'invalidValue';
  return (
    isRefusedValue || isValueFault(error) || (error instanceof ScimError && error.scimType === 'noTarget')
  );
}

/** Copies the resource and its extensions, so that their attributes can be set. Attribute values are never modified in place. */
function copyForChange(resource: ScimResource): ScimResource {
  const entries = Object.entries(resource);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key.includes(':') && isObject(value) ? { ...value } : value]),
  );
}

/** One change of one attribute: an operation with a path, or one key in the value of an operation without a path. */
interface PatchStep {
  op: PatchOperation['op'];
  path: AttributePath;
  value: Json | undefined;
  /**
   * True if the client named the attribute in `path`. Errors in the keys of a value without a path are tolerated more
   * often.
   */
  isNamedInPath: boolean;
}

/**
 * The largest `operationWeight` of a request. Recorded clients send far less; a request of this weight takes
 * milliseconds.
 */
const MAX_WEIGHT = 1500;

/** Splits operations into steps, in order. Throws 400 if the PATCH is too large; with a tolerance, only `active` is changed then. */
function toSteps(
  type: ResourceType,
  operations: PatchOperation[],
  tolerance: Tolerance | undefined,
): PatchStep[] {
  const weight = operations.reduce((sum, operation) => sum + operationWeight(operation), 0);
  const fits = tolerate(
    tolerance,
    { attribute: '*', value: undefined },
    () => {
      if (weight > MAX_WEIGHT) throw tooMuchError();
    },
    isPatchValueFault,
  );
  const steps = operations.flatMap(splitOperation);
  return fits ? steps : steps.filter(({ path }) => isActivePath(type, path));
}

function splitOperation({ op, path, value }: PatchOperation): PatchStep[] {
  if (path !== undefined) return [{ op, path: parsePatchPath(path), value, isNamedInPath: true }];
  return isObject(value) ? toStepsOfKeys(op, value, undefined) : [];
}

/** Returns the paths of the attributes that a PATCH names, whatever it changes. A list is stated as a whole. */
export function statedAttributes(type: ResourceType, operations: PatchOperation[]): StatedPath[] {
  return operations.flatMap(splitOperation).flatMap((step) => statedByStep(type, step));
}

function statedByStep(type: ResourceType, { op, path, value }: PatchStep): StatedPath[] {
  const { urn, attribute, name } = resolveAttribute(type, path);
  if (name === undefined && (urn === undefined || isObject(value)))
    return isObject(value)
      ? toStepsOfKeys(op, value, urn ?? type.schema.id).flatMap((step) => statedByStep(type, step))
      : [];
  const place = [urn, name].filter((key) => key !== undefined);
  if (attribute?.multiValued) return [place];
  if (path.sub !== undefined) return [[...place, path.sub]];
  return isObject(value) ? Object.keys(value).map((key) => [...place, key]) : [place];
}

function tooMuchError(): Error {
  return badRequest('invalidValue', 'The PATCH asks for too much at once; send it in parts.');
}

function isActivePath(type: ResourceType, path: AttributePath): boolean {
  const { urn, name } = resolveAttribute(type, path);
  return urn === undefined && name === 'active';
}

/**
 * Estimates the work of an operation by the number of its values and the length of its path: every value is compared
 * with the present values, and a value filter is evaluated on each of them.
 */
function operationWeight({ path = '', value }: PatchOperation): number {
  const values = isObject(value) ? Object.values(value) : [value ?? null];
  const counts = values.map((inner) =>
    typeof inner === 'object' && inner !== null ? Object.keys(inner).length : 1,
  );
  return counts.reduce((sum, count) => sum + count, 1 + path.length / 20);
}

/** Parses the path of an operation, or throws 400 invalidPath. */
export function parsePatchPath(text: string): AttributePath {
  const path = parsePath(text, { bareWords: true });
  if ('fault' in path) {
    throw badRequest(
      'invalidPath',
      `The path cannot be read at character ${path.position + 1}: ${path.fault}.`,
    );
  }
  return path;
}

/**
 * Converts the keys in the value of an operation without a path to steps. Each key is a path: `name.givenName`,
 * `urn:…:User:department`, `emails[type eq "work"].value`.
 */
function toStepsOfKeys(op: PatchOperation['op'], value: JsonObject, urn: string | undefined): PatchStep[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = parseKey(key, inner, urn);
    return path ? [{ op, path, value: inner, isNamedInPath: false }] : [];
  });
}

/**
 * Parses a key as a path. Undefined if the key cannot name an attribute, e.g. a URL. Throws 400 for a malformed value
 * filter.
 */
function parseKey(key: string, value: Json, urn: string | undefined): AttributePath | undefined {
  const name = parseAttributeName(key);
  if (name) return { ...name, urn: name.urn ?? urn, filter: undefined };
  if (isUrn(key) && isObject(value))
    return { urn: key, attribute: undefined, filter: undefined, sub: undefined };
  if (key.includes('[')) {
    const path = parsePatchPath(key);
    return { ...path, urn: path.urn ?? urn };
  }
  // An undeclared extension is stored as sent, so its attribute names are not checked.
  const isUndeclared = urn !== undefined && (parseAttributeName(urn)?.readings ?? []).length > 0;
  return isUndeclared
    ? { urn, attribute: checkName(key, urn), filter: undefined, sub: undefined }
    : undefined;
}

/** The URNs among the keys of a resource, by their form in lower case. */
type UrnKeys = Map<string, string>;

/** A step, with the state shared by all steps of the PATCH. */
interface SharedStep extends PatchStep, Pick<ValueChange, 'tolerance'> {
  chargeWork: ReturnType<typeof createWorkMeter>;
  urnKeys: UrnKeys;
}

/** Applies a step, or leaves it out and reports that. */
function applyIfTolerable(type: ResourceType, draft: ScimResource, step: SharedStep): void {
  const { urn, attribute, sub } = step.path;
  const name = [attribute ?? urn ?? '', sub].filter((part) => part !== undefined).join('.');
  const { tolerance, value } = step;
  const isApplied = tolerate(
    tolerance,
    { attribute: name, value },
    () => applyStep(type, draft, step),
    isPatchValueFault,
  );
  // The last value counts, and it is none that `active` can have.
  if (!isApplied && isActivePath(type, step.path)) delete draft['active'];
}

function applyStep(type: ResourceType, draft: ScimResource, step: SharedStep): void {
  const path = choosePath(step);
  const resolved = resolveAttribute(type, path);
  const { urn, attribute, name } = resolved;
  if (name === undefined) changeWhole(type, draft, { ...step, urn });
  else if (isCustomAttribute(type, resolved)) changeCustomAttribute(draft, name, { ...step, path });
  else if ((urn !== undefined || attribute) && isSafeName(name)) {
    if (attribute && !isChangeable(step, attribute)) return;
    const change = { ...step, path, attribute: attribute ?? undeclaredAttribute(name) };
    if (urn === undefined) changeAttribute(draft, name, change);
    else changeExtension(draft, urn, { ...change, name });
  }
}

/**
 * Changes a custom attribute, unless its value is too large: clients send attributes that nothing reads. One that is named in a path is
 * reported, because the path may be misspelt.
 */
function changeCustomAttribute(draft: ScimResource, name: string, step: SharedStep): void {
  const fault = 'No schema has an attribute of this name.';
  const unknown = leftOutValue('attributeUnknown', { attribute: name, value: undefined, fault });
  if (step.isNamedInPath) step.tolerance?.report(unknown);
  if (!isSafeName(name)) return;
  try {
    checkNameCount(draft, ownKey(draft, name) ?? name, MAX_NAMES_WITH_CUSTOM);
    changeAttribute(draft, name, { ...step, attribute: undeclaredAttribute(name) });
  } catch (error) {
    if (!isValueFault(error)) throw error;
  }
}

/**
 * Splits the path into URN and attribute. The URN of an undeclared extension may contain colons and dots, so the text
 * alone is ambiguous: the longest URN that the resource already has is used. If there is none and the value is an
 * object, the whole path is the URN.
 */
function choosePath({ op, path, value, urnKeys }: SharedStep): AttributePath {
  const chosen = chooseReading(path, (urn) => urnKeys.has(urn.toLowerCase()));
  if (chosen !== path || op === 'remove' || !isObject(value)) return chosen;
  const urn = containerUrn(path);
  return urn === undefined ? path : { urn, attribute: undefined, sub: undefined, filter: undefined };
}

/**
 * Returns false for a read-only or secret attribute, whose change is ignored (RFC 7643 §2.2). Throws 400 if `path`
 * names `id`.
 */
function isChangeable({ op, isNamedInPath }: PatchStep, attribute: Attribute): boolean {
  if (isNamedInPath && attribute.name === 'id') throw badRequest('mutability', 'id is read-only.');
  // "If the target location … is "required" …, an error … "mutability"" (RFC 7644 §3.5.2.2).
  if (op === 'remove' && attribute.required && attribute.type !== 'complex') {
    throw badRequest('mutability', `${attribute.name} is required.`);
  }
  return isWritable(attribute);
}

/** Changes all attributes of an extension at once, or all core attributes if the path is the URN of the core schema. */
function changeWhole(
  type: ResourceType,
  draft: ScimResource,
  { op, value, urn, ...shared }: SharedStep & { urn: string | undefined },
): void {
  const { urnKeys } = shared;
  if (op === 'remove' || isUnassigned(value) || value === '') {
    if (urn === undefined) throw badRequest('noTarget', 'A resource cannot be cleared as a whole.');
    setExtension(draft, extensionKey(draft, urn, urnKeys), undefined, urnKeys);
    return;
  }
  if (!isObject(value)) throw badRequest('invalidValue', 'The value of a schema must be an object.');
  for (const step of toStepsOfKeys(op, value, urn ?? type.schema.id)) {
    if (step.path.attribute !== undefined) applyIfTolerable(type, draft, { ...shared, ...step });
  }
}

function changeExtension(
  draft: ScimResource,
  urn: string,
  { name, ...change }: SharedStep & { name: string; attribute: Attribute },
): void {
  const key = extensionKey(draft, urn, change.urnKeys);
  const extension = draft[key];
  const container = isObject(extension) ? extension : {};
  changeAttribute(container, name, change);
  setExtension(draft, key, Object.keys(container).length > 0 ? container : undefined, change.urnKeys);
}

/**
 * Returns the key that the resource uses for a URN, in its own spelling; the client's spelling if the resource does not
 * have it.
 */
function extensionKey(draft: ScimResource, urn: string, urnKeys: UrnKeys): string {
  return Object.hasOwn(draft, urn) ? urn : (urnKeys.get(urn.toLowerCase()) ?? urn);
}

function setExtension(draft: ScimResource, key: string, value: Json | undefined, urnKeys: UrnKeys): void {
  setValue(draft, key, value);
  if (value === undefined) urnKeys.delete(key.toLowerCase());
  else urnKeys.set(key.toLowerCase(), key);
}

function changeAttribute(
  container: JsonObject,
  name: string,
  { op, path, value = null, attribute, chargeWork, tolerance }: SharedStep & { attribute: Attribute },
): void {
  const current = ownValue(container, name);
  const change = { op, filter: path.filter, sub: path.sub, value, tolerance };
  // `active` costs nothing, and a departure must not be refused because other changes cost much.
  if (attribute.name !== 'active') chargeWork(container, current, change);
  setValue(container, ownKey(container, name) ?? name, changeValue(attribute, current, change));
}

function setValue(container: JsonObject, key: string, value: Json | undefined): void {
  if (value === undefined) delete container[key];
  else {
    checkNameCount(container, key);
    container[key] = value;
  }
}

/** The largest amount of work of one PATCH, in compared characters: 0.1 s in the worst case, decomposed text. */
const MAX_WORK = 6_000_000;

/** The work estimate ignores values nested deeper than this; they are refused later. */
const MAX_DEPTH = 20;

/** The cost of finding a name or a value, in compared characters. */
const LOOKUP_COST = 16;

/** Searching for a text inside of another costs several times as much as comparing the two. */
const SEARCH_FACTOR = 4;

/**
 * Returns a function that counts the work of each step of a PATCH before the step runs, and throws 400 above the limit.
 * Even a small request can cause much work: a filter is evaluated on every present value, and each value to be added or
 * removed is compared with all of them.
 */
function createWorkMeter(): (container: JsonObject, current: Json | undefined, change: ValueChange) => void {
  let left = MAX_WORK;
  return (container, current, { op, filter, value }) => {
    const [currentWeight, valueWeight] = [weightOf(current), weightOf(value)];
    const currentCount = Array.isArray(current) ? current.length : 1;
    const valueCount = Array.isArray(value) ? value.length : 1;
    const comparisons = op === 'replace' ? 0 : currentWeight * valueCount + valueWeight * currentCount;
    const filtering = filter ? currentWeight * filterCost(filter) : 0;
    left -=
      Object.keys(container).length * LOOKUP_COST + currentWeight + valueWeight + comparisons + filtering;
    if (left < 0) throw tooMuchError();
  };
}

function weightOf(value: Json | undefined, depth = 0): number {
  if (typeof value === 'string') return LOOKUP_COST + value.length;
  if (depth > MAX_DEPTH) return LOOKUP_COST;
  if (Array.isArray(value))
    return value.reduce<number>((sum, element) => sum + weightOf(element, depth + 1), LOOKUP_COST);
  if (!isObject(value)) return LOOKUP_COST;
  const entries = Object.entries(value);
  return entries.reduce((sum, [name, inner]) => sum + name.length + weightOf(inner, depth + 1), LOOKUP_COST);
}

function filterCost(filter: Filter): number {
  return attributeExpressionsIn(filter).reduce((sum, { op }) => sum + (op === 'co' ? SEARCH_FACTOR : 1), 0);
}
