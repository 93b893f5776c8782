import { isObject, type JsonObject } from '../json.ts';
import type { Resource } from '../resource.ts';
import { errorSchema, failureResponses, invalidSchema } from './answers.ts';
import { eventWebhooks } from './events.ts';
import { extraOperations } from './extras.ts';
import { itemOperations } from './items.ts';
import { listOperation, metaSchemas, subListOperation } from './lists.ts';
import { type Described, type Documented, tagOf } from './operation.ts';
import { shapeNames, shapesOf } from './shapes.ts';

/** The version of the contract, which is not that of the program: it is raised when what clients rely on changes. */
const VERSION = '1.0.0';

/**
 * The contract of the travel service as an OpenAPI 3.1 document, derived from the declarations of its resources. The
 * service is at `url`; by default where the document comes from.
 */
export function openapi(catalog: Resource[], url = '/'): JsonObject {
  const schemas = Object.assign({}, ...catalog.map((resource) => shapesOf(resource, catalog)));
  const documented = catalog.map((resource) => documentedResource(resource, catalog, schemas));
  const webhooks = eventWebhooks(documented, schemas);
  return {
    openapi: '3.1.0',
    info: { title: 'Jetbridge travel API', version: VERSION, description: INTRODUCTION },
    // Paths begin with a slash.
    servers: [{ url: url === '/' ? url : url.replace(/\/+$/, '') }],
    security: [{ bearer: [] }],
    tags: [{ name: ACCOUNT }, ...catalog.map((resource) => tag(resource))],
    paths: paths([...extraOperations(documented, ACCOUNT), ...documented.flatMap(operationsOf)]),
    ...(webhooks ? { webhooks } : {}),
    components: {
      schemas: { ...schemas, ...metaSchemas, ErrorBody: errorSchema, Invalid: invalidSchema },
      responses: failureResponses(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key or an OAuth access token, of a user who has the role `admin`',
        },
      },
    },
  };
}

const ACCOUNT = 'Account';

const INTRODUCTION = [
  'Every call is made on behalf of the admin user to whom the credential is attached.',
  'Bodies are `{"data": …}`. A field without a value is left out; null is never sent.',
  'A method that a path does not support is answered with 403 `forbidden`.',
].join('\n');

function documentedResource(resource: Resource, catalog: Resource[], schemas: JsonObject): Documented {
  const shape = schemas[shapeNames(resource).answered];
  return { resource, catalog, shape: isObject(shape) ? shape : {} };
}

/** Every operation that the declaration of a resource stands for. */
function operationsOf(documented: Documented): Described[] {
  const { operations, under = [] } = documented.resource;
  return [
    ...operations.map((operation) =>
      operation === 'list' ? listOperation(documented) : itemOperations[operation](documented),
    ),
    ...under.map((sub) => subListOperation(documented, sub)),
  ];
}

function tag(resource: Resource): JsonObject {
  const { description } = resource.schema;
  return { name: tagOf(resource), ...(description === undefined ? {} : { description }) };
}

function paths(described: Described[]): JsonObject {
  const all: Record<string, JsonObject> = {};
  for (const { path, method, operation } of described) {
    all[path] = { ...all[path], [method]: operation };
  }
  return all;
}
