import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Identity } from '../../model/identity.ts';
import type { TravelUser } from '../../model/traveler.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { withoutIndex } from '../lists/list-filter.ts';
import { dirtyColumns } from '../queues/reconcile-queue.ts';
import type { Database } from '../sql/database.ts';
import { type Dialect, isDue } from '../sql/dialect.ts';
import { batches, parseJson } from '../sql/queries.ts';
import { statisticsOfIdentities } from '../sql/table-statistics.ts';
import type { IdentityTable, Tables } from '../sql/tables.ts';
import { deleteLinkedElsewhere, deleteUnclaimed } from './delete-identities.ts';
import { findErasedTravelers } from './erased-travelers.ts';
import { LONGEST_IMPORT_MS, laterSeenAt, type Row } from './identity-changes.ts';
import { observedColumns } from './identity-row.ts';
import { findLinked, findOpenCreates, isStoredAs, saveUnclaimed } from './unclaimed-identities.ts';

/** The stored state of a traveler's identity, for an import to detect whether the traveler has changed. */
export type KnownTraveler = Pick<
  Identity,
  'id' | 'travelId' | 'claimed' | 'observed' | 'rulesGeneration' | 'deletedAt'
>;

/** An identity whose traveler an import did not find in the list. */
export interface MissingTraveler {
  id: string;
  travelId: string;
  claimed: boolean;
}

/** An identity, and its traveler as an import or the event feed has read it. */
export interface SeenTraveler {
  id: string;
  /** Undefined if the state is not certain: the traveler must then be read before the next plan. */
  observed: TravelUser | undefined;
  /** The observed value when the reading began. If it has changed since, the reading is not saved. */
  before?: TravelUser;
}

export type Imports = ReturnType<typeof imports>;

/** The part of the store that imports and the event feed use. */
export function imports(database: Database) {
  const { db, scopeOf } = database;
  const updateStatistics = statisticsOfIdentities(database);
  return {
    /** Returns the identities of this connection for these travelers, claimed or not. */
    findKnown: (connection: string, travelIds: string[]) =>
      findKnownTravelers(db, scopeOf(connection), travelIds),
    /** Returns the travelers that a claimed identity of another connection of the account has. */
    findLinkedElsewhere: (connection: string, account: string, travelIds: string[]) =>
      findLinked(db, { account, except: connection }, travelIds),
    /** Returns the travelers whose person was erased (GDPR). */
    findErased: (account: string, travelIds: string[]): Promise<ReadonlySet<string>> =>
      findErasedTravelers(db, account, travelIds),
    /** Returns the keys (`addressKey`) of the addresses that creates in the account have reserved. */
    findOpenCreates: (account: string): Promise<string[]> => findOpenCreates(db, account),
    /**
     * Inserts or refreshes unclaimed identities. Skips those whose userName is taken or whose traveler was linked
     * meanwhile.
     */
    saveUnclaimed: async (identities: Identity[], seenAt: number): Promise<void> => {
      await saveUnclaimed(database, identities, seenAt);
      await updateStatistics(identities.length);
    },
    /** Deletes those of these unclaimed identities whose traveler another connection of the account has linked. */
    deleteLinkedElsewhere: (connection: string, ids: string[]): Promise<void> =>
      deleteLinkedElsewhere(database, scopeOf(connection), ids),
    /** Deletes those of these identities that no IdP has claimed. */
    deleteUnclaimed: async (connection: string, ids: string[]): Promise<void> => {
      const scope = scopeOf(connection);
      for (const batch of batches(ids))
        await database.transaction((tx) =>
          deleteUnclaimed(tx, (row) => row.and([inScope(scope), row('id', 'in', batch)])),
        );
    },
    /** Saves the observed travelers of claimed identities and makes these dirty. */
    saveObserved: (connection: string, seen: SeenTraveler[], seenAt: number): Promise<void> =>
      saveObserved(database, scopeOf(connection), { seen, seenAt }),
    /** Records that the travelers of these identities were listed at this time, without changing their observed values. */
    markSeen: async (connection: string, ids: string[], seenAt: number): Promise<void> => {
      const scope = scopeOf(connection);
      for (const batch of batches(ids)) {
        await db
          .updateTable('identity')
          .set((row) => ({ seen_at: laterSeenAt(row, seenAt) }))
          .where(inScope(scope))
          .where('id', 'in', batch)
          .execute();
      }
    },
    findMissing: (connection: string, since: number) => findMissingTravelers(db, scopeOf(connection), since),
    deleteStale: (connection: string, since: number) => deleteStale(database, scopeOf(connection), since),
  };
}

async function findKnownTravelers(
  db: Kysely<Tables>,
  scope: Scope,
  travelIds: string[],
): Promise<KnownTraveler[]> {
  const found: KnownTraveler[] = [];
  for (const batch of batches(travelIds)) {
    const rows = await db
      .selectFrom('identity')
      .select(['id', 'travel_id', 'claimed', 'observed', 'rules_generation', 'deleted_at'])
      .where(inScope(scope))
      .where('travel_id', 'in', batch)
      .execute();
    found.push(...rows.map(toKnownTraveler));
  }
  return found;
}

function toKnownTraveler(
  row: Pick<IdentityTable, 'id' | 'travel_id' | 'claimed' | 'observed' | 'rules_generation' | 'deleted_at'>,
): KnownTraveler {
  return {
    id: row.id,
    travelId: row.travel_id ?? undefined,
    claimed: row.claimed === 1,
    observed: row.observed === null ? undefined : parseJson(row.observed),
    rulesGeneration: row.rules_generation,
    deletedAt: row.deleted_at ?? undefined,
  };
}

/** The travelers that an import has observed, and the time at which it began to read them. */
interface Observation {
  seen: SeenTraveler[];
  seenAt: number;
}

/**
 * Saves observed travelers, makes their identities dirty and records that the import has seen them. If an identity has a
 * lease, or its stored observation differs from `before`, the new observation may be outdated: the stored one is cleared,
 * so that the next reconciliation reads the traveler. All of it is one transaction: if a reconciliation or the process
 * ended in between, the identity would be clean, and no later import would see a change.
 */
export async function saveObserved(
  { transaction, dialect }: Database,
  scope: Scope,
  { seen, seenAt }: Observation,
): Promise<void> {
  for (const batch of batches(seen, 100)) {
    await transaction((tx) => saveObservedBatch({ tx, dialect }, scope, { seen: batch, seenAt }));
  }
}

async function saveObservedBatch(
  { tx, dialect }: { tx: Kysely<Tables>; dialect: Dialect },
  scope: Scope,
  { seen, seenAt }: Observation,
): Promise<void> {
  const ids = seen.map(({ id }) => id);
  const read = tx
    .selectFrom('identity')
    .select(['id', 'observed', 'lease_until'])
    .where(inScope(scope))
    .where('id', 'in', ids)
    .orderBy('id');
  // Locked, so that the outcome of a reconciliation is not overwritten with an older observation.
  const rows = await dialect.lockValues(read).execute();
  const stored = new Map(rows.map((row) => [row.id, row]));
  for (const observation of seen) {
    const row = stored.get(observation.id);
    if (!row || isStoredAs(row.observed, observation.observed)) continue;
    // A lease that has ended and was not given back counts as well: the next attempt reads the traveler anyway.
    const isHeld = row.lease_until !== null;
    const isOutdated = observation.before !== undefined && !isStoredAs(row.observed, observation.before);
    await tx
      .updateTable('identity')
      .set(observedColumns(isHeld || isOutdated ? undefined : observation.observed))
      .where(inScope(scope))
      .where('id', '=', observation.id)
      .execute();
  }
  // The higher revision makes writes and attempts that began with the earlier observation begin again.
  const mark = tx
    .updateTable('identity')
    .set((identity) => ({ ...dirtyColumns(identity, seenAt), seen_at: laterSeenAt(identity, seenAt) }));
  await mark.where(inScope(scope)).where('id', 'in', ids).execute();
}

/**
 * Deletes the unclaimed identities that the complete import begun at `since` has not seen. Returns the ids of the
 * linked claimed identities that it has not seen, including tombstones, because a deleted traveler frees its email
 * address. An identity that the IdP has written since `since` counts as seen: its traveler may be newer than the page
 * that would contain it.
 */
export async function deleteStale(database: Database, scope: Scope, since: number): Promise<string[]> {
  const { db } = database;
  const unseen = await findMissingTravelers(db, scope, since);
  const unclaimed = unseen.filter(({ claimed }) => !claimed).map(({ id }) => id);
  for (const batch of batches(unclaimed)) await deleteUnclaimedBatch(database, scope, { batch, since });
  const tombstones = await selectUnseen(db, scope, since)
    .where('deleted_at', 'is not', null)
    .where('claimed', '=', sql.lit(1))
    .execute();
  return [...unseen.filter(({ claimed }) => claimed), ...tombstones].map(({ id }) => id);
}

/**
 * Returns the linked identities that the import begun at `since` has not seen, without the tombstones of users whom the IdP has
 * sent. Identities that the IdP has written since then count as seen.
 */
export async function findMissingTravelers(
  db: Kysely<Tables>,
  scope: Scope,
  since: number,
): Promise<MissingTraveler[]> {
  const rows = await selectUnseen(db, scope, since)
    .where((row) => row.or([row('deleted_at', 'is', null), row('claimed', '=', sql.lit(0))]))
    .execute();
  return rows.flatMap(({ id, travel_id, claimed }) =>
    travel_id === null ? [] : [{ id, travelId: travel_id, claimed: claimed === 1 }],
  );
}

function selectUnseen(db: Kysely<Tables>, scope: Scope, since: number) {
  return (
    db
      .selectFrom('identity')
      .select(['id', 'travel_id', 'claimed'])
      .where(inScope(scope))
      .where((row) => isUnseen(row, since))
      // Most identities have a traveler: only the time finds few of them.
      .where(sql<SqlBool>`${withoutIndex(sql`travel_id is not null`)}`)
  );
}

/** Seen before this time. A time that is later than the end of the longest import is that of a wrong clock. */
function isUnseen(row: Row, since: number) {
  return isDue(row.ref('seen_at'), sql.val(since - 1), LONGEST_IMPORT_MS);
}

async function deleteUnclaimedBatch(
  { transaction }: Database,
  scope: Scope,
  { batch, since }: { batch: string[]; since: number },
): Promise<void> {
  await transaction(async (tx) => {
    await deleteUnclaimed(tx, (row) =>
      row.and([
        inScope(scope),
        row('id', 'in', batch),
        // Check again: a search by an IdP may have found the traveler meanwhile.
        isUnseen(row, since),
      ]),
    );
  });
}
