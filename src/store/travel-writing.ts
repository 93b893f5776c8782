import { sql, type Transaction } from 'kysely';
import type { Keys, ResourceRef, StoredResource, TravelWriting } from '../travel/ports.ts';
import { toText } from './json.ts';
import type { Tables } from './tables.ts';
import { travelReading } from './travel-rows.ts';

/** Writes the travel service's resources with all that is kept beside them, in one transaction. */
export function travelWriting(tx: Transaction<Tables>): TravelWriting {
  return {
    ...travelReading(tx),
    insert: (resource, keys) => insert(tx, resource, keys),
    replace: (resource, keys) => replace(tx, resource, keys),
    remove: (ref) => remove(tx, ref),
    isReferredTo: (ref) => isReferredTo(tx, ref),
  };
}

/**
 * Waits until no other transaction writes this type, and counts up: what was read after it stays true until the commit,
 * in any database, and what is created later has the higher number.
 */
export async function takeTurn(tx: Transaction<Tables>, type: string): Promise<number> {
  const { seq } = await tx
    .insertInto('travel_turn')
    .values({ type, seq: 1 })
    .onConflict((same) => same.column('type').doUpdateSet((row) => ({ seq: row('travel_turn.seq', '+', 1) })))
    .returning('seq')
    .executeTakeFirstOrThrow();
  return seq;
}

async function insert(
  tx: Transaction<Tables>,
  resource: StoredResource,
  keys: Keys,
): Promise<{ taken: string } | undefined> {
  const { type, id, parentId, createdAt, doc } = resource;
  const seq = await takeTurn(tx, type);
  const archived = Number(keys.archived);
  await tx
    .insertInto('travel_resource')
    .values({ type, id, parent_id: parentId, created_at: createdAt, seq, archived, doc: toText(doc) })
    .execute();
  await count(tx, { type, parent_id: parentId, archived }, 1);
  return addKeys(tx, { type, id, seq }, keys);
}

async function replace(
  tx: Transaction<Tables>,
  { type, id, doc }: StoredResource,
  keys: Keys,
): Promise<{ taken: string } | undefined> {
  const before = await kept(tx, { type, id });
  const archived = Number(keys.archived);
  await tx
    .updateTable('travel_resource')
    .set({ doc: toText(doc), archived })
    .where('type', '=', type)
    .where('id', '=', id)
    .execute();
  if (before.archived !== archived) {
    await count(tx, before, -1);
    await count(tx, { ...before, archived }, 1);
  }
  await tx.deleteFrom('travel_index').where('type', '=', type).where('id', '=', id).execute();
  await tx.deleteFrom('travel_unique').where('type', '=', type).where('id', '=', id).execute();
  await tx.deleteFrom('travel_reference').where('from_type', '=', type).where('from_id', '=', id).execute();
  return addKeys(tx, { type, id, seq: before.seq }, keys);
}

/** What is kept beside the resource goes with it. */
async function remove(tx: Transaction<Tables>, ref: ResourceRef): Promise<void> {
  await count(tx, await kept(tx, ref), -1);
  await tx.deleteFrom('travel_resource').where('type', '=', ref.type).where('id', '=', ref.id).execute();
}

async function isReferredTo(tx: Transaction<Tables>, { type, id }: ResourceRef): Promise<boolean> {
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

async function addKeys(
  tx: Transaction<Tables>,
  { type, id, seq }: ResourceRef & { seq: number },
  keys: Keys,
): Promise<{ taken: string } | undefined> {
  for (const { name, value } of keys.unique) {
    const added = await tx
      .insertInto('travel_unique')
      .values({ type, name, value, id })
      .onConflict((same) => same.doNothing())
      .executeTakeFirst();
    if (added.numInsertedOrUpdatedRows !== 1n) return { taken: name };
  }
  const archived = Number(keys.archived);
  const index = keys.index.map(({ name, value }) => ({ type, id, name, value, archived, seq }));
  if (index.length > 0) await tx.insertInto('travel_index').values(index).execute();
  // One statement for each: a document may refer to more than a statement takes parameters for.
  for (const to of keys.references) {
    await tx
      .insertInto('travel_reference')
      .values({ from_type: type, from_id: id, to_type: to.type, to_id: to.id })
      .onConflict((same) => same.doNothing())
      .execute();
  }
  return undefined;
}

async function kept(tx: Transaction<Tables>, { type, id }: ResourceRef) {
  return tx
    .selectFrom('travel_resource')
    .select(['type', 'parent_id', 'archived', 'seq'])
    .where('type', '=', type)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

async function count(
  tx: Transaction<Tables>,
  { type, parent_id, archived }: { type: string; parent_id: string; archived: number },
  by: number,
): Promise<void> {
  await tx
    .insertInto('travel_count')
    .values({ type, parent_id, archived, count: by })
    .onConflict((same) =>
      same
        .columns(['type', 'parent_id', 'archived'])
        .doUpdateSet((row) => ({ count: sql<number>`${row.ref('travel_count.count')} + ${by}` })),
    )
    .execute();
}
