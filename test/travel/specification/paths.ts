import { catalog } from '../../../src/travel/catalog.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/travel/json.ts';

/** A copy of a body with a value at a dotted path. */
export function withValue(body: JsonObject, path: string, value: Json): JsonObject {
  const [name = '', ...deeper] = path.split('.');
  const inner = body[name];
  const below = isJsonObject(inner) ? inner : {};
  return { ...body, [name]: deeper.length === 0 ? value : withValue(below, deeper.join('.'), value) };
}

/** A patch of a single path. */
export function patchOf(path: string, value: Json): JsonObject {
  return withValue({}, path, value);
}

/** All values at a path; `[]` leads into the items of a list. */
export function valuesAt(value: Json | undefined, path: string): Json[] {
  const parts = path.split('.').flatMap((part) => (part.endsWith('[]') ? [part.slice(0, -2), '[]'] : [part]));
  let found: Json[] = value === undefined ? [] : [value];
  for (const part of parts) {
    found = found.flatMap((one) => {
      if (part === '[]') return Array.isArray(one) ? one : [];
      const inner = isJsonObject(one) && Object.hasOwn(one, part) ? one[part] : undefined;
      return inner === undefined ? [] : [inner];
    });
  }
  return found;
}

/** All paths to values other than objects and lists of objects. */
export function leavesOf(value: Json, path = ''): string[] {
  if (Array.isArray(value)) {
    return value.some(isJsonObject) ? value.flatMap((one) => leavesOf(one, `${path}[]`)) : [path];
  }
  if (!isJsonObject(value)) return [path];
  return Object.entries(value).flatMap(([name, one]) =>
    leavesOf(one, path === '' ? name : `${path}.${name}`),
  );
}

/** The declaration of a creatable type with its example. */
export function declarationOf(type: string) {
  const resource = catalog.find((one) => one.type === type);
  if (!resource) throw new Error(`There is no resource ${type}.`);
  return resource;
}
