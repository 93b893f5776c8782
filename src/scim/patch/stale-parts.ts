import { isDeepStrictEqual } from 'node:util';
import { findAttribute } from '../../schema/attributes.ts';
import { travelSchema } from '../../schema/generated-travel-schema.ts';
import { isObject, type Json, type JsonObject, type ScimResource, urns } from '../../schema/resource.ts';
import { userType } from '../../schema/resource-types.ts';
import { applyPatch, type PatchOperation } from './patch.ts';

/** One part of a reference: an attribute of the travel extension, or a sub-attribute of one. */
type Part = readonly [attribute: string, sub?: string];

/**
 * The references of the travel extension, e.g. to a cost center, with the parts that name one resource: `costCenter.id`,
 * `costCenter.name` and `costCenterId`.
 */
const references: readonly Part[][] = travelSchema.attributes.flatMap((attribute) => {
  const { name, type, multiValued, subAttributes = [] } = attribute;
  if (type !== 'complex' || multiValued) return [];
  const beside = findAttribute(travelSchema.attributes, `${name}Id`);
  return [
    [...subAttributes.map((sub): Part => [name, sub.name]), ...(beside ? [[beside.name] as const] : [])],
  ];
});

/**
 * Removes the parts of a reference that a PATCH does not state, if it changes another part: the old `id` beside a new `name` names
 * another cost center. A PATCH that fails on a user without references keeps all parts.
 */
export function withoutStaleParts(
  before: ScimResource,
  after: ScimResource,
  operations: PatchOperation[],
): ScimResource {
  const changed = references.filter((parts) => changesSome(before, after, parts));
  if (changed.length === 0) return after;
  const stated = statedParts(before, operations);
  return stated === undefined
    ? after
    : changed.reduce((user, parts) => keepStated(user, parts, stated), after);
}

/** True if a part is new or has another value, and another part stayed as it was. */
function changesSome(before: ScimResource, after: ScimResource, parts: Part[]): boolean {
  const assigned = parts.filter((part) => valueAt(after, part) !== undefined);
  const changed = assigned.filter((part) => !isDeepStrictEqual(valueAt(before, part), valueAt(after, part)));
  return changed.length > 0 && changed.length < assigned.length;
}

/** Applies the operations to the user without references: what these are then, the operations state. */
function statedParts(before: ScimResource, operations: PatchOperation[]): ScimResource | undefined {
  const bare = references.reduce((user, parts) => keepStated(user, parts, {}), before);
  try {
    return applyPatch(userType, bare, operations);
  } catch {
    return undefined;
  }
}

function keepStated(user: ScimResource, parts: Part[], stated: ScimResource): ScimResource {
  const gone = parts.filter((part) => valueAt(stated, part) === undefined);
  return { ...user, [urns.travel]: gone.reduce(removePart, travelOf(user)) };
}

function removePart(extension: JsonObject, [name, sub]: Part): JsonObject {
  const { [name]: value, ...others } = extension;
  if (sub === undefined || !isObject(value)) return sub === undefined ? others : extension;
  const { [sub]: _, ...rest } = value;
  return Object.keys(rest).length > 0 ? { ...others, [name]: rest } : others;
}

function valueAt(user: ScimResource, [name, sub]: Part): Json | undefined {
  const value = travelOf(user)[name];
  if (sub === undefined) return value;
  return isObject(value) ? value[sub] : undefined;
}

function travelOf(user: ScimResource): JsonObject {
  const extension = user[urns.travel];
  return isObject(extension) ? extension : {};
}
