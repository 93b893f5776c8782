import type { Transaction } from 'kysely';
import type {
  EventTopic,
  IndexKeys,
  StoredResource,
  TravelStore,
  TravelTransaction,
} from '../../travel/ports.ts';
import type { Encryption } from '../credentials/encryption.ts';
import type { Database } from '../sql/database.ts';
import { batches, insertInBatches, toJson } from '../sql/queries.ts';
import { insertionNumbers, lockTypes, numberFeedEntries } from '../sql/sequences.ts';
import type { Tables } from '../sql/tables.ts';
import { deleteOldAnswers, findAnswer, forgetAnswers, keepAnswer } from './kept-answers.ts';
import { CountChanges } from './travel-counts.ts';
import { insertKeys, isReferenced, replaceKeys } from './travel-keys.ts';
import { readTravelPage, readTravelPageFrom } from './travel-pages.ts';
import { findResources, type ReadResources, resourceReader, travelReads } from './travel-queries.ts';
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
  database: Database,
  encryption: Encryption = noEncryption,
  random: () => number = Math.random,
): TravelStore {
  const { db, dialect, transaction } = database;
  const deps = {
    encryption,
    nextNumber: insertionNumbers(random),
    slots: dialect.counterSlots,
    readShared: resourceReader(dialect.shareRows),
    readLocked: resourceReader(dialect.lockRows),
  };
  return {
    ...travelReads(db),
    page: (query) => (query.type === DELIVERY_TYPE ? readDeliveryPage(db, query) : readTravelPage(db, query)),
    pageFrom: (query, edge) =>
      query.type === DELIVERY_TYPE
        ? readDeliveryPageFrom(db, query, edge)
        : readTravelPageFrom(db, query, edge),
    write: (types, work) =>
      repeatConflicts(database, async (tx) => {
        await lockTypes(tx, types);
        const context = { ...deps, counts: new CountChanges(), appended: [], tx };
        const result = await work(travelWrites(context));
        await finishWrite(context);
        return result;
      }),
    deleteOlderThan: (type, before, limit) =>
      transaction((tx) => deleteExpired(tx, deps.slots, { type, before, limit })),
    findAnswer: (once) => findAnswer(db, encryption, once),
    deleteOldAnswers: (before, limit) => deleteOldAnswers(db, before, limit),
  };
}

/** The number of runs after which a transaction fails if it violates a constraint each time. */
const MAX_RUNS = 3;

/**
 * Runs work in a transaction, and again if it violates a foreign key or a unique index: a concurrent transaction has
 * deleted a referenced resource, or has taken the same number. The next run sees what that one has committed.
 */
async function repeatConflicts<T>(
  { transaction, dialect }: Database,
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  for (let run = 1; ; run++) {
    try {
      return await transaction(work);
    } catch (error) {
      const isConflict = dialect.isDuplicate(error) || dialect.isReferenceViolation(error);
      if (run === MAX_RUNS || !isConflict) throw error;
    }
  }
}

/** One transaction, and what it needs. */
interface WriteContext {
  tx: Transaction<Tables>;
  encryption: Encryption;
  nextNumber: ReturnType<typeof insertionNumbers>;
  /** The number of counters of each list. */
  slots: number;
  readShared: ReadResources;
  readLocked: ReadResources;
  /** The changes of totals, which are written at the end. */
  counts: CountChanges;
  /** The entries of feeds, which are written at the end. */
  appended: { resource: StoredResource; topic: EventTopic | undefined }[];
}

/**
 * Returns the operations that write resources together with their index rows, unique values, references and
 * counters, within one transaction.
 */
function travelWrites(context: WriteContext): TravelTransaction {
  const { tx, encryption, appended, readShared, readLocked } = context;
  return {
    read: (refs) => readShared(tx, refs),
    find: (match) => findResources(tx, match),
    lock: (refs) => readLocked(tx, refs),
    insert: (resource, keys) => insertResource(context, resource, keys),
    replace: (resource, keys, before) => replaceResource(context, resource, { keys, before }),
    remove: (resource, keys) => removeResource(context, resource, keys),
    append: (resource, topic) => void appended.push({ resource, topic }),
    saveSecret: (ref, secret, othersEnd) => saveSecret(tx, encryption, { ref, secret, othersEnd }),
    keepAnswer: (once, data, hasSecret) => keepAnswer(tx, encryption, { once, data, hasSecret }),
    forgetAnswers: (isMeant) => forgetAnswers(tx, isMeant),
    isReferenced: (ref) => isReferenced(tx, ref),
  };
}

async function insertResource(
  { tx, nextNumber, counts }: WriteContext,
  { type, id, parentId, createdAt, doc }: StoredResource,
  keys: IndexKeys,
): Promise<{ taken: string } | undefined> {
  const seq = nextNumber(createdAt);
  const archived = Number(keys.archived);
  const row = { type, id, parent_id: parentId, created_at: createdAt, seq, archived };
  await tx
    .insertInto('travel_resource')
    .values({ ...row, doc: toJson(doc), ...filterRow(keys) })
    .execute();
  counts.add({ type, list: parentId, archived }, 1);
  countIndexed(counts, type, keys, 1);
  return insertKeys(tx, row, keys);
}

function filterRow({ filters = {} }: Pick<IndexKeys, 'filters'>) {
  const { kind = null, status = null, billingProfileId = null, costCenterId = null, date = null } = filters;
  return { kind, status, billing_profile_id: billingProfileId, cost_center_id: costCenterId, date };
}

/** Counted indexes are counted without regard to `archived`. */
function countIndexed(counts: CountChanges, type: string, { index }: IndexKeys, by: 1 | -1): void {
  for (const { name, counted } of index) if (counted) counts.add({ type, list: name, archived: 0 }, by);
}

async function replaceResource(
  { tx, counts }: WriteContext,
  { type, id, parentId, doc }: StoredResource,
  { keys, before }: { keys: IndexKeys; before: IndexKeys },
): Promise<{ taken: string } | undefined> {
  const archived = Number(keys.archived);
  const stored = await tx
    .updateTable('travel_resource')
    .set({ doc: toJson(doc), archived, ...filterRow(keys) })
    .where('type', '=', type)
    .where('id', '=', id)
    .returning(['seq', 'created_at'])
    .executeTakeFirst();
  if (!stored) throw new Error(`there is no ${type} to replace`);
  counts.add({ type, list: parentId, archived: Number(before.archived) }, -1);
  counts.add({ type, list: parentId, archived }, 1);
  countIndexed(counts, type, before, -1);
  countIndexed(counts, type, keys, 1);
  return replaceKeys(tx, { type, id, parent_id: parentId, archived, ...stored }, keys);
}

/** Foreign keys delete the index rows, unique values and references of the resource. */
async function removeResource(
  { tx, counts }: WriteContext,
  { type, id, parentId }: Omit<StoredResource, 'doc'>,
  keys: IndexKeys,
): Promise<void> {
  await tx.deleteFrom('travel_resource').where('type', '=', type).where('id', '=', id).execute();
  counts.add({ type, list: parentId, archived: Number(keys.archived) }, -1);
  countIndexed(counts, type, keys, -1);
}

/**
 * Writes the totals, then the entries of feeds: the lock of a feed is taken last, because all writers wait for it until
 * the commit.
 */
async function finishWrite({ tx, slots, counts, appended }: WriteContext): Promise<void> {
  for (const { resource } of appended)
    counts.add({ type: resource.type, list: resource.parentId, archived: 0 }, 1);
  await counts.write(tx, slots);
  for (const type of [...new Set(appended.map(({ resource }) => resource.type))].sort()) {
    const entries = appended
      .filter(({ resource }) => resource.type === type)
      .map(({ resource, topic }) => ({ resource, topic, created_at: resource.createdAt }));
    const numbered = await numberFeedEntries(tx, type, entries);
    const rows = numbered.map(({ resource: { id, parentId, doc }, topic, created_at, seq }) => ({
      ...{ type, id, parent_id: parentId, created_at, seq, archived: 0 },
      doc: toJson(doc),
      ...filterRow({ filters: topic ? { kind: topic.kind } : {} }),
    }));
    await insertInBatches(rows, (some) => tx.insertInto('travel_resource').values(some));
    await enqueueDeliveries(
      tx,
      numbered.flatMap(({ resource: { id }, topic, created_at, seq }) =>
        topic ? [{ seq, eventId: id, createdAt: created_at, topic }] : [],
      ),
    );
  }
}

/**
 * Deletes the oldest resources of a feed that were created before a time, at most `limit` of them. Returns their number.
 */
async function deleteExpired(
  tx: Transaction<Tables>,
  slots: number,
  { type, before, limit }: { type: string; before: number; limit: number },
): Promise<number> {
  const old = await tx
    .selectFrom('travel_resource')
    .select('id')
    .where('type', '=', type)
    .where('parent_id', '=', '')
    .where('created_at', '<', before)
    .orderBy('created_at')
    .orderBy('seq')
    .limit(limit)
    .execute();
  let count = 0;
  for (const some of batches(old.map(({ id }) => id))) {
    // Another process may delete the same rows: only those that this statement deletes are counted.
    const deleted = await tx
      .deleteFrom('travel_resource')
      .where('type', '=', type)
      .where('id', 'in', some)
      .returning('archived')
      .execute();
    count += deleted.length;
  }
  const counts = new CountChanges();
  counts.add({ type, list: '', archived: 0 }, -count);
  await counts.write(tx, slots);
  return count;
}
