import type { z } from 'zod';
import { type ApiOperation, type ApiResponse, openApiDocument } from '../../contract/openapi.ts';
import { plainParameters } from '../declaration/list-parameters.ts';
import type { Operation, Resource, SubCollection } from '../declaration/resource.ts';
import type { JsonObject } from '../json.ts';
import { eventKinds } from '../resources/event.ts';
import { attempt, testParameters } from '../resources/webhook.ts';
import { type Described, dataOf, type Failure, pageOf, toOperation } from './answers.ts';
import { capitalize, type Documented, documentedOf, idText, toWords, withArticle } from './bodies.ts';
import { descriptionOf } from './descriptions.ts';
import { eventRequest, withEventData } from './events.ts';

/** Creates the OpenAPI document of the travel service. `url` is the base URL of the service; by default, clients use that of the document. */
export function buildOpenApi(catalog: Resource[], url?: string): JsonObject {
  const documented = withEventData(documentedOf(catalog));
  return openApiDocument({
    title: 'Jetbridge travel API',
    description: [
      'Every call acts on behalf of the admin user who owns the credential.',
      'Bodies are `{"data": …}`. A field without a value is left out; null is never sent.',
      'A method that a path does not support is answered with 403 `forbidden`.',
      '',
      `Chapters with code: ${chapters.map((name) => `[${name}](../docs/travel-api/${name})`).join(', ')}.`,
    ].join('\n'),
    url,
    tags: [
      { name: ACCOUNT, description: 'The user of the credential' },
      ...catalog.map((one) => ({ name: tagOf(one), description: one.schema.description ?? '' })),
    ],
    security: [{ bearer: [] }, { oauth: [] }],
    securitySchemes: {
      bearer: {
        ...{ type: 'http', scheme: 'bearer' },
        description: 'An API key or an OAuth access token, of a user who has the role `admin`',
      },
      oauth: {
        ...{ type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/oauth/token', scopes: {} } } },
        description:
          'An access token for 60 minutes, for a client that `npx jetbridge oauth-clients` has made',
      },
    },
    descriptionOf,
    operations: [...documented.flatMap(extraOperations), ...documented.flatMap(resourceOperations)],
    webhooks: eventKinds.map((kind) => eventRequest(kind, documented)),
    sampleCredential: 'TRAVEL_API_KEY',
  });
}

/** The pages of the folder docs/travel-api, which the server has at /docs. */
const chapters = ['keys', 'paging', 'errors', 'retries', 'idempotency', 'webhooks', 'integration'];

const ACCOUNT = 'Account';

/** The tag that groups the operations of a resource. */
function tagOf({ type }: Resource): string {
  return capitalize(toWords(toPlural(type)));
}

/** Converts a type to its plural, e.g. `travelPolicy` to `travelPolicies`. */
function toPlural(type: string): string {
  return type.endsWith('y') ? `${type.slice(0, -1)}ies` : `${type}s`;
}

/** Returns the operations that follow from the declaration of a resource. */
function resourceOperations(documented: Documented): ApiOperation[] {
  const { operations, subCollections = [] } = documented.resource;
  return [
    ...operations.map((operation) => declaredOperation(documented, operation)),
    ...subCollections.map((sub) => subListOperation(documented, sub)),
  ];
}

const declaredOperations = {
  list: {
    ...{ method: 'get', verb: 'list' },
    description: 'A page of the list, by default the oldest first.',
  },
  create: {
    ...{ method: 'post', verb: 'create' },
    description: 'A boolean that the body leaves out is false. An `Idempotency-Key` makes it safe to repeat.',
  },
  retrieve: {
    ...{ method: 'get', verb: 'retrieve' },
    description:
      'With the `ETag` of an earlier answer in `If-None-Match`, the answer is 304 if nothing has changed.',
  },
  patch: {
    ...{ method: 'patch', verb: 'update' },
    description:
      'Fields in the body are changed, those that are null are removed, others stay (JSON merge patch, RFC 7396).',
  },
  replace: {
    ...{ method: 'put', verb: 'replace' },
    description:
      'Fields that the body leaves out are removed, and booleans become false, except `archived`, which keeps its value.',
  },
  delete: { method: 'delete', verb: 'delete', description: 'Returns the resource as it was before.' },
} satisfies Record<Operation, Pick<ApiOperation, 'method' | 'description'> & { verb: string }>;

function declaredOperation(documented: Documented, name: Operation): ApiOperation {
  const { resource, catalog, answered, revealing, written, patched } = documented;
  const { type, path, parent, idForm, parameters } = resource;
  const { verb, ...declared } = declaredOperations[name];
  const { method } = declared;
  const collection = {
    path: parent ? `/api/${parent.path}/{id}/${path}` : `/api/${path}`,
    ids: parent ? { id: idParameter(catalog, parent.type) } : {},
  };
  // E.g. `options` becomes `optionId`.
  const id = parent ? `${path.replace(/ies$/, 'y').replace(/s$/, '')}Id` : 'id';
  const item = {
    path: `${collection.path}/{${id}}`,
    ids: { ...collection.ids, [id]: idText(idForm, `The id of the ${toWords(type)}.`) },
  };
  const bodies: Partial<Record<Operation, z.ZodType>> = {
    create: dataOf(written),
    replace: dataOf(written),
    patch: dataOf(patched),
  };
  const success: Partial<Record<Operation, ApiResponse>> = {
    list: { description: 'A page', body: pageOf(answered, parameters) },
    create: { description: 'The created resource', body: dataOf(revealing) },
  };
  const place = name in success ? collection : item;
  return toOperation({
    tag: tagOf(resource),
    id: verb + capitalize(name === 'list' ? toPlural(type) : type),
    summary: `${capitalize(verb)} ${name === 'list' ? toWords(toPlural(type)) : withArticle(type)}`,
    ...{ ...declared, path: place.path, body: bodies[name] },
    parameters: { path: place.ids, query: name === 'list' ? parameters.shape : undefined },
    status: name === 'create' ? 201 : 200,
    success: success[name] ?? { description: 'The resource', body: dataOf(answered) },
    failures: failuresOf(resource, name),
    isCurrent: method === 'get' || method === 'patch' || (name === 'create' && !resource.secret),
  });
}

/** The failures besides those of every operation. */
function failuresOf({ parent, unique = [], rules }: Resource, name: Operation): Failure[] {
  const isWrite = name === 'create' || name === 'patch' || name === 'replace';
  const failures: (Failure | false)[] = [
    (parent !== undefined || (name !== 'list' && name !== 'create')) && 404,
    // Other resources can refer to a resource of any type, so every DELETE can be answered with 409.
    (name === 'delete' || (isWrite && unique.length > 0)) && 409,
    ...(rules?.refuses?.[name] ?? []),
    ...(isWrite ? ([413, 415, 422] as const) : []),
  ];
  return failures.filter((status) => status !== false);
}

/** Describes the list of a resource under an item of another type. */
function subListOperation({ resource, catalog, answered }: Documented, sub: SubCollection): ApiOperation {
  const names = toPlural(resource.type);
  const parameters = 'idsIn' in sub ? plainParameters : resource.subParameters;
  return toOperation({
    tag: tagOf(resource),
    id: `list${capitalize(names)}Of${capitalize(sub.type)}`,
    summary: `List ${toWords(names)} of ${withArticle(sub.type)}`,
    ...{ method: 'get', path: `/api/${sub.path}/{id}/${resource.path}` },
    parameters: { path: { id: idParameter(catalog, sub.type) }, query: parameters.shape },
    success: { description: 'A page', body: pageOf(answered, parameters) },
    failures: [404],
    description: 'A page of the list, by default the oldest first.',
    isCurrent: true,
  });
}

/** The operations that do not follow from a declaration. */
function extraOperations({ resource, answered, revealing, catalog }: Documented): ApiOperation[] {
  const success = (description: string, body: z.ZodType) => ({ description, body: dataOf(body) });
  const onWebhook = (path: string) => ({
    ...{ method: 'post' as const, path: `/api/webhooks/{id}${path}`, failures: [404] as Failure[] },
    parameters: { path: { id: idParameter(catalog, 'webhook') } },
  });
  const all: Record<string, Described[]> = {
    user: [
      {
        ...{ id: 'whoami', summary: 'Retrieve the user of the credential', tag: ACCOUNT },
        description: 'Every call acts on behalf of this user.',
        ...{ method: 'get', path: '/api/whoami', success: success('The user', answered), isCurrent: true },
      },
    ],
    webhook: [
      {
        ...{
          id: 'replaceWebhookSecret',
          summary: 'Make a new secret for a webhook',
          ...onWebhook('/secret'),
        },
        description:
          'For 24 hours both secrets sign, so that the receiver can be changed without an interruption.',
        success: success('The webhook with its new secret', revealing),
      },
      {
        ...{ id: 'testWebhook', summary: 'Send a test event to a webhook', ...onWebhook('/test') },
        description:
          'The event embeds an example of the resource or, without `kind`, the webhook itself. It is sent once, immediately, even if the webhook is disabled, and is neither in the list of events nor in that of deliveries.',
        parameters: {
          path: { id: idParameter(catalog, 'webhook') },
          query: { kind: testParameters.shape.kind },
        },
        success: success('The result of the attempt; without `error` the event was received', attempt),
      },
    ],
    webhookDelivery: [
      {
        ...{ id: 'redeliver', summary: 'Deliver the event of a delivery again' },
        ...onWebhook('/deliveries/{deliveryId}/redeliver'),
        description: 'Creates a new delivery, which is sent immediately and does not wait for others.',
        parameters: {
          path: { id: idParameter(catalog, 'webhook'), deliveryId: idParameter(catalog, 'webhookDelivery') },
        },
        ...{ status: 201, success: success('The new delivery', answered) },
      },
    ],
  };
  return (all[resource.type] ?? []).map((described) => toOperation({ tag: tagOf(resource), ...described }));
}

/** A path parameter with the id of a resource. */
function idParameter(catalog: Resource[], type: string): z.ZodType {
  const target = catalog.find((resource) => resource.type === type);
  return idText(target?.idForm ?? 'B', `The id of the ${toWords(type)}.`);
}
