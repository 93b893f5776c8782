import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { FAULTS, type Invalid, validationFailed } from './errors.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import type { Resource } from './resource.ts';

/** The longest part of a received value that is repeated in a fault. */
const ECHO = 200;

/** As many values a resource can hold, those inside of lists and objects included. No real one comes near it. */
const VALUES = 20_000;

/** Refuses a body that names what nobody knows, or what only the service writes; a null is a mention too. */
export function refuseForeignFields(resource: Resource, body: JsonObject): void {
  const code = (field: string) => (resource.unwritable.includes(field) ? 'readOnly' : 'unknown');
  const foreign = Object.keys(body).filter(
    (field) => resource.unwritable.includes(field) || !Object.hasOwn(resource.schema.shape, field),
  );
  const invalid = foreign.slice(0, FAULTS).map((field) => item(code(field), [field], body));
  if (invalid.length > 0) throw validationFailed(invalid);
}

/**
 * Refuses a document with too many values before anything else looks at them: a schema takes much longer to refuse a value
 * than a client to send it. A document that has grown too large before may become smaller.
 */
export function refuseOversized(doc: JsonObject, before: JsonObject = {}): void {
  const total = valuesIn(doc);
  if (total <= VALUES || total <= valuesIn(before)) return;
  const sizes = Object.entries(doc).map(([field, value]) => ({ field, size: valuesIn(value) }));
  const largest = sizes.reduce((most, one) => (one.size > most.size ? one : most));
  const message = `makes the resource too large: it can hold ${VALUES} values`;
  throw validationFailed([item('tooMany', [largest.field], {}, message)]);
}

/** The number of values in a value, those inside of it included; null, which removes, counts like any other. */
function valuesIn(value: Json): number {
  let size = 0;
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const inner = Object.values(next);
    size += inner.length;
    for (const one of inner) open.push(one);
  }
  return size;
}

/**
 * The document that the schema makes of the input: fields in its order, defaults filled in, nothing empty that is optional. A
 * value that stood in the document before may stay, though the rules for it have become stricter since it was written.
 */
export function validated(resource: Resource, input: JsonObject, before?: JsonObject): JsonObject {
  const result = resource.schema.safeParse(input, { reportInput: false });
  const issues = (result.error?.issues ?? []).filter((issue) => !isOlderValue(issue, input, before));
  if (issues.length > 0)
    throw validationFailed(issues.slice(0, FAULTS).flatMap((issue) => toInvalid(issue, input)));
  // An input with older values is a stored document with changes, so that its defaults are filled in.
  const doc = result.success ? (result.data as JsonObject) : inOrderOf(resource, input);
  const fields = Object.entries(doc).filter(
    ([name, value]) => value !== undefined && !(isEmpty(value) && isOptional(resource, name)),
  );
  return Object.fromEntries(fields);
}

function isOlderValue(issue: z.core.$ZodIssue, input: JsonObject, before: JsonObject | undefined): boolean {
  if (issue.code !== 'custom' || !before) return false;
  const path = pathOf(issue);
  const value = valueAt(input, path);
  return value !== undefined && isDeepStrictEqual(value, valueAt(before, path));
}

function inOrderOf({ schema }: Resource, input: JsonObject): JsonObject {
  const names = Object.keys(schema.shape).filter((name) => Object.hasOwn(input, name));
  return Object.fromEntries(names.map((name) => [name, input[name] ?? null]));
}

function pathOf({ path }: z.core.$ZodIssue): (string | number)[] {
  return path.map((part) => (typeof part === 'symbol' ? String(part) : part));
}

/** One fault, in the words of the specification's error body. */
export function item(code: string, path: (string | number)[], input: JsonObject, message?: string): Invalid {
  const field = path.join('.').slice(0, ECHO);
  const value = valueAt(input, path);
  const words = `"${field}" ${message ?? messages.get(code) ?? 'is not valid'}.`;
  return value === undefined
    ? { field, code, message: words }
    : { field, value: echo(value), code, message: words };
}

const messages = new Map([
  ['required', 'is mandatory'],
  ['unknown', 'is not a field of this resource'],
  ['readOnly', 'is read-only'],
  ['type', 'has the wrong type'],
  ['reference', 'refers to nothing'],
]);

function toInvalid(issue: z.core.$ZodIssue, input: JsonObject): Invalid[] {
  const path = pathOf(issue);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.slice(0, FAULTS).map((key) => item('unknown', [...path, key], input));
    case 'custom':
      return [item(String(issue.params?.['code']), path, input, issue.message)];
    default:
      return [item(valueAt(input, path) === undefined ? 'required' : 'type', path, input)];
  }
}

function valueAt(input: JsonObject, path: (string | number)[]): Json | undefined {
  let value: Json | undefined = input;
  for (const part of path) {
    if (Array.isArray(value)) value = value[Number(part)];
    else value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return value;
}

/** "value received, either a string or a number" */
function echo(value: Json): string | number {
  // A number that is too large for JavaScript is infinite here, which JSON cannot say.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, ECHO);
}

function isEmpty(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function isOptional(resource: Resource, name: string): boolean {
  return resource.schema.shape[name]?.safeParse(undefined).success === true;
}
