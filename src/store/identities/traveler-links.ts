import type { Kysely } from 'kysely';
import { type Identity, isSamePerson, type Origin } from '../../model/identity.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { parseJson, toJson } from '../sql/queries.ts';
import type { Tables } from '../sql/tables.ts';
import { deleteUnclaimedOf } from './delete-identities.ts';
import {
  type Change,
  columnsOfNextVersion,
  isInactive,
  type Row,
  setColumns,
  type WriteContext,
} from './identity-changes.ts';
import { creatingColumns, observedColumns, recordColumns, toAppliedJson } from './identity-row.ts';

/**
 * Unlinks the traveler of a leaver and cancels its pending work. Returns false if the leaver does not exist or is active again, or
 * if its lease or applied values have changed since it was read.
 */
export async function releaseTraveler(
  { tx, dialect, scope }: WriteContext,
  { id, leasedUntil, applied, origin, leaseEndedBy }: ReleasedLeaver,
): Promise<boolean> {
  // The leaver is reconciled once more to record a finding; no call is sent.
  const columns = (row: Row) => ({
    ...unlinkedColumns(row),
    ...raisedVersion(row),
    origin: toJson(origin),
    state: 'dirty',
  });
  const isLeaseEnded = (row: Row) =>
    leasedUntil === undefined || leaseEndedBy === undefined
      ? []
      : [row('lease_until', '<=', dialect.now(leaseEndedBy))];
  return setColumns(tx, { ...scope, id }, columns, (row) =>
    row.and([
      isInactive(row),
      row('lease_until', leasedUntil === undefined ? 'is' : '=', leasedUntil ?? null),
      row('applied', '=', toAppliedJson(applied)),
      ...isLeaseEnded(row),
    ]),
  );
}

/** A leaver whose traveler is taken away, with the values that it had when it was read. */
type ReleasedLeaver = Pick<Identity, 'id' | 'leasedUntil' | 'applied' | 'origin'> & {
  leaseEndedBy?: number | undefined;
};

/**
 * Unlinks the traveler of a live identity and makes the identity dirty. If a reconciler holds its lease, the lease
 * ends.
 */
export function unlinkTraveler(
  tx: Kysely<Tables>,
  scope: Scope,
  { id, predecessor }: Change<'unlink'>,
): Promise<boolean> {
  const progress = { progress: toJson(predecessor ? { predecessor } : {}) };
  return setColumns(
    tx,
    { ...scope, id },
    (row) => ({ ...unlinkedColumns(row), ...progress, state: 'dirty' }),
    (row) => row.lit(true),
  );
}

/** Links a live identity without a traveler. Unclaimed identities of the traveler are deleted. */
export async function linkTraveler(
  { tx, scope }: WriteContext,
  { id, travelId, applied }: Change<'link'>,
): Promise<boolean> {
  await deleteUnclaimedOf(tx, { ...scope, travelId, keep: id });
  const records = recordColumns({ applied, readAgainAt: undefined });
  const link = { travel_id: travelId, ...records, state: 'dirty' };
  return setColumns(
    tx,
    { ...scope, id },
    (row) => ({ ...unlinkedColumns(row), ...link }),
    (row) => row.and([row('travel_id', 'is', null), row('deleted_at', 'is', null)]),
  );
}

function unlinkedColumns(row: Row) {
  return {
    ...creatingColumns(undefined),
    ...observedColumns(undefined),
    ...recordColumns({ applied: {}, readAgainAt: undefined }),
    progress: toJson({}),
    travel_id: null,
    waiting_for: null,
    hold_cause: null,
    hold_since: null,
    attempts: 0,
    next_attempt_at: 0,
    lease_token: null,
    lease_until: null,
    revision: row('revision', '+', 1),
  };
}

/**
 * Notes on a user that another one has taken its place. Returns false if there is no such user, or if one whose place another person takes
 * is active again.
 */
export async function noteSuccessor(
  { tx, scope }: WriteContext,
  { id, successor }: Change<'noteSuccessor'>,
): Promise<boolean> {
  const found = tx
    .selectFrom('identity')
    .select(['origin', 'version', 'deleted_at', 'decision', 'progress', 'hold_cause'])
    .where(inScope(scope))
    .where('id', '=', id);
  const row = await (isSamePerson(successor) ? found : found.where(isInactive)).executeTakeFirst();
  if (!row) return false;
  const origin: Origin = { ...parseJson<Origin>(row.origin), successor };
  const moved = row.deleted_at === null ? columnsOfNextVersion(row) : {};
  const columns = (old: Row) => ({
    ...raisedVersion(old),
    origin: toJson(origin),
    state: 'dirty',
    next_attempt_at: 0,
    revision: old('revision', '+', 1),
    ...moved,
  });
  return setColumns(tx, { ...scope, id }, columns, (old) =>
    old.and([
      old('origin', '=', row.origin),
      old('version', '=', row.version),
      ...(moved.decision === undefined ? [] : [old('decision', '=', row.decision)]),
      ...(moved.progress === undefined ? [] : [old('progress', '=', row.progress)]),
    ]),
  );
}

/** The version of a live identity rises with its origin, so that a write of the IdP that has read the old one is repeated. */
function raisedVersion(row: Row) {
  return {
    version: row
      .case()
      .when('deleted_at', 'is', null)
      .then(row('version', '+', 1))
      .else(row.ref('version'))
      .end(),
  };
}
