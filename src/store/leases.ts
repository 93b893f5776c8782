import { type CompiledQuery, type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { Outcome } from '../provisioning/identity.ts';
import type { Announcement, LeasedOutcome, Leases } from '../provisioning/store-ports.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import type { Database } from './database.ts';
import { deleteUnclaimedOf } from './delete-identities.ts';
import { type Dialect, timeAfter } from './dialect.ts';
import { laterSeenAt, releaseTraveler } from './identity-changes.ts';
import {
  creatingColumns,
  observedColumns,
  outcomeColumnNames,
  outcomeColumns,
  progressColumns,
  readColumnNames,
  toAppliedJson,
  toIdentity,
} from './identity-row.ts';
import { compiledQuery, compiledQueryVariants, pick } from './queries.ts';
import { caseFoldedKey } from './search-keys.ts';
import type { Tables } from './tables.ts';

/** Returns the leases on identities in a database. */
export function leases(database: Database): Leases {
  const { db, dialect, scopeOf } = database;
  const takeLease = leaseTaker(dialect);
  const updateHeld = (connection: string, id: string, token: string) =>
    db
      .updateTable('identity')
      .where(inScope(scopeOf(connection)))
      .where('id', '=', id)
      .where('lease_token', '=', token);
  return {
    acquire: (connection, id, lease) =>
      database.transaction((tx) => takeLease(tx, { ...scopeOf(connection), id }, lease), { durable: false }),
    extend: async (connection, id, { token, ms, now }) => {
      const { numUpdatedRows } = await updateHeld(connection, id, token)
        .set({ lease_until: timeAfter(dialect.now(now), ms) })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    announce: (connection, id, token, announcement) =>
      saveAnnouncement(database, { ...scopeOf(connection), id, token }, announcement),
    waitFor: async (connection, id, token, email) => {
      await updateHeld(connection, id, token)
        .set({ waiting_for: caseFoldedKey(email) })
        .execute();
    },
    finish: (connection, id, token, before, outcome: Outcome) =>
      saveOutcome(database, { ...scopeOf(connection), id }, { token, before, outcome }),
    release: async (connection, id, token) => {
      await updateHeld(connection, id, token).set({ lease_token: null, lease_until: null }).execute();
    },
    releaseAll: async () => {
      await db
        .updateTable('identity')
        .set({ lease_token: null, lease_until: null, ...observedColumns(undefined) })
        .where('lease_until', 'is not', null)
        .execute();
    },
  };
}

interface Lease {
  token: string;
  ms: number;
  now: number;
}

interface IdentityKey extends Scope {
  id: string;
}

type TakeLease = (db: Kysely<Tables>, place: IdentityKey, lease: Lease) => ReturnType<Leases['acquire']>;

function leaseTaker(dialect: Dialect): TakeLease {
  const updateFreeLease = freeLeaseUpdate(dialect);
  return async (db, place, lease) => {
    const [row] = (await updateFreeLease(db, { ...place, ...lease })).rows;
    return row && { identity: toIdentity(row), generation: row.generation ?? 0 };
  };
}

/** The same statement returns the generation of the rules in force, so that no change of rules is missed. */
function freeLeaseUpdate(dialect: Dialect) {
  return compiledQuery((db, values: IdentityKey & Lease) => {
    const { id, token, ms, now } = values;
    const clock = dialect.now(now);
    return db
      .updateTable('identity')
      .set((of) => {
        // A lease token is still present only if its holder crashed. The outcome of its calls is unknown, so clear the
        // observed traveler.
        const ifReleased = of.case().when('lease_token', 'is', null);
        return {
          lease_token: token,
          lease_until: timeAfter(clock, ms),
          observed: ifReleased.then(of.ref('observed')).else(null).end(),
          travel_email_key: ifReleased.then(of.ref('travel_email_key')).else(null).end(),
        };
      })
      .where(inScope(values))
      .where('id', '=', id)
      .where((of) => of.or([of('lease_until', 'is', null), of('lease_until', '<=', clock)]))
      .returning(readColumnNames)
      .returning((of) =>
        of
          .selectFrom('rules_in_force')
          .select('rules_in_force.generation')
          .where(inScope(values, 'rules_in_force'))
          .as('generation'),
      );
  });
}

/** An identity and the token of its lease. */
export interface LeaseHolder extends Scope {
  id: string;
  token: string;
}

/**
 * Saves the outcome of a reconciliation and releases the lease. Writes only the reconciler's columns: if the IdP has
 * written the others meanwhile, the identity stays dirty. Results: see `Leases.finish`.
 */
async function saveOutcome(
  { db, batch, transaction, isDuplicate }: Database,
  key: IdentityKey,
  ended: LeasedOutcome,
): Promise<'kept' | 'moved' | 'lost' | 'taken'> {
  try {
    const [written] = await batch([outcomeUpdate(db, key, ended)], { durable: false });
    const [row] = written?.rows ?? [];
    if (row) return comparedTo(ended.before, row);
    const commitIf = (saved: string) => saved === 'kept' || saved === 'moved';
    return await transaction((tx) => writeOutcome(tx, key, ended), { durable: false, commitIf });
  } catch (error) {
    // The unique index on travelers is violated: another identity was linked to the same traveler at the same moment.
    if (isDuplicate(error)) return 'taken';
    throw error;
  }
}

/**
 * Returns the statement that saves an outcome alone. It changes no row if that takes more than one statement, or if the lease is lost.
 */
function outcomeUpdate(
  db: Kysely<Tables>,
  key: IdentityKey,
  { token, before, outcome }: LeasedOutcome,
): CompiledQuery<{ revision: number }> {
  const columns = outcomeColumns(outcome);
  const holder = { ...key, token, known: before.revision };
  if (hasSameKeys(before, columns)) return updateOutcomeOnly.compile(db, columns, holder);
  const { travelId, linkedAt } = outcome;
  const ifWithoutRivals = travelId !== undefined && travelId !== before.travelId;
  const update = updateOutcome({ isLinked: linkedAt !== undefined, ifWithoutRivals });
  return update.compile(db, columns, { ...holder, linkedAt: linkedAt ?? 0 });
}

/** Saves the outcome in the transaction of the caller, in which nothing may follow the result `lost`. */
export async function writeOutcome(
  tx: Kysely<Tables>,
  key: IdentityKey,
  { token, before, outcome }: LeasedOutcome,
): Promise<'kept' | 'moved' | 'lost'> {
  const holder = { ...key, token };
  if (outcome.travelId !== undefined && outcome.travelId !== before.travelId)
    await deleteUnclaimedOf(tx, { ...holder, travelId: outcome.travelId, keep: holder.id });
  const written = await updateWithOutcome(tx, holder, { before, outcome });
  return written ? comparedTo(before, written) : 'lost';
}

/** Returns true if the identity has been written since it was read. */
function comparedTo(before: LeasedOutcome['before'], { revision }: { revision: number }): 'kept' | 'moved' {
  return revision === before.revision + 1 ? 'kept' : 'moved';
}

async function updateWithOutcome(
  tx: Kysely<Tables>,
  holder: LeaseHolder,
  { before, outcome }: Pick<LeasedOutcome, 'before' | 'outcome'>,
): Promise<{ revision: number } | undefined> {
  const columns = outcomeColumns(outcome);
  const key = { known: before.revision, ...holder };
  if (hasSameKeys(before, columns)) {
    const [kept] = (await updateOutcomeOnly(tx, columns, key)).rows;
    if (kept) return kept;
  }
  const { linkedAt } = outcome;
  const update = updateOutcome({ isLinked: linkedAt !== undefined, ifWithoutRivals: false });
  const [row] = (await update(tx, columns, { linkedAt: linkedAt ?? 0, ...key })).rows;
  return row;
}

/** True if the traveler and its address have not changed, and identities are found by nothing else of the outcome. */
function hasSameKeys({ travelId, observed }: LeasedOutcome['before'], columns: Columns): boolean {
  const { travel_id, travel_email_key, check_at, creating_key, waiting_for, hold_cause } = columns;
  if (travel_id === null || travel_id !== travelId || !observed) return false;
  const hasNoKeys = creating_key === null && waiting_for === null && hold_cause === null;
  return hasNoKeys && check_at === 0 && travel_email_key === caseFoldedKey(observed.email);
}

/**
 * Saves an outcome that changes no column with an index except for the state, if the identity has not changed since it
 * was leased. A database writes each index of a column that a statement names, also if the value is the same, and most of
 * the cost of an outcome would be these pages.
 */
const updateOutcomeOnly = compiledQuery((db, placeholders: LeaseHolder & Columns & { known: number }) =>
  db
    .updateTable('identity')
    .set((row) => ({
      ...pick(placeholders, [
        'observed',
        'applied',
        'refused',
        'progress',
        'findings',
        'finding_codes',
        'trace',
      ]),
      ...pick(placeholders, ['state', 'attempts', 'next_attempt_at']),
      revision: row('revision', '+', 1),
      lease_token: null,
      lease_until: null,
    }))
    .where(inScope(placeholders))
    .where('id', '=', placeholders.id)
    .where('lease_token', '=', placeholders.token)
    .where('revision', '=', placeholders.known)
    .where('travel_id', '=', placeholders.travel_id)
    .where('travel_email_key', '=', placeholders.travel_email_key)
    .where('rules_generation', '=', placeholders.rules_generation)
    .where('check_at', '=', sql.lit(0))
    .where((row) =>
      row.and([
        row('creating_key', 'is', null),
        row('waiting_for', 'is', null),
        row('hold_cause', 'is', null),
      ]),
    )
    .returning('revision'),
);

type Columns = ReturnType<typeof outcomeColumns>;

type OutcomeValues = LeaseHolder & Columns & { known: number; linkedAt: number };

interface OutcomeShape {
  /** The attempt has linked the traveler, which counts as seen by an import that has begun before. */
  isLinked: boolean;
  /** Nothing is saved if unclaimed identities of the traveler must be deleted. */
  ifWithoutRivals: boolean;
}

const updateOutcome = compiledQueryVariants(
  ({ isLinked, ifWithoutRivals }: OutcomeShape) =>
    (db, placeholders: OutcomeValues) =>
      db
        .updateTable('identity')
        .set((row) => ({
          ...valuesOfOutcome(row, placeholders),
          ...(isLinked ? { seen_at: laterSeenAt(row, placeholders.linkedAt) } : {}),
        }))
        .where(inScope(placeholders))
        .where('id', '=', placeholders.id)
        .where('lease_token', '=', placeholders.token)
        .$if(ifWithoutRivals, (query) =>
          query.where((row) => row.not(row.exists(unclaimedOf(db, placeholders)))),
        )
        .returning('revision'),
);

function unclaimedOf(db: Kysely<Tables>, { account, travel_id }: OutcomeValues) {
  return db
    .selectFrom('identity as rival')
    .select(sql.lit(1).as('one'))
    .where('rival.account', '=', account)
    .where('rival.travel_id', '=', travel_id)
    .where('rival.claimed', '=', sql.lit(0));
}

function valuesOfOutcome(row: ExpressionBuilder<Tables, 'identity'>, placeholders: OutcomeValues) {
  const { known, state, next_attempt_at, observed, travel_email_key } = placeholders;
  const isCurrent = row('revision', '=', known);
  // If the observed traveler was cleared during the attempt, it stays cleared, so that the next attempt reads the
  // traveler.
  const ifMarkedForReading = row
    .case()
    .when(
      row.and([row('revision', '<>', known), row('travel_id', 'is not', null), row('observed', 'is', null)]),
    );
  return {
    ...pick(placeholders, outcomeColumnNames),
    observed: ifMarkedForReading
      .then(null)
      .else(row.cast<string | null>(row.val(observed), 'text'))
      .end(),
    travel_email_key: ifMarkedForReading
      .then(null)
      .else(row.cast<string | null>(row.val(travel_email_key), 'text'))
      .end(),
    state: row.case().when(isCurrent).then(state).else('dirty').end(),
    next_attempt_at: row
      .case()
      .when(isCurrent)
      .then(row.cast<number>(row.val(next_attempt_at), 'bigint'))
      .else(row.cast<number>(row.val(0), 'bigint'))
      .end(),
    revision: row('revision', '+', 1),
    lease_token: null,
    lease_until: null,
  };
}

/**
 * Saves a call to the travel API before it is sent. If two identities reserve the same address or traveler, a unique
 * index refuses the second, which gets `taken`.
 */
export async function saveAnnouncement(
  { transaction, scopeOf, isDuplicate, dialect }: Database,
  holder: LeaseHolder,
  announcement: Announcement,
): Promise<'done' | 'lost' | 'taken'> {
  const save = async (tx: Kysely<Tables>) => {
    const from = 'travelId' in announcement ? announcement.from : undefined;
    if (from && !(await releaseTraveler({ tx, dialect }, scopeOf(from.connection), from))) return 'taken';
    if ('travelId' in announcement)
      await deleteUnclaimedOf(tx, { ...holder, travelId: announcement.travelId, keep: holder.id });
    const { numUpdatedRows } = await tx
      .updateTable('identity')
      .set({
        ...announcementColumns(announcement),
        ...(announcement.progress ? progressColumns(announcement.progress) : {}),
      })
      .where(inScope(holder))
      .where('id', '=', holder.id)
      .where('lease_token', '=', holder.token)
      .executeTakeFirst();
    return numUpdatedRows > 0n ? 'done' : 'lost';
  };
  try {
    return await transaction(save, { commitIf: (saved) => saved === 'done' });
  } catch (error) {
    if (isDuplicate(error)) return 'taken';
    throw error;
  }
}

/** Returns the columns of an announcement. An identity has either a link or a reserved address, never both. */
function announcementColumns(announcement: Announcement) {
  if ('travelId' in announcement)
    return {
      travel_id: announcement.travelId,
      applied: toAppliedJson(announcement.applied),
      ...creatingColumns(undefined),
    };
  if (!('creating' in announcement)) return {};
  if (announcement.creating === undefined) return creatingColumns(undefined);
  return { travel_id: null, ...observedColumns(undefined), ...creatingColumns(announcement.creating) };
}
