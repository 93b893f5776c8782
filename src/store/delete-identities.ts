import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import { liveOf, recount } from './counters.ts';
import { batches } from './statements.ts';
import type { Tables } from './tables.ts';

/** Which unclaimed identities are meant. */
type Which = (row: ExpressionBuilder<Tables, 'identity'>) => Expression<SqlBool>;

/** Removes unclaimed identities with all that hangs on them, and answers how many there were. */
export async function deleteUnclaimed(tx: Kysely<Tables>, which: Which): Promise<number> {
  const erased = await tx
    .deleteFrom('identity')
    .where('claimed', '=', sql.lit(0))
    .where(which)
    .returning(['connection_id', 'id', 'deleted_at', 'position', 'active'])
    .execute();
  for (const connection of new Set(erased.map((row) => row.connection_id))) {
    const rows = erased.filter((row) => row.connection_id === connection);
    await leaveGroups(tx, connection, { ids: rows.map(({ id }) => id) });
    await recount(
      tx,
      connection,
      rows.map((row) => ({ before: { ...row, live: liveOf(row) } })),
    );
  }
  return erased.length;
}

/**
 * Removes the unclaimed identities of a traveler who gets a claimed one: a traveler has one link in an account, and is
 * shown by no other connection (docs/architecture.md, Connections). `keep` is the identity itself.
 */
export async function deleteUnclaimedOf(
  tx: Kysely<Tables>,
  traveler: { account: string; travelId: string },
  keep: { connection: string; id: string },
): Promise<void> {
  await deleteUnclaimed(tx, (row) =>
    row.and([
      row('account', '=', traveler.account),
      row('travel_id', '=', traveler.travelId),
      row.or([row('connection_id', '<>', keep.connection), row('id', '<>', keep.id)]),
    ]),
  );
}

/**
 * Removes users and groups that are gone from the groups that contain them, and raises the version of each of those, as
 * its members have changed. `at` is its new `lastModified`; without it, because no request caused the change but a
 * traveler that is gone, `lastModified` stays.
 */
export async function leaveGroups(
  tx: Kysely<Tables>,
  connection: string,
  { ids, at }: { ids: string[]; at?: number },
): Promise<void> {
  const left = new Set<string>();
  for (const batch of batches(ids)) {
    const rows = await tx
      .deleteFrom('group_member')
      .where('connection_id', '=', connection)
      .where('value', 'in', batch)
      .returning('group_id')
      .execute();
    for (const { group_id } of rows) left.add(group_id);
  }
  for (const batch of batches([...left])) {
    await tx
      .updateTable('scim_group')
      .set((row) => ({
        version: row('version', '+', 1),
        ...(at === undefined ? {} : { last_modified: at }),
      }))
      .where('connection_id', '=', connection)
      .where('id', 'in', batch)
      .execute();
  }
}
