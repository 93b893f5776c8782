import { type Kysely, type Selectable, sql } from 'kysely';
import type { CursorPage, Edge, ListQuery, PageQuery, Position, StoredResource } from '../travel/ports.ts';
import { compiledQuery, pageAround, variants } from './statements.ts';
import type { Tables } from './tables.ts';
import { blockAt, creationList, LONG } from './travel-positions.ts';
import { toResource } from './travel-rows.ts';

/** A page of a collection, and how many there are in all. */
export async function travelPage(
  db: Kysely<Tables>,
  query: PageQuery,
): Promise<{ total: number; resources: StoredResource[] }> {
  const { match } = query;
  if (match) return matching(db, query, match);
  const { archived, order, limit } = query;
  const rows = await walk(db, query, { order, limit, archived, ...(await startOf(db, query)) });
  return { total: await total(db, query), resources: rows.map(toResource) };
}

/** Where the walk to a page begins: far into a list at the block that it is in. */
async function startOf(db: Kysely<Tables>, query: PageQuery): Promise<Pick<Walk, 'offset' | 'from'>> {
  const { type, parentId, order, offset, archived } = query;
  if (offset < LONG) return { offset };
  const index = query.sortBy ?? query.within;
  const list = { type, list: index ?? creationList(parentId) };
  const block = await blockAt(db, list, { order, offset, archived });
  if (!block?.from) return { offset: block?.skip ?? offset };
  const { place, inclusive } = block.from;
  const value = index === undefined ? Number(place.value) : place.value;
  return { offset: block.skip, from: { place: { value, seq: place.seq }, inclusive } };
}

/** A page next to a place, and the places next to the page. */
export async function travelPageFrom(
  db: Kysely<Tables>,
  query: ListQuery,
  edge: Edge | undefined,
): Promise<CursorPage> {
  return pageOf(
    await pageAround<Placed>(query, edge, (order, limit, from) =>
      walk(db, query, { order, limit, ...(from ? { from } : {}) }),
    ),
  );
}

function pageOf({ rows, next, previous }: Awaited<ReturnType<typeof pageAround<Placed>>>): CursorPage {
  return {
    resources: rows.map(toResource),
    next: next && placeOf(next),
    previous: previous && placeOf(previous),
  };
}

function placeOf({ place, seq }: Placed): Position {
  return { value: place, seq };
}

/** A row, with what it is sorted by. */
type Placed = Selectable<Tables['travel_resource']> & { place: string | number };

interface Walk {
  order: 'asc' | 'desc';
  limit: number;
  offset?: number;
  archived?: boolean | undefined;
  from?: { place: Position; inclusive: boolean };
}

function walk(db: Kysely<Tables>, query: ListQuery, way: Walk): Promise<Placed[]> {
  const index = query.sortBy ?? query.within;
  return index === undefined ? byCreation(db, query, way) : byIndex(db, { type: query.type, index }, way);
}

async function total(db: Kysely<Tables>, query: PageQuery): Promise<number> {
  const { type, parentId, within, archived } = query;
  const { rows } = await countsOf(db, { type, list: within ?? parentId });
  const counted = rows.filter((row) => archived === undefined || row.archived === Number(archived));
  return counted.reduce((sum, { count }) => sum + count, 0);
}

const countsOf = compiledQuery<{ type: string; list: string }, { archived: number; count: number }>(
  (db, { type, list }) =>
    db
      .selectFrom('travel_count')
      .select(['archived', 'count'])
      .where('type', '=', type)
      .where('parent_id', '=', list),
);

/** What may differ between two walks but for values: each combination is a query of its own. */
interface Shape {
  order: 'asc' | 'desc';
  narrowed: boolean;
  sign: '>' | '>=' | '<' | '<=' | undefined;
}

interface Values {
  type: string;
  list: string;
  archived: number;
  place: string | number;
  seq: number;
  limit: number;
  offset: number;
}

function byCreation(db: Kysely<Tables>, query: ListQuery, way: Walk): Promise<Placed[]> {
  return asked(db, creationWalk, { type: query.type, list: query.parentId, way });
}

function byIndex(
  db: Kysely<Tables>,
  { type, index }: { type: string; index: string },
  way: Walk,
): Promise<Placed[]> {
  return asked(db, indexWalk, { type, list: index, way });
}

async function asked(
  db: Kysely<Tables>,
  walks: (shape: Shape) => ReturnType<typeof compiledQuery<Values, Placed>>,
  { type, list, way }: { type: string; list: string; way: Walk },
): Promise<Placed[]> {
  const { order, limit, offset = 0, archived, from } = way;
  const sign = from && (`${order === 'asc' ? '>' : '<'}${from.inclusive ? '=' : ''}` as const);
  const run = walks({ order, narrowed: archived !== undefined, sign });
  const { value, seq } = from?.place ?? { value: 0, seq: 0 };
  return (await run(db, { type, list, archived: Number(archived), place: value, seq, limit, offset })).rows;
}

const creationWalk = variants<Shape, Values, Placed>(
  ({ order, narrowed, sign }) =>
    (db, values) =>
      db
        .selectFrom('travel_resource')
        .selectAll()
        .select('created_at as place')
        .where('type', '=', values.type)
        .where('parent_id', '=', values.list)
        .$if(narrowed, (all) => all.where('archived', '=', values.archived))
        .$if(sign !== undefined, (all) => all.where(beyond('created_at', sign, values)))
        .orderBy('created_at', order)
        .orderBy('seq', order)
        .limit(values.limit)
        .offset(values.offset),
);

/** The index alone finds the page, so that what is skipped costs no look-up of its row. */
const indexWalk = variants<Shape, Values, Placed>(
  ({ order, narrowed, sign }) =>
    (db, values) =>
      db
        .selectFrom((page) =>
          page
            .selectFrom('travel_index')
            .select(['type', 'id', 'value as place', 'seq as position'])
            .where('type', '=', values.type)
            .where('name', '=', values.list)
            .$if(narrowed, (all) => all.where('archived', '=', values.archived))
            .$if(sign !== undefined, (all) => all.where(beyond('value', sign, values)))
            .orderBy('value', order)
            .orderBy('seq', order)
            .limit(values.limit)
            .offset(values.offset)
            .as('page'),
        )
        .innerJoin('travel_resource', (join) =>
          join.onRef('travel_resource.type', '=', 'page.type').onRef('travel_resource.id', '=', 'page.id'),
        )
        .selectAll('travel_resource')
        .select('page.place')
        .orderBy('page.place', order)
        .orderBy('page.position', order),
);

/** Compared as a row, so that the index of both columns is entered at the place. */
function beyond(column: 'created_at' | 'value', sign: Shape['sign'], { place, seq }: Values) {
  return sql<boolean>`(${sql.ref(column)}, seq) ${sql.raw(sign ?? '=')} (${place}, ${seq})`;
}

/** Few are found, so they are read in whole and put in order here: no plan can make it a walk through the collection. */
async function matching(
  db: Kysely<Tables>,
  query: PageQuery,
  match: { name: string; values: string[] },
): Promise<{ total: number; resources: StoredResource[] }> {
  if (match.values.length === 0) return { total: 0, resources: [] };
  const { type, archived, order, offset, limit, sortBy } = query;
  const rows = await db
    .selectFrom('travel_index')
    .innerJoin('travel_resource', (join) =>
      join
        .onRef('travel_resource.type', '=', 'travel_index.type')
        .onRef('travel_resource.id', '=', 'travel_index.id'),
    )
    .selectAll('travel_resource')
    .select('travel_index.value')
    .where('travel_index.type', '=', type)
    .where('travel_index.name', '=', match.name)
    .where('travel_index.value', 'in', match.values)
    .$if(archived !== undefined, (all) => all.where('travel_index.archived', '=', Number(archived)))
    .execute();
  const key = (row: (typeof rows)[number]) => (sortBy === undefined ? row.created_at : row.value);
  rows.sort((one, other) => compare(key(one), key(other)) || one.seq - other.seq);
  if (order === 'desc') rows.reverse();
  return { total: rows.length, resources: rows.slice(offset, offset + limit).map(toResource) };
}

function compare(one: string | number, other: string | number): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
