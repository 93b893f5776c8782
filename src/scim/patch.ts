import { type Attribute, undeclared } from '../schema/attribute.ts';
import { checkRequired, isWritable } from '../schema/normalize.ts';
import { isSafeName } from '../schema/open-value.ts';
import { checkRoom, isObject, ownKey, ownValue } from '../schema/own.ts';
import type { Json, JsonObject, ScimResource } from '../schema/resource.ts';
import { type ResourceType, resolve } from '../schema/resource-type.ts';
import { isUnassigned } from '../schema/values.ts';
import type { Operation } from './patch-message.ts';
import { boundedSteps, type Step, stepsOfKeys } from './patch-steps.ts';
import { changeValue } from './patch-value.ts';
import { badRequest } from './scim-error.ts';

/** The largest resource, in characters of JSON; as large as a body. */
const MAX_SIZE = 1_048_576;

/**
 * Applies a PATCH to a resource (RFC 7644 §3.5.2, with the exceptions of DESIGN §4.3): in order, and all or nothing,
 * since the resource it is given is left alone.
 */
export function applyPatch(
  type: ResourceType,
  resource: ScimResource,
  operations: Operation[],
): ScimResource {
  let current = resource;
  for (const step of boundedSteps(operations)) current = apply(type, current, step);
  checkRequired(type, current);
  checkSize(current);
  return current;
}

function apply(type: ResourceType, resource: ScimResource, step: Step): ScimResource {
  const { urn, attribute, name } = resolve(type, step.path);
  if (name === undefined) return applyToAll(type, resource, { ...step, urn });
  if (urn === undefined && !attribute) return resource;
  if (!isSafeName(name) || (attribute && !isOpenTo(step, attribute))) return resource;
  const change = { ...step, attribute: attribute ?? undeclared(name) };
  if (urn === undefined) return changeIn(resource, name, change);
  const key = ownKey(resource, urn) ?? urn;
  const extension = ownValue(resource, key);
  const changed = changeIn(isObject(extension) ? extension : {}, name, change);
  return withValue(resource, key, Object.keys(changed).length > 0 ? changed : undefined);
}

/** The path is a URN: that of an extension stands for all of it, that of the core schema for the resource. */
function applyToAll(
  type: ResourceType,
  resource: ScimResource,
  step: Step & { urn: string | undefined },
): ScimResource {
  const { op, value, urn } = step;
  if (op === 'remove' || isUnassigned(value) || value === '') {
    if (urn === undefined) throw badRequest('noTarget', 'A resource cannot be cleared as a whole.');
    return withValue(resource, ownKey(resource, urn) ?? urn, undefined);
  }
  if (!isObject(value)) throw badRequest('invalidValue', 'The value of a schema must be an object.');
  const steps = stepsOfKeys(op, value, urn ?? type.schema.id).filter(
    ({ path }) => path.attribute !== undefined,
  );
  return steps.reduce((current, inner) => apply(type, current, inner), resource);
}

/** An `id` named in a path is told; what else is read-only or secret is passed over (DESIGN §4.2). */
function isOpenTo({ op, isExplicit }: Step, attribute: Attribute): boolean {
  if (isExplicit && attribute.name === 'id') throw badRequest('mutability', 'id is read-only.');
  // "If the target location … is "required" …, an error … "mutability"" (RFC 7644 §3.5.2.2).
  if (op === 'remove' && attribute.required && attribute.type !== 'complex') {
    throw badRequest('mutability', `${attribute.name} is required.`);
  }
  return isWritable(attribute);
}

function changeIn(container: JsonObject, name: string, change: Step & { attribute: Attribute }): JsonObject {
  const key = ownKey(container, name) ?? name;
  const { op, path, value, attribute } = change;
  const { filter, sub } = path;
  return withValue(
    container,
    key,
    changeValue(attribute, container[key], { op, filter, sub, value: value ?? null }),
  );
}

function withValue(container: JsonObject, key: string, value: Json | undefined): JsonObject {
  if (value !== undefined) {
    checkRoom(container, key);
    return { ...container, [key]: value };
  }
  const { [key]: _gone, ...rest } = container;
  return rest;
}

/** A resource grows by many requests as well as by one. */
function checkSize(resource: ScimResource): void {
  if (JSON.stringify(resource).length > MAX_SIZE)
    throw badRequest('invalidValue', 'The resource would be too large.');
}
