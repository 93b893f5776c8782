import type { Selectable, Transaction } from 'kysely';
import type {
  EventTopic,
  IndexKeys,
  ResourceRef,
  StoredResource,
  TravelStore,
  TravelTransaction,
} from '../travel/ports.ts';
import type { Database } from './database.ts';
import type { Encryption } from './encryption.ts';
import { compiledQuery, pick, toJson } from './queries.ts';
import { TypeSequences } from './sequences.ts';
import type { Tables, TravelRow } from './tables.ts';
import {
  addIndexRows,
  addReferences,
  addUniqueValues,
  isReferenced,
  readIndexRows,
  removeFromLists,
  replaceIndexRows,
  replaceReferences,
  replaceUniqueValues,
} from './travel-keys.ts';
import { countIntoCollection, countOutOfCollection } from './travel-positions.ts';
import { readTravelPage, readTravelPageFrom, travelReads } from './travel-queries.ts';
import { saveSecret } from './travel-secrets.ts';
import {
  DELIVERY_TYPE,
  enqueueDeliveries,
  readDeliveryPage,
  readDeliveryPageFrom,
} from './webhook-deliveries.ts';

/** An encryption that throws, for callers that never write secrets. */
const noEncryption: Encryption = {
  encrypt: () => {
    throw new Error('there is no key to encrypt a secret with');
  },
  decrypt: () => undefined,
};

/** Returns the store of the travel service's resources. Deliveries of webhooks can be read like resources. */
export function travelStore(
  { db, transaction }: Database,
  encryption: Encryption = noEncryption,
): TravelStore {
  return {
    ...travelReads(db),
    page: (query) => (query.type === DELIVERY_TYPE ? readDeliveryPage(db, query) : readTravelPage(db, query)),
    pageFrom: (query, edge) =>
      query.type === DELIVERY_TYPE
        ? readDeliveryPageFrom(db, query, edge)
        : readTravelPageFrom(db, query, edge),
    write: (types, work) =>
      transaction(async (tx) => {
        const sequences = new TypeSequences(tx);
        await sequences.lockTypes(types);
        return work(travelWrites(tx, sequences, encryption));
      }),
    deleteOlderThan: (type, before, limit) => transaction((tx) => deleteExpired(tx, { type, before, limit })),
  };
}

/**
 * Returns the operations that write resources together with their index rows, unique values, references and
 * counters, within one transaction.
 */
export function travelWrites(
  tx: Transaction<Tables>,
  sequences: TypeSequences,
  encryption: Encryption,
): TravelTransaction {
  return {
    ...travelReads(tx),
    insert: (resource, keys) => insertResource(tx, sequences, { resource, keys }),
    replace: (resource, keys) => replaceResource(tx, resource, keys),
    remove: (ref) => removeResource(tx, ref),
    append: (resource, topic) => appendResource(tx, sequences, { resource, topic }),
    saveSecret: (ref, secret, othersEnd) => saveSecret(tx, encryption, { ref, secret, othersEnd }),
    isReferenced: (ref) => isReferenced(tx, ref),
  };
}

async function insertResource(
  tx: Transaction<Tables>,
  sequences: TypeSequences,
  { resource, keys }: { resource: StoredResource; keys: IndexKeys },
): Promise<{ taken: string } | undefined> {
  const seq = await sequences.nextNumber(resource.type);
  const row = await insertRow(tx, resource, { seq, archived: Number(keys.archived) });
  await addIndexRows(tx, row, keys.index);
  await addReferences(tx, row, keys.references);
  return addUniqueValues(tx, row, keys.unique);
}

async function appendResource(
  tx: Transaction<Tables>,
  sequences: TypeSequences,
  { resource, topic }: { resource: StoredResource; topic: EventTopic | undefined },
): Promise<StoredResource> {
  // Take the number first: it locks the sequence, so that no other transaction appends a later resource with an
  // earlier number.
  const seq = await sequences.nextNumber(resource.type);
  const createdAt = await sequences.nextCreationTime(resource.type, resource.createdAt);
  const appended = { ...resource, createdAt };
  await insertRow(tx, appended, { seq, archived: 0 });
  if (topic) await enqueueDeliveries(tx, { seq, eventId: appended.id, createdAt }, topic);
  return appended;
}

async function insertRow(
  tx: Transaction<Tables>,
  { type, id, parentId, createdAt, doc }: StoredResource,
  { seq, archived }: { seq: number; archived: number },
): Promise<TravelRow> {
  const row = { type, id, parent_id: parentId, created_at: createdAt, seq, archived };
  await insertResourceRow(tx, { ...row, doc: toJson(doc) });
  await countIntoCollection(tx, row);
  return row;
}

const RESOURCE_COLUMNS = ['type', 'id', 'parent_id', 'created_at', 'seq', 'archived', 'doc'] as const;

const insertResourceRow = compiledQuery<Selectable<Tables['travel_resource']>, unknown>((db, row) =>
  db.insertInto('travel_resource').values(pick(row, RESOURCE_COLUMNS)),
);

/** Writes only those index rows, unique values and references that change. */
async function replaceResource(
  tx: Transaction<Tables>,
  { type, id, doc }: StoredResource,
  keys: IndexKeys,
): Promise<{ taken: string } | undefined> {
  const before = await readTravelRow(tx, { type, id });
  const row = { ...before, archived: Number(keys.archived) };
  await tx
    .updateTable('travel_resource')
    .set({ doc: toJson(doc), archived: row.archived })
    .where('type', '=', type)
    .where('id', '=', id)
    .execute();
  if (before.archived !== row.archived) {
    await countOutOfCollection(tx, before);
    await countIntoCollection(tx, row);
  }
  await replaceIndexRows(tx, { before, row }, keys.index);
  await replaceReferences(tx, row, keys.references);
  return replaceUniqueValues(tx, row, keys.unique);
}

/** Foreign keys delete the index rows, unique values and references of the resource. */
async function removeResource(tx: Transaction<Tables>, ref: ResourceRef): Promise<void> {
  const row = await readTravelRow(tx, ref);
  await countOutOfCollection(tx, row);
  await removeFromLists(tx, row, await readIndexRows(tx, ref));
  await tx.deleteFrom('travel_resource').where('type', '=', ref.type).where('id', '=', ref.id).execute();
}

async function readTravelRow(tx: Transaction<Tables>, { type, id }: ResourceRef): Promise<TravelRow> {
  return tx
    .selectFrom('travel_resource')
    .select(['type', 'id', 'parent_id', 'created_at', 'archived', 'seq'])
    .where('type', '=', type)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

/**
 * Deletes the oldest resources of a type that were created before a time, at most `limit` of them. Returns how many.
 */
export async function deleteExpired(
  tx: Transaction<Tables>,
  { type, before, limit }: { type: string; before: number; limit: number },
): Promise<number> {
  const old = await tx
    .selectFrom('travel_resource')
    .select(['type', 'id', 'parent_id', 'created_at', 'archived', 'seq'])
    .where('type', '=', type)
    .where('parent_id', '=', '')
    .where('created_at', '<', before)
    .orderBy('created_at')
    .orderBy('seq')
    .limit(limit)
    .execute();
  for (const row of old) {
    await countOutOfCollection(tx, row);
    await tx.deleteFrom('travel_resource').where('type', '=', type).where('id', '=', row.id).execute();
  }
  return old.length;
}
