import { type Kysely, type QueryResult, sql } from 'kysely';
import type { Identity } from '../../model/identity.ts';
import type { Identities, IdentityChange, IdentityMatch } from '../../model/store-ports.ts';
import { foldCase } from '../../schema/case-fold.ts';
import { employeeNumberKey, employeeNumberOf } from '../../schema/resource.ts';
import { inScope, type Scope, type ScopedId } from '../connection-scopes.ts';
import {
  identityList,
  type ShownColumns,
  shownColumns,
  toShownIdentity,
  userListWithout,
} from '../lists/list-definitions.ts';
import { listByUniqueValue } from '../lists/list-lookup.ts';
import { listRows } from '../lists/list-query.ts';
import type { Database } from '../sql/database.ts';
import { compiledQuery } from '../sql/queries.ts';
import { attributeKey, caseFoldedKey, exactKey, numberSearchKey } from '../sql/search-keys.ts';
import { statisticsOfIdentities } from '../sql/table-statistics.ts';
import type { IdentityTable, Tables } from '../sql/tables.ts';
import { deleteLinkedElsewhere, deleteUnclaimed, moveToHeir } from './delete-identities.ts';
import { findErasedTravelers } from './erased-travelers.ts';
import { findForNewUser, findForWrite, isLinked } from './identities-for-writes.ts';
import { type IdentityWrites, identityWrites, type WriteContext } from './identity-changes.ts';
import { toIdentity } from './identity-row.ts';
import { writeOutcome } from './leases.ts';
import { inPilot } from './shadow-plans.ts';
import { linkTraveler, noteSuccessor, releaseTraveler, unlinkTraveler } from './traveler-links.ts';

/** Returns the store of identities. */
export function identities(database: Database): Identities {
  const { db, dialect, scopeOf } = database;
  const updateStatistics = statisticsOfIdentities(database);
  const writes = identityWrites(dialect);
  return {
    findById: async (connection, id) =>
      toFirstIdentity(await selectIdentityById(db, { ...scopeOf(connection), id })),
    findView: async (connection, id) => {
      const [row] = (await selectShown(db, { id, ...scopeOf(connection) })).rows;
      return row && toShownIdentity(row);
    },
    findForWrite: (connection, id) => findForWrite(db, { id, ...scopeOf(connection) }),
    findForNewUser: (connection, user) => findForNewUser(db, scopeOf(connection), user),
    find: (connection, match) => findIdentities(db, scopeOf(connection), match),
    findPage: async (connection, from, limit) => {
      const order = { by: 'position', descending: false } as const;
      const start = typeof from === 'number' ? { offset: from } : { after: from };
      const query = { where: { all: [] }, order, start, limit };
      // No client waits for this page, and its steps are short.
      const scan = { yieldBetweenSteps: async () => {}, residual: undefined };
      const scope = { db, ...scopeOf(connection) };
      const { total, rows, next } = await listRows({ definition: identityList, scope, query, scan });
      return { total, identities: rows, next };
    },
    list: async (connection, query, scan, hidden) => {
      const scope = { db, ...scopeOf(connection) };
      const found = scan.residual ? undefined : await listByUniqueValue(scope, query, hidden);
      return found ?? listRows({ definition: userListWithout(scope, hidden), scope, query, scan });
    },
    commit: async (connection, changes) => {
      const result = await commitChanges(database, writes, { scope: scopeOf(connection), changes });
      const isInserted =
        (result === 'done' || result === 'unleased') && changes.some(({ kind }) => kind === 'insert');
      // The write is committed: if the database fails now, PostgreSQL updates the statistics itself, a minute later.
      if (isInserted) await updateStatistics(1).catch(() => {});
      return result;
    },
    findHolder: (account, match) => findHolder(db, account, match),
    isWaitedFor: (account, email, except) => isWaitedFor(db, { account, email, except }),
    isErased: async (account, travelId) => (await findErasedTravelers(db, account, [travelId])).size > 0,
  };
}

function toFirstIdentity({ rows: [row] }: QueryResult<IdentityTable>): Identity | undefined {
  return row && toIdentity(row);
}

const selectIdentityById = compiledQuery((db, key: ScopedId) =>
  db.selectFrom('identity').selectAll().where(inScope(key)).where('id', '=', key.id),
);

const selectShown = compiledQuery((db, key: ScopedId) => {
  const query = sql<ShownColumns>`
    select ${shownColumns} from identity
    where ${inScope(key)} and id = ${key.id} and deleted_at is null`;
  return { compile: () => query.compile(db) };
});

/** The columns that identities are found by, each with the function that converts a value to the form that it contains. */
const searchedColumns = {
  id: { column: 'id', toKey: String },
  userName: { column: 'user_name_key', toKey: caseFoldedKey },
  externalId: { column: 'external_id', toKey: exactKey },
  travelId: { column: 'travel_id', toKey: String },
  travelEmail: { column: 'travel_email_key', toKey: caseFoldedKey },
} as const;

async function findIdentities(db: Kysely<Tables>, scope: Scope, match: IdentityMatch): Promise<Identity[]> {
  const newestFirst = db
    .selectFrom('identity')
    .selectAll()
    .where(inScope(scope))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
  const owners = (key: string) =>
    db.selectFrom('identity_email').select('identity_id').where(inScope(scope)).where('email_key', '=', key);
  const { by, value } = match;
  if (by === 'email')
    return (await newestFirst.where('id', 'in', owners(caseFoldedKey(value))).execute()).map(toIdentity);
  if (by === 'employeeNumber') {
    const number = employeeNumberKey(value);
    if (number === undefined) return [];
    const rows = await newestFirst.where('id', 'in', owners(numberSearchKey(number))).execute();
    // The key has no leading zeros.
    return rows
      .map(toIdentity)
      .filter(({ desired }) => foldCase(employeeNumberOf(desired) ?? '') === foldCase(value));
  }
  const { column, toKey } = searchedColumns[by];
  return (await newestFirst.where(column, '=', toKey(value)).execute()).map(toIdentity);
}

async function findHolder(
  db: Kysely<Tables>,
  account: string,
  match: Parameters<Identities['findHolder']>[1],
): Promise<Identity | undefined> {
  const claimed = db
    .selectFrom('identity')
    .selectAll()
    .where('account', '=', account)
    .where('claimed', '=', sql.lit(1))
    .limit(sql.lit(1));
  // Live identities come before tombstones, and newer ones before older ones.
  const linked = claimed
    .where(isLinked('identity'))
    .orderBy((of) => of.case().when('deleted_at', 'is', null).then(sql.lit(0)).else(sql.lit(1)).end())
    .orderBy('created_at', 'desc');
  const found =
    'creating' in match
      ? claimed.where('creating_key', '=', caseFoldedKey(match.creating))
      : 'travelId' in match
        ? linked.where('travel_id', '=', match.travelId)
        : linked.where('travel_email_key', '=', caseFoldedKey(match.travelEmail));
  const row = await found.executeTakeFirst();
  return row && toIdentity(row);
}

/** Inactive people do not count, because they do not need the address now, and neither do those who are planned in shadow mode. */
async function isWaitedFor(
  db: Kysely<Tables>,
  { account, email, except }: { account: string; email: string; except: string },
): Promise<boolean> {
  const inShadow = db.selectFrom('connection').select('id').where('mode', '=', sql.lit('shadow'));
  const waiter = await db
    .selectFrom('identity')
    .select('id')
    .where('account', '=', account)
    .where((row) => row.or([row('connection_id', 'not in', inShadow), row('progress', 'like', inPilot)]))
    .where('waiting_for', '=', caseFoldedKey(email))
    .where('id', '<>', except)
    .where('active', '=', sql.lit(1))
    .where('deleted_at', 'is', null)
    .limit(sql.lit(1))
    .executeTakeFirst();
  return waiter !== undefined;
}

type CommitResult = Awaited<ReturnType<Identities['commit']>>;

/**
 * Applies changes in order, all of them or none. `stale`: an identity has changed since it was read; `duplicate`:
 * another live identity has the userName.
 */
async function commitChanges(
  database: Database,
  writes: IdentityWrites,
  { scope, changes }: { scope: Scope; changes: IdentityChange[] },
): Promise<CommitResult> {
  const { db, dialect, transaction, isDuplicate } = database;
  const apply = async (tx: Kysely<Tables>): Promise<CommitResult> => {
    let result: CommitResult = 'done';
    for (const change of changes) {
      const applied = await applyChange({ tx, dialect, scope }, writes, change);
      if (applied === 'stale') return 'stale';
      if (applied === 'unleased') result = 'unleased';
    }
    return result;
  };
  try {
    return await transaction(apply, { commitIf: (result) => result !== 'stale' });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const holder = await findNameHolder(db, scope, changes);
    // An import has just listed the person of a new user: the caller finds that identity and claims it.
    const isListed = holder?.claimed === 0 && changes.some(({ kind }) => kind === 'insert');
    if (holder && !isListed) return 'duplicate';
    // If the userName is not the cause, the index on travelers is violated: another identity was linked meanwhile. The
    // caller reads the identity again.
    await deleteLinkedElsewhere(database, scope, changes.map(idOf));
    return 'stale';
  }
}

type ChangeResult = Exclude<CommitResult, 'duplicate'>;

/** Applies one change. Returns `stale` if the identity has changed since it was read, or a condition does not hold. */
async function applyChange(
  context: WriteContext,
  writes: IdentityWrites,
  change: IdentityChange,
): Promise<ChangeResult> {
  const { tx, scope } = context;
  const own = {
    ...context,
    scope: 'connection' in change ? { ...scope, connection: change.connection } : scope,
  };
  switch (change.kind) {
    case 'insert':
      return withOutcome(context, change, doneIf(await writes.insert(context, change)));
    case 'update':
      return withOutcome(context, change, await writes.update(context, change));
    case 'giveUpTraveler':
      return doneIf(await releaseTraveler(own, change));
    case 'noteSuccessor':
      return doneIf(await noteSuccessor(own, change));
    case 'link':
      return doneIf(await linkTraveler(context, change));
    case 'unlink':
      return doneIf(await unlinkTraveler(tx, scope, change));
    case 'deleteUnclaimed': {
      if (change.heir) await moveToHeir(tx, scope, { id: change.id, heir: change.heir });
      const deleted = await deleteUnclaimed(tx, (row) =>
        row.and([inScope(scope), row('id', '=', change.id)]),
      );
      return doneIf(deleted === 1);
    }
  }
}

function doneIf(isDone: boolean): ChangeResult {
  return isDone ? 'done' : 'stale';
}

/** Saves the outcome of an attempt that has already ended, if its lease was taken. */
async function withOutcome(
  { tx, scope }: WriteContext,
  { identity, ended }: Extract<IdentityChange, { identity: Identity }>,
  result: ChangeResult,
): Promise<ChangeResult> {
  if (ended && result === 'done') await writeOutcome(tx, { id: identity.id, ...scope }, ended);
  return result;
}

function idOf(change: IdentityChange): string {
  return 'identity' in change ? change.identity.id : change.id;
}

/** Returns a live identity that these changes do not concern and that has one of their userNames. */
async function findNameHolder(
  db: Kysely<Tables>,
  scope: Scope,
  changes: IdentityChange[],
): Promise<{ claimed: number } | undefined> {
  const identities = changes.flatMap((change) => ('identity' in change ? [change.identity] : []));
  const names = identities
    .filter(({ deletedAt }) => deletedAt === undefined)
    .map(({ desired }) => attributeKey(desired.userName, caseFoldedKey))
    .filter((key) => key !== null);
  if (names.length === 0) return undefined;
  return db
    .selectFrom('identity')
    .select('claimed')
    .where(inScope(scope))
    .where('user_name_key', 'in', names)
    .where('deleted_at', 'is', null)
    .where('id', 'not in', changes.map(idOf))
    .executeTakeFirst();
}
