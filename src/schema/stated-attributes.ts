import { isObject, type JsonObject } from './resource.ts';

/** The keys that lead to an attribute which a request states, e.g. `['name', 'givenName']`. An empty path is the whole resource. */
export type StatedPath = readonly string[];

/** A PUT states the whole resource. */
export const wholeResource: readonly StatedPath[] = [[]];

/** True if one of the paths is that of the attribute, or of something that contains it. */
export function isStated(stated: readonly StatedPath[], path: StatedPath): boolean {
  return stated.some((one) => one.every((key, index) => key === path[index]));
}

/** Returns the resource without the attributes that are stated. */
export function withoutStated(resource: JsonObject, stated: readonly StatedPath[]): JsonObject {
  return stated.reduce(withoutPath, resource);
}

function withoutPath(container: JsonObject, [key, ...rest]: StatedPath): JsonObject {
  if (key === undefined) return {};
  const { [key]: value, ...others } = container;
  return rest.length === 0 || !isObject(value) ? others : { ...others, [key]: withoutPath(value, rest) };
}
