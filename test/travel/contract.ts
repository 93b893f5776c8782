import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Response } from 'supertest';
import { catalog } from '../../src/travel/catalog.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/travel/json.ts';
import { buildOpenApi } from '../../src/travel/openapi/document.ts';

/** The OpenAPI document of the service. */
export const openApi = buildOpenApi(catalog);

/** An operation of the OpenAPI document. */
export interface Operation {
  id: string;
  method: string;
  /** With parameters in braces. */
  path: string;
  /** The statuses of its responses. */
  statuses: string[];
  /** The JSON pointer of the operation. */
  pointer: string;
  parameters: JsonObject[];
  hasBody: boolean;
}

/** All operations of the OpenAPI document. */
export const operations: Operation[] = Object.entries(openApi['paths'] as Record<string, JsonObject>).flatMap(
  ([path, methods]) =>
    Object.entries(methods as Record<string, JsonObject>).map(([method, operation]) => ({
      id: String(operation['operationId']),
      method,
      path,
      statuses: Object.keys(operation['responses'] as JsonObject),
      pointer: `#/paths/${path.replaceAll('/', '~1')}/${method}`,
      parameters: (operation['parameters'] ?? []) as JsonObject[],
      hasBody: 'requestBody' in operation,
    })),
);

/** The violations of the schema at this pointer. With `closed`, undeclared members are violations too. */
export function schemaFaults(pointer: string, value: unknown, { closed = false } = {}): string[] {
  const validate = validatorOf(`${closed ? 'closed' : 'open'}${pointer}`);
  return validate(value)
    ? []
    : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** The pointer of a body's schema: that of the request, or of the response with this status. */
export function bodyPointer({ pointer }: Operation, status?: string): string {
  const part = status === undefined ? `${pointer}/requestBody` : `${pointer}/responses/${status}`;
  const reference = partAt(part)['$ref'];
  return `${typeof reference === 'string' ? reference : part}/content/application~1json/schema`;
}

/** The part of the document at a JSON pointer; an empty object if there is none. */
export function partAt(pointer: string): JsonObject {
  const words = pointer.split('/').slice(1);
  const found = words.reduce<Json | undefined>(
    (part, word) => (isJsonObject(part) ? part[word.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    openApi,
  );
  return isJsonObject(found) ? found : {};
}

/** The operation for a request; undefined if the document has none. */
export function operationFor(method: string, path: string): Operation | undefined {
  return operations.find((one) => one.method === method && isPath(one.path, path));
}

/** Throws if the OpenAPI document does not allow this response to this request. */
export function checkAnswer(method: string, url: string, { status, text, headers }: Answer): void {
  const path = `/api${url.split('?')[0]}`;
  if (['/api/openapi.json', '/api/docs'].includes(path)) return;
  const operation = operationFor(method, path);
  const isKnown = operations.some((one) => isPath(one.path, path));
  const allowed = operation?.statuses ?? (isKnown ? ['400', '401', '403'] : ['400', '401', '404']);
  const says = (fault: string) =>
    new Error(`${method} ${url.slice(0, 200)}: ${status} ${fault}: ${text.slice(0, 500)}`);
  if (!allowed.includes(String(status))) throw says('is not in the contract');
  if (status === 304) {
    if (text !== '' || headers['etag'] === undefined) throw says('must have an ETag and no body');
    return;
  }
  if (status === 401) {
    if (text !== '' || headers['content-type'] !== undefined) throw says('must have no body');
    return;
  }
  if (!/^application\/json(; charset=utf-8)?$/.test(headers['content-type'] ?? '')) throw says('is not JSON');
  const schema =
    operation && status < 300 ? bodyPointer(operation, String(status)) : '#/components/schemas/ErrorBody';
  const body = JSON.parse(text);
  const [fault] = [...schemaFaults(schema, body, { closed: true }), ...eventFaults(body.data)];
  if (fault !== undefined) throw says(fault);
}

/** The violations of events in the data: each kind embeds its own resource type. */
function eventFaults(data: Json): string[] {
  const events = [data].flat().filter((one) => isJsonObject(one) && one['type'] === 'event');
  return (events as JsonObject[]).flatMap((event) => {
    const pointer = `#/webhooks/${event['kind']}/post/requestBody/content/application~1json/schema`;
    return schemaFaults(pointer, event, { closed: true });
  });
}

type Answer = Pick<Response, 'status' | 'text' | 'headers'>;

/** The service ignores a trailing slash. */
function isPath(template: string, path: string): boolean {
  const [wanted, given] = [template.split('/'), path.replace(/\/$/, '').split('/')];
  return (
    wanted.length === given.length &&
    wanted.every((word, position) =>
      word.startsWith('{') ? given[position] !== '' : word === given[position],
    )
  );
}

const ajv = newAjv();
const validators = new Map<string, ValidateFunction>();

function validatorOf(place: string): ValidateFunction {
  const known = validators.get(place) ?? ajv.compile({ $ref: place });
  validators.set(place, known);
  return known;
}

function newAjv(): Ajv2020 {
  const made = new Ajv2020({ strict: false });
  addFormats.default(made);
  // The pattern already describes the format.
  made.addFormat('idn-email', true);
  made.addSchema(openApi, 'open');
  made.addSchema(closed(openApi) as JsonObject, 'closed');
  return made;
}

/** A copy of the schema in which objects allow only declared members. */
function closed(part: Json): Json {
  if (Array.isArray(part)) return part.map(closed);
  if (!isJsonObject(part)) return part;
  const copy = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, closed(value)]));
  const isSchema = copy['type'] !== undefined && isJsonObject(copy['properties']);
  return isSchema && copy['additionalProperties'] === undefined
    ? { ...copy, additionalProperties: false }
    : copy;
}
