import { type Attribute, undeclared } from '../schema/attribute.ts';
import type { AttributePath } from '../schema/expression.ts';
import { splitName } from '../schema/names.ts';
import { checkRequired, isWritable } from '../schema/normalize.ts';
import { isSafeName } from '../schema/open-value.ts';
import { isObject, ownKey, ownValue } from '../schema/own.ts';
import { parsePath } from '../schema/paths.ts';
import type { Json, JsonObject, ScimResource } from '../schema/resource.ts';
import { type ResourceType, resolve } from '../schema/resource-type.ts';
import { isUnassigned } from '../schema/values.ts';
import type { Operation } from './patch-message.ts';
import { changeValue } from './patch-value.ts';
import { badRequest } from './scim-error.ts';

/** What one operation, or one key of a path-less one, does at one place. */
interface Step {
  op: Operation['op'];
  path: AttributePath;
  value: Json | undefined;
  /** Whether the client named the place in `path`; keys of a path-less value are forgiven more. */
  isExplicit: boolean;
}

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
  for (const step of operations.flatMap((operation) => stepsOf(operation)))
    current = apply(type, current, step);
  checkRequired(type, current);
  return current;
}

/** The path of an operation, or 400 invalidPath. */
export function pathOf(text: string): AttributePath {
  const path = parsePath(text);
  if ('fault' in path) {
    throw badRequest(
      'invalidPath',
      `The path cannot be read at character ${path.position + 1}: ${path.fault}.`,
    );
  }
  return path;
}

function stepsOf({ op, path, value }: Operation): Step[] {
  if (path !== undefined) return [{ op, path: pathOf(path), value, isExplicit: true }];
  return isObject(value) ? stepsOfKeys(op, value, undefined) : [];
}

/** Keys of a path-less value are paths themselves: `name.givenName`, `urn:…:User:department`, `emails[type eq "work"].value`. */
function stepsOfKeys(op: Operation['op'], value: JsonObject, urn: string | undefined): Step[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    // Names that are none, such as URLs, cannot be attributes; a broken filter is a mistake to tell.
    const isName = splitName(key) !== undefined || key.includes('[');
    const path = isName ? pathOf(key) : undefined;
    if (!path) return [];
    return [{ op, path: { ...path, urn: path.urn ?? urn }, value: inner, isExplicit: false }];
  });
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
  if (value !== undefined) return { ...container, [key]: value };
  const { [key]: _gone, ...rest } = container;
  return rest;
}
