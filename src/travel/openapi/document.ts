import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { Resource } from '../resource.ts';
import { eventKinds } from '../resources/event.ts';
import {
  type DocumentedResource,
  errorSchema,
  failureResponses,
  invalidSchema,
  jsonContent,
  type OperationEntry,
  schemaRef,
  tagOf,
} from './components.ts';
import { extraOperations, metaSchemas, operationsOf } from './operations.ts';
import { capitalize, resourceSchemas, responseExample, schemaNames } from './schemas.ts';

/** The version of the API, independent of the program's version. A change that clients must follow raises it. */
const VERSION = '1.0.0';

/**
 * Creates the OpenAPI 3.1 document of the travel service from the declarations of its resources. `url` is the base URL
 * of the service; by default, clients use the URL of the document.
 */
export function buildOpenApi(catalog: Resource[], url = '/'): JsonObject {
  const schemas = Object.assign({}, ...catalog.map((resource) => resourceSchemas(resource, catalog)));
  const documented = catalog.map((resource) => toDocumented(resource, catalog, schemas));
  const webhooks = eventWebhooks(documented, schemas);
  return {
    openapi: '3.1.0',
    info: { title: 'Jetbridge travel API', version: VERSION, description: INTRODUCTION },
    // Paths begin with a slash, so the base URL must not end with one.
    servers: [{ url: url === '/' ? url : url.replace(/\/+$/, '') }],
    security: [{ bearer: [] }],
    tags: [{ name: ACCOUNT }, ...catalog.map((resource) => tag(resource))],
    paths: groupByPath([...extraOperations(documented, ACCOUNT), ...documented.flatMap(operationsOf)]),
    ...(webhooks ? { webhooks } : {}),
    components: {
      schemas: { ...schemas, ...metaSchemas, ErrorBody: errorSchema, Invalid: invalidSchema },
      responses: failureResponses(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key or an OAuth access token, of a user who has the role `admin`',
        },
      },
    },
  };
}

const ACCOUNT = 'Account';

const INTRODUCTION = [
  'Every call acts on behalf of the admin user who owns the credential.',
  'Bodies are `{"data": …}`. A field without a value is left out; null is never sent.',
  'A method that a path does not support is answered with 403 `forbidden`.',
].join('\n');

function toDocumented(resource: Resource, catalog: Resource[], schemas: JsonObject): DocumentedResource {
  const shape = schemas[schemaNames(resource).answered];
  return { resource, catalog, shape: isJsonObject(shape) ? shape : {} };
}

function tag(resource: Resource): JsonObject {
  const { description } = resource.schema;
  return { name: tagOf(resource), ...(description === undefined ? {} : { description }) };
}

function groupByPath(described: OperationEntry[]): JsonObject {
  const all: Record<string, JsonObject> = {};
  for (const { path, method, operation } of described) {
    all[path] = { ...all[path], [method]: operation };
  }
  return all;
}

/** The requests that webhooks receive, by kind of event; undefined if the catalog has no webhooks. */
function eventWebhooks(documented: DocumentedResource[], schemas: JsonObject): JsonObject | undefined {
  if (!documented.some(({ resource }) => resource.type === 'webhook')) return undefined;
  const answered = documented.map(({ resource, shape }) => responseExample(resource, shape));
  const examples = [...answered, ...Object.values(schemas).flatMap(examplesOfSchema)];
  return Object.fromEntries(eventKinds.map((kind) => [kind, { post: webhookRequest(kind, examples) }]));
}

function webhookRequest(kind: string, examples: Json[]): JsonObject {
  // The kind names the embedded type: `tripProject.booking.failed` embeds a booking, `user.created` a user.
  const embedded = kind.split('.').at(-2) ?? '';
  const parts = { kind: { const: kind }, data: schemaRef(capitalize(embedded)) };
  return {
    operationId: `on${kind.split('.').map(capitalize).join('')}`,
    summary: kind,
    security: [],
    parameters: webhookHeaders,
    requestBody: {
      required: true,
      content: jsonContent(
        { allOf: [schemaRef('Event'), { properties: parts }] },
        eventExample(kind, embedded, examples),
      ),
    },
    responses: {
      '2XX': { description: 'The event was received' },
      default: { description: 'Delivered again later; 410 disables the webhook' },
    },
  };
}

const webhookHeaders = [
  { name: 'webhook-id', about: 'The id of the event, the same at each attempt' },
  { name: 'webhook-timestamp', about: 'When this attempt was made, in seconds since 1970' },
  { name: 'webhook-signature', about: 'Signatures of the id, the time and the body (Standard Webhooks)' },
].map(({ name, about }) => ({
  ...{ name, in: 'header', required: true, description: about },
  schema: { type: 'string' },
}));

/** An example event that embeds the first resource of this type in the examples; empty if there is none. */
function eventExample(kind: string, type: string, examples: Json[]): Record<string, JsonObject> {
  const event = findResource(examples, 'event');
  const data = findResource(examples, type);
  if (!event || !data) return {};
  const { id, createdAt } = event;
  return { example: { id: id ?? '', type: 'event', createdAt: createdAt ?? '', data, kind } };
}

function examplesOfSchema(schema: Json): Json[] {
  const { examples } = isJsonObject(schema) ? schema : {};
  return Array.isArray(examples) ? examples : [];
}

/** Finds the first resource object of this type inside a value. */
function findResource(value: Json, type: string): JsonObject | undefined {
  if (isJsonObject(value) && value['type'] === type && 'id' in value) return value;
  const parts = typeof value === 'object' && value !== null ? Object.values(value) : [];
  for (const part of parts) {
    const found = findResource(part, type);
    if (found) return found;
  }
  return undefined;
}
