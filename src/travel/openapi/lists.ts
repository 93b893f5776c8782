import { jsonContent, objectSchema, schemaRef } from '../../contract/openapi.ts';
import type { JsonObject } from '../json.ts';
import { listParameterNames } from '../pagination.ts';
import type { Resource } from '../resource.ts';
import { deliveryStatuses } from '../webhooks/ports.ts';

/** The features of a list, which decide its query parameters. */
type ListFeatures = Pick<Resource, 'sortBy' | 'filters'> & { cursor: boolean };

const text = { type: 'string' };
const integer = { type: 'integer' };

/** The query parameters of a list (specification, "Pagination, sorting and filters for collections"). */
export function listParameters(features: ListFeatures): JsonObject[] {
  const { cursor, sortBy } = features;
  const described: Record<string, [schema: JsonObject, description: string]> = {
    pageKind: [words(cursor ? ['offset', 'cursor'] : ['offset'], 'offset'), 'The kind of pagination.'],
    limit: [{ ...integer, format: 'int32', minimum: 1, maximum: 100, default: 10 }, 'The size of a page.'],
    offset: [
      { ...integer, format: 'int32', minimum: 0, default: 0 },
      'The number of items to skip; only with offset pages.',
    ],
    after: [text, 'The cursor of the first item; with cursor pages only, not with `before`.'],
    before: [text, 'The cursor of the last item; with cursor pages only, not with `after`.'],
    order: [words(['asc', 'desc'], 'asc'), 'Ascending or descending.'],
    sortBy: [words(['createdAt', ...sortBy], 'createdAt'), 'The field that the list is sorted by.'],
    archived: [words(['true', 'false']), 'Only archived resources, or only others.'],
    emails: [text, 'Only the users with these addresses, separated by commas.'],
    status: [words([...deliveryStatuses]), 'Only deliveries in this state.'],
  };
  return listParameterNames(features).map((name) => {
    const [schema = {}, description = ''] = described[name] ?? [];
    return { name, in: 'query', description, schema };
  });
}

function words(values: string[], otherwise?: string): JsonObject {
  return { ...text, enum: values, ...(otherwise === undefined ? {} : { default: otherwise }) };
}

/** The schemas of the `meta` of offset pages and cursor pages. */
export const metaSchemas: JsonObject = {
  OffsetMeta: objectSchema({
    pageKind: { ...text, const: 'offset' },
    limit: integer,
    offset: integer,
    total: { ...integer, description: 'The number of all items' },
    order: words(['asc', 'desc']),
    sortBy: text,
  }),
  CursorMeta: objectSchema(
    {
      pageKind: { ...text, const: 'cursor' },
      limit: integer,
      ...{ after: text, before: text },
      nextAfter: { ...text, description: 'The value of `after` for the next page, if there is one' },
      prevBefore: { ...text, description: 'The value of `before` for the previous page, if there is one' },
      order: words(['asc', 'desc']),
      sortBy: {
        ...text,
        description: 'The field that the list is sorted by; only if the list can be sorted',
      },
    },
    ['after', 'before', 'nextAfter', 'prevBefore', 'sortBy'],
  ),
};

/** A response with a page of resources, which have the schema of this name. */
export function pageResponse(
  name: string,
  example: JsonObject,
  { cursor, sortBy }: Pick<ListFeatures, 'cursor' | 'sortBy'>,
): JsonObject {
  const [offset, byCursor] = [schemaRef('OffsetMeta'), schemaRef('CursorMeta')];
  const schema = objectSchema({
    data: { type: 'array', items: schemaRef(name) },
    meta: cursor ? { oneOf: [offset, byCursor] } : offset,
  });
  const data = [example];
  const sorted = sortBy.length > 0 ? { sortBy: 'createdAt' } : {};
  const content = jsonContent(schema, {
    offset: {
      data,
      meta: { pageKind: 'offset', limit: 10, offset: 0, total: 1, order: 'asc', sortBy: 'createdAt' },
    },
    ...(cursor && {
      cursor: {
        data,
        meta: { pageKind: 'cursor', limit: 10, nextAfter: 'WzEsIDJd', order: 'asc', ...sorted },
      },
    }),
  });
  return { 200: { description: 'A page', content } };
}
