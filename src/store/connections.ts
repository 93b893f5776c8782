import { setTimeout } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { ConnectionMode } from '../model/policies.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import { countGroups, countIdentities, readCounter } from './lists/list-counters.ts';
import { readOwnTravelId } from './queues/background-tasks.ts';
import { markWaitersDirty } from './queues/reconcile-queue.ts';
import { countServers } from './queues/replicas.ts';
import type { Database } from './sql/database.ts';
import type { Dialect } from './sql/dialect.ts';
import type { Tables } from './sql/tables.ts';

/** A connection, and the mode in which it begins when it is new; in shadow mode with a pilot. */
interface NewConnection {
  id: string;
  account: string;
  mode?: ConnectionMode;
  pilot?: string | null | undefined;
}

/**
 * Creates the connection, or updates its travel account. Must run at start, before anything else is stored for the
 * connection. Everything that is stored for it moves with it to another account. `now`: epoch milliseconds.
 */
export async function ensureConnection(
  { transaction, scopes }: Database,
  { id, account, mode = 'live', pilot = null }: NewConnection,
  now = 0,
): Promise<void> {
  await transaction(async (tx) => {
    await tx
      .insertInto('connection')
      .values({ id, account, mode, ...(mode === 'live' ? {} : { shadow_since: now, pilot }) })
      // Foreign keys move all rows of the connection to the other account.
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ account }).where('connection.account', '<>', account),
      )
      .execute();
  });
  scopes.add({ account, connection: id });
}

/** A connection as stored, with the number of records that belong to it. */
export interface StoredConnection {
  id: string;
  account: string;
  /** The number of SCIM users that are not deleted. */
  people: number;
  tombstones: number;
  /**
   * Travelers linked to users and tombstones of the connection. No other connection of the account lists or links
   * them.
   */
  linked: number;
  groups: number;
  /** The number of live servers that serve the connection. */
  servers: number;
  /** True while a server serves the connection, or holds a lease on one of its identities. */
  isInUse: boolean;
}

/** Reads every connection in the database, including those that the settings no longer contain. */
export async function readStoredConnections(
  { db, dialect }: Database,
  now: number,
): Promise<StoredConnection[]> {
  const serving = await countServers(db, dialect, now);
  const rows = await db.selectFrom('connection').select(['id', 'account']).orderBy('id').execute();
  const connections: StoredConnection[] = [];
  for (const { id, account } of rows) {
    const scope = { account, connection: id };
    const counts = await db
      .selectFrom('identity')
      .select(({ fn }) => fn.countAll<number>().as('linked'))
      .where(inScope(scope))
      .where('claimed', '=', sql.lit(1))
      .where('travel_id', 'is not', null)
      .executeTakeFirstOrThrow();
    const leased = await db
      .selectFrom('identity')
      .select('id')
      .where(inScope(scope))
      .where('lease_until', '>', dialect.now(now))
      .executeTakeFirst();
    const servers = serving.get(id) ?? 0;
    const own = await readOwnTravelId(db, scope);
    connections.push({
      ...{ id, account, linked: counts.linked, servers, isInUse: servers > 0 || leased !== undefined },
      people: (await readCounter(db, scope, own === undefined ? 'live' : { liveExcept: own })).count,
      tombstones: (await readCounter(db, scope, 'dead')).count,
      groups: (await readCounter(db, scope, 'group')).count,
    });
  }
  return connections;
}

/** The tables of what is counted, held or remembered of the people of a connection. */
const countTables = ['departure', 'former_member', 'changed_scope', 'list_counter'] as const;

/** The tables of what the replicas share about a connection. */
const sharedTables = ['rules_in_force', 'proposed_rules', 'mapping_version', 'background_task'] as const;

/** Rows per transaction. A server on the same database waits some tens of milliseconds for each transaction. */
const BATCH = 500;
/** Pause between two transactions, in milliseconds, so that other writers get SQLite's write lock. */
const PAUSE_MS = 30;

/**
 * Deletes a connection with everything that belongs to it. The travelers stay as they are and become unlinked. Works
 * in short transactions: if the process ends in between, the connection is still listed, and calling this again
 * completes the work. Awaits `progress` with the number of users and tombstones deleted so far. Returns `inUse` if a
 * server serves the connection, and then deletes nothing, or if one has begun to do so meanwhile.
 */
export async function deleteConnection(
  database: Database,
  { connection, now }: { connection: string; now: number },
  progress: (deleted: number) => unknown = () => {},
): Promise<'done' | 'inUse'> {
  const { transaction, scopes, dialect } = database;
  const scope = scopes.of(connection);
  const isServed = async (tx: Kysely<Tables>) => (await countServers(tx, dialect, now)).has(connection);
  const begun = await transaction<'done' | 'inUse'>(async (tx) => {
    if (await isServed(tx)) return 'inUse';
    await deleteConnectionCredentials(tx, scope);
    return 'done';
  });
  if (begun === 'inUse') return begun;
  await deleteInBatches(database, (tx) => deleteMembersBatch(tx, scope));
  await deleteInBatches(database, (tx) => deleteGroupsBatch(tx, scope));
  await deleteExchanges(database, connection);
  let deleted = 0;
  await deleteInBatches(
    database,
    (tx) => deleteIdentitiesBatch(tx, scope),
    async (removed) => {
      deleted += removed;
      await progress(deleted);
    },
  );
  const result = await transaction<'done' | 'inUse'>(async (tx) => {
    // Inserts that refer to the connection wait from here on, and fail once it is deleted.
    await dialect.lockRows(tx.selectFrom('connection').select('id').where('id', '=', connection)).execute();
    // A server records what it serves before it creates the connection, so that one that starts now creates it again.
    if ((await isServed(tx)) || (await hasIdentitiesOrGroups(tx, scope))) return 'inUse';
    await deleteConnectionCredentials(tx, scope);
    for (const table of [...countTables, ...sharedTables] as const)
      await tx.deleteFrom(table).where(inScope(scope)).execute();
    for (const table of ['reported_condition', 'travel_outage'] as const)
      await tx.deleteFrom(table).where('connection_id', '=', connection).execute();
    await tx.deleteFrom('connection').where('id', '=', connection).execute();
    return 'done';
  });
  if (result === 'done') scopes.remove(connection);
  return result;
}

/** Lets transactions about the same connection run one after the other. */
export async function lockConnection(
  tx: Kysely<Tables>,
  dialect: Dialect,
  { account, connection }: Scope,
): Promise<void> {
  const row = tx.selectFrom('connection').select('id').where('account', '=', account);
  await dialect.lockValues(row.where('id', '=', connection)).execute();
}

async function hasIdentitiesOrGroups(tx: Kysely<Tables>, scope: Scope): Promise<boolean> {
  for (const table of ['identity', 'scim_group'] as const) {
    const left = tx.selectFrom(table).select('id').where(inScope(scope));
    if (await left.executeTakeFirst()) return true;
  }
  return false;
}

async function deleteInBatches(
  { transaction }: Database,
  remove: (tx: Kysely<Tables>) => Promise<number>,
  onRemoved: (removed: number) => Promise<void> = async () => {},
): Promise<void> {
  for (let removed = BATCH; removed === BATCH; ) {
    removed = await transaction(remove);
    await onRemoved(removed);
    if (removed === BATCH) await setTimeout(PAUSE_MS);
  }
}

/**
 * Goes first, so that no IdP writes to the connection meanwhile. A foreign key deletes the access tokens of the OAuth clients.
 */
async function deleteConnectionCredentials(tx: Kysely<Tables>, scope: Scope): Promise<void> {
  await tx.deleteFrom('token').where(inScope(scope)).execute();
  await tx.deleteFrom('oauth_client').where(inScope(scope)).execute();
  await tx.deleteFrom('oauth_token').where(inScope(scope)).execute();
}

/** Each batch goes on after the one before: no index has the exchanges of a connection. */
async function deleteExchanges({ db, transaction }: Database, connection: string): Promise<void> {
  for (let last = 0; ; ) {
    const some = await db
      .selectFrom('exchange')
      .select('position')
      .where('connection_id', '=', connection)
      .where('position', '>', last)
      .orderBy('position')
      .limit(BATCH)
      .execute();
    const positions = some.map(({ position }) => position);
    if (positions.length === 0) return;
    await transaction((tx) => tx.deleteFrom('exchange').where('position', 'in', positions).execute());
    last = positions.at(-1) ?? last;
    await setTimeout(PAUSE_MS);
  }
}

async function deleteMembersBatch(tx: Kysely<Tables>, scope: Scope): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from group_member where ${inScope(scope)} and (group_id, value) in
      (select group_id, value from group_member where ${inScope(scope)} limit ${BATCH})`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

async function deleteGroupsBatch(tx: Kysely<Tables>, scope: Scope): Promise<number> {
  const removed = await tx
    .deleteFrom('scim_group')
    .where(inScope(scope))
    .where('id', 'in', (group) =>
      group.selectFrom('scim_group').select('id').where(inScope(scope)).limit(BATCH),
    )
    .returning('id')
    .execute();
  await countGroups(tx, scope, -removed.length);
  return removed.length;
}

/**
 * Foreign keys delete email keys and references with their identity. Identities that wait for a freed address become
 * dirty.
 */
async function deleteIdentitiesBatch(tx: Kysely<Tables>, scope: Scope): Promise<number> {
  const removed = await tx
    .deleteFrom('identity')
    .where(inScope(scope))
    .where('id', 'in', (identity) =>
      identity.selectFrom('identity').select('id').where(inScope(scope)).limit(BATCH),
    )
    .returning(['active', 'claimed', 'deleted_at', 'travel_email_key', 'creating_key'])
    .execute();
  await countIdentities(
    tx,
    scope,
    removed.map((before) => ({ before })),
  );
  const addresses = removed.flatMap((row) => [row.travel_email_key, row.creating_key]);
  const keys = [...new Set(addresses.filter((key) => key !== null))];
  await markWaitersDirty(tx, scope.account, { keys, now: 0 });
  return removed.length;
}
