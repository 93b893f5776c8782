import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { Resource } from '../resource.ts';
import { eventKinds } from '../resources/event.ts';
import {
  type DocumentedResource,
  envelope,
  errorSchema,
  type Failure,
  failureRefs,
  failureResponses,
  invalidSchema,
  jsonContent,
  type OperationEntry,
  pathParameter,
  resourceResponse,
  schemaRef,
  secretResponse,
  tagOf,
} from './components.ts';
import { itemOperations, listOperation, metaSchemas, subListOperation } from './operations.ts';
import { capitalize, idSchema, resourceSchemas, responseExample, schemaNames } from './schemas.ts';

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
  'Every call is made on behalf of the admin user to whom the credential is attached.',
  'Bodies are `{"data": …}`. A field without a value is left out; null is never sent.',
  'A method that a path does not support is answered with 403 `forbidden`.',
].join('\n');

function toDocumented(resource: Resource, catalog: Resource[], schemas: JsonObject): DocumentedResource {
  const shape = schemas[schemaNames(resource).answered];
  return { resource, catalog, shape: isJsonObject(shape) ? shape : {} };
}

/** All operations that the declaration of a resource implies. */
function operationsOf(documented: DocumentedResource): OperationEntry[] {
  const { operations, subCollections: under = [] } = documented.resource;
  return [
    ...operations.map((operation) =>
      operation === 'list' ? listOperation(documented) : itemOperations[operation](documented),
    ),
    ...under.map((sub) => subListOperation(documented, sub)),
  ];
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

/** The operations that no declaration implies. */
export function extraOperations(documented: DocumentedResource[], tag: string): OperationEntry[] {
  const user = documented.find(({ resource }) => resource.type === 'user');
  if (!user) return [];
  return [
    {
      path: '/api/whoami',
      method: 'get',
      operation: {
        operationId: 'whoami',
        summary: 'Retrieve the user of the credential',
        tags: [tag],
        responses: { 200: resourceResponse(user, 'The user'), ...failureRefs([400, 401, 500, 503]) },
      },
    },
    ...webhookOperations(documented),
  ];
}

/** The requests that webhooks receive, by kind of event; undefined if the catalog has no webhooks. */
export function eventWebhooks(documented: DocumentedResource[], schemas: JsonObject): JsonObject | undefined {
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
      '2XX': { description: 'Received' },
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

/** The additional operations of webhooks. */
export function webhookOperations(documented: DocumentedResource[]): OperationEntry[] {
  const find = (wanted: string) => documented.find(({ resource }) => resource.type === wanted);
  const [webhook, delivery] = [find('webhook'), find('webhookDelivery')];
  if (!webhook || !delivery) return [];
  return [replaceSecretOperation(webhook), testWebhookOperation(webhook), redeliverOperation(delivery)];
}

const webhookId = pathParameter('id', idSchema('A'), 'webhook');
const deliveryId = pathParameter('deliveryId', idSchema('A'), 'webhook delivery');

function failureResponseRefs(more: Failure[] = []) {
  return failureRefs([400, 401, 404, ...more, 500, 503]);
}

function replaceSecretOperation(webhook: DocumentedResource): OperationEntry {
  return {
    path: '/api/webhooks/{id}/secret',
    method: 'post',
    operation: {
      operationId: 'replaceWebhookSecret',
      summary: 'Make a new secret for a webhook',
      description: 'For 24 hours both secrets sign, so that the receiver can be changed without a gap.',
      tags: [tagOf(webhook.resource)],
      parameters: [webhookId],
      responses: {
        200: secretResponse(webhook, 'The webhook with its new secret'),
        ...failureResponseRefs(),
      },
    },
  };
}

function testWebhookOperation(webhook: DocumentedResource): OperationEntry {
  const example = { data: { at: '2026-11-20T12:00:01Z', latencyMs: 83, status: 204 } };
  return {
    path: '/api/webhooks/{id}/test',
    method: 'post',
    operation: {
      operationId: 'testWebhook',
      summary: 'Send a test event to a webhook',
      description: [
        'An event of the kind `webhook.updated` by which nothing changed. It is sent now, once, even while the webhook',
        'is disabled, and is neither in the list of events nor in that of deliveries.',
      ].join('\n'),
      tags: [tagOf(webhook.resource)],
      parameters: [webhookId],
      responses: {
        200: {
          description: 'What came back; it arrived if there is no `error`',
          content: jsonContent(envelope(schemaRef('WebhookAttempt')), { example }),
        },
        ...failureResponseRefs(),
      },
    },
  };
}

function redeliverOperation(delivery: DocumentedResource): OperationEntry {
  return {
    path: '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver',
    method: 'post',
    operation: {
      operationId: 'redeliver',
      summary: 'Deliver the event of a delivery again',
      description: 'A new delivery, at once, which does not wait for others.',
      tags: [tagOf(delivery.resource)],
      parameters: [webhookId, deliveryId],
      responses: { 201: resourceResponse(delivery, 'The new delivery'), ...failureResponseRefs([409]) },
    },
  };
}
