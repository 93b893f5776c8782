import type { Kysely, Selectable } from 'kysely';
import type { IndexMatch, ResourceRef, StoredResource, TravelReader } from '../../travel/ports.ts';
import type { Lock } from '../sql/dialect.ts';
import { batches, compiledQuery, parseJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import { DELIVERY_TYPE, readDeliveries } from './webhook-deliveries.ts';

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
  const selectOne = compiledQuery((db, { type, id }: ResourceRef) =>
    lock(db.selectFrom('travel_resource').selectAll().where('type', '=', type).where('id', '=', id)),
  );
  return async (db, refs) => {
    const found: StoredResource[] = [];
    const [first, second] = refs;
    // Most reads are of one resource: each request reads its caller.
    if (first && !second) return (await selectOne(db, first)).rows.map(toStoredResource);
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

/** Selects the resources of a type that an index has under one of the values. */
export function selectIndexed(db: Kysely<Tables>, { type, name, values }: Omit<IndexMatch, 'limit'>) {
  return selectByIndex(db, { type, name }).where('travel_index.value', 'in', values);
}

/** Selects the resources of a type that have entries in an index, each with its entry. */
export function selectByIndex(db: Kysely<Tables>, { type, name }: Pick<IndexMatch, 'type' | 'name'>) {
  return db
    .selectFrom('travel_index')
    .innerJoin('travel_resource', (join) =>
      join
        .onRef('travel_resource.type', '=', 'travel_index.type')
        .onRef('travel_resource.id', '=', 'travel_index.id'),
    )
    .selectAll('travel_resource')
    .where('travel_index.type', '=', type)
    .where('travel_index.name', '=', name);
}
