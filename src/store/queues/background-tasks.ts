import { type Expression, type Kysely, sql } from 'kysely';
import { inScope, type Scope, scopeColumns } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { isDue, timeAfter } from '../sql/dialect.ts';
import { compiledQuery, parseJson, toJson } from '../sql/queries.ts';
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
  return (toTaskState(task?.state ?? '') as { travelId?: string } | undefined)?.travelId; // As `ownUsers` writes it.
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
  const queries = taskQueries(database);
  return {
    /**
     * Acquires the lease for `ms` milliseconds if the work is due and no other replica holds it. Otherwise returns in how
     * many milliseconds that may be so.
     */
    acquire: (connection: string, kind: TaskKind, lease: Lease) =>
      acquireTask(database, queries, { ...scopeOf(connection), kind, ...lease }),
    /** Extends the lease. Returns false if it has ended. */
    extend: async (connection: string, kind: TaskKind, lease: Lease): Promise<boolean> =>
      (await write(database, queries.extend, { ...scopeOf(connection), kind, ...lease })) !== undefined,
    /**
     * Ends the lease, and saves the state unless it is undefined; the work is due again after `dueMs` milliseconds. Returns
     * false if the lease has ended.
     */
    finish: async (
      connection: string,
      kind: TaskKind,
      { state, dueMs: ms, ...held }: { token: string; state: unknown; dueMs: number; now: number },
    ): Promise<boolean> => {
      const saved = { ...held, ms, state: state === undefined ? null : toJson(state) };
      return (
        (await write(database, queries.finish, { ...scopeOf(connection), kind, ...saved })) !== undefined
      );
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
      await updateTask(db, { ...scopeOf(connection), kind })
        .set({ requested: 1 })
        .execute();
    },
    /** Returns the states that the last holders of one kind have saved, by connection. */
    listStates: async (kind: TaskKind): Promise<{ connection: string; state: unknown }[]> => {
      const tasks = db.selectFrom('background_task').select(['connection_id', 'state']);
      const rows = await tasks.where('kind', '=', kind).where('state', '<>', '').execute();
      return rows.map(({ connection_id, state }) => ({
        connection: connection_id,
        state: toTaskState(state),
      }));
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

function rowOf(key: TaskKey) {
  return { ...scopeColumns(key), kind: key.kind, ...newTask };
}

function updateTask(db: Kysely<Tables>, key: TaskKey) {
  return db.updateTable('background_task').where(inScope(key)).where('kind', '=', key.kind);
}

type TaskQueries = ReturnType<typeof taskQueries>;

/** The statements of tasks, most of which are executed again and again while nothing happens. */
function taskQueries({ dialect }: Pick<Database, 'dialect'>) {
  const updateHeld = (db: Kysely<Tables>, held: TaskKey & Pick<Lease, 'token'>) =>
    updateTask(db, held).where('lease_token', '=', held.token).returning('kind');
  const endOf = ({ ms, now }: Pick<Lease, 'ms' | 'now'>) => timeAfter(dialect.now(now), ms);
  return {
    find: compiledQuery((db, key: TaskKey & Pick<Lease, 'now'>) =>
      db
        .selectFrom('background_task')
        .select(['state', 'requested'])
        .select(sql<number>`due_at - ${dialect.now(key.now)}`.as('dueMs'))
        .select(sql<number>`coalesce(lease_until, 0) - ${dialect.now(key.now)}`.as('leasedMs'))
        .where(inScope(key))
        .where('kind', '=', key.kind),
    ),
    take: compiledQuery((db, lease: TaskKey & Lease) => takeIfDue(db, lease, dialect.now(lease.now))),
    extend: compiledQuery((db, lease: TaskKey & Lease) =>
      updateHeld(db, lease).set({ lease_until: endOf(lease) }),
    ),
    finish: compiledQuery((db, ended: TaskKey & Lease & { state: string | null }) =>
      updateHeld(db, ended).set((row) => ({
        ...{ lease_token: null, lease_until: null, due_at: endOf(ended) },
        state: row.fn.coalesce(sql<string>`cast(${ended.state} as text)`, 'state'),
      })),
    ),
  };
}

function takeIfDue(db: Kysely<Tables>, lease: TaskKey & Lease, clock: Expression<number>) {
  return updateTask(db, lease)
    .set((row) => ({
      requested: 0,
      // A requested task stays due until it is finished: if this replica dies, another one takes it over.
      due_at: row.case().when('requested', '=', 1).then(0).else(row.ref('due_at')).end(),
      lease_token: lease.token,
      lease_until: timeAfter(clock, lease.ms),
    }))
    .where((row) => row.or([isDue(row.ref('due_at'), clock, LONGEST_DELAY_MS), row('requested', '=', 1)]))
    .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<=', clock)]))
    .returning((row) => {
      const rules = row.selectFrom('rules_in_force').where(inScope(lease, 'rules_in_force'));
      return ['state', rules.select('generation').as('generation')];
    });
}

/** Executes a statement about a lease. Its commit does not wait for the disk: if the power fails, the work is done again. */
async function write<Values, Row>(
  { transaction }: Database,
  query: (db: Kysely<Tables>, values: Values) => Promise<{ rows: Row[] }>,
  values: Values,
): Promise<Row | undefined> {
  const { rows } = await transaction((tx) => query(tx, values), { durable: false });
  return rows[0];
}

/** The delay until a task may be acquired, and the state that its last holder has saved. */
interface TaskDelay {
  retryMs: number;
  state: unknown;
}

/** Looks first whether the task is due: most looks find that it is not, and then nothing is written. */
async function acquireTask(
  database: Database,
  queries: TaskQueries,
  lease: TaskKey & Lease,
): Promise<TaskLease | TaskDelay> {
  const { db } = database;
  const [task] = (await queries.find(db, lease)).rows;
  const newRow = db.insertInto('background_task').values(rowOf(lease));
  if (!task) await newRow.onConflict((conflict) => conflict.columns(keyColumns).doNothing()).execute();
  const retryMs = task ? delayOf(task) : 0;
  if (task && retryMs > 0) return { retryMs, state: toTaskState(task.state) };
  // Undefined if another replica has taken it since.
  const taken = await write(database, queries.take, lease);
  if (!taken) return acquireTask(database, queries, lease);
  return { state: toTaskState(taken.state), generation: taken.generation ?? 0 };
}

function delayOf({
  requested,
  dueMs,
  leasedMs,
}: {
  requested: number;
  dueMs: number;
  leasedMs: number;
}): number {
  const isTaskDue = requested === 1 || dueMs <= 0 || dueMs > LONGEST_DELAY_MS;
  return Math.max(0, isTaskDue ? 0 : dueMs, leasedMs);
}

/** Parses the state that a run has saved; undefined before the first one. */
export function toTaskState(text: string): unknown {
  return text === '' ? undefined : parseJson<unknown>(text);
}
