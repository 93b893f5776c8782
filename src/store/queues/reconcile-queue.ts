import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { type Identity, LONGEST_CHECK_DELAY_MS } from '../../model/identity.ts';
import type { ReconcileQueue } from '../../model/store-ports.ts';
import { equalInScope, inScope, type Scope } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { isDue } from '../sql/dialect.ts';
import { batches, compiledQuery } from '../sql/queries.ts';
import { caseFoldedKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';

/** Returns the reconcile queue of a database. */
export function reconcileQueue({ db, scopeOf }: Database): ReconcileQueue {
  return {
    findDue: (now, limit, connections) => findDue(db, { now, limit, scopes: connections.map(scopeOf) }),
    markDirty: (connection, ids, now) => markDirty(db, scopeOf(connection), { ids, now }),
    askForEmail: async ({ connection, id }, email, now) => {
      const columns = (row: ExpressionBuilder<Tables, 'identity'>) => {
        const isAsStored = row.case().when('travel_email_key', '=', caseFoldedKey(email));
        return {
          ...dirtyColumns(row, now),
          observed: isAsStored.then(row.ref('observed')).else(null).end(),
          travel_email_key: isAsStored.then(row.ref('travel_email_key')).else(null).end(),
        };
      };
      await db
        .updateTable('identity')
        .set(columns)
        .where(inScope(scopeOf(connection)))
        .where('id', '=', id)
        .where((row) => row.not(isRetryScheduled(row, now)))
        .execute();
    },
    markEmailWaitersDirty: (account, email, now, except) =>
      markWaitersDirty(db, account, { keys: [caseFoldedKey(email)], now, except }),
    markAllEmailWaitersDirty: async (account, now) => {
      await updateToDirty(db, now)
        .where('account', '=', account)
        .where('waiting_for', 'is not', null)
        .where(isSearchOver)
        .execute();
    },
    markUnresolvedDirty: async (connection, now) => {
      const scope = scopeOf(connection);
      await markDirty(db, scope, { ids: await findOpenIdentities(db, scope), now });
    },
    markStaleDirty: (connection, generation, limit, now) =>
      markStaleDirty(db, { scope: scopeOf(connection), generation, limit, now }),
    countByState: () => countByState(db),
  };
}

/** Makes identities due now. */
export async function markDirty(
  db: Kysely<Tables>,
  scope: Scope,
  { ids, now }: { ids: readonly string[]; now: number },
): Promise<void> {
  for (const batch of batches(ids))
    await updateToDirty(db, now).where(inScope(scope)).where('id', 'in', batch).execute();
}

/**
 * Marks the identities dirty that wait for one of these addresses, given by search key, and those that wait for another one and may have
 * one of these meanwhile, because it is their userName. The identity `except` stays as it is.
 */
export async function markWaitersDirty(
  db: Kysely<Tables>,
  account: string,
  {
    keys,
    now,
    except,
  }: { keys: string[]; now: number; except?: Pick<Identity, 'connection' | 'id'> | undefined },
): Promise<void> {
  if (keys.length === 0) return;
  const all = updateToDirty(db, now).where('account', '=', account);
  const waiting = except
    ? all.where((row) =>
        row.not(row.and([row('connection_id', '=', except.connection), row('id', '=', except.id)])),
      )
    : all;
  await waiting.where('waiting_for', 'in', keys).execute();
  await waiting.where('waiting_for', 'is not', null).where('user_name_key', 'in', keys).execute();
}

/**
 * The condition of dirty identities in searches by `next_attempt_at`. Its second part is the condition of the index
 * `identity_unsettled`, which SQLite does not derive from the first part.
 */
export const isDirty = sql<boolean>`state = 'dirty' and state <> 'synced'`;

/** The longest delay until the next attempt: that of a plan which waits for another mode of the connection. */
const LONGEST_ATTEMPT_DELAY_MS = 60 * 60_000;

interface DueQuery {
  now: number;
  limit: number;
}

/**
 * Reads the queue of each connection separately and merges the results, so that a long queue of one connection does not
 * slow down the others.
 */
async function findDue(
  db: Kysely<Tables>,
  { scopes, ...query }: DueQuery & { scopes: Scope[] },
): Promise<{ connection: string; id: string }[]> {
  const rows = new Map<string, DueRow>();
  for (const scope of scopes) {
    for (const row of (await selectDue(db, { ...scope, ...query })).rows)
      rows.set(`${row.connection_id} ${row.id}`, row);
  }
  return [...rows.values()]
    .sort(
      (left, right) =>
        Number(isDeactivation(right)) - Number(isDeactivation(left)) || left.due_at - right.due_at,
    )
    .slice(0, query.limit)
    .map(({ connection_id, id }) => ({ connection: connection_id, id }));
}

type DueRow = Pick<Tables['identity'], 'connection_id' | 'id' | 'active' | 'deleted_at'> & { due_at: number };

/** Returns true for users who must lose access. They are due before users who wait for access. */
function isDeactivation({ active, deleted_at }: DueRow): boolean {
  return active === 0 || deleted_at !== null;
}

/**
 * Selects what is due in a connection, in one statement, because each connection looks every second. Due deactivations are selected by an
 * index of their own, so that other dirty identities do not delay them, however many there are.
 */
const selectDue = compiledQuery((db, query: Scope & DueQuery) => {
  const deactivations = selectDueDirty(db, query).where(sql<boolean>`(active = 0 or deleted_at is not null)`);
  return db
    .selectFrom(deactivations.as('page'))
    .selectAll()
    .unionAll(db.selectFrom(selectDueDirty(db, query).as('page')).selectAll())
    .unionAll(db.selectFrom(selectDueChecks(db, query).as('page')).selectAll());
});

function selectDueDirty(db: Kysely<Tables>, query: Scope & DueQuery) {
  return selectUnleased(db, query.now)
    .select('next_attempt_at as due_at')
    .where(inScope(query))
    .where(isDirty)
    .where((row) => isDue(row.ref('next_attempt_at'), sql.val(query.now), LONGEST_ATTEMPT_DELAY_MS))
    .orderBy('next_attempt_at')
    .limit(query.limit);
}

/**
 * Selects identities that are due for a check of the traveler (`nextCheckAt`). Dirty identities are excluded, because their next attempt
 * includes the check.
 */
function selectDueChecks(db: Kysely<Tables>, query: Scope & DueQuery) {
  return selectUnleased(db, query.now)
    .select('check_at as due_at')
    .where(inScope(query))
    .where('state', '<>', sql.lit('dirty'))
    .where('check_at', '>', sql.lit(0))
    .where((row) => isDue(row.ref('check_at'), sql.val(query.now), LONGEST_CHECK_DELAY_MS))
    .orderBy('check_at')
    .limit(query.limit);
}

function selectUnleased(db: Kysely<Tables>, now: number) {
  return db
    .selectFrom('identity')
    .select(['connection_id', 'id', 'active', 'deleted_at'])
    .where((row) => isUnleased(row, now));
}

function isUnleased(row: ExpressionBuilder<Tables, 'identity'>, now: number) {
  return row.or([row('lease_until', 'is', null), row('lease_until', '<=', now)]);
}

/** True for a dirty identity that waits for its next attempt. An attempt that runs may have begun before the reason for another one. */
function isRetryScheduled(row: ExpressionBuilder<Tables, 'identity'>, now: number) {
  return row.and([row('state', '=', 'dirty'), row('next_attempt_at', '>', now), isUnleased(row, now)]);
}

function updateToDirty(db: Kysely<Tables>, now: number) {
  return db.updateTable('identity').set((row) => dirtyColumns(row, now));
}

/** The columns that make an identity due now. One that is already due keeps its place in the queue. */
export function dirtyColumns(row: ExpressionBuilder<Tables, 'identity'>, now: number) {
  return {
    state: sql.lit('dirty'),
    revision: row('revision', '+', 1),
    next_attempt_at: row
      .case()
      .when(row.and([row('state', '=', 'dirty'), row('next_attempt_at', '<=', now)]))
      .then(row.ref('next_attempt_at'))
      .else(now)
      .end(),
  };
}

interface StaleQuery {
  scope: Scope;
  generation: number;
  limit: number;
  now: number;
}

/**
 * Returns the identities that wait for an address, refer to a missing traveler or wait for a group that the scope names, and will not search
 * again by themselves.
 */
async function findOpenIdentities(db: Kysely<Tables>, scope: Scope): Promise<string[]> {
  const waiting = await db
    .selectFrom('identity')
    .select('id')
    .where(inScope(scope))
    .where('waiting_for', 'is not', null)
    .where(isSearchOver)
    .execute();
  const referring = await db
    .selectFrom('identity_reference as reference')
    .innerJoin('identity', (join) => join.on(equalInScope('identity.id', 'reference.identity_id')))
    .leftJoin('identity as target', (join) =>
      join
        .on(equalInScope('target.id', 'reference.target'))
        .onRef('target.travel_id', '=', 'reference.travel_id')
        .on('target.deleted_at', 'is', null),
    )
    .select('identity.id')
    .where(inScope(scope, 'reference'))
    .where('target.id', 'is', null)
    .where(isSearchOver)
    .execute();
  const unscoped = await db
    .selectFrom('identity')
    .select('id')
    .where(inScope(scope))
    // Such a person has a finding, and those with findings are few.
    .where('finding_codes', '<>', sql.lit(''))
    .where('deleted_at', 'is', null)
    .where('progress', 'like', '%"scope":"unresolved"%')
    .where(isSearchOver)
    .execute();
  return [...new Set([...waiting, ...referring, ...unscoped].map(({ id }) => id))];
}

/** True unless an attempt is going to search. One that runs, and so has a lease, may have searched already. */
function isSearchOver(row: ExpressionBuilder<Tables, 'identity'>) {
  return row.or([row('identity.state', '<>', sql.lit('dirty')), row('identity.lease_token', 'is not', null)]);
}

/**
 * Marks identities dirty that were translated with earlier rules. Dirty ones are excluded, because their next attempt uses the
 * current rules anyway, except for plans that wait for another mode of the connection.
 */
async function markStaleDirty(
  db: Kysely<Tables>,
  { scope, generation, limit, now }: StaleQuery,
): Promise<number> {
  const stale = await db
    .selectFrom('identity')
    .select('id')
    .where(inScope(scope))
    .where('claimed', '=', sql.lit(1))
    .where('rules_generation', '<', generation)
    .where((row) =>
      row.or([
        row('state', '<>', sql.lit('dirty')),
        row.and([row('attempts', '=', 0), row('next_attempt_at', '>', now)]),
      ]),
    )
    .limit(limit)
    .execute();
  await markDirty(db, scope, { ids: stale.map(({ id }) => id), now });
  return stale.length;
}

/**
 * Counts the identities of each connection by state, tombstones included. Most are synced, so the query counts only
 * the others and subtracts them from the stored total.
 */
export async function countByState(
  db: Kysely<Tables>,
): Promise<{ connection: string; state: string; count: number }[]> {
  const all = db
    .selectFrom('list_counter')
    .select((row) => [
      'connection_id as connection',
      sql.lit('synced').as('state'),
      row.fn.sum<number>('count').as('count'),
    ])
    .where('kind', 'in', ['live', 'dead'])
    .groupBy('connection_id');
  const unsettled = db
    .selectFrom('identity')
    .select((row) => ['connection_id as connection', 'state', row.fn.countAll<number>().as('count')])
    .where('state', '<>', sql.lit('synced'))
    // With the account they are grouped in the order of an index, which needs no sorting.
    .groupBy(['account', 'connection_id', 'state']);
  // One statement, so that the totals and the exceptions come from the same snapshot.
  const rows = await all.unionAll(unsettled).execute();
  const counts = rows.map((row) => ({ ...row, count: Number(row.count) }));
  return counts.map((row) => {
    if (row.state !== 'synced') return row;
    const others = counts.filter(
      ({ connection, state }) => connection === row.connection && state !== 'synced',
    );
    return { ...row, count: row.count - others.reduce((sum, { count }) => sum + count, 0) };
  });
}
