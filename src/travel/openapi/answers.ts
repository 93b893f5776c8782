import { z } from 'zod';
import type { ApiOperation, ApiResponse } from '../../contract/openapi.ts';
import type { ListParameters } from '../declaration/list-parameters.ts';
import { errorBody as bodyOf, statuses, validationFailed } from '../errors.ts';

/** An operation with its answer of success, and the failures that not every operation has. */
export type Described = Omit<ApiOperation, 'responses'> & {
  /** The status of success, by default 200. */
  status?: 200 | 201;
  success: ApiResponse;
  failures?: Failure[];
  /** True if the answer is what a GET of the resource answers, so that it has an ETag. */
  isCurrent?: boolean;
};

/** Adds the headers and the failures that follow from the method. */
export function toOperation({
  status = 200,
  success,
  failures = [],
  isCurrent = false,
  ...rest
}: Described): ApiOperation {
  const { parameters, headers, others } = byMethod[rest.method];
  const all: Failure[] = [400, 401, ...failures, ...others, 500, 503];
  const failed = [...new Set(all)].map((one) => [
    one,
    { description: failureTexts[one], body: errorBody, ...special[one] },
  ]);
  const own = { ...headers, ...(isCurrent && { ETag: etag }), ...(status === 201 && { Location: location }) };
  return {
    ...rest,
    parameters: { ...rest.parameters, header: parameters },
    responses: { [status]: { ...success, headers: own }, ...Object.fromEntries(failed) },
  };
}

const etag = z.string().meta({
  description: 'The state of the resource, for `If-Match` and `If-None-Match` (RFC 9110 §8.8.3)',
  examples: ['"ZQG8L1tRkY2Wm0pXv3dHcEo5Bnf"'],
});

const location = z.string().meta({
  description: 'The URL of the new resource (RFC 9110 §10.2.2)',
  examples: ['/api/cost-centers/5d3b0a1c9e8f7a6b5c4d3e2f'],
});

const ifMatch = z
  .string()
  .optional()
  .meta({
    description:
      'The `ETag` of the state that is to be changed; if the resource has another one, the answer is 412',
    examples: ['"ZQG8L1tRkY2Wm0pXv3dHcEo5Bnf"'],
  });

interface MethodHeaders {
  parameters: z.ZodRawShape;
  headers: z.ZodRawShape;
  others: Failure[];
}

const changing: MethodHeaders = { parameters: { 'If-Match': ifMatch }, headers: {}, others: [403, 412] };

/** The headers of a request and of its answer, and the other answers, by method. */
const byMethod: Record<ApiOperation['method'], MethodHeaders> = {
  get: {
    parameters: {
      'If-None-Match': ifMatch.meta({
        description:
          'The `ETag` of an earlier answer; if it is still right, the answer is 304 without a body',
      }),
    },
    headers: {},
    others: [304, 412],
  },
  post: {
    parameters: {
      'Idempotency-Key': z
        .string()
        .min(1)
        .max(255)
        .optional()
        .meta({
          description:
            'A text that is new for each change, such as a UUID. For 24 hours, a repeated request with the same key and body gets the answer of the first one and changes nothing; with another path or body it is 422, and while the first is under way 409.',
          examples: ['8e03978e-40d5-43e8-bc93-6894a57f9324'],
        }),
    },
    headers: {
      'Idempotent-Replayed': z
        .literal('true')
        .optional()
        .describe('Present if this is the answer of an earlier request with the same `Idempotency-Key`'),
    },
    others: [403, 409, 422],
  },
  put: changing,
  patch: changing,
  delete: changing,
};

const failureTexts = {
  304: 'The client has this state already; there is no body.',
  400: 'The request cannot be read, or a query parameter is not valid.',
  401: 'There is no valid credential; the body is empty.',
  403: 'The operation is not allowed, in general or for the credential: a key may only read.',
  404: 'There is no such resource.',
  409: 'Another resource has the same unique value, or refers to this one, or a request with the same `Idempotency-Key` is under way.',
  412: 'The resource is not in a state that `If-Match` or `If-None-Match` wants.',
  413: 'The body is larger than 1 MB.',
  415: 'The body is not JSON, or of an encoding that is not supported.',
  422: 'The resource would not be valid.',
  500: 'The service failed.',
  503: 'Nothing can be stored at the moment, for example because the disk is full. The request had no effect and can be repeated.',
};

/** The status of an answer other than success. */
export type Failure = keyof typeof failureTexts;

const special: Partial<Record<Failure, Partial<ApiResponse>>> = {
  304: { body: undefined, headers: { ETag: etag } },
  401: { body: undefined, headers: { 'WWW-Authenticate': z.literal('Bearer') } },
  503: { headers: { 'Retry-After': z.int().describe('Seconds (RFC 9110 §10.2.3)') } },
};

const invalidPart = z
  .object({
    field: z.string().describe('The name of the field; nested fields use dots'),
    value: z.union([z.string(), z.number()]).optional().describe('The received value, if there was one'),
    code: z.string().meta({ examples: ['required'] }),
    message: z.string(),
  })
  .meta({ id: 'Invalid' });

const invalidEmail = { field: 'email', code: 'email', message: '"email" must be a valid email address.' };

/** The body of an error (specification, "Error body"). */
const errorBody = z
  .object({
    code: z.enum(Object.keys(statuses)),
    message: z.string().describe('A message for people'),
    invalid: z
      .array(invalidPart)
      .optional()
      .describe(
        'With the codes `validationFailed` and `invalidParam`: each field or parameter that is not valid',
      ),
  })
  .meta({ id: 'ErrorBody', examples: [bodyOf(validationFailed([{ ...invalidEmail, value: 'nobody' }]))] });

const size = z.int().min(0);
const offsetMeta = z
  .object({
    ...{ pageKind: z.literal('offset'), limit: size, offset: size },
    total: size.describe('The number of all items'),
    ...{ order: z.enum(['asc', 'desc']), sortBy: z.string() },
  })
  .meta({
    id: 'OffsetMeta',
    examples: [{ pageKind: 'offset', limit: 10, offset: 0, total: 1, order: 'asc', sortBy: 'createdAt' }],
  });

const cursor = z.string().optional();
const cursorMeta = z
  .object({
    ...{ pageKind: z.literal('cursor'), limit: size, after: cursor, before: cursor },
    nextAfter: cursor.describe('The value of `after` for the next page, if there is one'),
    prevBefore: cursor.describe('The value of `before` for the previous page, if there is one'),
    order: z.enum(['asc', 'desc']),
    sortBy: cursor.describe('The field that the list is sorted by; only if the list can be sorted'),
  })
  .meta({ id: 'CursorMeta', examples: [{ pageKind: 'cursor', limit: 10, order: 'desc' }] });

/** The body of a page. */
export function pageOf(answered: z.ZodType, { shape }: ListParameters): z.ZodType {
  const meta = 'after' in shape ? z.discriminatedUnion('pageKind', [offsetMeta, cursorMeta]) : offsetMeta;
  return z.object({
    data: z.array(answered).describe('The items of the page'),
    meta: meta.describe('Which page it is'),
  });
}

/** The envelope: `{"data": …}`. */
export function dataOf(schema: z.ZodType): z.ZodType {
  return z.object({ data: schema.describe('The resource') });
}
