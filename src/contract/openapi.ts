import { z } from 'zod';
import type { Json, JsonObject } from '../schema/resource.ts';
import { codeSamples, exampleOf } from './code-samples.ts';

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
  /** An example of the body; by default that of its schema. */
  example?: Json;
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
  /** Returns what a property means that has no description of its own. `owner` is the name of the schema or property that has it. */
  descriptionOf?(owner: string, name: string): string | undefined;
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
  if (api.descriptionOf)
    for (const [name, schema] of Object.entries(schemas))
      describeProperties(schema, name.replace(/^New|Patch$|WithSecret$/g, ''), api.descriptionOf);
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: VERSION,
      description,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Jetbridge' },
    },
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
        content: { [JSON_TYPE]: describeContent(body, bodyIo, schemas) },
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
  { description, headers, body, mediaType = JSON_TYPE, example }: ApiResponse,
  schemas: JsonObject,
): JsonObject {
  const describeHeader = (part: z.core.$ZodType) => withDescription(toJsonSchema(part, 'output', schemas));
  return {
    description,
    ...(headers && { headers: mapValues(headers, describeHeader) }),
    ...(body && { content: { [mediaType]: describeContent(body, 'output', schemas, example) } }),
  };
}

function describeContent(
  body: z.ZodType,
  io: 'input' | 'output',
  schemas: JsonObject,
  example = exampleOf(body),
): JsonObject {
  return { schema: toJsonSchema(body, io, schemas), ...(example !== undefined && { example }) };
}

/** Converts a zod schema. The schemas with an id, which it contains or is, are added to `schemas`. */
function toJsonSchema(schema: z.core.$ZodType, io: 'input' | 'output', schemas: JsonObject): JsonObject {
  // A schema with an id becomes a reference only inside of another one.
  const wrapped = z.toJSONSchema(z.object({ schema }), {
    ...{ io, unrepresentable: 'any' },
    override: ({ jsonSchema }) => {
      // Generators of clients take a field with a default for one that must be sent, or send the default.
      delete jsonSchema.default;
      // They must accept a response with members that a later version adds.
      if (io === 'input') return;
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      delete jsonSchema.readOnly;
    },
  });
  const text = JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $defs = {}, properties } = JSON.parse(text);
  for (const [name, { id: _id, ...definition }] of Object.entries<JsonObject>($defs)) {
    // A schema that bodies and responses share is described as in responses.
    if (io === 'output' || !(name in schemas)) schemas[name] = definition;
  }
  return properties.schema;
}

/** Gives each property a description that has none of its own. */
function describeProperties(
  part: Json,
  owner: string,
  descriptionOf: (owner: string, name: string) => string | undefined,
): void {
  if (typeof part !== 'object' || part === null) return;
  const { properties, items, anyOf } = part as { [member: string]: Json };
  for (const [name, property] of Object.entries<JsonObject>(Object(properties))) {
    const description = property['description'] ?? descriptionOf(owner, name);
    if (description !== undefined) property['description'] = description;
    describeProperties(property, name, descriptionOf);
  }
  for (const inner of [items ?? null, ...Object.values(Object(anyOf))])
    describeProperties(inner as Json, owner, descriptionOf);
}

function mapValues<Value>(
  object: Readonly<Record<string, Value>>,
  convert: (value: Value) => Json,
): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, convert(value)]));
}
