import type { AlarmCount } from '../provisioning/hold-ports.ts';
import type { ReportedHolds } from '../provisioning/replica-ports.ts';
import type { Database } from './database.ts';

/** Returns the store of the holds that were reported. Each report is claimed by one conditional statement. */
export function reportedHolds({ db, scopeOf }: Database): ReportedHolds {
  const keyOf = (connection: string, cause: AlarmCount['cause']) => ({
    account: scopeOf(connection).account,
    connection_id: connection,
    cause,
  });
  return {
    list: async () => {
      const rows = await db.selectFrom('hold_alarm').selectAll().execute();
      return rows.map(({ connection_id, cause, count, since, reported_at }) => ({
        hold: { connection: connection_id, cause: cause as AlarmCount['cause'], count, since }, // Only these causes are written.
        at: reported_at,
      }));
    },
    open: async ({ connection, cause, count, since }, now) => {
      const inserted = await db
        .insertInto('hold_alarm')
        .values({ ...keyOf(connection, cause), count, since, reported_at: now })
        .onConflict((conflict) => conflict.columns(['account', 'connection_id', 'cause']).doNothing())
        .returning('cause')
        .executeTakeFirst();
      return inserted !== undefined;
    },
    grow: async ({ connection, cause, count }, now, againMs) => {
      const key = keyOf(connection, cause);
      const { numUpdatedRows } = await db
        .updateTable('hold_alarm')
        .set({ count, reported_at: now })
        .where('account', '=', key.account)
        .where('connection_id', '=', connection)
        .where('cause', '=', cause)
        // A time in the future is that of a clock that was set back.
        .where((row) => row.or([row('reported_at', '<=', now - againMs), row('reported_at', '>', now)]))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    clear: async ({ connection, cause }) => {
      const { numDeletedRows } = await db
        .deleteFrom('hold_alarm')
        .where('account', '=', keyOf(connection, cause).account)
        .where('connection_id', '=', connection)
        .where('cause', '=', cause)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
