import { type Kysely, type Selectable, sql } from 'kysely';
import type { CursorPage, Edge, ListQuery, PageQuery, Position, StoredResource } from '../travel/ports.ts';
import type { PageMemory } from './page-memory.ts';
import { type compiledQuery, compiledQueryVariants, pageAround, yieldToEventLoop } from './queries.ts';
import type { Tables } from './tables.ts';
import { readTotal } from './travel-counts.ts';
import { selectIndexed, toStoredResource } from './travel-queries.ts';

/** The places where pages of long lists ended. */
export type TravelPageMemory = PageMemory<Position>;

/** From this offset on, pages begin at a key, which is remembered or found by an OFFSET within an index. */
const FAR_OFFSET = 1000;

/** Returns a page of a collection, and the total. */
export async function readTravelPage(
  db: Kysely<Tables>,
  memory: TravelPageMemory,
  query: PageQuery,
): Promise<{ total: number; resources: StoredResource[] }> {
  const { match, type, parentId, within, archived, offset, order, limit } = query;
  if (match) return readMatching(db, query, match);
  const total = await readTotal(db, { type, list: within ?? parentId, archived });
  const way = { order, limit, archived };
  if (offset < FAR_OFFSET) {
    const rows = await readRange(db, query, { ...way, offset });
    return { total, resources: rows.map(toStoredResource) };
  }
  const list = JSON.stringify([type, parentId, within, query.sortBy, archived, order]);
  const last = memory.recall(list, offset);
  const from = last ? { place: last, inclusive: false } : await findPageStart(db, query, total);
  const rows = from ? await readRange(db, query, { ...way, from }) : [];
  const end = rows.at(-1);
  if (end) memory.remember(list, offset + rows.length, toPosition(end));
  return { total, resources: rows.map(toStoredResource) };
}

/** The number of index entries that one statement skips: some milliseconds of work, during which SQLite does nothing else. */
const MAX_SKIPPED = 20_000;

/** Finds the first resource of a page by its offset from the nearer end of the list. */
async function findPageStart(
  db: Kysely<Tables>,
  query: PageQuery,
  total: number,
): Promise<{ place: Position; inclusive: true } | undefined> {
  const { offset } = query;
  if (offset >= total) return undefined;
  const isNearEnd = offset > total / 2;
  const back = query.order === 'asc' ? 'desc' : 'asc';
  const order = isNearEnd ? back : query.order;
  const skipped = isNearEnd ? total - 1 - offset : offset;
  let place = await readPlace(db, query, { order, offset: Math.min(skipped, MAX_SKIPPED) });
  for (let left = skipped - MAX_SKIPPED; place && left > 0; left -= MAX_SKIPPED) {
    await yieldToEventLoop();
    place = await readPlace(db, query, { order, offset: Math.min(left, MAX_SKIPPED) - 1, after: place });
  }
  return place && { place, inclusive: true };
}

/** Reads the position of the resource at an offset from the beginning of the list or after another position. */
async function readPlace(
  db: Kysely<Tables>,
  query: PageQuery,
  { order, offset, after }: { order: 'asc' | 'desc'; offset: number; after?: Position },
): Promise<Position | undefined> {
  const { archived } = query;
  const from = after && { place: after, inclusive: false };
  const way: PageRange = { order, limit: 1, offset, archived, ...(from ? { from } : {}) };
  const [place] = await runRangeQuery(db, query, way, {
    byCreation: selectPlaceByCreation,
    byIndex: selectPlaceByIndex,
  });
  return place;
}

/** Returns the page that begins or ends at a position, and the positions of the neighboring pages. */
export async function readTravelPageFrom(
  db: Kysely<Tables>,
  query: ListQuery,
  edge: Edge | undefined,
): Promise<CursorPage> {
  return toCursorPage(
    await pageAround<SortedRow>(query, edge, (order, limit, from) =>
      readRange(db, query, { order, limit, ...(from ? { from } : {}) }),
    ),
  );
}

function toCursorPage({
  rows,
  next,
  previous,
}: Awaited<ReturnType<typeof pageAround<SortedRow>>>): CursorPage {
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
  from?: { place: Position; inclusive: boolean };
}

function readRange(db: Kysely<Tables>, query: ListQuery, way: PageRange): Promise<SortedRow[]> {
  return runRangeQuery(db, query, way, { byCreation: selectByCreation, byIndex: selectByIndex });
}

/** The parts of a range query that change its SQL text. Each combination is compiled once. */
interface RangeQueryShape {
  order: 'asc' | 'desc';
  narrowed: boolean;
  sign: '>' | '>=' | '<' | '<=' | undefined;
}

interface RangeQueryValues {
  type: string;
  list: string;
  archived: number;
  place: string | number;
  seq: number;
  limit: number;
  offset: number;
}

type RangeQuery<Row> = (shape: RangeQueryShape) => ReturnType<typeof compiledQuery<RangeQueryValues, Row>>;

/** Runs the variant of a range query that the list and the range require. */
async function runRangeQuery<Row>(
  db: Kysely<Tables>,
  { type, parentId, sortBy, within }: ListQuery,
  { order, limit, offset = 0, archived, from }: PageRange,
  { byCreation, byIndex }: { byCreation: RangeQuery<Row>; byIndex: RangeQuery<Row> },
): Promise<Row[]> {
  const index = sortBy ?? within;
  const sign = from && (`${order === 'asc' ? '>' : '<'}${from.inclusive ? '=' : ''}` as const);
  const run = (index === undefined ? byCreation : byIndex)({ order, narrowed: archived !== undefined, sign });
  const { value, seq } = from?.place ?? { value: 0, seq: 0 };
  const values = { type, list: index ?? parentId, archived: Number(archived), place: value, seq };
  return (await run(db, { ...values, limit, offset })).rows;
}

/** Selects a range of a collection in order of creation. The index contains the columns that are compared. */
function rangeByCreation(
  db: Kysely<Tables>,
  { order, narrowed, sign }: RangeQueryShape,
  values: RangeQueryValues,
) {
  return db
    .selectFrom('travel_resource')
    .where('type', '=', values.type)
    .where('parent_id', '=', values.list)
    .$if(narrowed, (all) => all.where('archived', '=', values.archived))
    .$if(sign !== undefined, (all) => all.where(isBeyond('created_at', sign, values)))
    .orderBy('created_at', order)
    .orderBy('seq', order)
    .limit(values.limit)
    .offset(values.offset);
}

/** Selects a range of the entries of an index. */
function rangeByIndex(
  db: Kysely<Tables>,
  { order, narrowed, sign }: RangeQueryShape,
  values: RangeQueryValues,
) {
  return db
    .selectFrom('travel_index')
    .where('type', '=', values.type)
    .where('name', '=', values.list)
    .$if(narrowed, (all) => all.where('archived', '=', values.archived))
    .$if(sign !== undefined, (all) => all.where(isBeyond('value', sign, values)))
    .orderBy('value', order)
    .orderBy('seq', order)
    .limit(values.limit)
    .offset(values.offset);
}

const selectByCreation = compiledQueryVariants<RangeQueryShape, RangeQueryValues, SortedRow>(
  (shape) => (db, values) => rangeByCreation(db, shape, values).selectAll().select('created_at as place'),
);

/**
 * Selects the rows of a page from the index alone, so that entries before the offset are skipped without reading their
 * resources.
 */
const selectByIndex = compiledQueryVariants<RangeQueryShape, RangeQueryValues, SortedRow>(
  (shape) => (db, values) =>
    db
      .selectFrom(
        rangeByIndex(db, shape, values)
          .select(['type', 'id', 'value as place', 'seq as position'])
          .as('page'),
      )
      .innerJoin('travel_resource', (join) =>
        join.onRef('travel_resource.type', '=', 'page.type').onRef('travel_resource.id', '=', 'page.id'),
      )
      .selectAll('travel_resource')
      .select('page.place')
      .orderBy('page.place', shape.order)
      .orderBy('page.position', shape.order),
);

/** Both columns are in the index, so that the skipped resources are not read. */
const selectPlaceByCreation = compiledQueryVariants<RangeQueryShape, RangeQueryValues, Position>(
  (shape) => (db, values) => rangeByCreation(db, shape, values).select(['created_at as value', 'seq']),
);

const selectPlaceByIndex = compiledQueryVariants<RangeQueryShape, RangeQueryValues, Position>(
  (shape) => (db, values) => rangeByIndex(db, shape, values).select(['value', 'seq']),
);

/** Compares two columns as one row value, so that the database begins at this position of their index. */
function isBeyond(
  column: 'created_at' | 'value',
  sign: RangeQueryShape['sign'],
  { place, seq }: RangeQueryValues,
) {
  return sql<boolean>`(${sql.ref(column)}, seq) ${sql.raw(sign ?? '=')} (${place}, ${seq})`;
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
