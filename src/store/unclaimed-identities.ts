import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import type { Identity } from '../provisioning/identity.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import type { Database } from './database.ts';
import { findErasedTravelers } from './erased-travelers.ts';
import { insertEmailKeys, replaceEmailKeys } from './identity-changes.ts';
import { desiredColumns, observedColumns, toRow } from './identity-row.ts';
import { countIdentities } from './list-counters.ts';
import { batches, parseJson } from './queries.ts';
import { caseFoldedKey } from './search-keys.ts';
import type { IdentityTable, Tables } from './tables.ts';

/** The batch size keeps transactions short, so that writes of IdPs do not wait long for an import. */
const ROWS_PER_TRANSACTION = 100;

/**
 * Inserts unclaimed identities and refreshes existing ones. Skips travelers that are linked or being created in the
 * account, travelers whose person was erased, and those whose userName is taken.
 */
export async function saveUnclaimed(
  { transaction, scopeOf }: Database,
  identities: Identity[],
  seenAt: number,
): Promise<void> {
  for (const connection of new Set(identities.map((identity) => identity.connection))) {
    const own = identities.filter((identity) => identity.connection === connection);
    for (const batch of batches(own, ROWS_PER_TRANSACTION)) {
      await transaction((tx) => saveBatch(tx, scopeOf(connection), { batch, seenAt }));
    }
  }
}

async function saveBatch(
  tx: Kysely<Tables>,
  scope: Scope,
  { batch, seenAt }: { batch: Identity[]; seenAt: number },
): Promise<void> {
  const { account } = scope;
  const travelIds = batch.map(travelIdOf);
  const linked = await findLinkedTravelIds(tx, account, travelIds);
  const erased = await findErasedTravelers(tx, account, travelIds);
  const free = batch.filter((identity) => {
    const travelId = travelIdOf(identity);
    return !linked.has(travelId) && !erased.has(travelId);
  });
  const known = await findUnclaimedRows(tx, scope, travelIds);
  await refreshUnclaimed(tx, scope, {
    seenAt,
    refreshes: free.flatMap((identity) => {
      const before = known.get(travelIdOf(identity));
      return before ? { before, identity } : [];
    }),
  });
  const open = await findOpenCreates(tx, account, batch.map(emailKeyOf));
  const newIdentities = free.filter(
    (identity) => !known.has(travelIdOf(identity)) && !open.has(emailKeyOf(identity)),
  );
  await insertUnclaimed(tx, scope, { newIdentities, seenAt });
}

/** Unclaimed identities always have a traveler. */
function travelIdOf({ travelId }: Identity): string {
  return travelId ?? '';
}

function emailKeyOf({ observed }: Identity): string {
  return caseFoldedKey(observed?.email ?? '');
}

async function findLinkedTravelIds(
  tx: Kysely<Tables>,
  account: string,
  travelIds: string[],
): Promise<Set<string | null>> {
  const rows = await tx
    .selectFrom('identity')
    .select('travel_id')
    .where('account', '=', account)
    .where('travel_id', 'in', travelIds)
    .where('claimed', '=', sql.lit(1))
    .execute();
  return new Set(rows.map(({ travel_id }) => travel_id));
}

async function findUnclaimedRows(
  tx: Kysely<Tables>,
  scope: Scope,
  travelIds: string[],
): Promise<Map<string | null, UnclaimedRow>> {
  const rows = await tx
    .selectFrom('identity')
    .select(['id', 'travel_id', 'version', 'desired', 'observed', 'active', 'deleted_at'])
    .where(inScope(scope))
    .where('travel_id', 'in', travelIds)
    .execute();
  return new Map(rows.map((row) => [row.travel_id, row]));
}

/**
 * Returns those addresses with which a traveler is being created. That traveler will belong to the identity that
 * creates it.
 */
async function findOpenCreates(
  tx: Kysely<Tables>,
  account: string,
  addresses: string[],
): Promise<Set<string | null>> {
  const rows = await tx
    .selectFrom('identity')
    .select('creating_key')
    .where('account', '=', account)
    .where('creating_key', 'in', addresses)
    .execute();
  return new Set(rows.map(({ creating_key }) => creating_key));
}

async function insertUnclaimed(
  tx: Kysely<Tables>,
  scope: Scope,
  { newIdentities, seenAt }: { newIdentities: Identity[]; seenAt: number },
): Promise<void> {
  if (newIdentities.length === 0) return;
  const rows = newIdentities.map((identity) => toRow(identity, scope.account, seenAt));
  const inserted = await tx
    .insertInto('identity')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'active', 'deleted_at'])
    .execute();
  const ids = new Set(inserted.map(({ id }) => id));
  await insertEmailKeys(
    tx,
    scope,
    newIdentities.filter(({ id }) => ids.has(id)),
  );
  await countIdentities(
    tx,
    scope,
    inserted.map((now) => ({ now })),
  );
}

/** The columns of an unclaimed identity that are derived from its traveler. */
export type UnclaimedRow = Pick<
  IdentityTable,
  'id' | 'version' | 'desired' | 'observed' | 'active' | 'deleted_at'
>;

/** A stored unclaimed identity, and the identity translated from the present state of its traveler. */
interface UnclaimedRefresh {
  before: UnclaimedRow;
  identity: Identity;
}

/**
 * Updates unclaimed identities of one connection to the current state of their travelers. Most are unchanged and are
 * only marked as seen.
 */
export async function refreshUnclaimed(
  tx: Kysely<Tables>,
  scope: Scope,
  { refreshes, seenAt }: { refreshes: UnclaimedRefresh[]; seenAt: number },
): Promise<void> {
  const [first] = refreshes;
  if (!first) return;
  const { rulesGeneration } = first.identity;
  const mark = tx.updateTable('identity').set({ seen_at: seenAt, rules_generation: rulesGeneration });
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

function isStoredAs(stored: string | null, now: unknown): boolean {
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
  const isRefreshed = hasChanged && !(await isNameTaken(tx, scope, { desired, id: before.id }));
  const changes = { ...desiredColumns(desired), version: before.version + 1, last_modified: lastModified };
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
  await replaceEmailKeys(tx, scope, { id: before.id, desired });
  if (before.active === changes.active) return;
  await countIdentities(tx, scope, [{ before, now: { ...before, active: changes.active } }]);
}

/**
 * Returns true if another user has the userName. The identity then keeps its old desired state, because a userName is
 * unique.
 */
async function isNameTaken(
  tx: Kysely<Tables>,
  scope: Scope,
  { id, desired }: Pick<Identity, 'id' | 'desired'>,
): Promise<boolean> {
  const { user_name_key } = desiredColumns(desired);
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
