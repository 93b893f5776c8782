import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { type PlannedCall, plannedCalls } from '../provisioning/findings.ts';
import type { ConnectionMode } from '../provisioning/policies.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import { observedColumns } from './identities/identity-row.ts';
import { approvePlans, type PlanApproval } from './identities/shadow-plans.ts';
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

/** A mode in which changes wait, and the time at which it began. */
interface WaitingMode {
  mode: Exclude<ConnectionMode, 'live'>;
  since: number;
}

export type ConnectionModes = ReturnType<typeof connectionModes>;

/**
 * The modes of the connections in a database. A paused connection (docs/architecture.md, A restored backup) plans and shows, and sends
 * nothing by itself; one in shadow mode sends nothing at all (docs/architecture.md, Shadow mode). The last modes read are kept in memory,
 * because every attempt needs one.
 */
export function connectionModes(database: Database) {
  const { db } = database;
  let waiting = new Map<string, WaitingMode>();
  /**
   * Reads the modes again, which commands and other replicas change. Changes that wait in a connection whose mode has changed become due.
   * `isPausedAnew`: a connection was paused since the last time.
   */
  const refresh = async (now: number): Promise<{ isPausedAnew: boolean }> => {
    const before = waiting;
    waiting = new Map((await readWaiting(db)).map(({ id, ...mode }) => [id, mode]));
    const changed = [...before].filter(([id, mode]) => !isDeepStrictEqual(waiting.get(id), mode));
    for (const [id] of changed) if (database.scopes.has(id)) await planAgain(db, database.scopeOf(id), now);
    const isPausedAnew = [...waiting].some(
      ([id, { mode, since }]) => mode === 'paused' && before.get(id)?.since !== since,
    );
    return { isPausedAnew };
  };
  const sinceOf = (connection: string, mode: ConnectionMode): number | undefined => {
    const found = waiting.get(connection);
    return found?.mode === mode ? found.since : undefined;
  };
  const change = async (connection: string, mode: ModeChange): Promise<boolean> => {
    const isChanged = await changeMode(database, database.scopeOf(connection), mode);
    await refresh(mode.now);
    return isChanged;
  };
  return {
    /** Returns the start of the pause, as last read; undefined unless the connection is paused. */
    pausedAt: (connection: string): number | undefined => sinceOf(connection, 'paused'),
    /** Returns the time at which shadow mode began, as last read; undefined in the other modes. */
    shadowSince: (connection: string): number | undefined => sinceOf(connection, 'shadow'),
    refresh,
    /** Pauses all connections that may send something, also those of an earlier pause, and returns the names of those whose pause begins now. */
    pauseAll: async (now: number): Promise<string[]> => {
      const begun = await pauseConnections(database.db, now);
      await refresh(now);
      return begun;
    },
    /**
     * Puts a connection into another mode. Where it goes live, the travelers of all people with waiting changes are read again before
     * anything is sent. Returns false if it is in that mode already, or not in the mode `from`.
     */
    change,
    /** Lets a paused connection go on. Returns false if it is not paused. */
    resume: (connection: string, now: number): Promise<boolean> =>
      change(connection, { from: 'paused', to: 'live', now }),
    /** Ends shadow mode with an approved plan. Unless the outcome is `live`, nothing is changed. */
    goLive: async (connection: string, plan: ApprovedPlan): Promise<LiveResult> => {
      const result = await endShadowMode(database, database.scopeOf(connection), plan);
      await refresh(plan.now);
      return result;
    },
    /** Reads what is known of a connection in shadow mode; undefined in the other modes. */
    readShadow: (connection: string): Promise<Shadow | undefined> => readShadow(database, connection),
    /** Returns the mode of each connection of the database. */
    list: (): Promise<ListedMode[]> => readModes(database),
    listPaused: (): Promise<PausedConnection[]> => listPaused(database),
  };
}

interface ModeChange {
  /** The mode in which the connection must be. */
  from?: ConnectionMode;
  to: ConnectionMode;
  now: number;
}

/** A connection in shadow mode. */
export interface Shadow {
  connection: string;
  /** The time at which shadow mode began. */
  since: number;
  /** The generation of the rules in force. Somebody who was translated with earlier ones is not planned yet. */
  generation: number;
}

/** The plan with which a connection goes live. */
export interface ApprovedPlan extends Pick<Shadow, 'since' | 'generation'> {
  /** What would count against a limit, and is approved. */
  approvals: PlanApproval[];
  now: number;
}

/** `planning`: somebody is not planned yet under the rules in force. `notInShadow`: the connection is not in the shadow mode of the plan any more. */
export type LiveResult =
  | { outcome: 'live'; approved: number }
  | { outcome: 'planning'; left: number }
  | { outcome: 'notInShadow' };

/** The mode of one connection, and the time at which it began; undefined while it is live. */
export interface ListedMode {
  connection: string;
  mode: ConnectionMode;
  since: number | undefined;
}

/** A pause that began this long ago, in milliseconds, is for an earlier restore: replicas recognise one restore within a second. */
const SAME_RESTORE_MS = 10_000;

/**
 * Pauses all connections that may send something, and returns the names of those whose pause begins now. One in shadow mode stays so: the end of
 * a pause would let it send what nobody has approved. A connection that was paused for an earlier restore is paused
 * anew: what the IdP wrote in that pause may be older than the travel service now.
 */
export async function pauseConnections(db: Kysely<Tables>, now: number): Promise<string[]> {
  const paused = await db
    .updateTable('connection')
    .set({ mode: 'paused', paused_at: now })
    .where((row) =>
      row.or([
        row('mode', '=', 'live'),
        row.and([
          row('mode', '=', 'paused'),
          row.not(row.between('paused_at', now - SAME_RESTORE_MS, now + SAME_RESTORE_MS)),
        ]),
      ]),
    )
    .returning('id')
    .execute();
  return paused.map(({ id }) => id).toSorted();
}

async function readWaiting(db: Kysely<Tables>): Promise<(WaitingMode & { id: string })[]> {
  const all = db.selectFrom('connection').select(['id', 'mode', 'paused_at']).where('mode', '<>', 'live');
  const rows = await all.orderBy('id').execute();
  // The column contains only modes.
  return rows.map(({ id, mode, paused_at }) => ({
    ...{ id, since: Number(paused_at) },
    mode: mode as WaitingMode['mode'],
  }));
}

async function readModes({ db, scopes }: Database): Promise<ListedMode[]> {
  const waiting = new Map((await readWaiting(db)).map(({ id, ...mode }) => [id, mode]));
  return scopes.ids().map((connection) => {
    const { mode, since } = waiting.get(connection) ?? { mode: 'live' as const, since: undefined };
    return { connection, mode, since };
  });
}

/**
 * Changes the mode. Before a connection goes live, the observed travelers of the people in the queue are forgotten: an attempt that begins as
 * soon as it is live reads them. If the process ends in between, nothing is sent yet.
 */
async function changeMode({ db }: Database, scope: Scope, { from, to, now }: ModeChange): Promise<boolean> {
  const { account, connection } = scope;
  const current = db
    .selectFrom('connection')
    .select('mode')
    .where('account', '=', account)
    .where('id', '=', connection);
  const mode = (await current.executeTakeFirst())?.mode;
  if (mode === undefined || mode === to || (from !== undefined && mode !== from)) return false;
  if (to === 'live') await forgetObserved(db, scope, now);
  const { numUpdatedRows } = await db
    .updateTable('connection')
    .set({ mode: to, paused_at: to === 'live' ? null : now })
    .where('account', '=', account)
    .where('id', '=', connection)
    .where('mode', '=', mode)
    .executeTakeFirst();
  await planAgain(db, scope, now);
  return numUpdatedRows > 0n;
}

async function readShadow({ db, scopeOf }: Database, connection: string): Promise<Shadow | undefined> {
  const found = (await readWaiting(db)).find(({ id }) => id === connection);
  if (found?.mode !== 'shadow') return undefined;
  const generation = await readGeneration(db, scopeOf(connection));
  return { connection, since: found.since, generation };
}

/** As with a change of the mode, the observed travelers of the people in the queue are forgotten before. */
async function endShadowMode(
  { db, transaction }: Database,
  scope: Scope,
  plan: ApprovedPlan,
): Promise<LiveResult> {
  await forgetObserved(db, scope, plan.now);
  return transaction((tx) => commitPlan(tx, scope, plan), {
    commitIf: ({ outcome }) => outcome === 'live',
  });
}

/**
 * Puts a connection in shadow mode live, with the approvals of its plan. It is one transaction: without the mode, the approvals would
 * let people pass the safety valve at a later end of shadow mode.
 */
async function commitPlan(
  tx: Kysely<Tables>,
  scope: Scope,
  { since, generation, approvals, now }: ApprovedPlan,
): Promise<LiveResult> {
  const { account, connection } = scope;
  const { numUpdatedRows } = await tx
    .updateTable('connection')
    .set({ mode: 'live', paused_at: null })
    .where('account', '=', account)
    .where('id', '=', connection)
    .where('mode', '=', 'shadow')
    .where('paused_at', '=', since)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return { outcome: 'notInShadow' };
  const inForce = await readGeneration(tx, scope);
  const left = await countUnplanned(tx, scope, inForce);
  if (left > 0 || inForce !== generation) return { outcome: 'planning', left };
  let approved = 0;
  for (const approval of approvals) approved += await approvePlans(tx, scope, approval);
  await planAgain(tx, scope, now);
  return { outcome: 'live', approved };
}

/** Returns the generation of the rules in force; 0 if there are none yet. */
async function readGeneration(db: Kysely<Tables>, scope: Scope): Promise<number> {
  const rules = db.selectFrom('rules_in_force').select('generation').where(inScope(scope));
  return (await rules.executeTakeFirst())?.generation ?? 0;
}

/** Counts the people of the report who were translated with earlier rules than those in force, or never. */
async function countUnplanned(db: Kysely<Tables>, scope: Scope, generation: number): Promise<number> {
  const unplanned = db
    .selectFrom('identity')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where(inScope(scope))
    .where('claimed', '=', sql.lit(1))
    .where('rules_generation', '<', generation)
    .where((row) => row.or([row('deleted_at', 'is', null), row('state', '<>', sql.lit('synced'))]));
  return Number((await unplanned.executeTakeFirst())?.count ?? 0);
}

async function forgetObserved(db: Kysely<Tables>, scope: Scope, now: number): Promise<void> {
  const dirty = await db.selectFrom('identity').select('id').where(inScope(scope)).where(isDirty).execute();
  for (const ids of batches(dirty.map(({ id }) => id)))
    await db
      .updateTable('identity')
      .set((row) => ({ ...dirtyColumns(row, now), ...observedColumns(undefined) }))
      .where(inScope(scope))
      .where('id', 'in', ids)
      .execute();
}

/**
 * Makes the changes that wait for the end of a mode due. An attempt that began before the end was known has planned, and would wait for
 * its next time; one that is still running begins again, because the revision rises.
 */
async function planAgain(db: Kysely<Tables>, scope: Scope, now: number): Promise<void> {
  await db
    .updateTable('identity')
    .set((row) => dirtyColumns(row, now))
    .where(inScope(scope))
    .where(isDirty)
    .where(({ or, eb }) =>
      or([eb('finding_codes', 'like', '%paused%'), eb('finding_codes', 'like', '%shadow%')]),
    )
    .execute();
}

async function listPaused({ db, scopes }: Database): Promise<PausedConnection[]> {
  const all: PausedConnection[] = [];
  for (const { id, mode, since } of await readWaiting(db))
    if (mode === 'paused' && scopes.has(id))
      all.push({ connection: id, since, people: await countWaiting(db, scopes.of(id)) });
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
