import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { DeclaredSecret, Resource } from '../resource.ts';

/** The schema names of a resource. */
export function schemaNames({ type }: Resource) {
  const name = capitalize(type);
  return {
    answered: name,
    written: `New${name}`,
    patched: `${name}Patch`,
    /** The name of the schema of the response that contains the secret. */
    revealing: `${name}WithSecret`,
  };
}

/** The schemas of a resource: its response and, if clients can write it, the bodies of POST or PUT and of PATCH. */
export function resourceSchemas(resource: Resource, catalog: Resource[]): JsonObject {
  const names = schemaNames(resource);
  const kept = toJsonSchema(resource.schema);
  const derived = resource.readOnly ? toJsonSchema(resource.readOnly) : { schema: {}, named: {} };
  const written = withReferences(kept.schema, resource, catalog);
  const answered = responseSchema(
    mergeObjectSchemas(
      mergeObjectSchemas(commonFields(resource), withReferences(derived.schema, resource, catalog)),
      withoutDescription(written),
    ),
  );
  const isWritable = resource.operations.includes('create');
  return {
    [names.answered]: withDescription(resource.schema, answered),
    ...(isWritable ? { [names.written]: written, [names.patched]: patchSchema(written) } : {}),
    ...(resource.secret
      ? { [names.revealing]: mergeObjectSchemas(answered, secretField(resource.secret)) }
      : {}),
    ...kept.named,
    ...derived.named,
  };
}

/** The schema of an id: "24 lowercase hexadecimal characters", or up to 50 characters of a larger set. */
export function idSchema(form: 'A' | 'B'): JsonObject {
  return form === 'A'
    ? { type: 'string', pattern: '^[0-9a-f]{24}$', description: '24 hexadecimal characters' }
    : { type: 'string', pattern: '^[\\w@~.-]{1,50}$', description: 'Up to 50 letters, digits and _@~.-' };
}

function secretField({ field, example }: DeclaredSecret): JsonObject {
  const member = { type: 'string', description: 'Only in this response', examples: [example] };
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

/** Replaces the schema of each field that refers to another resource by the schema of that resource's ids. */
function withReferences(schema: JsonObject, resource: Resource, catalog: Resource[]): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const targets = new Map((resource.references ?? []).map(({ field, to }) => [field, to]));
  if (resource.parent) targets.set(`${resource.parent.type}Id`, resource.parent.type);
  const members = Object.entries(properties).map(([name, member]): [string, Json] => {
    const target = catalog.find(({ type }) => type === targets.get(name));
    if (!target || !isJsonObject(member)) return [name, member];
    return [
      name,
      { ...member, ...idSchema(target.idForm), description: `The id of ${withArticle(target.type)}` },
    ];
  });
  return { ...schema, properties: Object.fromEntries(members) };
}

function mergeObjectSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const list = (value: Json | undefined) => (Array.isArray(value) ? value : []);
  const object = (value: Json | undefined) => (isJsonObject(value) ? value : {});
  return {
    ...one,
    ...other,
    properties: { ...object(one['properties']), ...object(other['properties']) },
    required: [...list(one['required']), ...list(other['required'])],
  };
}

function withDescription(schema: z.ZodType, shape: JsonObject): JsonObject {
  const { description } = schema;
  return description === undefined ? shape : { description, ...shape };
}

function withoutDescription({ description: _description, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** Converts a zod schema to JSON Schema. Named schemas that it refers to are converted in the form of responses. */
export function toJsonSchema(schema: z.ZodType): { schema: JsonObject; named: JsonObject } {
  const text = JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  const { $schema, $defs = {}, ...rest } = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/'));
  const named = Object.entries<JsonObject>($defs).map(([name, part]) => [name, responseSchema(part)]);
  return { schema: rest, named: Object.fromEntries(named) };
}

/**
 * Converts a request schema to the response schema: fields with a default become required. Additional properties are
 * allowed, so that generated clients accept new fields.
 */
export function responseSchema(schema: JsonObject): JsonObject {
  const { additionalProperties, required = [], ...rest } = withoutDefault(schema);
  const { properties } = rest;
  const filled = Object.entries(isJsonObject(properties) ? properties : {}).filter(([, part]) =>
    hasDefault(part),
  );
  const there = [...(Array.isArray(required) ? required : []), ...filled.map(([name]) => name)];
  return {
    ...mapSubschemas(rest, responseSchema),
    ...(there.length > 0 ? { required: there } : {}),
    ...(additionalProperties ? { additionalProperties } : {}),
  };
}

/**
 * Converts a request schema to the schema of its merge patch (RFC 7396): no member is required, optional members can be
 * null, and arrays are replaced as a whole.
 */
export function patchSchema(schema: JsonObject): JsonObject {
  const { required = [], properties, ...rest } = withoutDefault(schema);
  if (!isJsonObject(properties)) return withoutDefault(schema);
  const kept = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(properties).map(([name, member]): [string, Json] => {
    const changed = isJsonObject(member) ? patchSchema(member) : member;
    return [name, kept.has(name) || !isJsonObject(changed) ? changed : nullable(changed)];
  });
  const { additionalProperties: others } = rest;
  return {
    ...rest,
    properties: Object.fromEntries(members),
    ...(isJsonObject(others) ? { additionalProperties: nullable(others) } : {}),
  };
}

/** Uses `anyOf` for objects and enumerations: client generators lose a null among their types. */
function nullable(schema: JsonObject): JsonObject {
  const { type } = schema;
  const isPlain = typeof type === 'string' && type !== 'object' && !('enum' in schema);
  return isPlain ? { ...schema, type: [type, 'null'] } : { anyOf: [schema, { type: 'null' }] };
}

/** Applies a change to every direct subschema. */
function mapSubschemas(schema: JsonObject, change: (part: JsonObject) => JsonObject): JsonObject {
  const each = (part: Json): Json => (isJsonObject(part) ? change(part) : part);
  const parts = Object.entries(schema).map(([word, value]): [string, Json] => {
    if (word === 'properties' && isJsonObject(value)) {
      return [word, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, each(part)]))];
    }
    if (word === 'items') return [word, each(value)];
    if ((word === 'anyOf' || word === 'oneOf') && Array.isArray(value)) return [word, value.map(each)];
    return [word, value];
  });
  return Object.fromEntries(parts);
}

function hasDefault(schema: Json): boolean {
  return isJsonObject(schema) && 'default' in schema;
}

function withoutDefault(schema: JsonObject): JsonObject {
  const { default: _default, ...rest } = schema;
  return rest;
}

/** The declared example in response form. Required members that it lacks get placeholder values. */
export function responseExample({ type, idForm, schema, example }: Resource, shape: JsonObject): JsonObject {
  const names = Object.keys(example);
  const kept = schema.parse(pick(example, (name) => name in schema.shape)) as JsonObject;
  const others = pick(example, (name) => !(name in schema.shape));
  const common = { id: exampleId(type, idForm), type, createdAt: '2026-11-20T12:00:00Z' };
  const required = Array.isArray(shape['required']) ? shape['required'].map(String) : [];
  const missing = required.filter((name) => !(name in common || name in kept || names.includes(name)));
  const madeUp = missing.map((name) => [name, placeholderValue(name, memberOf(shape, name))]);
  return { ...common, ...Object.fromEntries(madeUp), ...others, ...kept };
}

/** An example merge patch: one field with a value and one removed. */
export function patchExample({ schema, example }: Resource): JsonObject {
  const names = Object.keys(schema.shape);
  const otherwise = (name: string) => schema.shape[name]?.safeParse(undefined);
  const changed = names.filter((name) => typeof example[name] === 'string' && !otherwise(name)?.success);
  const removed = names.find((name) => !(name in example) && isOptional(otherwise(name)));
  return {
    ...pick(example, (name) => name === changed.at(-1)),
    ...(removed === undefined ? {} : { [removed]: null }),
  };
}

/** An id for examples, the same for all examples of a type. */
export function exampleId(type: string, form: 'A' | 'B'): string {
  const digits = createHash('sha256').update(type).digest('hex');
  if (form === 'A') return digits.slice(0, 24);
  return digits.slice(0, 32).replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/, '$1-$2-4$3-8$4-$5');
}

function isOptional(result: { success: boolean; data?: unknown } | undefined): boolean {
  return result?.success === true && result.data === undefined;
}

function pick(object: JsonObject, isWanted: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => isWanted(name)));
}

function memberOf({ properties }: JsonObject, name: string): JsonObject {
  const member = isJsonObject(properties) ? properties[name] : undefined;
  return isJsonObject(member) ? member : {};
}

/** A value for a member without an example in the declaration. */
function placeholderValue(name: string, member: JsonObject): Json {
  const { const: only, examples, enum: values, type, format } = member;
  if (only !== undefined) return only;
  const [first] = [examples, values].flatMap((list) => (Array.isArray(list) ? list : []));
  if (first !== undefined) return first;
  if (name.endsWith('Id')) return exampleId(name.slice(0, -2), 'A');
  if (type === 'boolean') return false;
  if (type === 'integer' || type === 'number') return 1;
  if (type === 'array') return [];
  if (type === 'object') return {};
  return format === 'date-time' ? '2026-11-20T12:00:00Z' : name;
}

/** Converts a type to the name of its schema, e.g. `billingProfile` to `BillingProfile`. */
export function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Converts a type to its plural, e.g. `travelPolicy` to `travelPolicies`. */
export function toPlural(type: string): string {
  return type.endsWith('y') ? `${type.slice(0, -1)}ies` : `${type}s`;
}

/** Converts a type to words, e.g. `scimUserMapping` to `SCIM user mapping`. */
export function toWords(type: string): string {
  return type.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/\bscim\b/, 'SCIM');
}

/** Converts a type to words with an article, e.g. `invoice` to `an invoice` and `user` to `a user`. */
export function withArticle(type: string): string {
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${toWords(type)}`;
}
