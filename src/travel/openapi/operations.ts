import type { JsonObject } from '../json.ts';
import type { Operation, Resource, SubCollection } from '../resource.ts';
import {
  collectionPath,
  type DocumentedResource,
  envelope,
  type Failure,
  failureRefs,
  jsonContent,
  type ListFeatures,
  listParameters,
  type OperationEntry,
  operationHead,
  parentParameter,
  parentParameters,
  pathParameter,
  resourceResponse,
  schemaRef,
  secretResponse,
  tagOf,
} from './components.ts';
import {
  capitalize,
  idSchema,
  patchExample,
  responseExample,
  schemaNames,
  toPlural,
  toWords,
  withArticle,
} from './schemas.ts';

/** Returns all operations that follow from the declaration of a resource. */
export function operationsOf(documented: DocumentedResource): OperationEntry[] {
  const { operations, subCollections: under = [] } = documented.resource;
  return [
    ...operations.map((operation) =>
      operation === 'list' ? listOperation(documented) : itemOperations[operation](documented),
    ),
    ...under.map((sub) => subListOperation(documented, sub)),
  ];
}

/** Returns the operations that do not follow from a declaration. */
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

/** Describes the list of a resource. */
function listOperation(documented: DocumentedResource): OperationEntry {
  const { resource } = documented;
  const { type, cursor = false, sortBy, filters, parent } = resource;
  const names = toPlural(type);
  return {
    path: collectionPath(resource),
    method: 'get',
    operation: {
      ...operationHead(resource, `list${capitalize(names)}`, `List ${toWords(names)}`),
      parameters: [...parentParameters(documented), ...listParameters({ cursor, sortBy, filters })],
      responses: {
        200: pageResponse(documented, { cursor, sortBy, filters }),
        ...failureRefs(parent ? [400, 401, 404, 500, 503] : [400, 401, 500, 503]),
      },
    },
  };
}

/** Describes the list of a resource under an item of another type. */
function subListOperation(documented: DocumentedResource, sub: SubCollection): OperationEntry {
  const { resource, catalog } = documented;
  const { type, path, cursor = false, sortBy } = resource;
  const names = toPlural(type);
  // A list by ids has neither sorting nor cursor pages, because it is short.
  const listed: ListFeatures =
    'idsIn' in sub ? { cursor: false, sortBy: [], filters: [] } : { cursor, sortBy, filters: [] };
  const id = `list${capitalize(names)}Of${capitalize(sub.type)}`;
  return {
    path: `/api/${sub.path}/{id}/${path}`,
    method: 'get',
    operation: {
      ...operationHead(resource, id, `List ${toWords(names)} of ${withArticle(sub.type)}`),
      parameters: [parentParameter(catalog, sub.type), ...listParameters(listed)],
      responses: { 200: pageResponse(documented, listed), ...failureRefs([400, 401, 404, 500, 503]) },
    },
  };
}

/** The schemas of the `meta` of offset pages and cursor pages. */
export const metaSchemas: JsonObject = {
  OffsetMeta: {
    type: 'object',
    properties: {
      pageKind: { type: 'string', const: 'offset' },
      limit: { type: 'integer' },
      offset: { type: 'integer' },
      total: { type: 'integer', description: 'The number of all items' },
      order: { type: 'string', enum: ['asc', 'desc'] },
      sortBy: { type: 'string' },
    },
    required: ['pageKind', 'limit', 'offset', 'total', 'order', 'sortBy'],
  },
  CursorMeta: {
    type: 'object',
    properties: {
      pageKind: { type: 'string', const: 'cursor' },
      limit: { type: 'integer' },
      after: { type: 'string' },
      before: { type: 'string' },
      nextAfter: {
        type: 'string',
        description: 'The value of `after` for the next page, if there is one',
      },
      prevBefore: {
        type: 'string',
        description: 'The value of `before` for the previous page, if there is one',
      },
      order: { type: 'string', enum: ['asc', 'desc'] },
      sortBy: {
        type: 'string',
        description: 'The field that the list is sorted by; only if the list can be sorted',
      },
    },
    required: ['pageKind', 'limit', 'order'],
  },
};

function pageResponse({ resource, shape }: DocumentedResource, { cursor, sortBy }: ListFeatures): JsonObject {
  const metas = [schemaRef('OffsetMeta'), schemaRef('CursorMeta')];
  const data = { type: 'array', items: schemaRef(schemaNames(resource).answered) };
  const example = [responseExample(resource, shape)];
  const sorted = sortBy.length > 0 ? { sortBy: 'createdAt' } : {};
  const byOffset = { pageKind: 'offset', limit: 10, offset: 0, total: 1, order: 'asc', sortBy: 'createdAt' };
  const byCursor = { pageKind: 'cursor', limit: 10, nextAfter: 'WzEsIDJd', order: 'asc', ...sorted };
  return {
    description: 'A page',
    content: jsonContent(envelope(data, cursor ? { oneOf: metas } : schemaRef('OffsetMeta')), {
      offset: { data: example, meta: byOffset },
      ...(cursor ? { cursor: { data: example, meta: byCursor } } : {}),
    }),
  };
}

/** Describes every operation except the list. */
const itemOperations = {
  create: (documented) => {
    const { resource } = documented;
    const { type, parent, example } = resource;
    const parameters = parentParameters(documented);
    const failures: Failure[] = [400, 401, ...(parent ? [404 as const] : [])];
    return {
      path: collectionPath(resource),
      method: 'post',
      operation: {
        ...operationHead(resource, `create${capitalize(type)}`, `Create ${withArticle(type)}`),
        ...(parameters.length > 0 ? { parameters } : {}),
        requestBody: requestBody(schemaNames(resource).written, example),
        responses: {
          201: secretResponse(documented, 'The created resource'),
          ...failureRefs([...failures, ...ruleFailures(resource, 'create'), 413, 415, 422, 500, 503]),
        },
      },
    };
  },
  retrieve: (documented) => itemOperation(documented, { method: 'get', verb: 'retrieve', failures: [404] }),
  patch: (documented) =>
    itemOperation(documented, {
      method: 'patch',
      verb: 'update',
      says: 'Fields in the body are changed, those that are null are removed, others stay (JSON merge patch, RFC 7396).',
      body: requestBody(schemaNames(documented.resource).patched, patchExample(documented.resource)),
      failures: [404, ...ruleFailures(documented.resource, 'patch'), 413, 415, 422],
    }),
  replace: (documented) =>
    itemOperation(documented, {
      method: 'put',
      verb: 'replace',
      says: 'Fields that the body leaves out are removed, except `archived`, which keeps its value.',
      body: requestBody(schemaNames(documented.resource).written, documented.resource.example),
      failures: [404, ...ruleFailures(documented.resource, 'replace'), 413, 415, 422],
    }),
  delete: (documented) =>
    itemOperation(documented, {
      method: 'delete',
      verb: 'delete',
      says: 'Returns the resource as it was before.',
      // Other resources can refer to a resource of any type, so every DELETE can be answered with 409.
      failures: [404, 409, ...ruleFailures(documented.resource, 'delete')],
    }),
} satisfies Record<Exclude<Operation, 'list'>, (documented: DocumentedResource) => OperationEntry>;

interface ItemOperation {
  method: OperationEntry['method'];
  verb: string;
  says?: string;
  body?: JsonObject;
  failures: Failure[];
}

function itemOperation(
  documented: DocumentedResource,
  { method, verb, says, body, failures }: ItemOperation,
): OperationEntry {
  const { resource } = documented;
  const { type, parent, path, idForm } = resource;
  const id = parent ? nestedId(path) : 'id';
  return {
    path: `${collectionPath(resource)}/{${id}}`,
    method,
    operation: {
      ...operationHead(resource, `${verb}${capitalize(type)}`, `${capitalize(verb)} ${withArticle(type)}`),
      ...(says === undefined ? {} : { description: says }),
      parameters: [...parentParameters(documented), pathParameter(id, idSchema(idForm), toWords(type))],
      ...(body ? { requestBody: body } : {}),
      responses: {
        200: resourceResponse(documented, 'The resource'),
        ...failureRefs([400, 401, ...failures, 500, 503]),
      },
    },
  };
}

/** The failures that the rules and unique fields of a resource cause. */
function ruleFailures({ rules, unique = [] }: Resource, operation: Operation): Failure[] {
  const taken: Failure[] = unique.length > 0 && operation !== 'delete' ? [409] : [];
  return [...taken, ...(rules?.refuses?.[operation] ?? [])];
}

/** Converts a path segment to the name of an id parameter, e.g. `options` to `optionId`. */
function nestedId(path: string): string {
  return `${path.replace(/ies$/, 'y').replace(/s$/, '')}Id`;
}

function requestBody(name: string, example: JsonObject): JsonObject {
  return { required: true, content: jsonContent(envelope(schemaRef(name)), { example: { data: example } }) };
}

/** The additional operations of webhooks. */
function webhookOperations(documented: DocumentedResource[]): OperationEntry[] {
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
      description:
        'For 24 hours both secrets sign, so that the receiver can be changed without an interruption.',
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
        'An event of the kind `webhook.updated` without changes. It is sent once, immediately, even if the webhook',
        'is disabled, and is neither in the list of events nor in that of deliveries.',
      ].join('\n'),
      tags: [tagOf(webhook.resource)],
      parameters: [webhookId],
      responses: {
        200: {
          description: 'The result of the attempt; without `error` the event was received',
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
      description: 'Creates a new delivery, which is sent immediately and does not wait for others.',
      tags: [tagOf(delivery.resource)],
      parameters: [webhookId, deliveryId],
      responses: { 201: resourceResponse(delivery, 'The new delivery'), ...failureResponseRefs([409]) },
    },
  };
}
