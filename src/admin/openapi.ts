import { z } from 'zod';
import { type ApiOperation, type ApiResponse, openApiDocument } from '../contract/openapi.ts';
import { type ErrorCode, operationErrors } from '../operations/errors.ts';
import { type Declaration, type Declarations, isRecorded } from '../operations/operation.ts';
import { id } from '../operations/schemas.ts';
import type { JsonObject } from '../schema/resource.ts';

/** Creates the OpenAPI document of the admin API from the declarations of its operations. */
export function adminOpenApi(contract: Declarations): JsonObject {
  return openApiDocument({
    title: 'Jetbridge admin API',
    description: INTRODUCTION,
    security: [{ bearer: [] }, { session: [], csrf: [] }],
    tags: [...new Set(Object.values(contract).map(({ tag }) => tag))].map((name) => ({ name })),
    operations: Object.entries(contract).map(toApiOperation),
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'An admin token' },
      session: {
        ...{ type: 'apiKey', in: 'cookie', name: '__Host-jetbridge' },
        description: 'The session of a browser; on plain HTTP to this machine the cookie is named jetbridge',
      },
      csrf: {
        ...{ type: 'apiKey', in: 'header', name: 'X-CSRF-Token' },
        description: 'The csrfToken of the session, for requests that change something',
      },
    },
  });
}

const INTRODUCTION = [
  'Everything that the admin page can do.',
  'A viewer may call every operation that changes nothing; the others need the role admin and are recorded in the audit log.',
  'The travel API of an embedded travel service is served below `/admin/api/travel-api`: its resources with their own answers and errors, as `/admin/api/travel-api/openapi.json` describes them.',
  'Errors are `{"code": …, "message": …}`, with `faults` if members of the input are named.',
].join('\n');

const errorBody = z
  .object({
    code: z.enum(Object.keys(operationErrors)),
    message: z.string().describe('For an admin'),
    faults: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Error' });

function toApiOperation([name, operation]: [string, Declaration]): ApiOperation {
  const { method, path, summary, tag, access, query, body } = operation;
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => [parameter, id] as const);
  return {
    ...{ id: name, method, path: `/admin/api${path}`, tag, summary, body },
    parameters: { path: Object.fromEntries(ids), query: query?.shape },
    responses: { ...success(operation), ...errorResponses(operation) },
    others: {
      ...(access === 'anyone' && { security: [] }),
      ...(isRecorded(operation) && { 'x-recorded': true }),
    },
  };
}

function success({ isNavigation, result, csv }: Declaration): Record<string, ApiResponse> {
  if (isNavigation) {
    const description = 'To the OpenID provider, or to the page';
    return { 303: { description, headers: { Location: z.string() } } };
  }
  if (csv) {
    const description = `A file with the columns ${Object.keys(csv).join(', ')}`;
    return { 200: { description, body: z.string(), mediaType: 'text/csv' } };
  }
  return result ? { 200: { description: 'Done', body: result } } : { 204: { description: 'Done' } };
}

/** Each status with the codes that it may have. */
function errorResponses(operation: Declaration): Record<string, ApiResponse> {
  const responses: Record<string, ApiResponse> = {};
  for (const code of new Set(errorCodes(operation))) {
    const { status } = operationErrors[code];
    const others = responses[status] ? `${responses[status].description}, ` : '';
    responses[status] = { description: `${others}\`${code}\``, body: errorBody };
  }
  return responses;
}

/** All codes that an operation may answer. */
export function errorCodes({ method, path, access, body, errors = [] }: Declaration): ErrorCode[] {
  const changes = method !== 'get';
  return [
    'invalidRequest',
    ...(access === 'anyone' ? [] : (['notSignedIn'] as const)),
    ...(access === 'admin' ? (['forbidden'] as const) : []),
    ...(changes && access !== 'anyone' ? (['invalidCsrfToken'] as const) : []),
    ...(path.includes('{') ? (['notFound'] as const) : []),
    ...(body ? (['tooLarge', 'unsupportedMediaType'] as const) : []),
    ...(['invalid', 'internalError', 'unavailable'] as const),
    ...errors,
  ];
}
