import { type Kysely, sql } from 'kysely';
import { inScope, type Scope, scopeColumns } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { isDue, timeAfter } from '../sql/dialect.ts';
import { parseJson, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';

/**
 * The kinds of background work that one replica at a time does for a connection. `ownUser` is no work, and has only a state: the traveler
 * whose credential the bridge uses.
 */
export type TaskKind = 'import' | 'feed' | 'memberships' | 'demoDay' | 'ownUser';

/** Reads the traveler whose credential the bridge uses, who is no person as long as no identity provider sends it; undefined if it is not known. */
export async function readOwnTravelId(db: Kysely<Tables>, scope: Scope): Promise<string | undefined> {
  const task = await db
    .selectFrom('background_task')
    .select('state')
    .where(inScope(scope))
    .where('kind', '=', 'ownUser')
    .executeTakeFirst();
  return (toState(task?.state ?? '') as { travelId?: string } | undefined)?.travelId; // As `ownUsers` writes it.
}

/** A lease on one kind of background work of a connection. */
interface TaskLease {
  /** The state that the last holder has saved; undefined before the first time. */
  state: unknown;
  /** The generation of the rules in force of the connection; 0 if there are none yet. */
  generation: number;
}

export type BackgroundTasks = ReturnType<typeof backgroundTasks>;

/**
 * The store of background work: for each kind, the time at which it is due next, the replica that does it at present, and
 * the state that it saved for the next time, such as the position in a feed. Times are compared by the database's clock.
 */
export function backgroundTasks(database: Database) {
  const { db, scopeOf } = database;
  return {
    /**
     * Acquires the lease for `ms` milliseconds if the work is due and no other replica holds it. Otherwise returns in how
     * many milliseconds that may be so.
     */
    acquire: (connection: string, kind: TaskKind, lease: Lease) =>
      acquireTask(database, { ...scopeOf(connection), kind }, lease),
    /** Extends the lease. Returns false if it has ended. */
    extend: async (connection: string, kind: TaskKind, lease: Lease): Promise<boolean> => {
      const { numUpdatedRows } = await updateHeld(database, { ...scopeOf(connection), kind }, lease)
        .set({ lease_until: leaseEnd(database, lease) })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /**
     * Ends the lease, and saves the state unless it is undefined; the work is due again after `dueMs` milliseconds. Returns
     * false if the lease has ended.
     */
    finish: async (
      connection: string,
      kind: TaskKind,
      { token, state, dueMs, now }: { token: string; state: unknown; dueMs: number; now: number },
    ): Promise<boolean> => {
      const { numUpdatedRows } = await updateHeld(database, { ...scopeOf(connection), kind }, { token })
        .set({ lease_token: null, lease_until: null, due_at: leaseEnd(database, { ms: dueMs, now }) })
        .$if(state !== undefined, (query) => query.set({ state: toJson(state) }))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** Saves the state outside of a lease. */
    saveState: async (connection: string, kind: TaskKind, state: unknown): Promise<void> => {
      const text = toJson(state);
      await db
        .insertInto('background_task')
        .values({ ...rowOf({ ...scopeOf(connection), kind }), state: text })
        .onConflict((conflict) => conflict.columns(keyColumns).doUpdateSet({ state: text }))
        .execute();
    },
    /** Makes the work due now; if a replica does it at present, once more when that has finished. */
    request: async (connection: string, kind: TaskKind): Promise<void> => {
      await updateTask(database, { ...scopeOf(connection), kind })
        .set({ requested: 1 })
        .execute();
    },
    /** Returns the states that the last holders of one kind have saved, by connection. */
    listStates: async (kind: TaskKind): Promise<{ connection: string; state: unknown }[]> => {
      const tasks = db.selectFrom('background_task').select(['connection_id', 'state']);
      const rows = await tasks.where('kind', '=', kind).where('state', '<>', '').execute();
      return rows.map(({ connection_id, state }) => ({ connection: connection_id, state: toState(state) }));
    },
    /** Ends all leases and makes all work due: at the start of the only process that uses the database. */
    reset: async (): Promise<void> => {
      await db
        .updateTable('background_task')
        .set({ lease_token: null, lease_until: null, due_at: 0 })
        .execute();
    },
  };
}

/** The longest delay until work is due again: that of an import, and of a feed that the travel API does not have. */
const LONGEST_DELAY_MS = 60 * 60_000;

const keyColumns = ['account', 'connection_id', 'kind'] as const;
const newTask = { due_at: 0, requested: 0, lease_token: null, lease_until: null, state: '' } as const;

interface TaskKey extends Scope {
  kind: TaskKind;
}

interface Lease {
  token: string;
  ms: number;
  now: number;
}

function updateTask({ db }: Database, key: TaskKey) {
  return db.updateTable('background_task').where(inScope(key)).where('kind', '=', key.kind);
}

function rowOf(key: TaskKey) {
  return { ...scopeColumns(key), kind: key.kind, ...newTask };
}

function updateHeld(database: Database, key: TaskKey, { token }: Pick<Lease, 'token'>) {
  return updateTask(database, key).where('lease_token', '=', token);
}

function leaseEnd({ dialect }: Database, { ms, now }: Pick<Lease, 'ms' | 'now'>) {
  return timeAfter(dialect.now(now), ms);
}

/** The delay until a task may be acquired, and the state that its last holder has saved. */
interface TaskDelay {
  retryMs: number;
  state: unknown;
}

/** Looks first whether the task is due: most looks find that it is not, and then nothing is written. */
async function acquireTask(database: Database, key: TaskKey, lease: Lease): Promise<TaskLease | TaskDelay> {
  const delay = await findDelay(database, key, lease);
  if (delay && delay.retryMs > 0) return delay;
  if (!delay) await insertTask(database, key);
  return (await takeTask(database, key, lease)) ?? acquireTask(database, key, lease);
}

async function insertTask({ db }: Database, key: TaskKey): Promise<void> {
  await db
    .insertInto('background_task')
    .values(rowOf(key))
    .onConflict((conflict) => conflict.columns(keyColumns).doNothing())
    .execute();
}

/** Returns undefined if the task is not stored. */
async function findDelay(
  { db, dialect }: Database,
  key: TaskKey,
  lease: Lease,
): Promise<TaskDelay | undefined> {
  const clock = dialect.now(lease.now);
  const task = await db
    .selectFrom('background_task')
    .select(['state', 'requested'])
    .select(sql<number>`due_at - ${clock}`.as('dueMs'))
    .select(sql<number>`coalesce(lease_until, 0) - ${clock}`.as('leasedMs'))
    .where(inScope(key))
    .where('kind', '=', key.kind)
    .executeTakeFirst();
  if (!task) return undefined;
  const dueMs = Number(task.dueMs);
  const isTaskDue = task.requested === 1 || dueMs <= 0 || dueMs > LONGEST_DELAY_MS;
  return { retryMs: Math.max(0, isTaskDue ? 0 : dueMs, Number(task.leasedMs)), state: toState(task.state) };
}

/** Takes the lease; undefined if another replica has taken it since the task was found due. */
async function takeTask(database: Database, key: TaskKey, lease: Lease): Promise<TaskLease | undefined> {
  const clock = database.dialect.now(lease.now);
  const acquired = await updateTask(database, key)
    .set((row) => ({
      requested: 0,
      // A requested task stays due until it is finished: if this replica dies, another one takes it over.
      due_at: row.case().when('requested', '=', 1).then(0).else(row.ref('due_at')).end(),
      lease_token: lease.token,
      lease_until: leaseEnd(database, lease),
    }))
    .where((row) => row.or([isDue(row.ref('due_at'), clock, LONGEST_DELAY_MS), row('requested', '=', 1)]))
    .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<=', clock)]))
    .returning((row) => [
      'state',
      row
        .selectFrom('rules_in_force')
        .select('generation')
        .where(inScope(key, 'rules_in_force'))
        .as('generation'),
    ])
    .executeTakeFirst();
  return acquired && { state: toState(acquired.state), generation: acquired.generation ?? 0 };
}

function toState(text: string): unknown {
  return text === '' ? undefined : parseJson<unknown>(text);
}
