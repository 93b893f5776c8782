import { type Kysely, type Selectable, sql } from 'kysely';
import type { CursorPage, Edge, ListQuery, PageQuery, Position, StoredResource } from '../../travel/ports.ts';
import { comparisonSign, pageAround, type RangeStart } from '../sql/cursor-pages.ts';
import type { Tables } from '../sql/tables.ts';
import { readTotal } from './travel-counts.ts';
import { countFiltered, meetsFilters } from './travel-filters.ts';
import { selectByIndex, selectIndexed, toStoredResource } from './travel-queries.ts';

/** Returns a page of a collection, and the total. */
export async function readTravelPage(
  db: Kysely<Tables>,
  query: PageQuery,
): Promise<{ total: number; resources: StoredResource[] }> {
  const { match, type, parentId, within, archived } = query;
  if (match) return readMatching(db, query, match);
  const [total, rows] = await Promise.all([
    query.where ? countFiltered(db, query) : readTotal(db, { type, list: within ?? parentId, archived }),
    readRange(db, query, query),
  ]);
  return { total, resources: rows.map(toStoredResource) };
}

/** Returns the page that begins or ends at a position, and the positions of the neighboring pages. */
export async function readTravelPageFrom(
  db: Kysely<Tables>,
  query: ListQuery,
  edge: Edge | undefined,
): Promise<CursorPage> {
  const { rows, next, previous } = await pageAround<SortedRow>(query, edge, (order, limit, from) =>
    readRange(db, query, { order, limit, from }),
  );
  return {
    resources: rows.map(toStoredResource),
    next: next && toPosition(next),
    previous: previous && toPosition(previous),
  };
}

function toPosition({ place, seq }: SortedRow): Position {
  return { value: place, seq };
}

/** A resource row with the value by which the list is sorted. */
type SortedRow = Selectable<Tables['travel_resource']> & { place: string | number };

interface PageRange {
  order: 'asc' | 'desc';
  limit: number;
  offset?: number;
  archived?: boolean | undefined;
  from?: RangeStart | undefined;
}

/** Reads a range of a list: in the order of creation, or by the entries of an index. */
function readRange(db: Kysely<Tables>, query: ListQuery, range: PageRange): Promise<SortedRow[]> {
  const name = query.sortBy ?? query.within;
  if (name === undefined) return readByCreation(db, query, range);
  return (query.where ? readFilteredByIndex : readByIndex)(db, query, { ...range, name });
}

function readByCreation(
  db: Kysely<Tables>,
  query: ListQuery,
  { order, limit, offset = 0, archived, from }: PageRange,
): Promise<SortedRow[]> {
  return (
    db
      .selectFrom('travel_resource')
      .selectAll()
      .select('created_at as place')
      .where('type', '=', query.type)
      // Filtered types have no parents, and by this condition the database would choose the index of the whole list.
      .$if(query.where === undefined, (all) => all.where('parent_id', '=', query.parentId))
      .$if(query.where !== undefined, (all) => all.where(meetsFilters(query)))
      .$if(archived !== undefined, (all) => all.where('archived', '=', Number(archived)))
      .$if(from !== undefined, (all) => all.where(isBeyond('created_at', order, from)))
      .orderBy('created_at', order)
      .orderBy('seq', order)
      .limit(limit)
      .offset(offset)
      .execute()
  );
}

type IndexRange = PageRange & { name: string };

/** Only the entries before the offset are skipped, without their resources. */
function readByIndex(
  db: Kysely<Tables>,
  { type }: ListQuery,
  { name, order, limit, offset = 0, archived, from }: IndexRange,
): Promise<SortedRow[]> {
  const page = db
    .selectFrom('travel_index')
    .select(['type', 'id', 'value as place', 'seq as position'])
    .where('type', '=', type)
    .where('name', '=', name)
    .$if(archived !== undefined, (all) => all.where('archived', '=', Number(archived)))
    .$if(from !== undefined, (all) => all.where(isBeyond('value', order, from)))
    .orderBy('value', order)
    .orderBy('seq', order)
    .limit(limit)
    .offset(offset)
    .as('page');
  return db
    .selectFrom(page)
    .innerJoin('travel_resource', (join) =>
      join.onRef('travel_resource.type', '=', 'page.type').onRef('travel_resource.id', '=', 'page.id'),
    )
    .selectAll('travel_resource')
    .select('page.place')
    .orderBy('page.place', order)
    .orderBy('page.position', order)
    .execute();
}

/** Reads a range of a filtered list that is sorted by an index. */
function readFilteredByIndex(
  db: Kysely<Tables>,
  query: ListQuery,
  { name, order, limit, offset = 0, from }: IndexRange,
): Promise<SortedRow[]> {
  const { value, seq } = from?.place ?? { value: 0, seq: 0 };
  const sign = sql.raw(comparisonSign(order, from?.inclusive));
  return selectByIndex(db, { type: query.type, name })
    .select('travel_index.value as place')
    .where(meetsFilters(query))
    .$if(from !== undefined, (all) =>
      all.where(sql<boolean>`(travel_index.value, travel_index.seq) ${sign} (${value}, ${seq})`),
    )
    .orderBy('travel_index.value', order)
    .orderBy('travel_index.seq', order)
    .limit(limit)
    .offset(offset)
    .execute();
}

/** Compares two columns as one row value, so that the database begins at this position of their index. */
function isBeyond(column: 'created_at' | 'value', order: 'asc' | 'desc', from: RangeStart | undefined) {
  const { value, seq } = from?.place ?? { value: 0, seq: 0 };
  const sign = sql.raw(comparisonSign(order, from?.inclusive));
  return sql<boolean>`(${sql.ref(column)}, seq) ${sign} (${value}, ${seq})`;
}

/**
 * Selects the resources that match an index value. They are few, so they are sorted in memory: with ORDER BY, the
 * database might scan the whole collection.
 */
async function readMatching(
  db: Kysely<Tables>,
  query: PageQuery,
  match: { name: string; values: string[] },
): Promise<{ total: number; resources: StoredResource[] }> {
  if (match.values.length === 0) return { total: 0, resources: [] };
  const { type, archived, order, offset, limit, sortBy } = query;
  const rows = await selectIndexed(db, { type, ...match })
    .select('travel_index.value')
    .$if(archived !== undefined, (all) => all.where('travel_index.archived', '=', Number(archived)))
    .execute();
  const key = (row: (typeof rows)[number]) => (sortBy === undefined ? row.created_at : row.value);
  rows.sort((one, other) => compare(key(one), key(other)) || one.seq - other.seq);
  if (order === 'desc') rows.reverse();
  return { total: rows.length, resources: rows.slice(offset, offset + limit).map(toStoredResource) };
}

function compare(one: string | number, other: string | number): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
