import type { JsonObject } from '../json.ts';
import type { Operation, Resource, SubCollection } from '../resource.ts';
import {
  answerOf,
  collectionPath,
  type Described,
  type Documented,
  enveloped,
  type Failure,
  failureReferences,
  head,
  jsonContent,
  type Listed,
  listParameters,
  parentParameter,
  parentParameters,
  pathParameter,
  reference,
  revealingAnswer,
} from './operations.ts';
import {
  answeredExample,
  capitalized,
  idSchema,
  patchExample,
  plural,
  shapeNames,
  spoken,
  withArticle,
} from './schemas.ts';

/** The list of a resource. */
export function listOperation(documented: Documented): Described {
  const { resource } = documented;
  const { type, cursor = false, sortBy, filters, parent } = resource;
  const names = plural(type);
  return {
    path: collectionPath(resource),
    method: 'get',
    operation: {
      ...head(resource, `list${capitalized(names)}`, `List ${spoken(names)}`),
      parameters: [...parentParameters(documented), ...listParameters({ cursor, sortBy, filters })],
      responses: {
        200: pageAnswer(documented, { cursor, sortBy, filters }),
        ...failureReferences(parent ? [400, 401, 404, 500, 503] : [400, 401, 500, 503]),
      },
    },
  };
}

/** The list of those of a resource that belong to an item of another one. */
export function subListOperation(documented: Documented, sub: SubCollection): Described {
  const { resource, catalog } = documented;
  const { type, path, cursor = false, sortBy } = resource;
  const names = plural(type);
  // Those whom an item names are few: they are neither sorted nor paged by cursor.
  const listed: Listed =
    'idsIn' in sub ? { cursor: false, sortBy: [], filters: [] } : { cursor, sortBy, filters: [] };
  const id = `list${capitalized(names)}Of${capitalized(sub.type)}`;
  return {
    path: `/api/${sub.path}/{id}/${path}`,
    method: 'get',
    operation: {
      ...head(resource, id, `List ${spoken(names)} of ${withArticle(sub.type)}`),
      parameters: [parentParameter(catalog, sub.type), ...listParameters(listed)],
      responses: { 200: pageAnswer(documented, listed), ...failureReferences([400, 401, 404, 500, 503]) },
    },
  };
}

/** The two kinds of `meta` that a page has. */
export const metaSchemas: JsonObject = {
  OffsetMeta: {
    type: 'object',
    properties: {
      pageKind: { type: 'string', const: 'offset' },
      limit: { type: 'integer' },
      offset: { type: 'integer' },
      total: { type: 'integer', description: 'How many there are in all' },
      order: { type: 'string', enum: ['asc', 'desc'] },
      sortBy: { type: 'string' },
    },
    required: ['pageKind', 'limit', 'offset', 'total', 'order', 'sortBy'],
  },
  CursorMeta: {
    type: 'object',
    properties: {
      pageKind: { type: 'string', const: 'cursor' },
      limit: { type: 'integer' },
      after: { type: 'string' },
      before: { type: 'string' },
      nextAfter: {
        type: 'string',
        description: 'What to give as `after` for the next items, if there are any',
      },
      prevBefore: {
        type: 'string',
        description: 'What to give as `before` for the previous items, if there are any',
      },
      order: { type: 'string', enum: ['asc', 'desc'] },
      sortBy: { type: 'string', description: 'Where the list can be sorted' },
    },
    required: ['pageKind', 'limit', 'order'],
  },
};

function pageAnswer({ resource, shape }: Documented, { cursor, sortBy }: Listed): JsonObject {
  const metas = [reference('OffsetMeta'), reference('CursorMeta')];
  const data = { type: 'array', items: reference(shapeNames(resource).answered) };
  const example = [answeredExample(resource, shape)];
  const sorted = sortBy.length > 0 ? { sortBy: 'createdAt' } : {};
  const byOffset = { pageKind: 'offset', limit: 10, offset: 0, total: 1, order: 'asc', sortBy: 'createdAt' };
  const byCursor = { pageKind: 'cursor', limit: 10, nextAfter: 'WzEsIDJd', order: 'asc', ...sorted };
  return {
    description: 'A page',
    content: jsonContent(enveloped(data, cursor ? { oneOf: metas } : reference('OffsetMeta')), {
      offset: { data: example, meta: byOffset },
      ...(cursor ? { cursor: { data: example, meta: byCursor } } : {}),
    }),
  };
}

/** How the operations that are not lists are described. */
export const itemOperations = {
  create: (documented) => {
    const { resource } = documented;
    const { type, parent, example } = resource;
    const parameters = parentParameters(documented);
    const failures: Failure[] = [400, 401, ...(parent ? [404 as const] : [])];
    return {
      path: collectionPath(resource),
      method: 'post',
      operation: {
        ...head(resource, `create${capitalized(type)}`, `Create ${withArticle(type)}`),
        ...(parameters.length > 0 ? { parameters } : {}),
        requestBody: requestBody(shapeNames(resource).written, example),
        responses: {
          201: revealingAnswer(documented, 'What was created'),
          ...failureReferences([...failures, ...refusals(resource, 'create'), 413, 415, 422, 500, 503]),
        },
      },
    };
  },
  retrieve: (documented) => item(documented, { method: 'get', verb: 'retrieve', failures: [404] }),
  patch: (documented) =>
    item(documented, {
      method: 'patch',
      verb: 'update',
      says: 'Fields in the body are changed, those that are null are removed, others stay (JSON merge patch, RFC 7396).',
      body: requestBody(shapeNames(documented.resource).patched, patchExample(documented.resource)),
      failures: [404, ...refusals(documented.resource, 'patch'), 413, 415, 422],
    }),
  replace: (documented) =>
    item(documented, {
      method: 'put',
      verb: 'replace',
      says: 'Fields that the body leaves out are removed, but `archived`, which stays.',
      body: requestBody(shapeNames(documented.resource).written, documented.resource.example),
      failures: [404, ...refusals(documented.resource, 'replace'), 413, 415, 422],
    }),
  delete: (documented) =>
    item(documented, {
      method: 'delete',
      verb: 'delete',
      says: 'The answer is the resource as it was.',
      // Who refers to it is known when it is tried.
      failures: [404, 409, ...refusals(documented.resource, 'delete')],
    }),
} satisfies Record<Exclude<Operation, 'list'>, (documented: Documented) => Described>;

interface Item {
  method: Described['method'];
  verb: string;
  says?: string;
  body?: JsonObject;
  failures: Failure[];
}

function item(documented: Documented, { method, verb, says, body, failures }: Item): Described {
  const { resource } = documented;
  const { type, parent, path, idForm } = resource;
  const id = parent ? nestedId(path) : 'id';
  return {
    path: `${collectionPath(resource)}/{${id}}`,
    method,
    operation: {
      ...head(resource, `${verb}${capitalized(type)}`, `${capitalized(verb)} ${withArticle(type)}`),
      ...(says === undefined ? {} : { description: says }),
      parameters: [...parentParameters(documented), pathParameter(id, idSchema(idForm), spoken(type))],
      ...(body ? { requestBody: body } : {}),
      responses: {
        200: answerOf(documented, 'The resource'),
        ...failureReferences([400, 401, ...failures, 500, 503]),
      },
    },
  };
}

/** What its rules and its unique fields refuse. */
function refusals({ rules, unique = [] }: Resource, operation: Operation): Failure[] {
  const taken: Failure[] = unique.length > 0 && operation !== 'delete' ? [409] : [];
  return [...taken, ...(rules?.refuses?.[operation] ?? [])];
}

/** `options` → `optionId` */
function nestedId(path: string): string {
  return `${path.replace(/ies$/, 'y').replace(/s$/, '')}Id`;
}

function requestBody(name: string, example: JsonObject): JsonObject {
  return { required: true, content: jsonContent(enveloped(reference(name)), { example: { data: example } }) };
}
