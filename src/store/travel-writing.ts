import type { Selectable, Transaction } from 'kysely';
import type { Keys, ResourceRef, StoredResource, Topic, TravelWriting } from '../travel/ports.ts';
import { toText } from './json.ts';
import { post } from './outbox.ts';
import { pick, prepared } from './prepared.ts';
import type { Sealed } from './sealed.ts';
import type { Tables } from './tables.ts';
import { enterCollection, leaveCollection } from './travel-collections.ts';
import { addIndex, indexOf, leaveLists, replaceIndex } from './travel-index.ts';
import { addReferences, isReferredTo, replaceReferences } from './travel-references.ts';
import { type Row, travelReading } from './travel-rows.ts';
import { keepSecret } from './travel-secrets.ts';
import type { Turns } from './travel-turns.ts';
import { addUnique, replaceUnique } from './travel-unique.ts';

/** Writes the travel service's resources with all that is kept beside them, in one transaction. */
export function travelWriting(tx: Transaction<Tables>, turns: Turns, sealed: Sealed): TravelWriting {
  return {
    ...travelReading(tx),
    insert: (resource, keys) => insert(tx, turns, { resource, keys }),
    replace: (resource, keys) => replace(tx, resource, keys),
    remove: (ref) => remove(tx, ref),
    append: (resource, topic) => append(tx, turns, { resource, topic }),
    keepSecret: (ref, secret, othersEnd) => keepSecret(tx, sealed, { ref, secret, othersEnd }),
    isReferredTo: (ref) => isReferredTo(tx, ref),
  };
}

async function insert(
  tx: Transaction<Tables>,
  turns: Turns,
  { resource, keys }: { resource: StoredResource; keys: Keys },
): Promise<{ taken: string } | undefined> {
  const seq = await turns.number(resource.type);
  const row = await insertRow(tx, resource, { seq, archived: Number(keys.archived) });
  await addIndex(tx, row, keys.index);
  await addReferences(tx, row, keys.references);
  return addUnique(tx, row, keys.unique);
}

async function append(
  tx: Transaction<Tables>,
  turns: Turns,
  { resource, topic }: { resource: StoredResource; topic: Topic | undefined },
): Promise<StoredResource> {
  // The turn comes first: from here on nobody else appends, so the last one stays the last.
  const seq = await turns.number(resource.type);
  const createdAt = await turns.notBefore(resource.type, resource.createdAt);
  const appended = { ...resource, createdAt };
  await insertRow(tx, appended, { seq, archived: 0 });
  if (topic) await post(tx, { seq, eventId: appended.id, createdAt }, topic);
  return appended;
}

async function insertRow(
  tx: Transaction<Tables>,
  { type, id, parentId, createdAt, doc }: StoredResource,
  { seq, archived }: { seq: number; archived: number },
): Promise<Row> {
  const row = { type, id, parent_id: parentId, created_at: createdAt, seq, archived };
  await insertResource(tx, { ...row, doc: toText(doc) });
  await enterCollection(tx, row);
  return row;
}

const COLUMNS = ['type', 'id', 'parent_id', 'created_at', 'seq', 'archived', 'doc'] as const;

const insertResource = prepared<Selectable<Tables['travel_resource']>, unknown>((db, row) =>
  db.insertInto('travel_resource').values(pick(row, COLUMNS)),
);

/** Most of what is kept beside a resource stays as it is, and is not written again. */
async function replace(
  tx: Transaction<Tables>,
  { type, id, doc }: StoredResource,
  keys: Keys,
): Promise<{ taken: string } | undefined> {
  const before = await kept(tx, { type, id });
  const row = { ...before, archived: Number(keys.archived) };
  await tx
    .updateTable('travel_resource')
    .set({ doc: toText(doc), archived: row.archived })
    .where('type', '=', type)
    .where('id', '=', id)
    .execute();
  if (before.archived !== row.archived) {
    await leaveCollection(tx, before);
    await enterCollection(tx, row);
  }
  await replaceIndex(tx, { before, row }, keys.index);
  await replaceReferences(tx, row, keys.references);
  return replaceUnique(tx, row, keys.unique);
}

/** What is kept beside the resource goes with it. */
async function remove(tx: Transaction<Tables>, ref: ResourceRef): Promise<void> {
  const row = await kept(tx, ref);
  await leaveCollection(tx, row);
  await leaveLists(tx, row, await indexOf(tx, ref));
  await tx.deleteFrom('travel_resource').where('type', '=', ref.type).where('id', '=', ref.id).execute();
}

async function kept(tx: Transaction<Tables>, { type, id }: ResourceRef): Promise<Row> {
  return tx
    .selectFrom('travel_resource')
    .select(['type', 'id', 'parent_id', 'created_at', 'archived', 'seq'])
    .where('type', '=', type)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}
