import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../json.ts';

/** The JSON Schema of a declared schema as a client writes it, and the schemas with a name that it refers to, as answered. */
export function jsonSchemaOf(schema: z.ZodType): { schema: JsonObject; named: JsonObject } {
  const text = JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  const { $schema, $defs = {}, ...rest } = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/'));
  const named = Object.entries<JsonObject>($defs).map(([name, part]) => [name, answeredSchema(part)]);
  return { schema: rest, named: Object.fromEntries(named) };
}

/**
 * The schema of what is answered: what has a default is there always. Nothing is said against further members, so that a
 * client that was made from this contract goes on when there are new ones.
 */
export function answeredSchema(schema: JsonObject): JsonObject {
  const { additionalProperties, required = [], ...rest } = withoutDefault(schema);
  const { properties } = rest;
  const filled = Object.entries(isObject(properties) ? properties : {}).filter(([, part]) =>
    hasDefault(part),
  );
  const there = [...(Array.isArray(required) ? required : []), ...filled.map(([name]) => name)];
  return {
    ...mapped(rest, answeredSchema),
    ...(there.length > 0 ? { required: there } : {}),
    ...(additionalProperties ? { additionalProperties } : {}),
  };
}

/** The schema of a merge patch (RFC 7396): every member may be left out, and null where it can be removed; arrays are replaced whole. */
export function patchSchema(schema: JsonObject): JsonObject {
  const { required = [], properties, ...rest } = withoutDefault(schema);
  if (!isObject(properties)) return withoutDefault(schema);
  const kept = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(properties).map(([name, member]): [string, Json] => {
    const changed = isObject(member) ? patchSchema(member) : member;
    return [name, kept.has(name) || !isObject(changed) ? changed : nullable(changed)];
  });
  const { additionalProperties: others } = rest;
  return {
    ...rest,
    properties: Object.fromEntries(members),
    ...(isObject(others) ? { additionalProperties: nullable(others) } : {}),
  };
}

/** In the form that makers of clients understand: they lose a null among the types of an object or an enumeration. */
function nullable(schema: JsonObject): JsonObject {
  const { type } = schema;
  const isPlain = typeof type === 'string' && type !== 'object' && !('enum' in schema);
  return isPlain ? { ...schema, type: [type, 'null'] } : { anyOf: [schema, { type: 'null' }] };
}

/** The schema with its parts changed. */
function mapped(schema: JsonObject, change: (part: JsonObject) => JsonObject): JsonObject {
  const each = (part: Json): Json => (isObject(part) ? change(part) : part);
  const parts = Object.entries(schema).map(([word, value]): [string, Json] => {
    if (word === 'properties' && isObject(value)) {
      return [word, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, each(part)]))];
    }
    if (word === 'items') return [word, each(value)];
    if ((word === 'anyOf' || word === 'oneOf') && Array.isArray(value)) return [word, value.map(each)];
    return [word, value];
  });
  return Object.fromEntries(parts);
}

function hasDefault(schema: Json): boolean {
  return isObject(schema) && 'default' in schema;
}

function withoutDefault(schema: JsonObject): JsonObject {
  const { default: _default, ...rest } = schema;
  return rest;
}
