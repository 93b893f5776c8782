import { jsonContent, objectSchema, schemaRef, toJsonSchema } from '../../contract/openapi.ts';
import type { JsonObject } from '../json.ts';
import type { ListParameters } from '../list-parameters.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };

/** The query parameters of a list. */
export function queryParameters({ shape }: ListParameters): JsonObject[] {
  return Object.entries(shape).map(([name, member]) => {
    const { description = '', default: _, ...schema } = toJsonSchema(member, {}, { io: 'input' });
    // zod leaves out the default of a value that is transformed.
    const otherwise = member.safeParse(undefined).data;
    const value = otherwise === undefined ? schema : { ...schema, default: otherwise };
    return { name, in: 'query', description, schema: value };
  });
}

/** The schemas of the `meta` of offset pages and cursor pages. */
export const metaSchemas: JsonObject = {
  OffsetMeta: objectSchema({
    pageKind: { ...text, const: 'offset' },
    limit: integer,
    offset: integer,
    total: { ...integer, description: 'The number of all items' },
    order: { ...text, enum: ['asc', 'desc'] },
    sortBy: text,
  }),
  CursorMeta: objectSchema(
    {
      pageKind: { ...text, const: 'cursor' },
      limit: integer,
      ...{ after: text, before: text },
      nextAfter: { ...text, description: 'The value of `after` for the next page, if there is one' },
      prevBefore: { ...text, description: 'The value of `before` for the previous page, if there is one' },
      order: { ...text, enum: ['asc', 'desc'] },
      sortBy: {
        ...text,
        description: 'The field that the list is sorted by; only if the list can be sorted',
      },
    },
    ['after', 'before', 'nextAfter', 'prevBefore', 'sortBy'],
  ),
};

/** A response with a page of resources, which have the schema of this name. */
export function pageResponse(name: string, example: JsonObject, { shape }: ListParameters): JsonObject {
  const cursor = 'after' in shape;
  const [offset, byCursor] = [schemaRef('OffsetMeta'), schemaRef('CursorMeta')];
  const schema = objectSchema({
    data: { type: 'array', items: schemaRef(name) },
    meta: cursor ? { oneOf: [offset, byCursor] } : offset,
  });
  const data = [example];
  const sorted = 'sortBy' in shape ? { sortBy: 'createdAt' } : {};
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
