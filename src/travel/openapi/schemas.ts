import { createHash } from 'node:crypto';
import { z } from 'zod';
import { toJsonSchema } from '../../contract/openapi.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { Resource } from '../resource.ts';

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

/**
 * Adds the schemas of a resource: its response and, if clients can write it, the bodies of POST or PUT and of PATCH. Named schemas to
 * which it refers are added in the form of responses.
 */
export function addResourceSchemas(resource: Resource, catalog: Resource[], schemas: JsonObject): void {
  const { type, idForm, schema, readOnly, secret, operations } = resource;
  const names = schemaNames(resource);
  const written = withReferences(schema, resource, catalog);
  const answered = z.object({
    id: z.string().meta(idMembers(idForm)),
    type: z.literal(type),
    createdAt: z.string().meta({ format: 'date-time' }),
    ...withReferences(readOnly ?? z.object({}), resource, catalog).shape,
    ...written.shape,
  });
  const add = (name: string, shape: z.ZodObject) => {
    schemas[name] = toJsonSchema(shape, schemas, { io: 'input', override: toResponseForm });
  };
  add(names.answered, answered.meta({ description: schema.description }));
  if (operations.includes('create')) {
    const body = toJsonSchema(written, {}, { io: 'input' });
    schemas[names.written] = body;
    schemas[names.patched] = patchSchema(body);
  }
  if (!secret) return;
  const member = z.string().meta({ description: 'Only in this response', examples: [secret.example] });
  add(names.revealing, answered.extend({ [secret.field]: member }));
}

/** The members of the schema of an id: "24 lowercase hexadecimal characters", or up to 50 characters of a larger set. */
export function idMembers(form: 'A' | 'B') {
  return form === 'A'
    ? { pattern: '^[0-9a-f]{24}$', description: '24 hexadecimal characters' }
    : { pattern: '^[\\w@~.-]{1,50}$', description: 'Up to 50 letters, digits and _@~.-' };
}

/** Replaces each field that refers to another resource by the id of that resource. */
function withReferences(schema: z.ZodObject, resource: Resource, catalog: Resource[]): z.ZodObject {
  const targets = new Map((resource.references ?? []).map(({ field, to }) => [field, to]));
  if (resource.parent) targets.set(`${resource.parent.type}Id`, resource.parent.type);
  const members = Object.entries(schema.shape).map(([name, member]) => {
    const target = catalog.find(({ type }) => type === targets.get(name));
    if (!target) return [name, member];
    const description = `The id of ${withArticle(target.type)}`;
    const id = z.string().meta({ ...idMembers(target.idForm), description });
    return [name, member.safeParse(undefined).success ? id.optional() : id];
  });
  return z.strictObject(Object.fromEntries(members)).meta({ description: schema.description });
}

/**
 * Changes a part of a request schema to its form in responses: fields with a default become required, and additional properties are
 * allowed, so that generated clients accept new fields.
 */
function toResponseForm({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodType;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  delete jsonSchema.default;
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if (!(zodSchema instanceof z.ZodObject)) return;
  const filled = Object.keys(zodSchema.shape).filter((name) => hasDefault(zodSchema.shape[name]));
  const required = [...(jsonSchema.required ?? []), ...filled];
  if (required.length > 0) jsonSchema.required = required;
}

function hasDefault(member: z.ZodType | undefined): boolean {
  return member?.safeParse(undefined).data !== undefined;
}

/**
 * Converts a request schema to the schema of its merge patch (RFC 7396): no member is required, optional members can be
 * null, and arrays are replaced as a whole.
 */
function patchSchema({ default: _default, ...schema }: JsonObject): JsonObject {
  const { required = [], properties, ...rest } = schema;
  if (!isJsonObject(properties)) return schema;
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

/** A value for a member that clients cannot write: its example, or the id of the resource that it names. */
function placeholderValue(name: string, { examples }: JsonObject): Json {
  const [first] = Array.isArray(examples) ? examples : [];
  return first ?? exampleId(name.replace(/Id$/, ''), 'A');
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
