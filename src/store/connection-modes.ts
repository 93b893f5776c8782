import { type Kysely, sql } from 'kysely';
import type { ConnectionMode } from '../model/policies.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import { observedColumns } from './identities/identity-row.ts';
import {
  approvePlans,
  type PlanApproval,
  type PlannedCreate,
  reserveAddress,
} from './identities/shadow-plans.ts';
import { toTaskState } from './queues/background-tasks.ts';
import { dirtyColumns, isDirty } from './queues/reconcile-queue.ts';
import type { Database } from './sql/database.ts';
import { compiledQuery } from './sql/queries.ts';
import type { Tables } from './sql/tables.ts';

export type ConnectionModes = ReturnType<typeof connectionModes>;

/**
 * The modes of the connections in a database. One in shadow mode (docs/architecture.md, Shadow mode) plans, and sends nothing. The last modes
 * read are kept in memory, because every attempt needs one.
 */
export function connectionModes(database: Database) {
  const { db } = database;
  let shadows = new Map<string, number>();
  /**
   * Reads the modes again, which commands and other replicas change. An attempt of this process that began before has followed the mode of
   * before: the people of a connection whose mode has changed become due again, and where it has gone live, everybody becomes dirty again.
   * Returns what was read.
   */
  const refresh = async (now: number): Promise<ConnectionState[]> => {
    const before = shadows;
    const states = await readStates(db);
    shadows = new Map(
      states.flatMap(({ connection, since }) => (since === undefined ? [] : [[connection, since]])),
    );
    for (const id of new Set([...before.keys(), ...shadows.keys()]))
      if (before.get(id) !== shadows.get(id) && database.scopes.has(id))
        await db
          .updateTable('identity')
          .set((row) => dirtyColumns(row, now))
          .where(inScope(database.scopeOf(id)))
          .where(shadows.has(id) ? isDirty : sql<boolean>`claimed = 1`)
          .execute();
    return states;
  };
  return {
    /** Returns the time at which shadow mode began, as last read; undefined while the connection is live. */
    shadowSince: (connection: string): number | undefined => shadows.get(connection),
    refresh,
    /**
     * Puts a connection into another mode, without a pilot. Where it goes live, everybody becomes dirty. Returns false if it is in that mode
     * already.
     */
    change: async (
      connection: string,
      { to, now }: { to: ConnectionMode; now: number },
    ): Promise<boolean> => {
      const scope = database.scopeOf(connection);
      const isChanged = await database.transaction(async (tx) => {
        const isOther = await changeMode(tx, scope, { to, now });
        if (isOther) await setPilot(tx, scope, null);
        return isOther;
      });
      await refresh(now);
      return isChanged;
    },
    /**
     * Replaces the pilot of a connection in shadow mode; undefined ends it. The rules in force get a new generation, so that everybody is
     * judged anew by attempts that begin from then on.
     */
    changePilot: (connection: string, pilot: string | undefined): Promise<PilotResult> =>
      database.transaction((tx) => replacePilot(tx, database.scopeOf(connection), pilot)),
    /** Ends shadow mode with an approved plan. Unless the outcome is `live`, nothing is changed. */
    goLive: async (connection: string, plan: ApprovedPlan): Promise<LiveResult> => {
      const result = await database.transaction((tx) => commitPlan(tx, database.scopeOf(connection), plan), {
        commitIf: ({ outcome }) => outcome === 'live',
      });
      await refresh(plan.now);
      return result;
    },
    /** Reads what is known of a connection in shadow mode; undefined while it is live. */
    readShadow: (connection: string) => readShadow(db, connection),
    /** Returns the state of each connection of the database. */
    list: () => readStates(db),
  };
}

/** A connection in shadow mode. Somebody who was translated with rules of an earlier generation is not planned yet. */
export type Shadow = Pick<ConnectionState, 'connection' | 'generation' | 'pilot'> & { since: number };

/** The plan with which a connection goes live. */
export interface ApprovedPlan extends Pick<Shadow, 'since' | 'generation'> {
  /** What would count against a limit, and is approved. */
  approvals: PlanApproval[];
  /** The travelers that are created. Each keeps its address for its person. */
  creates: PlannedCreate[];
  now: number;
}

/** `planning`: somebody is not planned yet under the rules in force. `notInShadow`: the connection is not in the shadow mode of the plan any more. */
export type LiveResult =
  | { outcome: 'live'; approved: number }
  | { outcome: 'planning'; left: number }
  | { outcome: 'notInShadow' };

/** What a process follows of one connection. */
export interface ConnectionState {
  connection: string;
  mode: ConnectionMode;
  /** The time at which shadow mode began; undefined while the connection is live. */
  since: number | undefined;
  /** The SCIM filter of the people who are provisioned in shadow mode; undefined if there are none. */
  pilot: string | undefined;
  /** The generation of the rules in force; 0 if there are none yet. */
  generation: number;
  /** The time since when proposed rules wait for an admin; undefined if none do. */
  proposedSince: number | undefined;
  /** The state that the last import has saved. */
  importState: unknown;
  /** As in `StoredSettings`, as JSON; null for a connection of the settings file. */
  settings: string | null;
}

/** Every process reads this each second, so it is one statement. */
const selectStates = compiledQuery((db) =>
  db
    .selectFrom('connection')
    .leftJoin('rules_in_force', (join) => join.on(isOfConnection('rules_in_force')))
    .leftJoin('proposed_rules', (join) =>
      join.on(isOfConnection('proposed_rules')).on('proposed_rules.people', 'is not', null),
    )
    .leftJoin('background_task', (join) =>
      join.on(isOfConnection('background_task')).on('background_task.kind', '=', sql.lit('import')),
    )
    .select(['connection.id', 'settings', 'shadow_since', 'pilot', 'generation'])
    .select(['proposed_rules.since', 'state'])
    .orderBy('connection.id'),
);

function isOfConnection(table: string) {
  const [account, id] = [sql.ref(`${table}.account`), sql.ref(`${table}.connection_id`)];
  return sql<boolean>`${account} = connection.account and ${id} = connection.id`;
}

async function readStates(db: Kysely<Tables>): Promise<ConnectionState[]> {
  const { rows } = await selectStates(db, {});
  return rows.map((row) => ({
    ...{ connection: row.id, settings: row.settings, mode: row.shadow_since === null ? 'live' : 'shadow' },
    ...{ since: row.shadow_since ?? undefined, pilot: row.pilot ?? undefined },
    generation: row.generation ?? 0,
    ...{ proposedSince: row.since ?? undefined, importState: toTaskState(row.state ?? '') },
  }));
}

async function changeMode(
  tx: Kysely<Tables>,
  scope: Scope,
  { to, now, since }: { to: ConnectionMode; now: number; since?: number },
): Promise<boolean> {
  const { account, connection } = scope;
  const other = tx
    .updateTable('connection')
    .set({ mode: to, shadow_since: to === 'live' ? null : now })
    .where('account', '=', account)
    .where('id', '=', connection)
    .where('mode', '<>', to);
  const changed = await (since === undefined
    ? other
    : other.where('shadow_since', '=', since)
  ).executeTakeFirst();
  if (changed.numUpdatedRows === 0n) return false;
  if (to === 'live') await makeEverybodyDirty(tx, scope, now);
  return true;
}

type PilotResult = 'changed' | 'unchanged' | 'notInShadow';

async function replacePilot(
  tx: Kysely<Tables>,
  scope: Scope,
  pilot: string | undefined,
): Promise<PilotResult> {
  if (!(await readShadow(tx, scope.connection))) return 'notInShadow';
  return (await setPilot(tx, scope, pilot ?? null)) ? 'changed' : 'unchanged';
}

/** Returns false if the pilot is the same. */
async function setPilot(tx: Kysely<Tables>, scope: Scope, pilot: string | null): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('connection')
    .set({ pilot })
    .where('account', '=', scope.account)
    .where('id', '=', scope.connection)
    .where(sql<boolean>`coalesce(pilot, '') <> ${pilot ?? ''}`)
    // The connection may have gone live since it was read.
    .where((row) => (pilot === null ? row.and([]) : row('mode', '=', sql.lit('shadow'))))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await tx
    .updateTable('rules_in_force')
    .set((row) => ({ generation: row('generation', '+', 1) }))
    .where(inScope(scope))
    .execute();
  return true;
}

/**
 * Makes everybody whom the IdP has written dirty. The travelers of people who were dirty before are read again, because they are out of date.
 * Waits for an address begin anew, because nobody was asked for one in shadow mode.
 */
async function makeEverybodyDirty(tx: Kysely<Tables>, scope: Scope, now: number): Promise<void> {
  const people = tx.updateTable('identity').where(inScope(scope)).where('claimed', '=', sql.lit(1));
  await people.set(observedColumns(undefined)).where(isDirty).execute();
  await people.set((row) => ({ ...dirtyColumns(row, now), waiting_for: null })).execute();
}

async function readShadow(db: Kysely<Tables>, connection: string): Promise<Shadow | undefined> {
  const {
    since,
    generation = 0,
    pilot,
  }: Partial<ConnectionState> = (await readStates(db)).find((one) => one.connection === connection) ?? {};
  return since === undefined ? undefined : { connection, since, generation, pilot };
}

/**
 * Puts a connection in shadow mode live, with the approvals of its plan. It is one transaction: without the mode, the approvals would
 * let people pass the safety valve at a later end of shadow mode.
 */
async function commitPlan(
  tx: Kysely<Tables>,
  scope: Scope,
  { since, generation, approvals, creates, now }: ApprovedPlan,
): Promise<LiveResult> {
  if (!(await changeMode(tx, scope, { to: 'live', now, since }))) return { outcome: 'notInShadow' };
  const inForce = await readGeneration(tx, scope);
  const left = await countUnplanned(tx, scope, inForce);
  if (left > 0 || inForce !== generation) return { outcome: 'planning', left };
  let approved = 0;
  for (const create of creates) await reserveAddress(tx, scope, create);
  for (const approval of approvals) approved += await approvePlans(tx, scope, approval);
  await setPilot(tx, scope, null);
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
