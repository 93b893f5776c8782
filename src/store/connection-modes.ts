import { type Kysely, sql } from 'kysely';
import { type PlannedCall, plannedCalls } from '../provisioning/findings.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import { observedColumns } from './identities/identity-row.ts';
import { dirtyColumns, isDirty } from './queues/reconcile-queue.ts';
import type { Database } from './sql/database.ts';
import { batches } from './sql/queries.ts';
import type { Tables } from './sql/tables.ts';

/** A paused connection, with the number of people about whom each kind of call waits. */
export interface PausedConnection {
  connection: string;
  /** The start of the pause, in epoch milliseconds. */
  since: number;
  people: Record<PlannedCall, number>;
}

export type ConnectionModes = ReturnType<typeof connectionModes>;

/**
 * The modes of the connections in a database (docs/architecture.md, A restored backup). A paused connection plans and shows, and sends
 * nothing by itself. The last modes read are kept in memory, because every attempt needs one.
 */
export function connectionModes(database: Database) {
  const { db } = database;
  let paused = new Map<string, number>();
  /**
   * Reads the modes again, which commands and other replicas change. Changes that wait in a connection that has gone on become due.
   * `isPausedAnew`: a connection was paused since the last time.
   */
  const refresh = async (now: number): Promise<{ isPausedAnew: boolean }> => {
    const before = paused;
    paused = new Map((await readPaused(db)).map(({ id, since }) => [id, since]));
    const resumed = [...before.keys()].filter((id) => !paused.has(id) && database.scopes.has(id));
    for (const id of resumed) await planAgain(db, database.scopeOf(id), now);
    return { isPausedAnew: [...paused].some(([id, since]) => before.get(id) !== since) };
  };
  return {
    /** Returns the start of the pause, as last read; undefined while the connection is live. */
    pausedAt: (connection: string): number | undefined => paused.get(connection),
    refresh,
    /** Pauses all connections, also those of an earlier pause, and returns the names of those whose pause begins now. */
    pauseAll: async (now: number): Promise<string[]> => {
      const begun = await pauseConnections(database.db, now);
      await refresh(now);
      return begun;
    },
    /**
     * Lets a paused connection go on. The travelers of all people with waiting changes are read again before anything is sent.
     * Returns false if it is not paused.
     */
    resume: async (connection: string, now: number): Promise<boolean> => {
      const isResumed = await resume(database, database.scopeOf(connection), now);
      await refresh(now);
      return isResumed;
    },
    listPaused: (): Promise<PausedConnection[]> => listPaused(database),
  };
}

/** A pause that began this long ago, in milliseconds, is for an earlier restore: replicas recognise one restore within a second. */
const SAME_RESTORE_MS = 10_000;

/**
 * Pauses all connections, and returns the names of those whose pause begins now. A connection that was paused for an earlier restore is paused
 * anew: what the IdP wrote in that pause may be older than the travel service now.
 */
export async function pauseConnections(db: Kysely<Tables>, now: number): Promise<string[]> {
  const paused = await db
    .updateTable('connection')
    .set({ mode: 'paused', paused_at: now })
    .where((row) =>
      row.or([
        row('mode', '=', 'live'),
        row('paused_at', '<', now - SAME_RESTORE_MS),
        row('paused_at', '>', now + SAME_RESTORE_MS),
      ]),
    )
    .returning('id')
    .execute();
  return paused.map(({ id }) => id).toSorted();
}

async function readPaused(db: Kysely<Tables>): Promise<{ id: string; since: number }[]> {
  const paused = db.selectFrom('connection').select(['id', 'paused_at']).where('mode', '=', 'paused');
  const rows = await paused.orderBy('id').execute();
  return rows.map(({ id, paused_at }) => ({ id, since: Number(paused_at) }));
}

/**
 * Ends the pause. The observed travelers of the people in the queue are forgotten first: an attempt that begins as soon as the
 * connection is live reads them. If the process ends in between, the connection is still paused.
 */
async function resume({ db }: Database, scope: Scope, now: number): Promise<boolean> {
  const dirty = await db.selectFrom('identity').select('id').where(inScope(scope)).where(isDirty).execute();
  for (const ids of batches(dirty.map(({ id }) => id)))
    await db
      .updateTable('identity')
      .set((row) => ({ ...dirtyColumns(row, now), ...observedColumns(undefined) }))
      .where(inScope(scope))
      .where('id', 'in', ids)
      .execute();
  const { numUpdatedRows } = await db
    .updateTable('connection')
    .set({ mode: 'live', paused_at: null })
    .where('account', '=', scope.account)
    .where('id', '=', scope.connection)
    .where('mode', '=', 'paused')
    .executeTakeFirst();
  await planAgain(db, scope, now);
  return numUpdatedRows > 0n;
}

/**
 * Makes the changes that wait for the end of a pause due. An attempt that began before the end was known has planned, and would wait for
 * its next time; one that is still running begins again, because the revision rises.
 */
async function planAgain(db: Kysely<Tables>, scope: Scope, now: number): Promise<void> {
  await db
    .updateTable('identity')
    .set((row) => dirtyColumns(row, now))
    .where(inScope(scope))
    .where(isDirty)
    .where('finding_codes', 'like', '%paused%')
    .execute();
}

async function listPaused({ db, scopes }: Database): Promise<PausedConnection[]> {
  const all: PausedConnection[] = [];
  for (const { id, since } of await readPaused(db)) {
    if (!scopes.has(id)) continue;
    all.push({ connection: id, since, people: await countWaiting(db, scopes.of(id)) });
  }
  return all;
}

/** Counts the people with each finding about a waiting change, in the index of findings. */
async function countWaiting(db: Kysely<Tables>, scope: Scope): Promise<PausedConnection['people']> {
  const { rows } = await sql<{ codes: string; people: number }>`
    select finding_codes as codes, count(*) as people from identity
    where ${inScope(scope)} and finding_codes <> '' and finding_codes like '%paused%'
    group by finding_codes`.execute(db);
  const counts: PausedConnection['people'] = { create: 0, reactivate: 0, end: 0, change: 0 };
  for (const { codes, people } of rows) {
    const found = codes.split(' ');
    for (const call of Object.keys(counts) as PlannedCall[])
      if (found.includes(plannedCalls[call].code)) counts[call] += Number(people);
  }
  return counts;
}
