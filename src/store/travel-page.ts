import type { Kysely } from 'kysely';
import type { PageQuery, StoredResource } from '../travel/ports.ts';
import type { Tables } from './tables.ts';
import { toResource } from './travel-rows.ts';

/** A page of a collection, and how many there are in all. */
export async function travelPage(
  db: Kysely<Tables>,
  query: PageQuery,
): Promise<{ total: number; resources: StoredResource[] }> {
  const { match } = query;
  if (match) return matching(db, query, match);
  const resources =
    query.sortBy === undefined ? await byCreation(db, query) : await byIndex(db, query, query.sortBy);
  return { total: await total(db, query), resources };
}

async function total(db: Kysely<Tables>, { type, parentId, archived }: PageQuery): Promise<number> {
  const rows = await db
    .selectFrom('travel_count')
    .select('count')
    .where('type', '=', type)
    .where('parent_id', '=', parentId)
    .$if(archived !== undefined, (counts) => counts.where('archived', '=', Number(archived)))
    .execute();
  return rows.reduce((sum, { count }) => sum + count, 0);
}

async function byCreation(db: Kysely<Tables>, query: PageQuery): Promise<StoredResource[]> {
  const { type, parentId, archived, order, offset, limit } = query;
  const rows = await db
    .selectFrom('travel_resource')
    .selectAll()
    .where('type', '=', type)
    .where('parent_id', '=', parentId)
    .$if(archived !== undefined, (all) => all.where('archived', '=', Number(archived)))
    .orderBy('created_at', order)
    .orderBy('seq', order)
    .limit(limit)
    .offset(offset)
    .execute();
  return rows.map(toResource);
}

/** The index alone finds the page, so that what is skipped costs no look-up of its row. */
async function byIndex(db: Kysely<Tables>, query: PageQuery, name: string): Promise<StoredResource[]> {
  const { type, archived, order, offset, limit } = query;
  const rows = await db
    .selectFrom((page) =>
      page
        .selectFrom('travel_index')
        .select(['type', 'id', 'value', 'seq as position'])
        .where('type', '=', type)
        .where('name', '=', name)
        .$if(archived !== undefined, (all) => all.where('archived', '=', Number(archived)))
        .orderBy('value', order)
        .orderBy('seq', order)
        .limit(limit)
        .offset(offset)
        .as('page'),
    )
    .innerJoin('travel_resource', (join) =>
      join.onRef('travel_resource.type', '=', 'page.type').onRef('travel_resource.id', '=', 'page.id'),
    )
    .selectAll('travel_resource')
    .orderBy('page.value', order)
    .orderBy('page.position', order)
    .execute();
  return rows.map(toResource);
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
