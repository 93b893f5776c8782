import { sql } from 'kysely';
import type { Replicas } from '../provisioning/replica-ports.ts';
import type { Database } from './database.ts';

/** A replica that has recorded nothing for this time, in milliseconds, counts as dead. */
const ALIVE_MS = 20_000;

/** Returns the store of live replicas. Times are compared by the database's clock. */
export function replicas({ db, dialect }: Database): Replicas {
  return {
    heartbeat: async (id, now) => {
      const clock = dialect.now(now);
      await db
        .insertInto('replica')
        .values({ id, seen_at: clock })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: clock }))
        .execute();
      const latest = sql<number>`${clock} - ${ALIVE_MS}`;
      const dead = await db.deleteFrom('replica').where('seen_at', '<=', latest).executeTakeFirst();
      const { count, time } = await db
        .selectFrom('replica')
        .select((row) => [row.fn.countAll<number>().as('count'), sql<number>`${clock}`.as('time')])
        .executeTakeFirstOrThrow();
      return { alive: Math.max(1, Number(count)), died: Number(dead.numDeletedRows), time: Number(time) };
    },
    leave: async (id) => {
      await db.deleteFrom('replica').where('id', '=', id).execute();
    },
  };
}
