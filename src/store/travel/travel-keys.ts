import type { Transaction } from 'kysely';
import type { IndexKeys, NamedValue, ResourceRef } from '../../travel/ports.ts';
import { insertInBatches } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** The columns of a resource without its document, as index rows and references need them. */
type TravelRow = Pick<
  Tables['travel_resource'],
  'type' | 'id' | 'parent_id' | 'created_at' | 'seq' | 'archived'
>;

/** Inserts the index rows, unique values and references of a resource. If another one has one of the unique values, returns its name. */
export async function insertKeys(
  tx: Transaction<Tables>,
  row: TravelRow,
  { index, unique, references }: IndexKeys,
): Promise<{ taken: string } | undefined> {
  const clash = await insertUniqueValues(tx, row, unique);
  if (clash) return clash;
  const { type, id, archived, seq } = row;
  // Each row repeats `archived`, because pages filter by it without reading the resource.
  const rows = index.map(({ name, value }) => ({ type, id, name, value, archived, seq }));
  await insertInBatches(rows, (some) => tx.insertInto('travel_index').values(some));
  await insertReferences(tx, row, references);
  return undefined;
}

/** Replaces the keys of a changed resource, as `insertKeys`. */
export async function replaceKeys(
  tx: Transaction<Tables>,
  row: TravelRow,
  keys: IndexKeys,
): Promise<{ taken: string } | undefined> {
  const { type, id } = row;
  for (const table of ['travel_index', 'travel_unique'] as const)
    await tx.deleteFrom(table).where('type', '=', type).where('id', '=', id).execute();
  await tx.deleteFrom('travel_reference').where('from_type', '=', type).where('from_id', '=', id).execute();
  return insertKeys(tx, row, keys);
}

async function insertUniqueValues(
  tx: Transaction<Tables>,
  { type, id }: ResourceRef,
  unique: NamedValue[],
): Promise<{ taken: string } | undefined> {
  const rows = unique.map(({ name, value }) => ({ type, name, value, id }));
  const inserted = await insertInBatches(rows, (some) =>
    tx
      .insertInto('travel_unique')
      .values(some)
      .onConflict((same) => same.doNothing())
      .returning('name'),
  );
  const names = new Set(inserted.map(({ name }) => name));
  const taken = unique.find(({ name }) => !names.has(name));
  return taken && { taken: taken.name };
}

/** A document may name the same resource several times. */
async function insertReferences(
  tx: Transaction<Tables>,
  from: ResourceRef,
  targets: ResourceRef[],
): Promise<void> {
  const rows = targets.map((to) => ({
    ...{ from_type: from.type, from_id: from.id },
    ...{ to_type: to.type, to_id: to.id },
  }));
  await insertInBatches(rows, (some) =>
    tx
      .insertInto('travel_reference')
      .values(some)
      .onConflict((same) => same.doNothing()),
  );
}

/** True if another resource refers to this one. */
export async function isReferenced(tx: Transaction<Tables>, { type, id }: ResourceRef): Promise<boolean> {
  const referrer = await tx
    .selectFrom('travel_reference')
    .select('from_id')
    .where('to_type', '=', type)
    .where('to_id', '=', id)
    .where((row) => row.or([row('from_type', '<>', type), row('from_id', '<>', id)]))
    .limit(1)
    .executeTakeFirst();
  return referrer !== undefined;
}
