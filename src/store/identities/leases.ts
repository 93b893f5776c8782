import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { Outcome } from '../../provisioning/identity.ts';
import type { Announcement, LeasedOutcome, LeaseRequest, Leases } from '../../provisioning/store-ports.ts';
import { inScope, type ScopedId } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { type Dialect, timeAfter } from '../sql/dialect.ts';
import { compiledQuery, pick, toJson } from '../sql/queries.ts';
import { caseFoldedKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import { deleteUnclaimedOf } from './delete-identities.ts';
import { laterSeenAt } from './identity-changes.ts';
import {
  creatingColumns,
  observedColumns,
  outcomeColumns,
  toAppliedJson,
  toIdentity,
} from './identity-row.ts';
import { releaseTraveler } from './traveler-links.ts';

/** Returns the leases on identities in a database. */
export function leases(database: Database): Leases {
  const { db, dialect, scopeOf } = database;
  const updateHeld = (connection: string, id: string, token: string) =>
    db
      .updateTable('identity')
      .where(inScope(scopeOf(connection)))
      .where('id', '=', id)
      .where('lease_token', '=', token);
  return {
    acquire: (connection, id, lease) =>
      database.transaction((tx) => takeLease({ tx, dialect }, { ...scopeOf(connection), id }, lease), {
        durable: false,
      }),
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
        .set({ lease_token: null, lease_until: null })
        .where('lease_until', 'is not', null)
        .execute();
    },
  };
}

/**
 * Takes the lease of an identity if it is free. The same statement returns the generation of the rules in force, so that no change of
 * rules is missed.
 */
async function takeLease(
  { tx, dialect }: { tx: Kysely<Tables>; dialect: Dialect },
  key: ScopedId,
  { token, ms, now }: LeaseRequest,
): ReturnType<Leases['acquire']> {
  const clock = dialect.now(now);
  const row = await tx
    .updateTable('identity')
    .set({ lease_token: token, lease_until: timeAfter(clock, ms) })
    .where(inScope(key))
    .where('id', '=', key.id)
    .where((of) => of.or([of('lease_until', 'is', null), of('lease_until', '<=', clock)]))
    .returningAll()
    .returning((of) =>
      of
        .selectFrom('rules_in_force')
        .select('rules_in_force.generation')
        .where(inScope(key, 'rules_in_force'))
        .as('generation'),
    )
    .executeTakeFirst();
  return row && { identity: toIdentity(row), generation: row.generation ?? 0 };
}

/** An identity and the token of its lease. */
export interface LeaseHolder extends ScopedId {
  token: string;
}

/**
 * Saves the outcome of a reconciliation and releases the lease. Writes only the reconciler's columns: if the IdP has
 * written the others meanwhile, the identity stays dirty. Results: see `Leases.finish`.
 */
async function saveOutcome(
  { transaction, isDuplicate }: Database,
  key: ScopedId,
  ended: LeasedOutcome,
): Promise<'kept' | 'moved' | 'lost' | 'taken'> {
  try {
    const commitIf = (saved: string) => saved === 'kept' || saved === 'moved';
    return await transaction((tx) => writeOutcome(tx, key, ended), { durable: false, commitIf });
  } catch (error) {
    // The unique index on travelers is violated: another identity was linked to the same traveler at the same moment.
    if (isDuplicate(error)) return 'taken';
    throw error;
  }
}

/** Saves the outcome in the transaction of the caller, in which nothing may follow the result `lost`. */
export async function writeOutcome(
  tx: Kysely<Tables>,
  key: ScopedId,
  { token, before, outcome }: LeasedOutcome,
): Promise<'kept' | 'moved' | 'lost'> {
  const holder = { ...key, token };
  if (outcome.travelId !== undefined && outcome.travelId !== before.travelId)
    await deleteUnclaimedOf(tx, { ...holder, travelId: outcome.travelId, keep: holder.id });
  if (outcome.usedDecision) await deleteDecision(tx, holder, outcome.usedDecision);
  const written = await updateWithOutcome(tx, holder, { before, outcome });
  return written ? comparedTo(before, written) : 'lost';
}

/** Deletes a decision, unless an admin has made another one since. */
async function deleteDecision(
  tx: Kysely<Tables>,
  holder: LeaseHolder,
  decision: NonNullable<Outcome['usedDecision']>,
): Promise<void> {
  await tx
    .updateTable('identity')
    .set({ decision: '' })
    .where(inScope(holder))
    .where('id', '=', holder.id)
    .where('lease_token', '=', holder.token)
    .where('decision', '=', toJson(decision))
    .execute();
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
  const { linkedAt = 0 } = outcome;
  const values = { ...holder, known: before.revision, linkedAt, ...columns };
  const kept = hasSameKeys(before, columns) ? (await updateUnindexed(tx, values)).rows[0] : undefined;
  return kept ?? (await updateOutcome(tx, values)).rows[0];
}

type Columns = ReturnType<typeof outcomeColumns>;

/** The columns of an outcome, the lease, the revision at its beginning, and the time at which a traveler was linked; 0 if none was. */
type OutcomeValues = LeaseHolder & Columns & { known: number; linkedAt: number };

/** True if the traveler and its address have not changed, and identities are found by nothing else of the outcome. */
function hasSameKeys({ travelId, observed }: LeasedOutcome['before'], columns: Columns): boolean {
  const { travel_id, travel_email_key, check_at, creating_key, waiting_for, hold_cause } = columns;
  if (travel_id === null || travel_id !== travelId || !observed) return false;
  const hasNoKeys = creating_key === null && waiting_for === null && hold_cause === null;
  return hasNoKeys && check_at === 0 && travel_email_key === caseFoldedKey(observed.email);
}

/**
 * The columns of an outcome without those that identities are found by. A database writes each index of a column that a statement names,
 * also if the value is the same, and these pages would be most of the cost of an outcome.
 */
const unindexedNames = [
  ...(['observed', 'applied', 'read_again_at', 'refused', 'progress', 'findings'] as const),
  ...(['finding_codes', 'trace'] as const),
  ...(['state', 'attempts', 'next_attempt_at'] as const),
];

const outcomeNames = [
  ...unindexedNames,
  ...(['travel_id', 'travel_email_key', 'creating', 'creating_key', 'waiting_for', 'check_at'] as const),
  ...(['hold_cause', 'hold_since', 'rules_generation'] as const),
] satisfies (keyof Columns)[];

/** Saves an outcome that changes no other columns, if the identity has not changed since it was leased. */
const updateUnindexed = compiledQuery((db, values: OutcomeValues) =>
  updateLeased(db, values)
    .set((row) => ({ ...pick(values, unindexedNames), ...releasedLease(row) }))
    .where('revision', '=', values.known)
    .where('travel_id', '=', values.travel_id)
    .where('travel_email_key', '=', values.travel_email_key)
    .where('rules_generation', '=', values.rules_generation)
    .where('check_at', '=', sql.lit(0))
    .where('creating_key', 'is', null)
    .where('waiting_for', 'is', null)
    .where('hold_cause', 'is', null),
);

/** If the identity was written during the attempt, it stays dirty. */
const updateOutcome = compiledQuery((db, values: OutcomeValues) =>
  updateLeased(db, values).set((row) => {
    const isCurrent = row('revision', '=', values.known);
    // If the observed traveler was cleared during the attempt, it stays cleared, so that the next attempt reads the
    // traveler.
    const isMarkedForReading = row.and([
      row('revision', '<>', values.known),
      row('travel_id', 'is not', null),
      row('observed', 'is', null),
    ]);
    const unlessMarked = (name: 'observed' | 'travel_email_key') =>
      row
        .case()
        .when(isMarkedForReading)
        .then(null)
        .else(row.cast<string | null>(row.val(values[name]), 'text'))
        .end();
    return {
      ...pick(values, outcomeNames),
      ...releasedLease(row),
      observed: unlessMarked('observed'),
      travel_email_key: unlessMarked('travel_email_key'),
      state: row.case().when(isCurrent).then(values.state).else('dirty').end(),
      next_attempt_at: row
        .case()
        .when(isCurrent)
        .then(row.cast<number>(row.val(values.next_attempt_at), 'bigint'))
        .else(row.cast<number>(row.val(0), 'bigint'))
        .end(),
      // A traveler that was linked counts as seen by an import that has begun before.
      seen_at: laterSeenAt(row, values.linkedAt),
    };
  }),
);

function updateLeased(db: Kysely<Tables>, holder: LeaseHolder) {
  return db
    .updateTable('identity')
    .where(inScope(holder))
    .where('id', '=', holder.id)
    .where('lease_token', '=', holder.token)
    .returning('revision');
}

function releasedLease(row: ExpressionBuilder<Tables, 'identity'>) {
  return { revision: row('revision', '+', 1), lease_token: null, lease_until: null };
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
    const { from, travelId } = announcement;
    if (from && !(await releaseTraveler({ tx, dialect, scope: scopeOf(from.connection) }, from)))
      return 'taken';
    if (travelId !== undefined) await deleteUnclaimedOf(tx, { ...holder, travelId, keep: holder.id });
    const { numUpdatedRows } = await tx
      .updateTable('identity')
      .set(announcementColumns(announcement))
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

/** Returns the columns of an announcement. A create that is about to be sent has no traveler. */
function announcementColumns(announcement: Announcement) {
  const { applied, readAgainAt, progress, travelId, creating } = announcement;
  return {
    applied: toAppliedJson(applied),
    read_again_at: readAgainAt ?? null,
    progress: toJson(progress),
    ...('travelId' in announcement ? { travel_id: travelId ?? null, ...creatingColumns(creating) } : {}),
    ...('travelId' in announcement && travelId === undefined ? observedColumns(undefined) : {}),
  };
}
