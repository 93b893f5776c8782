import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import { liveOf, recount } from './census.ts';
import { leaveGroups } from './memberships.ts';
import type { Tables } from './tables.ts';

/** Which unclaimed identities are meant. */
type Which = (row: ExpressionBuilder<Tables, 'identity'>) => Expression<SqlBool>;

/** Removes unclaimed identities with all that hangs on them, and answers how many there were. */
export async function eraseUnclaimed(tx: Kysely<Tables>, which: Which): Promise<number> {
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
export async function eraseUnclaimedOf(
  tx: Kysely<Tables>,
  traveler: { account: string; travelId: string },
  keep: { connection: string; id: string },
): Promise<void> {
  await eraseUnclaimed(tx, (row) =>
    row.and([
      row('account', '=', traveler.account),
      row('travel_id', '=', traveler.travelId),
      row.or([row('connection_id', '<>', keep.connection), row('id', '<>', keep.id)]),
    ]),
  );
}
