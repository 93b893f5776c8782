import {
  type DocumentedApi,
  type DocumentedOperation,
  jsonContent,
  openApiDocument,
  schemaRef,
} from '../../contract/openapi.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { Resource } from '../resource.ts';
import { eventKinds } from '../resources/event.ts';
import { errorSchemas, failureResponses } from './failures.ts';
import { metaSchemas } from './lists.ts';
import {
  type DocumentedResource,
  dataContent,
  idParameter,
  operation,
  operationsOf,
  resourceResponse,
  secretResponse,
  tagOf,
} from './operations.ts';
import { addResourceSchemas, capitalize, responseExample, schemaNames } from './schemas.ts';

/** Creates the OpenAPI document of the travel service. `url` is the base URL of the service; by default, clients use that of the document. */
export function buildOpenApi(catalog: Resource[], url?: string): JsonObject {
  return openApiDocument(describeApi(catalog, url));
}

/** Describes the API of the travel service by the declarations of its resources, for the OpenAPI document and the page. */
export function describeApi(catalog: Resource[], url = ''): DocumentedApi {
  const schemas: JsonObject = {};
  for (const resource of catalog) addResourceSchemas(resource, catalog, schemas);
  const documented = catalog.map((resource) => toDocumented(resource, catalog, schemas));
  return {
    title: 'Jetbridge travel API',
    description: INTRODUCTION,
    // Paths begin with a slash, so the base URL must not end with one.
    url: url.replace(/\/+$/, '') || '/',
    tags: [{ name: ACCOUNT }, ...catalog.map(tag)],
    security: [{ bearer: [] }],
    operations: [...extraOperations(documented), ...documented.flatMap(operationsOf)],
    webhooks: eventRequests(documented, schemas),
    components: {
      schemas: { ...schemas, ...metaSchemas, ...errorSchemas },
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
  const { answered, revealing } = schemaNames(resource);
  const exampleOf = (name: string) => responseExample(resource, objectMember(schemas, name));
  return { resource, catalog, example: exampleOf(answered), revealing: exampleOf(revealing) };
}

function objectMember(object: JsonObject, name: string): JsonObject {
  const member = object[name];
  return isJsonObject(member) ? member : {};
}

function tag(resource: Resource): DocumentedApi['tags'][number] {
  const { description } = resource.schema;
  return { name: tagOf(resource), ...(description === undefined ? {} : { description }) };
}

/** The operations that do not follow from a declaration. */
function extraOperations(documented: DocumentedResource[]): DocumentedOperation[] {
  const find = (type: string) => documented.filter(({ resource }) => resource.type === type);
  return [
    ...find('user').map(whoamiOperation),
    ...find('webhook').flatMap((webhook) => [secretOperation(webhook), testOperation(webhook)]),
    ...find('webhookDelivery').map(redeliverOperation),
  ];
}

function whoamiOperation(user: DocumentedResource): DocumentedOperation {
  return {
    ...operation(user, {
      ...{ id: 'whoami', summary: 'Retrieve the user of the credential' },
      ...{ method: 'get', path: '/api/whoami' },
      responses: { 200: resourceResponse(user, 'The user') },
      failures: [],
    }),
    tag: ACCOUNT,
  };
}

const webhookId = idParameter('id', 'webhook', 'A');

function secretOperation(webhook: DocumentedResource): DocumentedOperation {
  return operation(webhook, {
    ...{ id: 'replaceWebhookSecret', summary: 'Make a new secret for a webhook' },
    ...{ method: 'post', path: '/api/webhooks/{id}/secret' },
    description:
      'For 24 hours both secrets sign, so that the receiver can be changed without an interruption.',
    parameters: [webhookId],
    responses: { 200: secretResponse(webhook, 'The webhook with its new secret') },
    failures: [404],
  });
}

function testOperation(webhook: DocumentedResource): DocumentedOperation {
  const example = { at: '2026-11-20T12:00:01Z', latencyMs: 83, status: 204 };
  return operation(webhook, {
    ...{ id: 'testWebhook', summary: 'Send a test event to a webhook' },
    ...{ method: 'post', path: '/api/webhooks/{id}/test' },
    description: [
      'An event of the kind `webhook.updated` without changes. It is sent once, immediately, even if the webhook',
      'is disabled, and is neither in the list of events nor in that of deliveries.',
    ].join('\n'),
    parameters: [webhookId],
    responses: {
      200: {
        description: 'The result of the attempt; without `error` the event was received',
        content: dataContent('WebhookAttempt', example),
      },
    },
    failures: [404],
  });
}

function redeliverOperation(delivery: DocumentedResource): DocumentedOperation {
  return operation(delivery, {
    ...{ id: 'redeliver', summary: 'Deliver the event of a delivery again' },
    ...{ method: 'post', path: '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver' },
    description: 'Creates a new delivery, which is sent immediately and does not wait for others.',
    parameters: [webhookId, idParameter('deliveryId', 'webhookDelivery', 'A')],
    responses: { 201: resourceResponse(delivery, 'The new delivery') },
    failures: [404, 409],
  });
}

/** The requests that webhooks receive, by kind of event. */
function eventRequests(documented: DocumentedResource[], schemas: JsonObject): DocumentedOperation[] {
  const answered = documented.map(({ example }) => example);
  const embedded = Object.keys(schemas).flatMap((name) => objectMember(schemas, name)['examples'] ?? []);
  const examples = [...answered, ...embedded];
  return eventKinds.map((kind) => {
    // The kind names the embedded type: `tripProject.booking.failed` embeds a booking, `user.created` a user.
    const type = kind.split('.').at(-2) ?? '';
    const parts = { kind: { const: kind }, data: schemaRef(capitalize(type)) };
    const schema = { allOf: [schemaRef('Event'), { properties: parts }] };
    return {
      id: `on${kind.split('.').map(capitalize).join('')}`,
      ...{ method: 'post', path: kind, summary: kind },
      others: { security: [] },
      parameters: webhookHeaders,
      body: jsonContent(schema, eventExample(kind, type, examples)),
      responses: {
        '2XX': { description: 'The event was received' },
        default: { description: 'Delivered again later; 410 disables the webhook' },
      },
    };
  });
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
