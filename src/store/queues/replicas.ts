import { type Kysely, sql } from 'kysely';
import type { Database } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import { parseJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/** A replica that has recorded nothing for this time, in milliseconds, counts as dead. */
const ALIVE_MS = 20_000;

/** The answer to a replica that records that it is alive. */
export interface Heartbeat {
  /** The number of replicas that are alive, this one included. */
  alive: number;
  /** The number of replicas that were found to be dead, each by one of the others. */
  died: number;
  /** The time by the database's clock. */
  time: number;
}

/** What a replica records with a heartbeat. */
export interface Beat {
  connections: string[];
  now: number;
  /**
   * Called with the time by the database's clock if that has been set back since the last heartbeat of any replica. If it fails, the
   * next heartbeat calls it again.
   */
  onSetBack?(time: number): Promise<void>;
}

export type Replicas = ReturnType<typeof replicas>;

/** The store of the replicas that are alive, with the connections that each of them serves. Times are compared by the database's clock. */
export function replicas({ db, dialect }: Database) {
  return {
    heartbeat: async (id: string, { connections, now, onSetBack }: Beat): Promise<Heartbeat> => {
      const clock = dialect.now(now);
      await followSetBack({ db, dialect }, now, onSetBack);
      const row = { seen_at: clock, connections: JSON.stringify(connections) };
      await db
        .insertInto('replica')
        .values({ id, ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
        .execute();
      const dead = await db
        .deleteFrom('replica')
        .where('seen_at', '<=', latestOfDead(dialect, now))
        .executeTakeFirst();
      const { count, time } = await db
        .selectFrom('replica')
        .select((row) => [row.fn.countAll<number>().as('count'), sql<number>`${clock}`.as('time')])
        .executeTakeFirstOrThrow();
      return { alive: Math.max(1, Number(count)), died: Number(dead.numDeletedRows), time: Number(time) };
    },
    leave: async (id: string): Promise<void> => {
      await db.deleteFrom('replica').where('id', '=', id).execute();
    },
    /** Returns the time by the database's clock; `now` where only one process uses the database. */
    time: async (now: number): Promise<number> => {
      const clock = sql<number>`${dialect.now(now)}`;
      const { time } = await db.selectNoFrom(clock.as('time')).executeTakeFirstOrThrow();
      return Number(time);
    },
    /** Removes all replicas: at the start of the only process that uses the database. */
    reset: async (): Promise<void> => {
      await db.deleteFrom('replica').execute();
    },
  };
}

/** A heartbeat further in the future than this, in milliseconds, shows that the database's clock was set back. */
const SET_BACK_MS = 1_000;

/**
 * Finds out whether the database's clock was set back. The records of replicas show it, those of dead ones included: they are set to
 * the present time, so that the dead count as dead soon, and only once the caller has handled it.
 */
async function followSetBack(
  { db, dialect }: Pick<Database, 'db' | 'dialect'>,
  now: number,
  onSetBack: ((time: number) => Promise<void>) | undefined,
): Promise<void> {
  const clock = sql<number>`${dialect.now(now)}`;
  const ahead = await db
    .selectFrom('replica')
    .select(clock.as('time'))
    .where('seen_at', '>', sql<number>`${clock} + ${sql.lit(SET_BACK_MS)}`)
    .executeTakeFirst();
  if (!ahead) return;
  await onSetBack?.(Number(ahead.time));
  await db.updateTable('replica').set({ seen_at: clock }).where('seen_at', '>', clock).execute();
}

/**
 * Returns the number of live servers that serve each connection. The record of a server that was killed ends with its heartbeat on
 * PostgreSQL. On SQLite it has no end, so `removeDeadServers` must run first.
 */
export async function countServers(
  db: Kysely<Tables>,
  dialect: Dialect,
  now: number,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('replica')
    .select('connections')
    .$if(dialect.isShared, (query) => query.where('seen_at', '>', latestOfDead(dialect, now)))
    .execute();
  const counts = new Map<string, number>();
  for (const connection of rows.flatMap((row) => parseJson<string[]>(row.connections)))
    counts.set(connection, (counts.get(connection) ?? 0) + 1);
  return counts;
}

/** The latest heartbeat of a replica that counts as dead. */
function latestOfDead(dialect: Dialect, now: number) {
  return sql<number>`${dialect.now(now)} - ${ALIVE_MS}`;
}
