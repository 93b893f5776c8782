import type { Kysely, UpdateObject } from 'kysely';
import { type Identity, LONGEST_CHECK_DELAY_MS, type Outcome } from '../../model/identity.ts';
import type { Announcement, LeasedOutcome, LeaseRequest, Leases } from '../../model/store-ports.ts';
import { inScope, type ScopedId } from '../connection-scopes.ts';
import type { Database } from '../sql/database.ts';
import { type Dialect, timeAfter } from '../sql/dialect.ts';
import { compiledQuery, pick, toJson } from '../sql/queries.ts';
import { caseFoldedKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import { deleteUnclaimedOf, rivalsOf } from './delete-identities.ts';
import { laterSeenAt, updateIdentity } from './identity-changes.ts';
import { callColumns, creatingColumns, observedColumns, outcomeColumns, toIdentity } from './identity-row.ts';
import { releaseTraveler } from './traveler-links.ts';

/** Returns the leases on identities in a database. */
export function leases(database: Database): Leases {
  const { db, dialect, scopeOf } = database;
  const holderOf = (connection: string, id: string, token: string) => ({ ...scopeOf(connection), id, token });
  return {
    acquire: (connection, id, lease) =>
      database.transaction((tx) => takeLease({ tx, dialect }, { ...scopeOf(connection), id }, lease), {
        durable: false,
      }),
    extend: async (connection, id, { token, ms, now }) => {
      const lease_until = timeAfter(dialect.now(now), ms);
      const extended = updateHeld(db, holderOf(connection, id, token), { lease_until });
      const { numUpdatedRows } = await extended.executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    announce: (connection, id, token, announcement) =>
      saveAnnouncement(database, holderOf(connection, id, token), announcement),
    waitFor: async (connection, id, token, email) => {
      const waiting_for = caseFoldedKey(email);
      await updateHeld(db, holderOf(connection, id, token), { waiting_for }).execute();
    },
    finish: (connection, id, token, before, outcome: Outcome) =>
      saveOutcome(database, { ...scopeOf(connection), id }, { token, before, outcome }),
    release: async (connection, id, token) => {
      await updateHeld(db, holderOf(connection, id, token), released).execute();
    },
    releaseAll: async () => {
      await db.updateTable('identity').set(released).where('lease_until', 'is not', null).execute();
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
  const row = await updateIdentity(
    tx,
    key,
    () => ({ lease_token: token, lease_until: timeAfter(clock, ms) }),
    (of) => of.or([of('lease_until', 'is', null), of('lease_until', '<=', clock)]),
  )
    .returningAll()
    .returning((of) =>
      of
        .selectFrom('rules_in_force')
        .select('rules_in_force.generation')
        .where(inScope(key, 'rules_in_force'))
        .as('generation'),
    )
    .executeTakeFirst();
  if (!row) return undefined;
  const identity = toIdentity(row);
  const isAhead = row.check_at > now + LONGEST_CHECK_DELAY_MS;
  return {
    identity: isAhead ? withDueReads(identity, now) : identity,
    generation: row.generation ?? 0,
  };
}

/** Makes the reads of a traveler due that a wrong clock has set, as the queue does. */
function withDueReads(identity: Identity, now: number): Identity {
  const earlier = (at: number) => (at > now + LONGEST_CHECK_DELAY_MS ? now : at);
  const applied = Object.entries(identity.applied).map(([key, record]) => {
    const { resendAt } = record;
    return [key, resendAt === undefined ? record : { ...record, resendAt: earlier(resendAt) }] as const;
  });
  const { readAgainAt } = identity;
  return {
    ...identity,
    applied: Object.fromEntries(applied),
    readAgainAt: readAgainAt === undefined ? undefined : earlier(readAgainAt),
  };
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
  if (outcome.usedDecision) await deleteDecision(tx, holder, outcome.usedDecision);
  const { travelId, linkedAt = null } = outcome;
  const values = { ...holder, known: before.revision, linkedAt, ...outcomeColumns(outcome) };
  let { rows } = await updateOutcome(tx, values);
  if (!rows[0] && travelId !== undefined) {
    await deleteUnclaimedOf(tx, { ...holder, travelId, keep: holder.id });
    rows = (await updateOutcome(tx, values)).rows;
  }
  if (!rows[0]) return 'lost';
  // The identity was written since it was read if its revision was raised more than once.
  return rows[0].revision === before.revision + 1 ? 'kept' : 'moved';
}

/** Deletes a decision, unless an admin has made another one since. */
async function deleteDecision(
  tx: Kysely<Tables>,
  holder: LeaseHolder,
  decision: NonNullable<Outcome['usedDecision']>,
): Promise<void> {
  await updateHeld(tx, holder, { decision: '' }).where('decision', '=', toJson(decision)).execute();
}

type Columns = ReturnType<typeof outcomeColumns>;

/** The columns of an outcome, the lease, the revision at its beginning, and the time at which a traveler was linked; null if none was. */
type OutcomeValues = LeaseHolder & Columns & { known: number; linkedAt: number | null };

const outcomeNames = [
  ...(['applied', 'read_again_at', 'refused', 'progress', 'findings', 'finding_codes'] as const),
  ...(['trace', 'attempts'] as const),
  ...(['travel_id', 'creating', 'creating_key', 'waiting_for', 'check_at'] as const),
  ...(['hold_cause', 'hold_since', 'rules_generation'] as const),
] satisfies (keyof Columns)[];

/** If the identity was written during the attempt, it stays dirty. Changes nothing while an unclaimed identity has the traveler. */
const updateOutcome = compiledQuery((db, values: OutcomeValues) =>
  updateIdentity(
    db,
    values,
    (row) => {
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
        ...released,
        revision: row('revision', '+', 1),
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
    },
    (row) => {
      const { account, connection, travel_id: travelId, id: keep } = values;
      const rivals = rivalsOf(db, { account, connection, travelId, keep });
      return row.and([row('lease_token', '=', values.token), row.not(row.exists(rivals))]);
    },
  ).returning('revision'),
);

const released = { lease_token: null, lease_until: null };

/** The UPDATE of an identity by the holder of its lease. */
function updateHeld(db: Kysely<Tables>, holder: LeaseHolder, columns: UpdateObject<Tables, 'identity'>) {
  return updateIdentity(
    db,
    holder,
    () => columns,
    (row) => row('lease_token', '=', holder.token),
  );
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
    const columns = announcementColumns(announcement);
    const { numUpdatedRows } = await updateHeld(tx, holder, columns).executeTakeFirst();
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
  const { travelId, creating } = announcement;
  if (!('travelId' in announcement)) return callColumns(announcement);
  return {
    ...callColumns(announcement),
    ...creatingColumns(creating),
    travel_id: travelId ?? null,
    ...(travelId === undefined ? observedColumns(undefined) : {}),
  };
}
