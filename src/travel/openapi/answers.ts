import { ApiError, errorBody, statuses, storeUnavailable, validationFailed } from '../errors.ts';
import type { JsonObject } from '../json.ts';

/** A status other than success. */
export type Failure = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 500 | 503;

/** References to the answers of these failures. */
export function failureReferences(failures: Failure[]): JsonObject {
  return Object.fromEntries(
    failures.map((status) => [String(status), { $ref: `#/components/responses/${failureNames[status]}` }]),
  );
}

/** The answers of all failures, by name. */
export function failureResponses(): JsonObject {
  const told = examples.map(([status, error]) => [failureNames[status], failureResponse(status, error)]);
  return {
    ...Object.fromEntries(told),
    [failureNames[401]]: {
      description: 'There is no valid credential; the body is empty.',
      headers: { 'WWW-Authenticate': { schema: { type: 'string', const: 'Bearer' } } },
    },
  };
}

/** The body of a failure (specification, "Error body"). */
export const errorSchema: JsonObject = {
  type: 'object',
  properties: {
    code: { type: 'string', enum: Object.keys(statuses) },
    message: { type: 'string', description: 'What is wrong, for a human reader' },
    invalid: {
      type: 'array',
      description:
        'With the codes `validationFailed` and `invalidParam`: each field or parameter that is not valid',
      items: { $ref: '#/components/schemas/Invalid' },
    },
  },
  required: ['code', 'message'],
};

/** One field or parameter that is not valid. */
export const invalidSchema: JsonObject = {
  type: 'object',
  properties: {
    field: { type: 'string', description: 'Its name; nested fields use dots' },
    value: { type: ['string', 'number'], description: 'The value as received, if there was one' },
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
  403: 'The service does not do this, for anybody or for the user of the credential.',
  404: 'There is no such resource.',
  409: 'Another resource has the same unique value, or refers to this one.',
  413: 'The body is larger than 1 MB.',
  415: 'The body is not JSON, or of an encoding that is not supported.',
  422: 'The resource would not be valid.',
  500: 'The service failed.',
  503: 'Nothing can be stored at the moment, as on a full disk. The request was not carried out, and may be sent again.',
} satisfies Record<Exclude<Failure, 401>, string>;

const parameterFault = {
  field: 'limit',
  value: 101,
  code: 'paramValue',
  message: 'The value of "limit" is not allowed here.',
};
const fieldFault = {
  field: 'email',
  value: 'nobody',
  code: 'email',
  message: '"email" must be a valid email address.',
};

const examples: [Exclude<Failure, 401>, ApiError][] = [
  [400, new ApiError('invalidParam', 'A query parameter is not valid.', { invalid: [parameterFault] })],
  [403, new ApiError('forbidden', 'DELETE is not supported here.')],
  [404, new ApiError('notFound', 'There is no such user.')],
  [409, new ApiError('conflict', 'There is a user with this email already.')],
  [413, new ApiError('badRequest', 'The body is larger than 1 MB.', { status: 413 })],
  [415, new ApiError('badRequest', 'The body must be application/json.', { status: 415 })],
  [422, validationFailed([fieldFault])],
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
