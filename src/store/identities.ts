import { type CompiledQuery, type Kysely, type QueryResult, sql } from 'kysely';
import type { Identity } from '../provisioning/identity.ts';
import type { Identities, IdentityChange, IdentityMatch, IdentityPage } from '../provisioning/store-ports.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import type { Database } from './database.ts';
import { deleteLinkedElsewhere, deleteUnclaimed } from './delete-identities.ts';
import type { Dialect } from './dialect.ts';
import { findErasedTravelers } from './erased-travelers.ts';
import {
  findByEmployeeNumber,
  findForNewUser,
  findForWrite,
  holdsFor,
  isLinked,
  MAX_WAITERS,
} from './identities-for-writes.ts';
import {
  linkTraveler,
  noteSuccessor,
  onlyLeasedUpdate,
  releaseTraveler,
  unlinkTraveler,
  updateAndLease,
  updateIdentity,
} from './identity-changes.ts';
import { conditionalInserts, identityInserts, insertIdentity } from './identity-inserts.ts';
import { type IdentityRow, identityColumnNames, readColumnNames, toIdentity } from './identity-row.ts';
import { writeOutcome } from './leases.ts';
import {
  identityList,
  type ListScope,
  type ShownColumns,
  shownColumns,
  toShownIdentity,
  userListOn,
} from './list-definitions.ts';
import { listByUniqueValue } from './list-lookup.ts';
import { listRows, type PageEnds } from './list-query.ts';
import { markFound } from './mark-found.ts';
import { PageMemory } from './page-memory.ts';
import { compiledQuery } from './queries.ts';
import { attributeKey, caseFoldedKey, exactKey } from './search-keys.ts';
import { statisticsOfIdentities } from './table-statistics.ts';
import type { Tables } from './tables.ts';

/** Returns the store of identities. */
export function identities(database: Database): Identities {
  const { db, readBoth, scopeOf } = database;
  const pageEnds: PageEnds = new PageMemory();
  const updateStatistics = statisticsOfIdentities(database);
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
    findPage: (connection, offset, limit) =>
      readIdentityPage({ db, readBoth, ...scopeOf(connection) }, pageEnds, { offset, limit }),
    list: async (connection, query, scan, hidden = hidesNobody) => {
      const scope = { db, readBoth, ...scopeOf(connection) };
      const isFiltered = scan.residual || hidden.areUnclaimed;
      const uniqueResult = isFiltered ? undefined : await listByUniqueValue(db, scope, query, hidden);
      const definition = userListOn(database.dialect, scope, hidden);
      return uniqueResult ?? listRows({ definition, scope, query, scan, pageEnds });
    },
    commit: async (connection, changes) => {
      const result = await commitChanges(database, scopeOf(connection), changes);
      const isInserted =
        (result === 'done' || result === 'unleased') && changes.some(({ kind }) => kind === 'insert');
      // The write is committed: if the database fails now, PostgreSQL updates the statistics itself, a minute later.
      if (isInserted) await updateStatistics(1).catch(() => {});
      return result;
    },
    markFound: (connection, ids) => markFound(database, scopeOf(connection), ids),
    findHolder: (account, match) => findHolder(db, account, match),
    isWaitedFor: async (account, email, except) => {
      const waiting = await selectActiveWaiter(db, { account, key: caseFoldedKey(email), except });
      return waiting.rows.length > 0;
    },
    findByEmployeeNumber: (account, number) => findByEmployeeNumber(db, account, number),
    isErased: async (account, travelId) => (await findErasedTravelers(db, account, [travelId])).size > 0,
    findWaiters: async (account, email) => {
      const { rows } = await selectWaiters(db, { account, key: caseFoldedKey(email) });
      return rows.map(toIdentity);
    },
  };
}

const hidesNobody = { areUnclaimed: false, travelId: undefined };

function toFirstIdentity({ rows: [row] }: QueryResult<IdentityRow>): Identity | undefined {
  return row && toIdentity(row);
}

interface IdentityKey extends Scope {
  id: string;
}

const selectIdentityById = compiledQuery((db, key: IdentityKey) =>
  db.selectFrom('identity').select(readColumnNames).where(inScope(key)).where('id', '=', key.id),
);

const selectShown = compiledQuery((db, key: IdentityKey) => {
  const query = sql<ShownColumns>`
    select ${shownColumns} from identity
    where ${inScope(key)} and id = ${key.id} and deleted_at is null`;
  return { compile: () => query.compile(db) };
});

async function findIdentities(
  db: Kysely<Tables>,
  scope: Scope,
  { by, value }: IdentityMatch,
): Promise<Identity[]> {
  const { rows } = await selectBy[by](db, { ...scope, key: toSearchKey[by](value) });
  return rows.map(toIdentity);
}

/** Converts a value to the form that the searched column contains. */
const toSearchKey: Record<IdentityMatch['by'], (value: string) => string> = {
  id: String,
  travelId: String,
  externalId: exactKey,
  userName: caseFoldedKey,
  email: caseFoldedKey,
  travelEmail: caseFoldedKey,
};

const selectBy = {
  id: selectByColumn('id'),
  userName: selectByColumn('user_name_key'),
  externalId: selectByColumn('external_id'),
  travelId: selectByColumn('travel_id'),
  travelEmail: selectByColumn('travel_email_key'),
  email: compiledQuery((db, match: ScopedKey) =>
    selectNewestFirst(db, match).where('id', 'in', (row) =>
      row
        .selectFrom('identity_email')
        .select('identity_id')
        .where(inScope(match))
        .where('email_key', '=', match.key),
    ),
  ),
};

function selectByColumn(column: 'id' | 'user_name_key' | 'external_id' | 'travel_id' | 'travel_email_key') {
  return compiledQuery((db, match: ScopedKey) => selectNewestFirst(db, match).where(column, '=', match.key));
}

interface ScopedKey extends Scope {
  key: string;
}

function selectNewestFirst(db: Kysely<Tables>, scope: Scope) {
  return db
    .selectFrom('identity')
    .select(readColumnNames)
    .where(inScope(scope))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');
}

/** Reads complete identities without pauses between steps: no client waits for this page, and its steps are short. */
async function readIdentityPage(
  scope: ListScope,
  pageEnds: PageEnds,
  { offset, limit }: { offset: number; limit: number },
): Promise<IdentityPage> {
  const scan = { yieldBetweenSteps: async () => {}, residual: undefined };
  const order = { by: 'position', descending: false } as const;
  const query = { where: { all: [] }, order, start: { offset }, limit };
  const { total, rows } = await listRows({ definition: identityList, scope, query, scan, pageEnds });
  return { total, identities: rows };
}

async function findHolder(
  db: Kysely<Tables>,
  account: string,
  match: Parameters<Identities['findHolder']>[1],
): Promise<Identity | undefined> {
  if ('creating' in match)
    return toFirstIdentity(await selectCreator(db, { account, key: caseFoldedKey(match.creating) }));
  if ('travelId' in match)
    return toFirstIdentity(await selectByTraveler(db, { account, key: match.travelId }));
  const key = 'travelEmailKey' in match ? match.travelEmailKey : caseFoldedKey(match.travelEmail);
  return toFirstIdentity(await selectByTravelerEmail(db, { account, key }));
}

const selectWaiters = compiledQuery((db, { account, key }: AccountKey) =>
  db
    .selectFrom('identity')
    .select(readColumnNames)
    .where('account', '=', account)
    .where('waiting_for', '=', key)
    .limit(sql.lit(MAX_WAITERS)),
);

const selectActiveWaiter = compiledQuery((db, { account, key, except }: AccountKey & { except: string }) =>
  db
    .selectFrom('identity')
    .select('id')
    .where('account', '=', account)
    .where('waiting_for', '=', key)
    .where('id', '<>', except)
    // Ignore inactive people, who do not need the address now.
    .where('active', '=', sql.lit(1))
    .where('deleted_at', 'is', null)
    .limit(sql.lit(1)),
);

interface AccountKey {
  account: string;
  key: string;
}

const selectCreator = compiledQuery((db, { account, key }: AccountKey) =>
  selectClaimed(db, account).where('creating_key', '=', key).limit(sql.lit(1)),
);

const selectByTraveler = compiledQuery((db, { account, key }: AccountKey) =>
  selectLinked(db, account).where('travel_id', '=', key),
);

const selectByTravelerEmail = compiledQuery((db, { account, key }: AccountKey) =>
  selectLinked(db, account).where('travel_email_key', '=', key),
);

function selectClaimed(db: Kysely<Tables>, account: string) {
  return db
    .selectFrom('identity')
    .select(readColumnNames)
    .where('account', '=', account)
    .where('claimed', '=', sql.lit(1));
}

/** Selects linked identities: live ones before tombstones, and newer ones before older ones. */
function selectLinked(db: Kysely<Tables>, account: string) {
  return selectClaimed(db, account)
    .where(isLinked('identity'))
    .orderBy((of) => of.case().when('deleted_at', 'is', null).then(sql.lit(0)).else(sql.lit(1)).end())
    .orderBy('created_at', 'desc')
    .limit(sql.lit(1));
}

type CommitResult = Awaited<ReturnType<Identities['commit']>>;

/**
 * Applies changes in order, all of them or none. `stale`: an identity has changed since it was read; `duplicate`:
 * another live identity has the userName.
 */
export async function commitChanges(
  database: Database,
  scope: Scope,
  changes: IdentityChange[],
): Promise<CommitResult> {
  const { db, dialect, transaction, batch, isDuplicate } = database;
  const queries = batchOf(db, { scope, dialect }, changes);
  const apply = async (tx: Kysely<Tables>): Promise<CommitResult> => {
    let result: CommitResult = 'done';
    for (const change of changes) {
      if (change.kind === 'update' && change.lease) {
        const { identity, lease, ended } = change;
        if (await updateAndLease(tx, { scope, dialect }, { identity, lease })) {
          if (ended) await writeOutcome(tx, { id: identity.id, ...scope }, ended);
          continue;
        }
        result = 'unleased';
      }
      if (!(await applyChange(tx, { scope, dialect }, change))) return 'stale';
    }
    return result;
  };
  try {
    if (queries && (await batch(queries))[0]?.numAffectedRows === 1n) return 'done';
    if (queries && changes.some(isConditional)) return 'stale';
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

/**
 * Returns the statements of the most frequent changes, of which the first changes no row if the identity has changed since it was
 * read: the insert of a user without a traveler, and an update that takes the lease. Returns undefined for all other changes.
 */
function batchOf(
  db: Kysely<Tables>,
  { scope, dialect }: { scope: Scope; dialect: Dialect },
  [change, ...others]: IdentityChange[],
): CompiledQuery<unknown>[] | undefined {
  if (!change || others.length > 0 || !('identity' in change) || change.ended) return undefined;
  const { identity, lease } = change;
  if (change.kind === 'update') {
    const update =
      change.lease && onlyLeasedUpdate(db, { scope, dialect }, { identity, lease: change.lease });
    return update && [update];
  }
  const { condition } = change;
  if (identity.travelId !== undefined || (condition && !lease)) return undefined;
  const leased = lease && { dialect, lease };
  const inserts =
    condition && leased
      ? conditionalInserts(db, scope, { identity, leased, condition })
      : identityInserts(db, scope, { identity, leased });
  if (identity.creating === undefined) return inserts;
  const email = caseFoldedKey(identity.creating);
  return [...inserts, insertAgainIfEmailIsTaken.compile(db, { ...scope, id: identity.id, email })];
}

function isConditional(change: IdentityChange): boolean {
  return change.kind === 'insert' && change.condition !== undefined;
}

/** Applies one change. Returns false if the identity has changed since it was read, or a condition does not hold. */
async function applyChange(
  tx: Kysely<Tables>,
  { scope, dialect }: { scope: Scope; dialect: Dialect },
  change: IdentityChange,
): Promise<boolean> {
  switch (change.kind) {
    case 'insert': {
      const { identity, condition, lease, ended } = change;
      if (condition && !(await holdsFor(tx, scope, condition))) return false;
      await insertIdentity(tx, scope, { identity, leased: lease && { dialect, lease } });
      // Checked after the insert: the reserved address then refuses others until the end of the transaction, so a
      // traveler with it is either linked already or will not be.
      if (await isReservedEmailTaken(tx, scope, identity)) return false;
      if (ended) await writeOutcome(tx, { id: identity.id, ...scope }, ended);
      return true;
    }
    case 'update':
      return updateIdentity(tx, scope, change);
    case 'giveUpTraveler':
      return releaseTraveler({ tx, dialect }, { ...scope, connection: change.connection }, change);
    case 'noteSuccessor': {
      const { connection, id, successor, givesEmailUp } = change;
      return noteSuccessor(tx, { ...scope, connection, id, successor, givesEmailUp });
    }
    case 'link': {
      const { id, travelId, applied } = change;
      return linkTraveler(tx, { ...scope, id, travelId, applied });
    }
    case 'unlink':
      return unlinkTraveler(tx, { ...scope, id: change.id });
    case 'deleteUnclaimed': {
      const erased = await deleteUnclaimed(tx, (row) => row.and([inScope(scope), row('id', '=', change.id)]));
      return erased === 1;
    }
  }
}

/**
 * Returns true if a traveler of the account now has the address that a new identity reserves. It was free when it was
 * checked before the transaction.
 */
async function isReservedEmailTaken(
  tx: Kysely<Tables>,
  { account }: Scope,
  { creating, travelId }: Identity,
): Promise<boolean> {
  if (creating === undefined || travelId !== undefined) return false;
  const [holder] = (await selectEmailHolder(tx, { account, key: caseFoldedKey(creating) })).rows;
  return holder !== undefined;
}

const selectEmailHolder = compiledQuery((db, key: AccountKey) => emailHolder(db, key));

function emailHolder(db: Kysely<Tables>, { account, key }: AccountKey) {
  return db
    .selectFrom('identity as holder')
    .select(sql.lit(1).as('one'))
    .where('holder.account', '=', account)
    .where('holder.travel_email_key', '=', key)
    .where('holder.claimed', '=', sql.lit(1))
    .where(isLinked('holder'))
    .where('holder.deleted_at', 'is', null)
    .limit(sql.lit(1));
}

/**
 * Checks the same in a batch, which only an error rolls back: inserts the new identity a second time if a traveler has the address, and
 * violates the primary key.
 */
const insertAgainIfEmailIsTaken = compiledQuery((db, key: IdentityKey & { email: string }) =>
  db
    .insertInto('identity')
    .columns(identityColumnNames)
    .expression((of) =>
      of
        .selectFrom('identity')
        .select(identityColumnNames)
        .where(inScope(key))
        .where('id', '=', key.id)
        .where((row) => row.exists(emailHolder(db, { account: key.account, key: key.email }))),
    ),
);

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
