import { ApiError, errorBody, statuses, storeUnavailable, validationFailed } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { Resource } from '../resource.ts';
import { deliveryStatuses } from '../webhooks/ports.ts';
import {
  capitalize,
  idSchema,
  resourceSchemas,
  responseExample,
  schemaNames,
  toPlural,
  toWords,
} from './schemas.ts';

/** An operation with its path and method. */
export interface OperationEntry {
  path: string;
  method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  operation: JsonObject;
}

/** A resource to document, with its response schema and the catalog of all resources. */
export interface DocumentedResource {
  resource: Resource;
  catalog: Resource[];
  shape: JsonObject;
}

/** The members that every operation object begins with. */
export function operationHead(resource: Resource, operationId: string, summary: string): JsonObject {
  return { operationId, summary, tags: [tagOf(resource)] };
}

/** The tag that groups the operations of a resource. */
export function tagOf({ type }: Resource): string {
  return capitalize(toWords(toPlural(type)));
}

/** The path template of the collection. */
export function collectionPath({ parent, path }: Resource): string {
  return parent ? `/api/${parent.path}/{id}/${path}` : `/api/${path}`;
}

/** The path parameters of a nested collection; none for others. */
export function parentParameters({ resource: { parent }, catalog }: DocumentedResource): JsonObject[] {
  return parent ? [parentParameter(catalog, parent.type)] : [];
}

/** The path parameter for the id of a parent item of this type. */
export function parentParameter(catalog: Resource[], type: string): JsonObject {
  const form = catalog.find((resource) => resource.type === type)?.idForm ?? 'B';
  return pathParameter('id', idSchema(form), toWords(type));
}

/** A response with one resource. */
export function resourceResponse({ resource, shape }: DocumentedResource, description: string): JsonObject {
  const schema = envelope(schemaRef(schemaNames(resource).answered));
  return {
    description,
    content: jsonContent(schema, { example: { data: responseExample(resource, shape) } }),
  };
}

/** A response with one resource and its secret, if the type has one. */
export function secretResponse(documented: DocumentedResource, description: string): JsonObject {
  const { resource, catalog } = documented;
  if (!resource.secret) return resourceResponse(documented, description);
  const name = schemaNames(resource).revealing;
  const shape = resourceSchemas(resource, catalog)[name];
  const data = responseExample(resource, isJsonObject(shape) ? shape : {});
  return { description, content: jsonContent(envelope(schemaRef(name)), { example: { data } }) };
}

/** The schema of a body `{"data": …}`. */
export function envelope(data: JsonObject, meta?: JsonObject): JsonObject {
  return {
    type: 'object',
    properties: { data, ...(meta ? { meta } : {}) },
    required: ['data', ...(meta ? ['meta'] : [])],
  };
}

/** A JSON body with its examples. */
export function jsonContent(schema: JsonObject, examples: Record<string, JsonObject>): JsonObject {
  const entries = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return { 'application/json': { schema, examples: Object.fromEntries(entries) } };
}

/** A reference to the schema of this name. */
export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** The features of a list, which decide its query parameters. */
export type ListFeatures = Pick<Resource, 'sortBy' | 'filters'> & { cursor: boolean };

/** The query parameters of a list (specification, "Pagination, sorting and filters for collections"). */
export function listParameters({ cursor, sortBy, filters }: ListFeatures): JsonObject[] {
  return [
    queryParameter('pageKind', pageKindSchema(cursor), 'The kind of pagination.'),
    queryParameter('limit', integerSchema({ minimum: 1, maximum: 100, default: 10 }), 'The size of a page.'),
    queryParameter(
      'offset',
      integerSchema({ minimum: 0, default: 0 }),
      'The number of items to skip; only with offset pages.',
    ),
    ...(cursor ? cursorParameters : []),
    queryParameter('order', enumSchema(['asc', 'desc'], 'asc'), 'Ascending or descending.'),
    ...(sortBy.length > 0
      ? [
          queryParameter(
            'sortBy',
            enumSchema(['createdAt', ...sortBy], 'createdAt'),
            'The field that the list is sorted by.',
          ),
        ]
      : []),
    ...(filters.includes('archived')
      ? [
          queryParameter(
            'archived',
            enumSchema(['true', 'false']),
            'Only archived resources, or only others.',
          ),
        ]
      : []),
    ...(filters.includes('emails')
      ? [
          queryParameter(
            'emails',
            { type: 'string' },
            'Only the users with these addresses, separated by commas.',
          ),
        ]
      : []),
    ...(filters.includes('status')
      ? [queryParameter('status', enumSchema([...deliveryStatuses]), 'Only deliveries in this state.')]
      : []),
  ];
}

/** A path parameter with an id. */
export function pathParameter(name: string, schema: JsonObject, type: string): JsonObject {
  return { name, in: 'path', required: true, description: `The id of the ${type}.`, schema };
}

const cursorParameters = [
  queryParameter(
    'after',
    { type: 'string' },
    'The cursor of the first item; with cursor pages only, not with `before`.',
  ),
  queryParameter(
    'before',
    { type: 'string' },
    'The cursor of the last item; with cursor pages only, not with `after`.',
  ),
];

function queryParameter(name: string, schema: JsonObject, description: string): JsonObject {
  return { name, in: 'query', description, schema };
}

function pageKindSchema(cursor: boolean): JsonObject {
  return enumSchema(cursor ? ['offset', 'cursor'] : ['offset'], 'offset');
}

function enumSchema(values: string[], otherwise?: string): JsonObject {
  return { type: 'string', enum: values, ...(otherwise === undefined ? {} : { default: otherwise }) };
}

function integerSchema(bounds: JsonObject): JsonObject {
  return { type: 'integer', format: 'int32', ...bounds };
}

/** The statuses of failures. */
export type Failure = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 500 | 503;

/** References to the failure responses of these statuses. */
export function failureRefs(failures: Failure[]): JsonObject {
  return Object.fromEntries(
    failures.map((status) => [String(status), { $ref: `#/components/responses/${failureNames[status]}` }]),
  );
}

/** All failure responses, by name. */
export function failureResponses(): JsonObject {
  const responses = exampleErrors.map(([status, error]) => [
    failureNames[status],
    failureResponse(status, error),
  ]);
  return {
    ...Object.fromEntries(responses),
    [failureNames[401]]: {
      description: 'There is no valid credential; the body is empty.',
      headers: { 'WWW-Authenticate': { schema: { type: 'string', const: 'Bearer' } } },
    },
  };
}

/** The schema of an error body (specification, "Error body"). */
export const errorSchema: JsonObject = {
  type: 'object',
  properties: {
    code: { type: 'string', enum: Object.keys(statuses) },
    message: { type: 'string', description: 'A message for people' },
    invalid: {
      type: 'array',
      description:
        'With the codes `validationFailed` and `invalidParam`: each field or parameter that is not valid',
      items: { $ref: '#/components/schemas/Invalid' },
    },
  },
  required: ['code', 'message'],
};

/** The schema of one invalid field or parameter. */
export const invalidSchema: JsonObject = {
  type: 'object',
  properties: {
    field: { type: 'string', description: 'The name of the field; nested fields use dots' },
    value: { type: ['string', 'number'], description: 'The received value, if there was one' },
    code: { type: 'string', examples: ['required'] },
    message: { type: 'string' },
  },
  required: ['field', 'code', 'message'],
};

const failureNames = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  413: 'TooLarge',
  415: 'UnsupportedMediaType',
  422: 'ValidationFailed',
  500: 'InternalError',
  503: 'Unavailable',
} satisfies Record<Failure, string>;

const descriptions = {
  400: 'The request cannot be read, or a query parameter is not valid.',
  403: 'The operation is not allowed, in general or for the user of the credential.',
  404: 'There is no such resource.',
  409: 'Another resource has the same unique value, or refers to this one.',
  413: 'The body is larger than 1 MB.',
  415: 'The body is not JSON, or of an encoding that is not supported.',
  422: 'The resource would not be valid.',
  500: 'The service failed.',
  503: 'Nothing can be stored at the moment, for example because the disk is full. The request had no effect and can be repeated.',
} satisfies Record<Exclude<Failure, 401>, string>;

const exampleParameterFault = {
  field: 'limit',
  value: 101,
  code: 'paramValue',
  message: 'The value of "limit" is not allowed here: give a whole number from 1 to 100.',
};
const exampleFieldFault = {
  field: 'email',
  value: 'nobody',
  code: 'email',
  message: '"email" must be a valid email address.',
};

const exampleErrors: [Exclude<Failure, 401>, ApiError][] = [
  [
    400,
    new ApiError('invalidParam', 'A query parameter is not valid.', { invalid: [exampleParameterFault] }),
  ],
  [403, new ApiError('forbidden', 'DELETE is not supported here.')],
  [404, new ApiError('notFound', 'There is no such user.')],
  [409, new ApiError('conflict', 'There is a user with this email already.')],
  [413, new ApiError('badRequest', 'The body is larger than 1 MB.', { status: 413 })],
  [415, new ApiError('badRequest', 'The body must be application/json.', { status: 415 })],
  [422, validationFailed([exampleFieldFault])],
  [500, new ApiError('internalError', 'The travel service failed.')],
  [503, storeUnavailable()],
];

const retryAfter: JsonObject = {
  'Retry-After': { description: 'Seconds (RFC 9110 §10.2.3)', schema: { type: 'integer' } },
};

function failureResponse(status: Exclude<Failure, 401>, error: ApiError): JsonObject {
  return {
    description: descriptions[status],
    ...(status === 503 ? { headers: retryAfter } : {}),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ErrorBody' },
        examples: { example: { value: { ...errorBody(error) } } },
      },
    },
  };
}
