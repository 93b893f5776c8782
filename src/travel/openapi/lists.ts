import type { JsonObject } from '../json.ts';
import type { SubCollection } from '../resource.ts';
import { failureReferences } from './answers.ts';
import { answeredExample } from './examples.ts';
import {
  collectionPath,
  type Described,
  type Documented,
  enveloped,
  head,
  jsonContent,
  parentParameter,
  parentParameters,
  reference,
} from './operation.ts';
import { type Listed, listParameters } from './parameters.ts';
import { shapeNames } from './shapes.ts';
import { capitalized, plural, spoken, withArticle } from './words.ts';

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
