import { type Kysely, sql } from 'kysely';
import type { Retention } from '../provisioning/store-ports.ts';
import { wakeWaiting } from './connections.ts';
import { liveOf, recount } from './counters.ts';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

/** The end of what is kept for a limited time, in a database. */
export function retention({ db }: Database): Retention {
  return {
    expireTombstones: (connection, { before, now, limit }) =>
      db.transaction().execute((tx) => expireTombstones(tx, connection, { before, now, limit })),
  };
}

type Bounds = Parameters<Retention['expireTombstones']>[1];

/** A tombstone with work left to do, or that a reconciler holds, stays. */
async function expireTombstones(
  tx: Kysely<Tables>,
  connection: string,
  { before, now, limit }: Bounds,
): Promise<number> {
  const expired = await tx
    .deleteFrom('identity')
    .where('connection_id', '=', connection)
    .where('id', 'in', (old) =>
      old
        .selectFrom('identity')
        .select('id')
        .where('connection_id', '=', connection)
        .where('deleted_at', 'is not', null)
        .where('deleted_at', '<', before)
        .where('state', '=', sql.lit('synced'))
        .where('check_at', '=', sql.lit(0))
        .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<=', now)]))
        .orderBy('deleted_at')
        .limit(limit),
    )
    .returning(['account', 'id', 'position', 'active', 'deleted_at', 'travel_email_key'])
    .execute();
  const [first] = expired;
  if (!first) return 0;
  await recount(
    tx,
    connection,
    expired.map((row) => ({ before: { ...row, live: liveOf(row) } })),
  );
  await tx
    .deleteFrom('departure')
    .where('connection_id', '=', connection)
    .where(
      'identity_id',
      'in',
      expired.map(({ id }) => id),
    )
    .execute();
  const freed = expired.flatMap(({ travel_email_key: key }) => key ?? []);
  await wakeWaiting(tx, first.account, [...new Set(freed)]);
  return expired.length;
}
