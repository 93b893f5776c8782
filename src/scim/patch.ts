import { type Attribute, undeclared } from '../schema/attribute.ts';
import type { AttributePath } from '../schema/expression.ts';
import { rememberingFold } from '../schema/fold.ts';
import { containerUrn, readingIn } from '../schema/names.ts';
import { checkRequired, isWritable } from '../schema/normalize.ts';
import { isSafeName } from '../schema/open-value.ts';
import { checkRoom, isObject, ownKey } from '../schema/own.ts';
import type { Json, JsonObject, ScimResource } from '../schema/resource.ts';
import { type ResourceType, resolve } from '../schema/resource-type.ts';
import { checkSize } from '../schema/size.ts';
import { isUnassigned } from '../schema/values.ts';
import type { Operation } from './patch-message.ts';
import { boundedSteps, type Step, stepsOfKeys } from './patch-steps.ts';
import { changeValue } from './patch-value.ts';
import { workMeter } from './patch-work.ts';
import { badRequest } from './scim-error.ts';
import type { ValueChange } from './value-change.ts';

/**
 * Applies a PATCH to a resource (RFC 7644 §3.5.2, with the exceptions in docs/architecture.md, SCIM requests): in order,
 * and all or nothing, since the resource it is given is left alone.
 */
export function applyPatch(
  type: ResourceType,
  resource: ScimResource,
  operations: Operation[],
): ScimResource {
  const draft = draftOf(resource);
  const shared = { spend: workMeter(), fold: rememberingFold(), urnKeys: urnKeysOf(draft) };
  for (const step of boundedSteps(operations)) apply(type, draft, { ...step, ...shared });
  checkRequired(type, draft);
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

type Counted = Step & Shared;

function apply(type: ResourceType, draft: ScimResource, counted: Counted): void {
  const step = { ...counted, path: placeIn(counted) };
  const { urn, attribute, name } = resolve(type, step.path);
  if (name === undefined) applyToAll(type, draft, { ...step, urn });
  else if (urn === undefined && !attribute) return;
  else if (isSafeName(name) && (!attribute || isOpenTo(step, attribute))) {
    const change = { ...step, attribute: attribute ?? undeclared(name) };
    if (urn === undefined) changeIn(draft, name, change);
    else changeInExtension(draft, urn, { ...change, name });
  }
}

/** The path as its name divides in this resource: by the URNs that it has, else by the kind of the value. */
function placeIn({ op, path, value, urnKeys }: Counted): AttributePath {
  const known = readingIn(path, (urn) => urnKeys.has(urn.toLowerCase()));
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
function isOpenTo({ op, isExplicit }: Step, attribute: Attribute): boolean {
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
    checkRoom(container, key);
    container[key] = value;
  }
}
