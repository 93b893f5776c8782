import type { Selectable, Transaction } from 'kysely';
import type {
  Keys,
  NamedValue,
  ResourceRef,
  StoredResource,
  Topic,
  TravelTransaction,
} from '../travel/ports.ts';
import type { Encryption } from './encryption.ts';
import { post } from './outbox.ts';
import { compiledQuery, pick, toText } from './statements.ts';
import type { Tables } from './tables.ts';
import { addIndex, indexOf, leaveLists, replaceIndex } from './travel-index.ts';
import { enterCollection, leaveCollection } from './travel-positions.ts';
import { type Row, travelReading } from './travel-rows.ts';
import { keepSecret } from './travel-secrets.ts';
import type { Turns } from './travel-turns.ts';

/** Writes the travel service's resources with all that is kept beside them, in one transaction. */
export function travelWriting(tx: Transaction<Tables>, turns: Turns, sealed: Encryption): TravelTransaction {
  return {
    ...travelReading(tx),
    insert: (resource, keys) => insert(tx, turns, { resource, keys }),
    replace: (resource, keys) => replace(tx, resource, keys),
    remove: (ref) => remove(tx, ref),
    append: (resource, topic) => append(tx, turns, { resource, topic }),
    saveSecret: (ref, secret, othersEnd) => keepSecret(tx, sealed, { ref, secret, othersEnd }),
    isReferenced: (ref) => isReferredTo(tx, ref),
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

const insertResource = compiledQuery<Selectable<Tables['travel_resource']>, unknown>((db, row) =>
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

/** Keeps the unique values of a resource that changed; answers the name of one that another has. */
export async function replaceUnique(
  tx: Transaction<Tables>,
  row: Row,
  wanted: Keys['unique'],
): Promise<{ taken: string } | undefined> {
  const { type, id } = row;
  const { rows: held } = await uniqueOf(tx, { type, id });
  const isHeld = (one: Keys['unique'][number]) =>
    held.some(({ name, value }) => name === one.name && value === one.value);
  const changed = wanted.filter((one) => !isHeld(one));
  for (const { name } of changed) {
    const mine = tx.deleteFrom('travel_unique').where('type', '=', type).where('id', '=', id);
    await mine.where('name', '=', name).execute();
  }
  return addUnique(tx, row, changed);
}

const uniqueOf = compiledQuery<ResourceRef, NamedValue>((db, { type, id }) =>
  db.selectFrom('travel_unique').select(['name', 'value']).where('type', '=', type).where('id', '=', id),
);

/** Keeps unique values; answers the name of one that another resource has. */
export async function addUnique(
  tx: Transaction<Tables>,
  { type, id }: Row,
  unique: Keys['unique'],
): Promise<{ taken: string } | undefined> {
  for (const { name, value } of unique) {
    const { numAffectedRows } = await insertUnique(tx, { type, name, value, id });
    if (numAffectedRows !== 1n) return { taken: name };
  }
  return undefined;
}

const UNIQUE = ['type', 'name', 'value', 'id'] as const;

const insertUnique = compiledQuery<Selectable<Tables['travel_unique']>, unknown>((db, row) =>
  db
    .insertInto('travel_unique')
    .values(pick(row, UNIQUE))
    .onConflict((same) => same.doNothing()),
);

/** True when another resource refers to it. */
export async function isReferredTo(tx: Transaction<Tables>, { type, id }: ResourceRef): Promise<boolean> {
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

/** Keeps the references of a resource that changed. */
export async function replaceReferences(
  tx: Transaction<Tables>,
  row: Row,
  wanted: ResourceRef[],
): Promise<void> {
  const { rows: held } = await referencesOf(tx, { type: row.type, id: row.id });
  const key = (type: string, id: string) => `${type} ${id}`;
  const now = new Set(wanted.map(({ type, id }) => key(type, id)));
  const before = new Set(held.map(({ to_type, to_id }) => key(to_type, to_id)));
  for (const { to_type, to_id } of held.filter((one) => !now.has(key(one.to_type, one.to_id)))) {
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

const referencesOf = compiledQuery<
  ResourceRef,
  Pick<Selectable<Tables['travel_reference']>, 'to_type' | 'to_id'>
>((db, { type, id }) =>
  db
    .selectFrom('travel_reference')
    .select(['to_type', 'to_id'])
    .where('from_type', '=', type)
    .where('from_id', '=', id),
);

/** Keeps references; one statement for each, as a document may refer to more than a statement takes parameters for. */
export async function addReferences(
  tx: Transaction<Tables>,
  { type, id }: Row,
  targets: ResourceRef[],
): Promise<void> {
  for (const to of targets) {
    await insertReference(tx, { from_type: type, from_id: id, to_type: to.type, to_id: to.id });
  }
}

const REFERENCE = ['from_type', 'from_id', 'to_type', 'to_id'] as const;

const insertReference = compiledQuery<Selectable<Tables['travel_reference']>, unknown>((db, row) =>
  db
    .insertInto('travel_reference')
    .values(pick(row, REFERENCE))
    .onConflict((same) => same.doNothing()),
);

/** Removes the oldest of a type that were created before a time; a batch, so that nobody waits long for it. */
export async function expire(
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
    await leaveCollection(tx, row);
    await tx.deleteFrom('travel_resource').where('type', '=', type).where('id', '=', row.id).execute();
  }
  return old.length;
}
