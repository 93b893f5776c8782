import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { Resource } from '../declaration/resource.ts';
import { type FieldFault, MAX_FAULTS, validationFailed } from '../errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/** Maximum length of a received value in an error body. */
const MAX_ECHO_LENGTH = 200;

/** Maximum number of values in a resource, including those in nested lists and objects. */
const MAX_VALUES = 20_000;

/**
 * Throws `validationFailed` if the body names unknown fields, even with the value null, or gives a read-only field another value than the
 * present one. Returns the other fields: what a GET answers can be sent back.
 */
export function refuseUnwritableFields(
  resource: Resource,
  body: JsonObject,
  present: JsonObject = {},
): JsonObject {
  const isUnwritable = (field: string) => resource.unwritable.includes(field);
  const written = Object.entries(body).filter(
    ([field, value]) => !(isUnwritable(field) && isDeepStrictEqual(value, present[field])),
  );
  const foreign = written.filter(
    ([field]) => isUnwritable(field) || !Object.hasOwn(resource.schema.shape, field),
  );
  const code = (field: string) => (isUnwritable(field) ? 'readOnly' : 'unknown');
  const invalid = foreign.slice(0, MAX_FAULTS).map(([field]) => fieldFault(code(field), [field], body));
  if (invalid.length > 0) throw validationFailed(invalid);
  return Object.fromEntries(written);
}

/**
 * Throws `validationFailed` if a document has too many values, before its schema is applied: validating costs much more
 * than sending.
 */
export function refuseOversized(doc: JsonObject): void {
  if (countValues(doc) <= MAX_VALUES) return;
  const sizes = Object.entries(doc).map(([field, value]) => ({ field, size: countValues(value) }));
  const largest = sizes.reduce((most, one) => (one.size > most.size ? one : most));
  const message = `makes the resource too large: it can hold ${MAX_VALUES} values`;
  throw validationFailed([fieldFault('tooMany', [largest.field], {}, message)]);
}

/** Counts all nested values. A null, which removes a member, counts too. */
function countValues(value: Json): number {
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
 * Applies the schema: fields in its order, defaults filled in, empty optional lists and objects dropped. Throws
 * `validationFailed`.
 */
export function parseDocument(resource: Resource, input: JsonObject): JsonObject {
  const result = resource.schema.safeParse(input, { reportInput: false });
  if (!result.success)
    throw validationFailed(
      result.error.issues.slice(0, MAX_FAULTS).flatMap((issue) => issueToFaults(issue, input)),
    );
  const doc = result.data as JsonObject;
  const fields = Object.entries(doc).filter(
    ([name, value]) => value !== undefined && !(isEmpty(value) && isOptional(resource, name)),
  );
  return Object.fromEntries(fields);
}

function pathOf({ path }: z.core.$ZodIssue): (string | number)[] {
  return path.map((part) => (typeof part === 'symbol' ? String(part) : part));
}

/** Creates a fault for the error body; without a message, the default text of the code is used. */
export function fieldFault(
  code: string,
  path: (string | number)[],
  input: JsonObject,
  message?: string,
): FieldFault {
  const field = path.join('.').slice(0, MAX_ECHO_LENGTH);
  const value = valueAt(input, path);
  const words = `"${field}" ${message ?? messages.get(code) ?? 'is not valid'}.`;
  return value === undefined
    ? { field, code, message: words }
    : { field, value: echoedValue(value), code, message: words };
}

const messages = new Map([
  ['required', 'is mandatory'],
  ['unknown', 'is not a field of this resource'],
  ['readOnly', 'is read-only'],
  ['type', 'has the wrong type'],
  ['reference', 'refers to nothing'],
]);

function issueToFaults(issue: z.core.$ZodIssue, input: JsonObject): FieldFault[] {
  const path = pathOf(issue);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.slice(0, MAX_FAULTS).map((key) => fieldFault('unknown', [...path, key], input));
    case 'custom':
      return [fieldFault(String(issue.params?.['code']), path, input, issue.message)];
    default:
      return [fieldFault(valueAt(input, path) === undefined ? 'required' : 'type', path, input)];
  }
}

function valueAt(input: JsonObject, path: (string | number)[]): Json | undefined {
  let value: Json | undefined = input;
  for (const part of path) {
    if (Array.isArray(value)) value = value[Number(part)];
    else value = isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return value;
}

/**
 * Returns the received value in the form for an error body: "value received, either a string or a number"
 * (specification).
 */
function echoedValue(value: Json): string | number {
  // JSON has no infinity, which a number beyond the range of JavaScript becomes.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MAX_ECHO_LENGTH);
}

function isEmpty(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function isOptional(resource: Resource, name: string): boolean {
  return resource.schema.shape[name]?.safeParse(undefined).success === true;
}
