import type { z } from 'zod';
import {
  type DocumentedOperation,
  jsonContent,
  objectSchema,
  openApiDocument,
  schemaRef,
  toJsonSchema,
} from '../contract/openapi.ts';
import type { JsonObject } from '../schema/resource.ts';
import { type Contract, isRecorded, type Operation } from './contract/operation.ts';
import { adminErrors, type ErrorCode } from './errors.ts';

/** Creates the OpenAPI document of the admin API from the declarations of its operations. */
export function adminOpenApi(contract: Contract): JsonObject {
  const schemas: JsonObject = { Error: errorSchema };
  return openApiDocument({
    title: 'Jetbridge admin API',
    description: INTRODUCTION,
    security: [{ bearer: [] }, { session: [], csrf: [] }],
    tags: [...new Set(Object.values(contract).map(({ tag }) => tag))].map((name) => ({ name })),
    operations: Object.entries(contract).map(([id, operation]) => describe(id, operation, schemas)),
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An admin token' },
        session: {
          ...{ type: 'apiKey', in: 'cookie', name: '__Host-jetbridge' },
          description:
            'The session of a browser; on plain HTTP to this machine the cookie is named jetbridge',
        },
        csrf: {
          ...{ type: 'apiKey', in: 'header', name: 'X-CSRF-Token' },
          description: 'The csrfToken of the session, for requests that change something',
        },
      },
    },
  });
}

const INTRODUCTION = [
  'Everything that the admin page can do.',
  'A viewer may call every operation that changes nothing; the others need the role admin and are recorded in the audit log.',
  'Errors are `{"code": …, "message": …}`, with `faults` if members of the input are named.',
].join('\n');

const text = { type: 'string' };
const errorSchema = objectSchema(
  {
    code: { ...text, enum: Object.keys(adminErrors) },
    message: { ...text, description: 'For an admin' },
    faults: { type: 'array', items: objectSchema({ field: text, message: text }) },
  },
  ['faults'],
);

function describe(id: string, operation: Operation, schemas: JsonObject): DocumentedOperation {
  const { method, path, summary, tag, access, params, query, body } = operation;
  return {
    ...{ id, method, path: `/admin/api${path}`, summary, tag },
    others: {
      ...(access === 'anyone' && { security: [] }),
      ...(isRecorded(operation) && { 'x-recorded': true }),
    },
    parameters: [...parametersOf(params, 'path', schemas), ...parametersOf(query, 'query', schemas)],
    body: body && jsonContent(toJsonSchema(body, schemas, { io: 'input' })),
    responses: { ...success(operation, schemas), ...errorResponses(operation) },
  };
}

function success({ isNavigation, result }: Operation, schemas: JsonObject): JsonObject {
  if (isNavigation) {
    const headers = { Location: { schema: { type: 'string' } } };
    return { 303: { description: 'To the OpenID provider, or to the page', headers } };
  }
  if (!result) return { 204: { description: 'Done' } };
  const content = jsonContent(toJsonSchema(result, schemas, { io: 'output' }));
  return { 200: { description: 'Done', content } };
}

/** Each status with the codes that it may have. */
function errorResponses(operation: Operation): JsonObject {
  const codes = [...new Set(errorCodes(operation))];
  const statuses = [...new Set(codes.map((code) => adminErrors[code].status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => adminErrors[code].status === status);
      const description = ofStatus.map((code) => `\`${code}\``).join(', ');
      return [status, { description, content: jsonContent(schemaRef('Error')) }];
    }),
  );
}

/** All codes that an operation may answer. */
export function errorCodes({ method, access, params, body, errors = [] }: Operation): ErrorCode[] {
  const changes = method !== 'get';
  return [
    'invalidRequest',
    ...(access === 'anyone' ? [] : (['notSignedIn'] as const)),
    ...(access === 'admin' ? (['forbidden'] as const) : []),
    ...(changes && access !== 'anyone' ? (['invalidCsrfToken'] as const) : []),
    ...(params ? (['notFound'] as const) : []),
    ...(body ? (['tooLarge', 'unsupportedMediaType'] as const) : []),
    ...(['invalid', 'internalError', 'unavailable'] as const),
    ...errors,
  ];
}

function parametersOf(
  schema: z.ZodObject | undefined,
  place: 'path' | 'query',
  schemas: JsonObject,
): JsonObject[] {
  return Object.entries(schema?.shape ?? {}).map(([name, part]) => {
    const { description, ...rest } = toJsonSchema(part, schemas, { io: 'input' });
    // zod describes the input of a coerced number as anything.
    const described = place === 'query' ? toJsonSchema(part, schemas, { io: 'output' }) : rest;
    const required = place === 'path' || !part.safeParse(undefined).success;
    return { name, in: place, required, ...(description ? { description } : {}), schema: described };
  });
}
