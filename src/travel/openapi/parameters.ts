import type { JsonObject } from '../json.ts';
import type { Resource } from '../resource.ts';
import { deliveryStatuses } from '../webhooks/ports.ts';

/** What the pages of one list may be asked for. */
export type Listed = Pick<Resource, 'sortBy' | 'filters'> & { cursor: boolean };

/** The query parameters of a list (specification, "Pagination, sorting and filters for collections"). */
export function listParameters({ cursor, sortBy, filters }: Listed): JsonObject[] {
  return [
    query('pageKind', pageKind(cursor), 'How the pages are told apart.'),
    query('limit', int32({ minimum: 1, maximum: 100, default: 10 }), 'How many to a page.'),
    query('offset', int32({ minimum: 0, default: 0 }), 'How many to pass over; with offset pages only.'),
    ...(cursor ? places : []),
    query('order', choice(['asc', 'desc'], 'asc'), 'Ascending or descending.'),
    ...(sortBy.length > 0
      ? [query('sortBy', choice(['createdAt', ...sortBy], 'createdAt'), 'What to sort by.')]
      : []),
    ...(filters.includes('archived')
      ? [query('archived', choice(['true', 'false']), 'Only those that are archived, or only the others.')]
      : []),
    ...(filters.includes('emails')
      ? [query('emails', { type: 'string' }, 'Only the users with these addresses, separated by commas.')]
      : []),
    ...(filters.includes('status')
      ? [query('status', choice([...deliveryStatuses]), 'Only those in this state.')]
      : []),
  ];
}

/** A parameter in the path: an id. */
export function pathParameter(name: string, schema: JsonObject, type: string): JsonObject {
  return { name, in: 'path', required: true, description: `The id of the ${type}.`, schema };
}

const places = [
  query(
    'after',
    { type: 'string' },
    'The cursor of the first item; with cursor pages only, not with `before`.',
  ),
  query(
    'before',
    { type: 'string' },
    'The cursor of the last item; with cursor pages only, not with `after`.',
  ),
];

function query(name: string, schema: JsonObject, description: string): JsonObject {
  return { name, in: 'query', description, schema };
}

function pageKind(cursor: boolean): JsonObject {
  return choice(cursor ? ['offset', 'cursor'] : ['offset'], 'offset');
}

function choice(values: string[], otherwise?: string): JsonObject {
  return { type: 'string', enum: values, ...(otherwise === undefined ? {} : { default: otherwise }) };
}

function int32(bounds: JsonObject): JsonObject {
  return { type: 'integer', format: 'int32', ...bounds };
}
