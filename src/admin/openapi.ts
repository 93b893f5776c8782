import { z } from 'zod';
import { type Contract, isRecorded, type Operation } from './contract/operation.ts';
import { adminErrors, type ErrorCode } from './errors.ts';

type JsonObject = Record<string, unknown>;

/** Creates the OpenAPI 3.1 document of the admin API from the declarations of its operations. */
export function adminOpenApi(contract: Contract): JsonObject {
  const schemas: JsonObject = { Error: errorSchema };
  const paths: Record<string, JsonObject> = {};
  for (const [operationId, operation] of Object.entries(contract)) {
    const path = `/admin/api${operation.path}`;
    paths[path] = { ...paths[path], [operation.method]: describe(operationId, operation, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Jetbridge admin API', version: '1.0.0', description: INTRODUCTION },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { session: [], csrf: [] }],
    tags: [...new Set(Object.values(contract).map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
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
  };
}

const INTRODUCTION = [
  'Everything that the admin page can do.',
  'A viewer may call every operation that changes nothing; the others need the role admin and are recorded in the audit log.',
  'Errors are `{"code": …, "message": …}`, with `faults` if members of the input are named.',
].join('\n');

const errorSchema = {
  type: 'object',
  properties: {
    code: { type: 'string', enum: Object.keys(adminErrors) },
    message: { type: 'string', description: 'For an admin' },
    faults: {
      type: 'array',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, message: { type: 'string' } },
        required: ['field', 'message'],
      },
    },
  },
  required: ['code', 'message'],
};

function describe(operationId: string, operation: Operation, schemas: JsonObject): JsonObject {
  const { summary, tag, access, params, query, body, result } = operation;
  const parameters = [...parametersOf(params, 'path', schemas), ...parametersOf(query, 'query', schemas)];
  return {
    ...{ operationId, summary, tags: [tag] },
    ...(access === 'anyone' ? { security: [] } : {}),
    ...(isRecorded(operation) ? { 'x-recorded': true } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: json(toSchema(body, 'input', schemas)) } } : {}),
    responses: {
      ...(operation.isNavigation
        ? {
            303: {
              description: 'To the OpenID provider, or to the page',
              headers: { Location: locationHeader },
            },
          }
        : result
          ? { 200: { description: 'Done', content: json(toSchema(result, 'output', schemas)) } }
          : { 204: { description: 'Done' } }),
      ...errorResponses(operation),
    },
  };
}

const locationHeader = { schema: { type: 'string' } };

/** Each status with the codes that it may have. */
function errorResponses(operation: Operation): JsonObject {
  const codes = [...new Set(errorCodes(operation))];
  const statuses = [...new Set(codes.map((code) => adminErrors[code].status))].sort((a, b) => a - b);
  const description = (status: number) =>
    codes.filter((code) => adminErrors[code].status === status).map((code) => `\`${code}\``);
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: description(status).join(', '),
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    ]),
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
    const { description, ...rest } = toSchema(part as z.ZodType, 'input', schemas);
    // zod describes the input of a coerced number as anything.
    const described = place === 'query' ? { ...toSchema(part as z.ZodType, 'output', schemas) } : rest;
    const required = place === 'path' || !(part as z.ZodType).safeParse(undefined).success;
    return { name, in: place, required, ...(description ? { description } : {}), schema: described };
  });
}

function json(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

/** Converts a zod schema. The schemas with an id, which it contains or is, are added to `schemas`. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', schemas: JsonObject): JsonObject {
  // A schema with an id becomes a reference only inside of another one.
  const wrapped = z.toJSONSchema(z.object({ schema }), { io, unrepresentable: 'any' });
  const text = JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $defs = {}, properties } = JSON.parse(text);
  for (const [name, { id: _id, ...definition }] of Object.entries<JsonObject>($defs))
    schemas[name] = definition;
  return properties.schema;
}
