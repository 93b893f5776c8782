import type { z } from 'zod';
import {
  type DocumentedOperation,
  jsonContent,
  objectSchema,
  openApiDocument,
  schemaRef,
  toJsonSchema,
} from '../contract/openapi.ts';
import { type ErrorCode, operationErrors } from '../operations/errors.ts';
import { type Declaration, type Declarations, isRecorded } from '../operations/operation.ts';
import { id } from '../operations/schemas.ts';
import type { JsonObject } from '../schema/resource.ts';

/** Creates the OpenAPI document of the admin API from the declarations of its operations. */
export function adminOpenApi(contract: Declarations): JsonObject {
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
    code: { ...text, enum: Object.keys(operationErrors) },
    message: { ...text, description: 'For an admin' },
    faults: { type: 'array', items: objectSchema({ field: text, message: text }) },
  },
  ['faults'],
);

function describe(operationId: string, operation: Declaration, schemas: JsonObject): DocumentedOperation {
  const { method, path, summary, tag, access, query, body } = operation;
  return {
    ...{ id: operationId, method, path: `/admin/api${path}`, summary, tag },
    others: {
      ...(access === 'anyone' && { security: [] }),
      ...(isRecorded(operation) && { 'x-recorded': true }),
    },
    parameters: [...pathParameters(path, schemas), ...queryParameters(query, schemas)],
    body: body && jsonContent(toJsonSchema(body, schemas, { io: 'input' })),
    responses: { ...success(operation, schemas), ...errorResponses(operation) },
  };
}

function success({ isNavigation, result, csv }: Declaration, schemas: JsonObject): JsonObject {
  if (isNavigation) {
    const headers = { Location: { schema: { type: 'string' } } };
    return { 303: { description: 'To the OpenID provider, or to the page', headers } };
  }
  if (csv) {
    const description = `A file with the columns ${Object.keys(csv).join(', ')}`;
    return { 200: { description, content: { 'text/csv': { schema: text } } } };
  }
  if (!result) return { 204: { description: 'Done' } };
  const content = jsonContent(toJsonSchema(result, schemas, { io: 'output' }));
  return { 200: { description: 'Done', content } };
}

/** Each status with the codes that it may have. */
function errorResponses(operation: Declaration): JsonObject {
  const codes = [...new Set(errorCodes(operation))];
  const statuses = [...new Set(codes.map((code) => operationErrors[code].status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => operationErrors[code].status === status);
      const description = ofStatus.map((code) => `\`${code}\``).join(', ');
      return [status, { description, content: jsonContent(schemaRef('Error')) }];
    }),
  );
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

function pathParameters(path: string, schemas: JsonObject): JsonObject[] {
  const schema = toJsonSchema(id, schemas, { io: 'input' });
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema,
  }));
}

function queryParameters(query: z.ZodObject | undefined, schemas: JsonObject): JsonObject[] {
  return Object.entries(query?.shape ?? {}).map(([name, part]) => {
    const { description } = toJsonSchema(part, schemas, { io: 'input' });
    // zod describes the input of a coerced number as anything.
    const schema = toJsonSchema(part, schemas, { io: 'output' });
    const required = !part.safeParse(undefined).success;
    return { name, in: 'query', required, ...(description ? { description } : {}), schema };
  });
}
