import type { Selectable, Transaction } from 'kysely';
import type { IndexedValue, IndexKeys, NamedValue, ResourceRef } from '../travel/ports.ts';
import { compiledQuery, pick } from './queries.ts';
import type { Tables, TravelRow } from './tables.ts';
import { addToBlocks, addToListCount, removeFromBlocks } from './travel-positions.ts';

/** Replaces the index rows of a changed resource, and updates the lists that contain them. */
export async function replaceIndexRows(
  tx: Transaction<Tables>,
  { before, row }: { before: TravelRow; row: TravelRow },
  wanted: IndexedValue[],
): Promise<void> {
  const old = await readIndexRows(tx, row);
  const key = ({ name, value }: IndexedValue) => JSON.stringify([name, value]);
  // Each index row repeats `archived`, because pages filter by it without reading the resource. If it changes, all
  // rows change.
  const candidates = new Set(before.archived === row.archived ? old.map(key) : []);
  const unchanged = new Set(wanted.map(key).filter((value) => candidates.has(value)));
  const removed = old.filter((value) => !unchanged.has(key(value)));
  for (const { name, value } of removed) {
    await tx
      .deleteFrom('travel_index')
      .where('type', '=', row.type)
      .where('name', '=', name)
      .where('value', '=', value)
      .where('seq', '=', row.seq)
      .execute();
  }
  await removeFromLists(tx, before, removed);
  await addIndexRows(
    tx,
    row,
    wanted.filter((value) => !unchanged.has(key(value))),
  );
}

/** Reads the index rows of a resource. */
export async function readIndexRows(
  tx: Transaction<Tables>,
  { type, id }: ResourceRef,
): Promise<IndexedValue[]> {
  const { rows } = await selectIndexRows(tx, { type, id });
  return rows.map(({ name, value, list }) => ({ name, value, list: list ?? undefined }));
}

const selectIndexRows = compiledQuery<
  ResourceRef,
  Pick<Selectable<Tables['travel_index']>, 'name' | 'value' | 'list'>
>((db, { type, id }) =>
  db
    .selectFrom('travel_index')
    .select(['name', 'value', 'list'])
    .where('type', '=', type)
    .where('id', '=', id),
);

/** Inserts index rows of a resource, and adds it to the lists that the rows belong to. */
export async function addIndexRows(
  tx: Transaction<Tables>,
  row: TravelRow,
  index: IndexedValue[],
): Promise<void> {
  const { type, id, archived, seq } = row;
  for (const { name, value, list = null } of index)
    await insertIndex(tx, { type, id, name, value, archived, seq, list });
  for (const { name, value, list } of index) {
    if (list === 'counted') await addToListCount(tx, { type, list: name, archived: 0, by: 1 });
    if (list) await addToBlocks(tx, { type, list: name }, { value, seq, archived });
  }
}

const INDEX_COLUMNS = ['type', 'id', 'name', 'value', 'archived', 'seq', 'list'] as const;

const insertIndex = compiledQuery<Selectable<Tables['travel_index']>, unknown>((db, row) =>
  db.insertInto('travel_index').values(pick(row, INDEX_COLUMNS)),
);

/** Removes a resource from the lists that these index values belong to. */
export async function removeFromLists(
  tx: Transaction<Tables>,
  { type, archived, seq }: TravelRow,
  index: IndexedValue[],
): Promise<void> {
  for (const { name, value, list } of index) {
    if (list === 'counted') await addToListCount(tx, { type, list: name, archived: 0, by: -1 });
    if (list) await removeFromBlocks(tx, { type, list: name }, { value, seq, archived });
  }
}

/**
 * Replaces the unique values of a changed resource. If another resource has one of the values, returns its name, else
 * undefined.
 */
export async function replaceUniqueValues(
  tx: Transaction<Tables>,
  row: TravelRow,
  wanted: IndexKeys['unique'],
): Promise<{ taken: string } | undefined> {
  const { type, id } = row;
  const { rows: current } = await selectUniqueValues(tx, { type, id });
  const isHeld = (wantedValue: IndexKeys['unique'][number]) =>
    current.some(({ name, value }) => name === wantedValue.name && value === wantedValue.value);
  const changed = wanted.filter((wantedValue) => !isHeld(wantedValue));
  for (const { name } of changed) {
    const mine = tx.deleteFrom('travel_unique').where('type', '=', type).where('id', '=', id);
    await mine.where('name', '=', name).execute();
  }
  return addUniqueValues(tx, row, changed);
}

const selectUniqueValues = compiledQuery<ResourceRef, NamedValue>((db, { type, id }) =>
  db.selectFrom('travel_unique').select(['name', 'value']).where('type', '=', type).where('id', '=', id),
);

/** Inserts unique values. If another resource has one of the values, returns its name, else undefined. */
export async function addUniqueValues(
  tx: Transaction<Tables>,
  { type, id }: TravelRow,
  unique: IndexKeys['unique'],
): Promise<{ taken: string } | undefined> {
  for (const { name, value } of unique) {
    const { numAffectedRows } = await insertUniqueValue(tx, { type, name, value, id });
    if (numAffectedRows !== 1n) return { taken: name };
  }
  return undefined;
}

const UNIQUE_COLUMNS = ['type', 'name', 'value', 'id'] as const;

const insertUniqueValue = compiledQuery<Selectable<Tables['travel_unique']>, unknown>((db, row) =>
  db
    .insertInto('travel_unique')
    .values(pick(row, UNIQUE_COLUMNS))
    .onConflict((same) => same.doNothing()),
);

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

/** Replaces the references of a changed resource. */
export async function replaceReferences(
  tx: Transaction<Tables>,
  row: TravelRow,
  wanted: ResourceRef[],
): Promise<void> {
  const { rows: current } = await selectReferencesFrom(tx, { type: row.type, id: row.id });
  const key = (type: string, id: string) => `${type} ${id}`;
  const now = new Set(wanted.map(({ type, id }) => key(type, id)));
  const before = new Set(current.map(({ to_type, to_id }) => key(to_type, to_id)));
  for (const { to_type, to_id } of current.filter(
    (reference) => !now.has(key(reference.to_type, reference.to_id)),
  )) {
    await tx
      .deleteFrom('travel_reference')
      .where('from_type', '=', row.type)
      .where('from_id', '=', row.id)
      .where('to_type', '=', to_type)
      .where('to_id', '=', to_id)
      .execute();
  }
  await addReferences(
    tx,
    row,
    wanted.filter(({ type, id }) => !before.has(key(type, id))),
  );
}

const selectReferencesFrom = compiledQuery<
  ResourceRef,
  Pick<Selectable<Tables['travel_reference']>, 'to_type' | 'to_id'>
>((db, { type, id }) =>
  db
    .selectFrom('travel_reference')
    .select(['to_type', 'to_id'])
    .where('from_type', '=', type)
    .where('from_id', '=', id),
);

/**
 * Inserts references, one statement each: a document may contain more references than a statement may have
 * parameters.
 */
export async function addReferences(
  tx: Transaction<Tables>,
  { type, id }: TravelRow,
  targets: ResourceRef[],
): Promise<void> {
  for (const to of targets) {
    await insertReference(tx, { from_type: type, from_id: id, to_type: to.type, to_id: to.id });
  }
}

const REFERENCE_COLUMNS = ['from_type', 'from_id', 'to_type', 'to_id'] as const;

const insertReference = compiledQuery<Selectable<Tables['travel_reference']>, unknown>((db, row) =>
  db
    .insertInto('travel_reference')
    .values(pick(row, REFERENCE_COLUMNS))
    .onConflict((same) => same.doNothing()),
);
