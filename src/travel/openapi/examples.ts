import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { Resource } from '../resource.ts';

/** The resource of the declaration's example, as it is answered: what the example leaves out of `shape` is made up. */
export function answeredExample({ type, idForm, schema, example }: Resource, shape: JsonObject): JsonObject {
  const names = Object.keys(example);
  const kept = schema.parse(pick(example, (name) => name in schema.shape)) as JsonObject;
  const others = pick(example, (name) => !(name in schema.shape));
  const common = { id: exampleId(type, idForm), type, createdAt: '2026-11-20T12:00:00Z' };
  const required = Array.isArray(shape['required']) ? shape['required'].map(String) : [];
  const missing = required.filter((name) => !(name in common || name in kept || names.includes(name)));
  const madeUp = missing.map((name) => [name, madeUpValue(name, memberOf(shape, name))]);
  return { ...common, ...Object.fromEntries(madeUp), ...others, ...kept };
}

/** A merge patch: one field with a value, and one that is removed. */
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

/** An id for an example, the same for all examples of a type. */
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
  const member = isObject(properties) ? properties[name] : undefined;
  return isObject(member) ? member : {};
}

/** A value of a member that the declaration has no example for. */
function madeUpValue(name: string, member: JsonObject): Json {
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
