import { jsonContent, objectSchema, schemaRef } from '../../contract/openapi.ts';
import { ApiError, errorBody, statuses, storeUnavailable, validationFailed } from '../errors.ts';
import type { JsonObject } from '../json.ts';

/** The failures that the document describes, by status. Each is one response, to which the operations refer. */
const failures = {
  400: {
    name: 'BadRequest',
    description: 'The request cannot be read, or a query parameter is not valid.',
    example: new ApiError('invalidParam', 'A query parameter is not valid.', {
      invalid: [
        {
          ...{ field: 'limit', value: 101, code: 'paramValue' },
          message: 'The value of "limit" is not allowed here: give a whole number from 1 to 100.',
        },
      ],
    }),
  },
  403: {
    name: 'Forbidden',
    description: 'The operation is not allowed, in general or for the user of the credential.',
    example: new ApiError('forbidden', 'DELETE is not supported here.'),
  },
  404: {
    name: 'NotFound',
    description: 'There is no such resource.',
    example: new ApiError('notFound', 'There is no such user.'),
  },
  409: {
    name: 'Conflict',
    description: 'Another resource has the same unique value, or refers to this one.',
    example: new ApiError('conflict', 'There is a user with this email already.'),
  },
  413: {
    name: 'TooLarge',
    description: 'The body is larger than 1 MB.',
    example: new ApiError('badRequest', 'The body is larger than 1 MB.', { status: 413 }),
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is not JSON, or of an encoding that is not supported.',
    example: new ApiError('badRequest', 'The body must be application/json.', { status: 415 }),
  },
  422: {
    name: 'ValidationFailed',
    description: 'The resource would not be valid.',
    example: validationFailed([
      {
        ...{ field: 'email', value: 'nobody', code: 'email' },
        message: '"email" must be a valid email address.',
      },
    ]),
  },
  500: {
    name: 'InternalError',
    description: 'The service failed.',
    example: new ApiError('internalError', 'The travel service failed.'),
  },
  503: {
    name: 'Unavailable',
    description:
      'Nothing can be stored at the moment, for example because the disk is full. The request had no effect and can be repeated.',
    example: storeUnavailable(),
  },
};

/** The statuses of failures. 401 has no body. */
export type Failure = keyof typeof failures | 401;

/** References to the failure responses of these statuses. */
export function failureRefs(listed: Failure[]): JsonObject {
  const nameOf = (status: Failure) => (status === 401 ? 'Unauthorized' : failures[status].name);
  return Object.fromEntries(
    listed.map((status) => [String(status), { $ref: `#/components/responses/${nameOf(status)}` }]),
  );
}

/** All failure responses, by name. */
export function failureResponses(): JsonObject {
  const responses = Object.values(failures).map(({ name, description, example }) => [
    name,
    {
      description,
      ...(example.status === 503 ? { headers: retryAfter } : {}),
      content: jsonContent(schemaRef('ErrorBody'), { example: { ...errorBody(example) } }),
    },
  ]);
  return {
    ...Object.fromEntries(responses),
    Unauthorized: {
      description: 'There is no valid credential; the body is empty.',
      headers: { 'WWW-Authenticate': { schema: { type: 'string', const: 'Bearer' } } },
    },
  };
}

const retryAfter: JsonObject = {
  'Retry-After': { description: 'Seconds (RFC 9110 §10.2.3)', schema: { type: 'integer' } },
};

const text = { type: 'string' };

/** The schemas of error bodies (specification, "Error body"). */
export const errorSchemas: JsonObject = {
  ErrorBody: objectSchema(
    {
      code: { ...text, enum: Object.keys(statuses) },
      message: { ...text, description: 'A message for people' },
      invalid: {
        type: 'array',
        description:
          'With the codes `validationFailed` and `invalidParam`: each field or parameter that is not valid',
        items: schemaRef('Invalid'),
      },
    },
    ['invalid'],
  ),
  Invalid: objectSchema(
    {
      field: { ...text, description: 'The name of the field; nested fields use dots' },
      value: { type: ['string', 'number'], description: 'The received value, if there was one' },
      code: { ...text, examples: ['required'] },
      message: text,
    },
    ['value'],
  ),
};
