import { type Kysely, type Selectable, sql } from 'kysely';
import type {
  CursorPage,
  Edge,
  IndexMatch,
  ListQuery,
  PageQuery,
  Position,
  ResourceRef,
  StoredResource,
  TravelReader,
} from '../travel/ports.ts';
import type { Lock } from './dialect.ts';
import type { PageMemory } from './page-memory.ts';
import { batches, compiledQuery, compiledQueryVariants, pageAround, parseJson } from './queries.ts';
import type { Tables } from './tables.ts';
import { readTotal } from './travel-counts.ts';
import { DELIVERY_TYPE, readDeliveries } from './webhook-deliveries.ts';

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

/** Finds the first resource of a page by its offset from the nearer end of the list. */
async function findPageStart(
  db: Kysely<Tables>,
  query: PageQuery,
  total: number,
): Promise<{ place: Position; inclusive: true } | undefined> {
  const { type, parentId, order, offset, archived } = query;
  if (offset >= total) return undefined;
  const index = query.sortBy ?? query.within;
  const isNearEnd = offset > total / 2;
  const back = order === 'asc' ? 'desc' : 'asc';
  const shape = { order: isNearEnd ? back : order, narrowed: archived !== undefined };
  const select = index === undefined ? selectPlaceByCreation(shape) : selectPlaceByIndex(shape);
  const skipped = isNearEnd ? total - 1 - offset : offset;
  const list = index ?? parentId;
  const [place] = (await select(db, { type, list, archived: Number(archived), offset: skipped })).rows;
  return place && { place, inclusive: true };
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
  const index = query.sortBy ?? query.within;
  return index === undefined
    ? readByCreation(db, query, way)
    : readByIndex(db, { type: query.type, index }, way);
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

function readByCreation(db: Kysely<Tables>, query: ListQuery, way: PageRange): Promise<SortedRow[]> {
  return runRangeQuery(db, selectByCreation, { type: query.type, list: query.parentId, way });
}

function readByIndex(
  db: Kysely<Tables>,
  { type, index }: { type: string; index: string },
  way: PageRange,
): Promise<SortedRow[]> {
  return runRangeQuery(db, selectByIndex, { type, list: index, way });
}

async function runRangeQuery(
  db: Kysely<Tables>,
  walks: (shape: RangeQueryShape) => ReturnType<typeof compiledQuery<RangeQueryValues, SortedRow>>,
  { type, list, way }: { type: string; list: string; way: PageRange },
): Promise<SortedRow[]> {
  const { order, limit, offset = 0, archived, from } = way;
  const sign = from && (`${order === 'asc' ? '>' : '<'}${from.inclusive ? '=' : ''}` as const);
  const run = walks({ order, narrowed: archived !== undefined, sign });
  const { value, seq } = from?.place ?? { value: 0, seq: 0 };
  return (await run(db, { type, list, archived: Number(archived), place: value, seq, limit, offset })).rows;
}

const selectByCreation = compiledQueryVariants<RangeQueryShape, RangeQueryValues, SortedRow>(
  ({ order, narrowed, sign }) =>
    (db, values) =>
      db
        .selectFrom('travel_resource')
        .selectAll()
        .select('created_at as place')
        .where('type', '=', values.type)
        .where('parent_id', '=', values.list)
        .$if(narrowed, (all) => all.where('archived', '=', values.archived))
        .$if(sign !== undefined, (all) => all.where(isBeyond('created_at', sign, values)))
        .orderBy('created_at', order)
        .orderBy('seq', order)
        .limit(values.limit)
        .offset(values.offset),
);

/**
 * Selects the rows of a page from the index alone, so that entries before the offset are skipped without reading their
 * resources.
 */
const selectByIndex = compiledQueryVariants<RangeQueryShape, RangeQueryValues, SortedRow>(
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
            .$if(sign !== undefined, (all) => all.where(isBeyond('value', sign, values)))
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

interface PlaceValues {
  type: string;
  list: string;
  archived: number;
  offset: number;
}

type PlaceShape = Pick<RangeQueryShape, 'order' | 'narrowed'>;

/** Both columns are in the index, so that the skipped resources are not read. */
const selectPlaceByCreation = compiledQueryVariants<PlaceShape, PlaceValues, Position>(
  ({ order, narrowed }) =>
    (db, values) =>
      db
        .selectFrom('travel_resource')
        .select(['created_at as value', 'seq'])
        .where('type', '=', values.type)
        .where('parent_id', '=', values.list)
        .$if(narrowed, (all) => all.where('archived', '=', values.archived))
        .orderBy('created_at', order)
        .orderBy('seq', order)
        .limit(sql.lit(1))
        .offset(values.offset),
);

const selectPlaceByIndex = compiledQueryVariants<PlaceShape, PlaceValues, Position>(
  ({ order, narrowed }) =>
    (db, values) =>
      db
        .selectFrom('travel_index')
        .select(['value', 'seq'])
        .where('type', '=', values.type)
        .where('name', '=', values.list)
        .$if(narrowed, (all) => all.where('archived', '=', values.archived))
        .orderBy('value', order)
        .orderBy('seq', order)
        .limit(sql.lit(1))
        .offset(values.offset),
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

/** Returns the operations that read resources outside of transactions. Deliveries can be read like resources. */
export function travelReads(db: Kysely<Tables>): TravelReader {
  return {
    read: async (refs) => {
      const deliveries = refs.filter(({ type }) => type === DELIVERY_TYPE).map(({ id }) => id);
      if (deliveries.length === 0) return readUnlocked(db, refs);
      const others = refs.filter(({ type }) => type !== DELIVERY_TYPE);
      return [...(await readUnlocked(db, others)), ...(await readDeliveries(db, deliveries))];
    },
    find: (match) => findResources(db, match),
  };
}

/** Converts a database row to a resource. */
export function toStoredResource(row: Selectable<Tables['travel_resource']>): StoredResource {
  return {
    type: row.type,
    id: row.id,
    parentId: row.parent_id,
    createdAt: row.created_at,
    doc: parseJson(row.doc),
  };
}

/** Reads resources by id. */
export type ReadResources = (db: Kysely<Tables>, refs: ResourceRef[]) => Promise<StoredResource[]>;

/** Returns a function that reads resources, and locks them if a lock is given. */
export function resourceReader(lock: Lock = (query) => query): ReadResources {
  // One resource is the most frequent query: the user of a credential, the requested resource, or a referenced one.
  const selectOne = compiledQuery<ResourceRef, Selectable<Tables['travel_resource']>>((db, { type, id }) =>
    lock(db.selectFrom('travel_resource').selectAll().where('type', '=', type).where('id', '=', id)),
  );
  return async (db, refs) => {
    const [first, second] = refs;
    if (first && !second)
      return (await selectOne(db, { type: first.type, id: first.id })).rows.map(toStoredResource);
    const found: StoredResource[] = [];
    for (const [type, ids] of groupIdsByType(refs)) {
      // Sorted, so that two transactions that lock the same resources do not wait for each other.
      for (const some of batches([...ids].sort())) {
        const query = db
          .selectFrom('travel_resource')
          .selectAll()
          .where('type', '=', type)
          .where('id', 'in', some)
          .orderBy('id');
        found.push(...(await lock(query).execute()).map(toStoredResource));
      }
    }
    return found;
  };
}

const readUnlocked = resourceReader();

function groupIdsByType(refs: ResourceRef[]): Map<string, Set<string>> {
  const types = new Map<string, Set<string>>();
  for (const { type, id } of refs) types.set(type, (types.get(type) ?? new Set()).add(id));
  return types;
}

/** Finds resources by an index. */
export async function findResources(
  db: Kysely<Tables>,
  { type, name, values, limit }: IndexMatch,
): Promise<StoredResource[]> {
  const [first, second] = values;
  if (first !== undefined && second === undefined) {
    const { rows } = await selectByValue(db, { type, name, value: first, limit: limit ?? NO_LIMIT });
    return rows.map(toStoredResource);
  }
  const found: StoredResource[] = [];
  for (const some of batches([...new Set(values)])) {
    const rows = await selectIndexed(db, { type, name, values: some })
      .orderBy('travel_index.seq')
      .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
      .execute();
    found.push(...rows.map(toStoredResource));
  }
  return found;
}

const NO_LIMIT = 2 ** 31 - 1;

const selectByValue = compiledQuery<
  { type: string; name: string; value: string; limit: number },
  Selectable<Tables['travel_resource']>
>((db, { type, name, value, limit }) =>
  selectIndexed(db, { type, name, values: [value] })
    .orderBy('travel_index.seq')
    .limit(limit),
);

/** Selects the resources of a type that an index has under one of the values. */
function selectIndexed(db: Kysely<Tables>, { type, name, values }: Omit<IndexMatch, 'limit'>) {
  return db
    .selectFrom('travel_index')
    .innerJoin('travel_resource', (join) =>
      join
        .onRef('travel_resource.type', '=', 'travel_index.type')
        .onRef('travel_resource.id', '=', 'travel_index.id'),
    )
    .selectAll('travel_resource')
    .where('travel_index.type', '=', type)
    .where('travel_index.name', '=', name)
    .where('travel_index.value', 'in', values);
}
