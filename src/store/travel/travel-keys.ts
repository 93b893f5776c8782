import type { Transaction } from 'kysely';
import type { IndexedValue, NamedValue, ResourceRef } from '../../travel/ports.ts';
import { insertInBatches } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** The columns of a resource without its document, as index rows and references need them. */
type TravelRow = Omit<Tables['travel_resource'], 'doc'>;

/** Inserts index rows of a resource. */
export async function addIndexRows(
  tx: Transaction<Tables>,
  { type, id, archived, seq }: TravelRow,
  index: IndexedValue[],
): Promise<void> {
  const rows = index.map(({ name, value }) => ({ type, id, name, value, archived, seq }));
  await insertInBatches(rows, (some) => tx.insertInto('travel_index').values(some));
}

/**
 * Replaces the index rows of a changed resource. Each row repeats `archived`, because pages filter by it without reading
 * the resource.
 */
export async function replaceIndexRows(
  tx: Transaction<Tables>,
  row: TravelRow,
  { removed, added, isMoved }: Difference<IndexedValue> & { isMoved: boolean },
): Promise<void> {
  const { type, id, seq, archived } = row;
  for (const { name, value } of removed)
    await tx
      .deleteFrom('travel_index')
      .where('type', '=', type)
      .where('name', '=', name)
      .where('value', '=', value)
      .where('seq', '=', seq)
      .where('id', '=', id)
      .execute();
  if (isMoved)
    await tx
      .updateTable('travel_index')
      .set({ archived })
      .where('type', '=', type)
      .where('id', '=', id)
      .execute();
  await addIndexRows(tx, row, added);
}

/** The keys that a change removes from a list of keys, and the keys that it adds. */
export interface Difference<T> {
  removed: T[];
  added: T[];
}

/** Compares the keys of a resource before and after a change. */
export function difference<T extends object>(before: T[], after: T[]): Difference<T> {
  const keysBefore = new Set(before.map(toKey));
  const keysAfter = new Set(after.map(toKey));
  return {
    removed: before.filter((one) => !keysAfter.has(toKey(one))),
    added: after.filter((one) => !keysBefore.has(toKey(one))),
  };
}

function toKey(value: object): string {
  return JSON.stringify(value);
}

/** Inserts unique values. If another resource has one of the values, returns its name, else undefined. */
export async function addUniqueValues(
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

/** Replaces unique values of a changed resource. If another one has one of the values, returns its name, else undefined. */
export async function replaceUniqueValues(
  tx: Transaction<Tables>,
  ref: ResourceRef,
  { removed, added }: Difference<NamedValue>,
): Promise<{ taken: string } | undefined> {
  for (const { name, value } of removed) {
    await tx
      .deleteFrom('travel_unique')
      .where('type', '=', ref.type)
      .where('name', '=', name)
      .where('value', '=', value)
      .where('id', '=', ref.id)
      .execute();
  }
  return addUniqueValues(tx, ref, added);
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

/** Inserts references. A document may name the same resource several times. */
export async function addReferences(
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

/** Replaces the references of a changed resource. */
export async function replaceReferences(
  tx: Transaction<Tables>,
  from: ResourceRef,
  { removed, added }: Difference<ResourceRef>,
): Promise<void> {
  for (const { type, id } of removed) {
    await tx
      .deleteFrom('travel_reference')
      .where('from_type', '=', from.type)
      .where('from_id', '=', from.id)
      .where('to_type', '=', type)
      .where('to_id', '=', id)
      .execute();
  }
  await addReferences(tx, from, added);
}
