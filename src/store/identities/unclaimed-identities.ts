import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import type { Identity } from '../../model/identity.ts';
import { isActive } from '../../schema/resource.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { type CountedIdentity, countIdentities } from '../lists/list-counters.ts';
import type { Database } from '../sql/database.ts';
import { batches, compiledInsert, parseJson } from '../sql/queries.ts';
import { caseFoldedKey } from '../sql/search-keys.ts';
import type { IdentityTable, Tables } from '../sql/tables.ts';
import { deleteLinkedElsewhere } from './delete-identities.ts';
import { insertEmailKeys, updateEmailKeys } from './email-keys.ts';
import { findErasedTravelers } from './erased-travelers.ts';
import { laterSeenAt } from './identity-changes.ts';
import { desiredColumns, observedColumns, toRow } from './identity-row.ts';

/**
 * Number of identities in one transaction. Larger batches write each page of an index less often; writes of IdPs wait for a
 * batch on SQLite.
 */
const ROWS_PER_TRANSACTION = 1_000;
/** The number of repetitions for a batch that failed because another writer has just taken a userName. */
const MAX_REPETITIONS = 3;

/**
 * Inserts unclaimed identities and refreshes existing ones. Skips travelers that are linked or being created in the
 * account, travelers whose person was erased, and those whose userName is taken.
 */
export async function saveUnclaimed(
  database: Database,
  identities: Identity[],
  seenAt: number,
): Promise<void> {
  for (const connection of new Set(identities.map((identity) => identity.connection))) {
    const own = identities.filter((identity) => identity.connection === connection);
    for (const batch of batches(own, ROWS_PER_TRANSACTION)) {
      const scope = database.scopeOf(connection);
      const inserted = await saveBatch(database, scope, { batch, seenAt });
      // On SQLite, transactions do not overlap.
      if (database.dialect.isShared) await deleteLinkedElsewhere(database, scope, inserted);
    }
  }
}

interface Batch {
  batch: Identity[];
  seenAt: number;
}

/**
 * The commit does not wait for the disk, because the next import reads the travelers again. A refresh may lose its new
 * userName to another writer after having looked for it. The transaction then fails, and finds the other user when it is
 * run again. Returns the ids of the inserted identities.
 */
async function saveBatch(
  { transaction, isDuplicate }: Database,
  scope: Scope,
  batch: Batch,
): Promise<string[]> {
  for (let repetition = 0; ; repetition += 1) {
    try {
      return await transaction((tx) => insertOrRefresh(tx, scope, batch), { durable: false });
    } catch (error) {
      if (!isDuplicate(error) || repetition === MAX_REPETITIONS) throw error;
    }
  }
}

/**
 * Inserts first and looks for reasons against it afterwards. Writers that link, create or erase a traveler may commit at any
 * time: what they commit before the insert is found after it. Returns the ids of the inserted identities.
 */
async function insertOrRefresh(
  tx: Kysely<Tables>,
  scope: Scope,
  { batch, seenAt }: Batch,
): Promise<string[]> {
  const rows = batch.map((identity) => toRow(identity, scope.account, seenAt));
  const inserted = new Set((await insertNewRows(tx, rows)).map(({ id }) => id));
  const unwanted = await findUnwanted(tx, scope, batch);
  const isNew = ({ id }: Identity) => inserted.has(id);
  const isTaken = (identity: Identity) => unwanted.travelIds.has(travelIdOf(identity));
  const isRefused = (identity: Identity) => isTaken(identity) || unwanted.emails.has(emailKeyOf(identity));
  const newcomers = batch.filter(isNew);
  await deleteInserted(tx, scope, newcomers.filter(isRefused));
  const kept = newcomers.filter((identity) => !isRefused(identity));
  await insertEmailKeys(tx, scope, kept);
  const counted = kept.map((identity) => ({ now: countedIdentity(identity) }));
  await countIdentities(tx, scope, counted);
  const known = batch.filter((identity) => !isNew(identity) && !isTaken(identity));
  await refreshKnown(tx, scope, { batch: known, seenAt });
  return kept.map(({ id }) => id);
}

/** Rows of which a unique value exists are left out. */
const insertNewRows = compiledInsert((db, rows: IdentityTable[]) =>
  db
    .insertInto('identity')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/** The travelers that no connection may list as unclaimed, and the addresses with which travelers are being created. */
async function findUnwanted(
  tx: Kysely<Tables>,
  { account }: Scope,
  batch: Identity[],
): Promise<{ travelIds: Set<string | null>; emails: Set<string | null> }> {
  const travelIds = batch.map(travelIdOf);
  // First: a create that ends between two of these statements has linked its traveler.
  const emails = new Set(await findOpenCreates(tx, account));
  const linked = await findLinked(tx, { account }, travelIds);
  const erased = await findErasedTravelers(tx, account, travelIds);
  return { travelIds: new Set([...linked, ...erased]), emails };
}

/** Deletes rows that this transaction has inserted. Nothing refers to them yet. */
async function deleteInserted(tx: Kysely<Tables>, scope: Scope, identities: Identity[]): Promise<void> {
  if (identities.length === 0) return;
  const ids = identities.map(({ id }) => id);
  await tx.deleteFrom('identity').where(inScope(scope)).where('id', 'in', ids).execute();
}

function countedIdentity({ desired }: Identity): CountedIdentity {
  return { deleted_at: null, active: isActive(desired) ? 1 : 0, claimed: 0 };
}

/** Unclaimed identities always have a traveler. */
function travelIdOf({ travelId }: Identity): string {
  return travelId ?? '';
}

function emailKeyOf({ observed }: Identity): string {
  return caseFoldedKey(observed?.email ?? '');
}

/** Returns those of these travelers that a claimed identity of the account has; without the identities of `except`, a connection. */
export async function findLinked(
  db: Kysely<Tables>,
  { account, except = '' }: { account: string; except?: string },
  travelIds: string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const batch of batches(travelIds)) {
    const rows = await db
      .selectFrom('identity')
      .select('travel_id')
      .where('account', '=', account)
      .where('travel_id', 'in', batch)
      .where('claimed', '=', sql.lit(1))
      .where('connection_id', '<>', except)
      .execute();
    found.push(...rows.flatMap(({ travel_id }) => travel_id ?? []));
  }
  return found;
}

/**
 * Returns the keys of the addresses with which travelers are being created. Each traveler will belong to the identity that
 * creates it.
 */
export async function findOpenCreates(db: Kysely<Tables>, account: string): Promise<string[]> {
  const rows = await db
    .selectFrom('identity')
    .select('creating_key')
    .where('account', '=', account)
    .where('creating_key', 'is not', null)
    .execute();
  return rows.flatMap(({ creating_key }) => creating_key ?? []);
}

async function refreshKnown(tx: Kysely<Tables>, scope: Scope, { batch, seenAt }: Batch): Promise<void> {
  if (batch.length === 0) return;
  const rows = await tx
    .selectFrom('identity')
    .select(['id', 'travel_id', 'version', 'desired', 'observed', 'active', 'deleted_at'])
    .where(inScope(scope))
    .where('travel_id', 'in', batch.map(travelIdOf))
    .where('claimed', '=', sql.lit(0))
    .execute();
  const known = new Map(rows.map((row) => [row.travel_id, row]));
  const refreshes = batch.flatMap((identity) => {
    const before = known.get(travelIdOf(identity));
    return before ? { before, identity } : [];
  });
  await refreshUnclaimed(tx, scope, { refreshes, seenAt });
}

/** The columns of an unclaimed identity that are derived from its traveler. */
type UnclaimedRow = Pick<IdentityTable, 'id' | 'version' | 'desired' | 'observed' | 'active' | 'deleted_at'>;

/** A stored unclaimed identity, and the identity translated from the present state of its traveler. */
interface UnclaimedRefresh {
  before: UnclaimedRow;
  identity: Identity;
}

/**
 * Updates unclaimed identities of one connection to the current state of their travelers. Most are unchanged and are
 * only marked as seen.
 */
async function refreshUnclaimed(
  tx: Kysely<Tables>,
  scope: Scope,
  { refreshes, seenAt }: { refreshes: UnclaimedRefresh[]; seenAt: number },
): Promise<void> {
  const [first] = refreshes;
  if (!first) return;
  const { rulesGeneration } = first.identity;
  const mark = tx
    .updateTable('identity')
    .set((row) => ({ seen_at: laterSeenAt(row, seenAt), rules_generation: rulesGeneration }));
  const ids = refreshes.map(({ before }) => before.id);
  await mark.where(inScope(scope)).where('id', 'in', ids).execute();
  for (const refresh of refreshes) {
    if (
      !isStoredAs(refresh.before.observed, refresh.identity.observed) ||
      !isStoredAs(refresh.before.desired, refresh.identity.desired)
    ) {
      await refreshIdentity(tx, scope, refresh);
    }
  }
}

/** Returns whether the stored JSON is of the same value as the one of now. */
export function isStoredAs(stored: string | null, now: unknown): boolean {
  return isDeepStrictEqual(stored === null ? undefined : parseJson(stored), now);
}

/** Updates one identity. Its version and lastModified change only if the SCIM user changes. */
async function refreshIdentity(
  tx: Kysely<Tables>,
  scope: Scope,
  { before, identity }: UnclaimedRefresh,
): Promise<void> {
  const { desired, observed, lastModified } = identity;
  const hasChanged = !isStoredAs(before.desired, desired);
  // Clients do not see a tombstone. It keeps its version, to which the decision of an admin applies.
  const isDeleted = before.deleted_at !== null;
  const isRefreshed =
    hasChanged &&
    (isDeleted || !(await isUserNameTaken(tx, scope, { ...desiredColumns(desired), id: before.id })));
  const version = isDeleted ? {} : { version: before.version + 1, last_modified: lastModified };
  const changes = { ...desiredColumns(desired), ...version };
  const { numUpdatedRows } = await tx
    .updateTable('identity')
    // Clear the generation of the rules if the userName is taken: the stored state does not match any rules, so it must be
    // refreshed again.
    .set({
      ...observedColumns(observed),
      ...(isRefreshed ? changes : hasChanged ? { rules_generation: 0 } : {}),
    })
    .where(inScope(scope))
    .where('id', '=', before.id)
    .where('claimed', '=', 0)
    .where('version', '=', before.version)
    .executeTakeFirst();
  if (!isRefreshed || numUpdatedRows === 0n) return;
  await updateEmailKeys(tx, scope, { id: before.id, desired, before: parseJson(before.desired) });
  if (before.active === changes.active) return;
  const counted = { ...before, claimed: 0 } as const;
  await countIdentities(tx, scope, [{ before: counted, now: { ...counted, active: changes.active } }]);
}

/**
 * Returns true if another user has the userName. An unclaimed identity then keeps its old desired state, because a userName
 * is unique.
 */
export async function isUserNameTaken(
  tx: Kysely<Tables>,
  scope: Scope,
  { id, user_name_key }: Pick<IdentityTable, 'id' | 'user_name_key'>,
): Promise<boolean> {
  if (user_name_key === null) return false;
  const other = await tx
    .selectFrom('identity')
    .select('id')
    .where(inScope(scope))
    .where('user_name_key', '=', user_name_key)
    .where('deleted_at', 'is', null)
    .where('id', '<>', id)
    .executeTakeFirst();
  return other !== undefined;
}
