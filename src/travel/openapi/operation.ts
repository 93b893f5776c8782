import { isObject, type JsonObject } from '../json.ts';
import type { Resource } from '../resource.ts';
import { answeredExample } from './examples.ts';
import { pathParameter } from './parameters.ts';
import { idSchema, shapeNames, shapesOf } from './shapes.ts';
import { capitalized, plural, spoken } from './words.ts';

/** An operation of the contract with its place. */
export interface Described {
  path: string;
  method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  operation: JsonObject;
}

/** A resource among the others, with its answered shape. */
export interface Documented {
  resource: Resource;
  catalog: Resource[];
  shape: JsonObject;
}

/** What every operation of a resource begins with. */
export function head(resource: Resource, operationId: string, summary: string): JsonObject {
  return { operationId, summary, tags: [tagOf(resource)] };
}

/** The tag of a resource's operations. */
export function tagOf({ type }: Resource): string {
  return capitalized(spoken(plural(type)));
}

/** Where the collection is. */
export function collectionPath({ parent, path }: Resource): string {
  return parent ? `/api/${parent.path}/{id}/${path}` : `/api/${path}`;
}

/** The parameter in the path of a collection that is nested under the items of another. */
export function parentParameters({ resource: { parent }, catalog }: Documented): JsonObject[] {
  return parent ? [parentParameter(catalog, parent.type)] : [];
}

/** The id of an item of this type, under which there is a list. */
export function parentParameter(catalog: Resource[], type: string): JsonObject {
  const form = catalog.find((resource) => resource.type === type)?.idForm ?? 'B';
  return pathParameter('id', idSchema(form), spoken(type));
}

/** The answer of one resource. */
export function answerOf({ resource, shape }: Documented, description: string): JsonObject {
  const schema = enveloped(reference(shapeNames(resource).answered));
  return {
    description,
    content: jsonContent(schema, { example: { data: answeredExample(resource, shape) } }),
  };
}

/** The one answer of a resource that tells its secret, if it has one. */
export function revealingAnswer(documented: Documented, description: string): JsonObject {
  const { resource, catalog } = documented;
  if (!resource.secret) return answerOf(documented, description);
  const name = shapeNames(resource).revealing;
  const shape = shapesOf(resource, catalog)[name];
  const data = answeredExample(resource, isObject(shape) ? shape : {});
  return { description, content: jsonContent(enveloped(reference(name)), { example: { data } }) };
}

/** `{"data": …}` */
export function enveloped(data: JsonObject, meta?: JsonObject): JsonObject {
  return {
    type: 'object',
    properties: { data, ...(meta ? { meta } : {}) },
    required: ['data', ...(meta ? ['meta'] : [])],
  };
}

/** A body of JSON with its examples. */
export function jsonContent(schema: JsonObject, examples: Record<string, JsonObject>): JsonObject {
  const told = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return { 'application/json': { schema, examples: Object.fromEntries(told) } };
}

/** A reference to a schema of this name. */
export function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}
