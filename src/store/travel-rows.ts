import type { Kysely, Selectable } from 'kysely';
import type { Match, ResourceRef, StoredResource, TravelReader } from '../travel/ports.ts';
import { DELIVERY, readDeliveries } from './delivery-page.ts';
import { batches, compiledQuery, fromText } from './statements.ts';
import type { Tables } from './tables.ts';

/** Reads the travel service's resources, inside of a transaction or outside. */
export function travelReading(db: Kysely<Tables>): TravelReader {
  return {
    read: (refs) => read(db, refs),
    find: (match) => find(db, match),
  };
}

/** A resource's row as far as what is kept beside it needs it. */
export type Row = Pick<
  Selectable<Tables['travel_resource']>,
  'type' | 'id' | 'parent_id' | 'created_at' | 'archived' | 'seq'
>;

/** A row as the resource it keeps. */
export function toResource(row: Selectable<Tables['travel_resource']>): StoredResource {
  return {
    type: row.type,
    id: row.id,
    parentId: row.parent_id,
    createdAt: row.created_at,
    doc: fromText(row.doc),
  };
}

async function read(db: Kysely<Tables>, refs: ResourceRef[]): Promise<StoredResource[]> {
  const [first, second] = refs;
  if (first && !second && first.type !== DELIVERY)
    return (await readOne(db, { type: first.type, id: first.id })).rows.map(toResource);
  const found: StoredResource[] = [];
  for (const [type, ids] of byType(refs)) {
    for (const some of batches([...ids])) {
      if (type === DELIVERY) {
        found.push(...(await readDeliveries(db, some)));
        continue;
      }
      const rows = await db
        .selectFrom('travel_resource')
        .selectAll()
        .where('type', '=', type)
        .where('id', 'in', some)
        .execute();
      found.push(...rows.map(toResource));
    }
  }
  return found;
}

/** Most reads are of one: whose credential it is, what is asked for, what it refers to. */
const readOne = compiledQuery<ResourceRef, Selectable<Tables['travel_resource']>>((db, { type, id }) =>
  db.selectFrom('travel_resource').selectAll().where('type', '=', type).where('id', '=', id),
);

function byType(refs: ResourceRef[]): Map<string, Set<string>> {
  const types = new Map<string, Set<string>>();
  for (const { type, id } of refs) types.set(type, (types.get(type) ?? new Set()).add(id));
  return types;
}

async function find(db: Kysely<Tables>, { type, name, values, limit }: Match): Promise<StoredResource[]> {
  const found: StoredResource[] = [];
  for (const some of batches([...new Set(values)])) {
    const rows = await db
      .selectFrom('travel_index')
      .innerJoin('travel_resource', (join) =>
        join
          .onRef('travel_resource.type', '=', 'travel_index.type')
          .onRef('travel_resource.id', '=', 'travel_index.id'),
      )
      .selectAll('travel_resource')
      .where('travel_index.type', '=', type)
      .where('travel_index.name', '=', name)
      .where('travel_index.value', 'in', some)
      .orderBy('travel_index.seq')
      .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
      .execute();
    found.push(...rows.map(toResource));
  }
  return found;
}
