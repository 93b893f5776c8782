import { z } from 'zod';
import type { Json, JsonObject } from '../schema/resource.ts';

/** An operation as a document describes it. */
export interface DocumentedOperation {
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** From the root of the service, with parameters in braces; of a webhook, the kind of event. */
  path: string;
  summary: string;
  description?: string | undefined;
  /** The family under which the operation is listed. */
  tag?: string;
  parameters?: JsonObject[];
  /** The content of the body, which must be given. */
  body?: JsonObject | undefined;
  /** By status. */
  responses: JsonObject;
  /** Other members, such as `security`. */
  others?: JsonObject;
}

/** An HTTP API and the parts of its document that its operations share. */
export interface DocumentedApi {
  title: string;
  description: string;
  /** The base URL, without a slash at the end; by default, clients use the URL of the document. */
  url?: string;
  tags: { name: string; description?: string }[];
  security: JsonObject[];
  operations: DocumentedOperation[];
  /** The requests that the service sends. */
  webhooks?: DocumentedOperation[];
  components: JsonObject;
}

/** The version of both APIs, independent of the program's version. A change that clients must follow raises it. */
export const VERSION = '1.0.0';

/** Creates the OpenAPI 3.1 document of an API. */
export function openApiDocument({
  title,
  description,
  url = '/',
  webhooks,
  ...api
}: DocumentedApi): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title, version: VERSION, description },
    servers: [{ url }],
    security: api.security,
    tags: api.tags,
    paths: groupByPath(api.operations),
    ...(webhooks && { webhooks: groupByPath(webhooks) }),
    components: api.components,
  };
}

function groupByPath(operations: DocumentedOperation[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  return paths;
}

function describe({ id, tag, summary, description, ...operation }: DocumentedOperation): JsonObject {
  const { parameters = [], body, responses, others } = operation;
  return {
    ...{ operationId: id, summary },
    ...(description !== undefined && { description }),
    ...(tag !== undefined && { tags: [tag] }),
    ...others,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: body } }),
    responses,
  };
}

/** The content of a JSON body, with examples by name. */
export function jsonContent(schema: JsonObject, examples?: Record<string, Json>): JsonObject {
  const values = Object.entries(examples ?? {}).map(([name, value]) => [name, { value }]);
  return { 'application/json': { schema, ...(examples && { examples: Object.fromEntries(values) }) } };
}

/** The schema of an object, whose members are required unless they are named. */
export function objectSchema(properties: JsonObject, optional: string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}

/** A reference to the schema of this name. */
export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

interface SchemaOptions {
  io: 'input' | 'output';
  /** Changes each part of the schema after its conversion. */
  override?: (part: { zodSchema: z.core.$ZodType; jsonSchema: z.core.JSONSchema.BaseSchema }) => void;
}

/** Converts a zod schema. The schemas with an id, which it contains or is, are added to `schemas`. */
export function toJsonSchema(
  schema: z.ZodType,
  schemas: JsonObject,
  { io, override }: SchemaOptions,
): JsonObject {
  // A schema with an id becomes a reference only inside of another one.
  const wrapped = z.toJSONSchema(z.object({ schema }), {
    ...{ io, unrepresentable: 'any' },
    ...(override && { override }),
  });
  const text = JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $defs = {}, properties } = JSON.parse(text);
  for (const [name, { id: _id, ...definition }] of Object.entries<JsonObject>($defs))
    schemas[name] = definition;
  return properties.schema;
}
