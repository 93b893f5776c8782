import type { AlarmCount } from '../../provisioning/holds/holds.ts';
import { inScope, scopeColumns } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';

export type ReportedHolds = ReturnType<typeof reportedHolds>;

/**
 * The store of the holds and other alarms that were reported, so that one of several replicas reports each change: each report is
 * claimed by one conditional statement. `open`, `grow` and `clear` return true to the one that must report it.
 */
export function reportedHolds({ db, scopeOf }: Database) {
  return {
    list: async (): Promise<{ hold: AlarmCount; at: number }[]> => {
      const rows = await db.selectFrom('hold_alarm').selectAll().execute();
      return rows.map(({ connection_id, cause, count, since, reported_at }) => ({
        hold: { connection: connection_id, cause: cause as AlarmCount['cause'], count, since }, // Only these causes are written.
        at: reported_at,
      }));
    },
    open: async ({ connection, cause, count, since }: AlarmCount, now: number): Promise<boolean> => {
      const inserted = await db
        .insertInto('hold_alarm')
        .values({ ...scopeColumns(scopeOf(connection)), cause, count, since, reported_at: now })
        .onConflict((conflict) => conflict.columns(['account', 'connection_id', 'cause']).doNothing())
        .returning('cause')
        .executeTakeFirst();
      return inserted !== undefined;
    },
    /** Also returns false if the hold was reported less than `againMs` milliseconds ago. */
    grow: async (
      { connection, cause, count }: AlarmCount,
      now: number,
      againMs: number,
    ): Promise<boolean> => {
      const { numUpdatedRows } = await db
        .updateTable('hold_alarm')
        .set({ count, reported_at: now })
        .where(inScope(scopeOf(connection)))
        .where('cause', '=', cause)
        // A time in the future is that of a clock that was set back.
        .where((row) => row.or([row('reported_at', '<=', now - againMs), row('reported_at', '>', now)]))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    clear: async ({ connection, cause }: AlarmCount): Promise<boolean> => {
      const { numDeletedRows } = await db
        .deleteFrom('hold_alarm')
        .where(inScope(scopeOf(connection)))
        .where('cause', '=', cause)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
