import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type { Identity } from '../../model/identity.ts';
import type { Retention } from '../../model/store-ports.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { countIdentities } from '../lists/list-counters.ts';
import { markDirty, markWaitersDirty } from '../queues/reconcile-queue.ts';
import type { Database } from '../sql/database.ts';
import { batches, compiledQuery } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** A condition that selects the identities to delete. */
type IdentityCondition = (row: ExpressionBuilder<Tables, 'identity'>) => Expression<SqlBool>;

/** Deletes unclaimed identities with their memberships and counters. Returns the number of deleted identities. */
export async function deleteUnclaimed(tx: Kysely<Tables>, which: IdentityCondition): Promise<number> {
  const erased = await tx
    .deleteFrom('identity')
    .where('claimed', '=', sql.lit(0))
    .where(which)
    .returning(['account', 'connection_id', 'id', 'deleted_at', 'active', 'claimed'])
    .execute();
  const scopes = new Map(erased.map((row) => [row.connection_id, row.account]));
  for (const [connection, account] of scopes) {
    const scope = { account, connection };
    const rows = erased.filter((row) => row.connection_id === connection);
    await removeFromGroups(tx, scope, { ids: rows.map(({ id }) => id) });
    await countIdentities(
      tx,
      scope,
      rows.map((before) => ({ before })),
    );
  }
  return erased.length;
}

/** An unclaimed identity that is about to be deleted, and the identity of the same person that takes its place. */
interface Succession {
  id: string;
  heir: Pick<Identity, 'id'> & Partial<Pick<Identity, 'lastModified'>>;
}

/**
 * Moves the memberships of an unclaimed identity, and the references to it, to the identity that takes its place. The groups get a new
 * version, and `heir.lastModified` if a request has caused the move. Returns true if there was a membership.
 */
export async function moveToHeir(
  tx: Kysely<Tables>,
  scope: Scope,
  { id, heir }: Succession,
): Promise<boolean> {
  const { lastModified } = heir;
  const memberships = tx.selectFrom('group_member').select('group_id').where(inScope(scope));
  // The groups first, like every writer of members.
  const { numUpdatedRows } = await tx
    .updateTable('scim_group')
    .set((row) => ({
      version: row('version', '+', 1),
      ...(lastModified === undefined ? {} : { last_modified: lastModified }),
    }))
    .where(inScope(scope))
    .where('id', 'in', memberships.where('value', '=', id))
    .executeTakeFirst();
  await moveMemberRows(tx, scope, { id, heir });
  await tx
    .updateTable('identity_reference')
    .set({ target: heir.id })
    .where(inScope(scope))
    .where('target', '=', id)
    .execute();
  return numUpdatedRows > 0n;
}

/** Moves the present memberships, and the former ones that still count. Those that the heir has already stay. */
async function moveMemberRows(tx: Kysely<Tables>, scope: Scope, { id, heir }: Succession): Promise<void> {
  const ofHeir = tx.selectFrom('group_member').select('group_id').where(inScope(scope));
  await tx
    .updateTable('group_member')
    .set({ value: heir.id })
    .where(inScope(scope))
    .where('value', '=', id)
    .where('group_id', 'not in', ofHeir.where('value', '=', heir.id))
    .execute();
  await tx
    .updateTable('former_member')
    .set({ user_id: heir.id })
    .where(inScope(scope))
    .where('user_id', '=', id)
    .where('name_key', 'not in', (of) =>
      of
        .selectFrom('former_member as own')
        .select('own.name_key')
        .where(inScope(scope, 'own'))
        .where('own.user_id', '=', heir.id),
    )
    .execute();
}

/**
 * Deletes the unclaimed identities of a traveler that is about to be linked to the identity `keep`. Only one identity
 * in an account has a traveler, and other connections do not list it (docs/architecture.md, Connections). That of the own connection leaves
 * its memberships to `keep`, which is then dirty.
 */
export async function deleteUnclaimedOf(
  tx: Kysely<Tables>,
  { account, connection, travelId, keep }: LinkedTraveler,
): Promise<void> {
  const { rows } = await selectRivals(tx, { account, connection, travelId, keep });
  if (rows.length === 0) return;
  const scope = { account, connection };
  for (const { id } of rows.filter((row) => row.connection_id === connection))
    if (await moveToHeir(tx, scope, { id, heir: { id: keep } }))
      await markDirty(tx, scope, { ids: [keep], now: 0 });
  const ids = rows.map(({ id }) => id);
  await deleteUnclaimed(tx, (row) =>
    row.and([row('account', '=', account), row('travel_id', '=', travelId), row('id', 'in', ids)]),
  );
}

const selectRivals = compiledQuery((db, linked: LinkedTraveler) => rivalsOf(db, linked));

/** Selects the unclaimed identities of the account that have the traveler, except for `keep`. */
export function rivalsOf(db: Kysely<Tables>, { account, connection, travelId, keep }: LinkedTraveler) {
  return db
    .selectFrom('identity as rival')
    .select(['rival.id', 'rival.connection_id'])
    .where('rival.account', '=', account)
    .where('rival.travel_id', '=', travelId)
    .where('rival.claimed', '=', sql.lit(0))
    .where((row) => row.or([row('rival.connection_id', '<>', connection), row('rival.id', '<>', keep)]));
}

interface LinkedTraveler extends Scope {
  /** Null if there is none. */
  travelId: string | null;
  keep: string;
}

/**
 * Deletes those of these unclaimed identities whose traveler another connection of the account has linked. Such an identity remains
 * if a link and an import overlap on PostgreSQL: neither transaction sees what the other has not committed.
 */
export async function deleteLinkedElsewhere(
  { transaction }: Pick<Database, 'transaction'>,
  scope: Scope,
  ids: string[],
): Promise<void> {
  for (const batch of batches(ids)) {
    await transaction((tx) =>
      deleteUnclaimed(tx, (row) =>
        row.and([
          inScope(scope),
          row('id', 'in', batch),
          row.exists(
            row
              .selectFrom('identity as holder')
              .select(sql.lit(1).as('one'))
              .where('holder.account', '=', scope.account)
              .whereRef('holder.travel_id', '=', 'identity.travel_id')
              .where('holder.claimed', '=', sql.lit(1))
              .where('holder.connection_id', '<>', scope.connection),
          ),
        ]),
      ),
    );
  }
}

/**
 * Removes deleted users and groups from the groups that contain them, raises the version of those groups, and returns the memberships. `at`
 * is the groups' new `lastModified`. Without it `lastModified` stays, because the traveler disappeared and no
 * request caused the change.
 */
export async function removeFromGroups(
  tx: Kysely<Tables>,
  scope: Scope,
  { ids, at }: { ids: string[]; at?: number },
): Promise<Tables['group_member'][]> {
  const removed: Tables['group_member'][] = [];
  const updateGroups = tx.updateTable('scim_group').set((row) => ({
    version: row('version', '+', 1),
    ...(at === undefined ? {} : { last_modified: at }),
  }));
  const own = updateGroups.where(inScope(scope));
  for (const batch of batches(ids)) {
    const members = tx.deleteFrom('group_member').where(inScope(scope)).where('value', 'in', batch);
    // The groups first, like every writer of members. A group that got a member meanwhile follows.
    const groups = await own
      .where('id', 'in', (group) =>
        group.selectFrom('group_member').select('group_id').where(inScope(scope)).where('value', 'in', batch),
      )
      .returning('id')
      .execute();
    const updated = new Set(groups.map(({ id }) => id));
    const left = await members.returningAll().execute();
    removed.push(...left);
    const late = new Set(left.map(({ group_id }) => group_id).filter((id) => !updated.has(id)));
    if (late.size > 0) await own.where('id', 'in', [...late]).execute();
  }
  return removed;
}

/** Returns the store operation that deletes expired tombstones. */
export function retention({ transaction, scopeOf, dialect }: Database): Retention {
  return {
    expireTombstones: (connection, { before, now, limit }) =>
      transaction((tx) =>
        expireTombstones(tx, scopeOf(connection), { before, now: dialect.now(now), limit }),
      ),
  };
}

type ExpiryBounds = Omit<Parameters<Retention['expireTombstones']>[1], 'now'> & { now: Expression<number> };

/** Tombstones that are dirty, leased or waiting for a late create are not deleted. */
async function expireTombstones(
  tx: Kysely<Tables>,
  scope: Scope,
  { before, now, limit }: ExpiryBounds,
): Promise<number> {
  const isExpired = (row: ExpressionBuilder<Tables, 'identity'>) =>
    row.and([
      inScope(scope),
      row('deleted_at', 'is not', null),
      row('deleted_at', '<', before),
      row('state', '=', sql.lit('synced')),
      row('check_at', '=', sql.lit(0)),
      row.or([row('lease_until', 'is', null), row('lease_until', '<=', now)]),
    ]);
  const expired = await tx
    .deleteFrom('identity')
    .where('id', 'in', (old) =>
      old.selectFrom('identity').select('id').where(isExpired).orderBy('deleted_at').limit(limit),
    )
    // Again, because another transaction may have changed the row since the search.
    .where(isExpired)
    .returning(['id', 'active', 'claimed', 'deleted_at', 'travel_id', 'travel_email_key'])
    .execute();
  if (expired.length === 0) return 0;
  await countIdentities(
    tx,
    scope,
    expired.map((before) => ({ before })),
  );
  await deleteDepartures(
    tx,
    scope,
    expired.flatMap(({ id, travel_id }) => [id, travel_id]),
  );
  const freed = expired.flatMap(({ travel_email_key: key }) => key ?? []);
  await markWaitersDirty(tx, scope.account, { keys: [...new Set(freed)], now: 0 });
  return expired.length;
}

/**
 * Deletes the departures of people and their former memberships, in all connections of the account, by their SCIM ids and travel ids.
 */
export async function deleteDepartures(
  tx: Kysely<Tables>,
  { account }: Pick<Scope, 'account'>,
  ids: (string | null)[],
): Promise<void> {
  const people = ids.filter((id) => id !== null);
  await tx
    .deleteFrom('departure')
    .where('account', '=', account)
    .where('identity_id', 'in', people)
    .execute();
  await tx
    .deleteFrom('former_member')
    .where('account', '=', account)
    .where('user_id', 'in', people)
    .execute();
}
