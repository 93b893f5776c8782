import type { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { DeclaredSecret, Resource } from '../resource.ts';
import { answeredSchema, jsonSchemaOf, patchSchema } from './json-schema.ts';
import { capitalized, withArticle } from './words.ts';

/** The names under which the shapes of a resource are found among the schemas. */
export function shapeNames({ type }: Resource) {
  const name = capitalized(type);
  return {
    answered: name,
    written: `New${name}`,
    patched: `${name}Patch`,
    /** The one answer that tells a secret. */
    revealing: `${name}WithSecret`,
  };
}

/** The shapes of a resource: as answered and, where a client may write it, as created or replaced, and as changed. */
export function shapesOf(resource: Resource, catalog: Resource[]): JsonObject {
  const names = shapeNames(resource);
  const kept = jsonSchemaOf(resource.schema);
  const derived = resource.readOnly ? jsonSchemaOf(resource.readOnly) : { schema: {}, named: {} };
  const written = withReferences(kept.schema, resource, catalog);
  const answered = answeredSchema(
    joined(
      joined(commonFields(resource), withReferences(derived.schema, resource, catalog)),
      withoutDescription(written),
    ),
  );
  const isWritable = resource.operations.includes('create');
  return {
    [names.answered]: described(resource.schema, answered),
    ...(isWritable ? { [names.written]: written, [names.patched]: patchSchema(written) } : {}),
    ...(resource.secret ? { [names.revealing]: joined(answered, secretField(resource.secret)) } : {}),
    ...kept.named,
    ...derived.named,
  };
}

/** The form of an id: "24 lowercase hexadecimal characters", or at most 50 of a few more. */
export function idSchema(form: 'A' | 'B'): JsonObject {
  return form === 'A'
    ? { type: 'string', pattern: '^[0-9a-f]{24}$', description: '24 hexadecimal characters' }
    : { type: 'string', pattern: '^[\\w@~.-]{1,50}$', description: 'Up to 50 letters, digits and _@~.-' };
}

function secretField({ field, example }: DeclaredSecret): JsonObject {
  const member = { type: 'string', description: 'Told in this answer and in no other', examples: [example] };
  return { properties: { [field]: member }, required: [field] };
}

function commonFields({ type, idForm }: Resource): JsonObject {
  return {
    type: 'object',
    properties: {
      id: idSchema(idForm),
      type: { type: 'string', const: type },
      createdAt: { type: 'string', format: 'date-time' },
    },
    required: ['id', 'type', 'createdAt'],
  };
}

/** Fields that refer to another resource have the form of its ids. */
function withReferences(schema: JsonObject, resource: Resource, catalog: Resource[]): JsonObject {
  const { properties } = schema;
  if (!isObject(properties)) return schema;
  const targets = new Map((resource.references ?? []).map(({ field, to }) => [field, to]));
  if (resource.parent) targets.set(`${resource.parent.type}Id`, resource.parent.type);
  const members = Object.entries(properties).map(([name, member]): [string, Json] => {
    const target = catalog.find(({ type }) => type === targets.get(name));
    if (!target || !isObject(member)) return [name, member];
    return [
      name,
      { ...member, ...idSchema(target.idForm), description: `The id of ${withArticle(target.type)}` },
    ];
  });
  return { ...schema, properties: Object.fromEntries(members) };
}

function joined(one: JsonObject, other: JsonObject): JsonObject {
  const list = (value: Json | undefined) => (Array.isArray(value) ? value : []);
  const object = (value: Json | undefined) => (isObject(value) ? value : {});
  return {
    ...one,
    ...other,
    properties: { ...object(one['properties']), ...object(other['properties']) },
    required: [...list(one['required']), ...list(other['required'])],
  };
}

function described(schema: z.ZodType, shape: JsonObject): JsonObject {
  const { description } = schema;
  return description === undefined ? shape : { description, ...shape };
}

function withoutDescription({ description: _description, ...rest }: JsonObject): JsonObject {
  return rest;
}
