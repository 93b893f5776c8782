import { z } from 'zod';
import type { Json, JsonObject } from '../schema/resource.ts';
import { codeSamples } from './code-samples.ts';

/** An operation of an HTTP API, from which its description in the OpenAPI document follows. */
export interface ApiOperation {
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** From the root of the service, with parameters in braces; of a webhook, the kind of event. */
  path: string;
  /** The family under which the operation is listed. */
  tag?: string;
  summary: string;
  description?: string | undefined;
  /** By place and name. */
  parameters?: { path?: z.ZodRawShape; query?: z.ZodRawShape | undefined; header?: z.ZodRawShape };
  /** The body, always JSON. */
  body?: z.ZodType | undefined;
  /** By status. */
  responses: Record<string, ApiResponse>;
  /** Other members, such as `security`. */
  others?: JsonObject;
}

/** A response of an operation. */
export interface ApiResponse {
  description: string;
  headers?: z.ZodRawShape;
  body?: z.ZodType | undefined;
  /** The media type of the body, by default JSON. */
  mediaType?: string;
}

/** An HTTP API. */
export interface Api {
  title: string;
  description: string;
  /** The base URL; by default, clients use the URL of the document. */
  url?: string | undefined;
  tags: { name: string; description?: string }[];
  security: JsonObject[];
  securitySchemes: JsonObject;
  operations: ApiOperation[];
  /** The requests that the service sends. */
  webhooks?: ApiOperation[];
  /** The environment variable that code samples read the credential from; without it there are no samples. */
  sampleCredential?: string;
}

/** The version of both APIs, independent of the program's version. A change that clients must follow raises it. */
const VERSION = '1.0.0';

/** Creates the OpenAPI 3.1 document of an API. A zod schema with an id becomes a component, which others refer to. */
export function openApiDocument(api: Api): JsonObject {
  const { title, description, url = '', tags, security, securitySchemes, webhooks } = api;
  const schemas: JsonObject = {};
  const paths = groupByPath(api.operations, (operation) => ({
    ...describe(operation, 'input', schemas),
    ...(api.sampleCredential && { 'x-code-samples': codeSamples(operation, api.sampleCredential) }),
  }));
  const sent = webhooks && groupByPath(webhooks, (operation) => describe(operation, 'output', schemas));
  return {
    openapi: '3.1.0',
    info: { title, version: VERSION, description },
    // Paths begin with a slash, so the base URL must not end with one.
    servers: [{ url: url.replace(/\/+$/, '') || '/' }],
    ...{ security, tags, paths },
    ...(sent && { webhooks: sent }),
    components: { schemas, securitySchemes },
  };
}

function groupByPath(
  operations: ApiOperation[],
  describe: (operation: ApiOperation) => JsonObject,
): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  return paths;
}

/** `bodyIo`: who writes the body, the client (input) or the service (output). */
function describe(operation: ApiOperation, bodyIo: 'input' | 'output', schemas: JsonObject): JsonObject {
  const { id, summary, description, tag, body, responses, others } = operation;
  const parameters = Object.entries(operation.parameters ?? {}).flatMap(([place, shape = {}]) =>
    Object.entries(shape).map(([name, part]) => ({ name, in: place, ...describeParameter(part, schemas) })),
  );
  return {
    ...{ operationId: id, summary },
    ...(description !== undefined && { description }),
    ...(tag !== undefined && { tags: [tag] }),
    ...others,
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: { [JSON_TYPE]: { schema: toJsonSchema(body, bodyIo, schemas) } },
      },
    }),
    responses: mapValues(responses, (response) => describeResponse(response, schemas)),
  };
}

const JSON_TYPE = 'application/json';

function describeParameter(part: z.core.$ZodType, schemas: JsonObject): JsonObject {
  // zod describes the input of a coerced number as anything, and so the output of a transformed text.
  const both = { ...toJsonSchema(part, 'input', schemas), ...toJsonSchema(part, 'output', schemas) };
  const otherwise = z.safeParse(part, undefined);
  const value = { ...both, ...(otherwise.data !== undefined && { default: otherwise.data as Json }) };
  return { required: !otherwise.success, ...withDescription(value) };
}

/** Of a parameter or a header, the description stands beside the schema. */
function withDescription({ description, ...schema }: JsonObject): JsonObject {
  return { ...(description !== undefined && { description }), schema };
}

function describeResponse(
  { description, headers, body, mediaType = JSON_TYPE }: ApiResponse,
  schemas: JsonObject,
): JsonObject {
  const describeHeader = (part: z.core.$ZodType) => withDescription(toJsonSchema(part, 'output', schemas));
  return {
    description,
    ...(headers && { headers: mapValues(headers, describeHeader) }),
    ...(body && { content: { [mediaType]: { schema: toJsonSchema(body, 'output', schemas) } } }),
  };
}

/** Converts a zod schema. The schemas with an id, which it contains or is, are added to `schemas`. */
function toJsonSchema(schema: z.core.$ZodType, io: 'input' | 'output', schemas: JsonObject): JsonObject {
  // A schema with an id becomes a reference only inside of another one.
  const wrapped = z.toJSONSchema(z.object({ schema }), {
    ...{ io, unrepresentable: 'any' },
    ...(io === 'output' && { override: ({ jsonSchema }) => openForNewMembers(jsonSchema) }),
  });
  const text = JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $defs = {}, properties } = JSON.parse(text);
  for (const [name, { id: _id, ...definition }] of Object.entries<JsonObject>($defs)) {
    // A schema that bodies and responses share is described as in responses.
    if (io === 'output' || !(name in schemas)) schemas[name] = definition;
  }
  return properties.schema;
}

/** Generated clients must accept a response with members that a later version adds. */
function openForNewMembers(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  delete schema.default;
}

function mapValues<Value>(
  object: Readonly<Record<string, Value>>,
  convert: (value: Value) => Json,
): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, convert(value)]));
}
