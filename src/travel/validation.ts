import type { z } from 'zod';
import { type Invalid, validationFailed } from './errors.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import type { Resource } from './resource.ts';

/** The longest part of a received value that is repeated in a fault. */
const ECHO = 200;

/** Refuses a body that names what nobody knows, or what only the service writes; a null is a mention too. */
export function refuseForeignFields(resource: Resource, body: JsonObject): void {
  const invalid = Object.keys(body).flatMap((field) => {
    if (resource.unwritable.includes(field)) return [item('readOnly', [field], body)];
    return Object.hasOwn(resource.schema.shape, field) ? [] : [item('unknown', [field], body)];
  });
  if (invalid.length > 0) throw validationFailed(invalid);
}

/** The document that the schema makes of the input: fields in its order, defaults filled in, nothing empty that is optional. */
export function validated(resource: Resource, input: JsonObject): JsonObject {
  const result = resource.schema.safeParse(input, { reportInput: false });
  if (!result.success)
    throw validationFailed(result.error.issues.flatMap((issue) => toInvalid(issue, input)));
  const fields = Object.entries(result.data as JsonObject).filter(
    ([name, value]) => value !== undefined && !(isEmpty(value) && isOptional(resource, name)),
  );
  return Object.fromEntries(fields);
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
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => item('unknown', [...path, key], input));
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
