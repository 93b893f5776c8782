import { isDeepStrictEqual } from 'node:util';
import type { CompiledQuery, ExpressionBuilder, Kysely } from 'kysely';
import type { Decision, Identity, Origin, Progress, Succession } from '../provisioning/identity.ts';
import type { LeaseRequest } from '../provisioning/store-ports.ts';
import { isActive } from '../schema/resource.ts';
import { inScope, type Scope } from './connection-scopes.ts';
import { deleteUnclaimedOf, removeFromGroups } from './delete-identities.ts';
import { type Dialect, timeAfter } from './dialect.ts';
import { replaceEmailKeys } from './email-keys.ts';
import {
  creatingColumns,
  desiredColumns,
  findingsColumns,
  observedColumns,
  progressColumns,
  toAppliedJson,
  writtenColumnNames,
  writtenStateNames,
} from './identity-row.ts';
import { type CountedIdentity, countIdentities, isLive } from './list-counters.ts';
import { compiledQuery, parseJson, pick, toJson } from './queries.ts';
import { contactKeys } from './search-keys.ts';
import type { Tables } from './tables.ts';

/** Writes the IdP's columns of an identity if it is still at the expected version; returns false if not. */
export async function updateIdentity(
  tx: Kysely<Tables>,
  scope: Scope,
  { identity, expected }: { identity: Identity; expected: number },
): Promise<boolean> {
  const { id } = identity;
  const [before] = (await selectAtVersion(tx, { ...scope, id, expected })).rows;
  if (!before) return false;
  const becomesClaimed = before.claimed === 0 && identity.claimed;
  if (becomesClaimed && before.travel_id !== null)
    await deleteUnclaimedOf(tx, { ...scope, travelId: before.travel_id, keep: id });
  const now = writtenColumns(identity);
  const writtenAt = writeTime(identity);
  const written = await updateAtVersion(tx, now, { id, expected, writtenAt, ...scope });
  if (written.numAffectedRows !== 1n) return false;
  if (becomesClaimed) await saveApplied(tx, scope, identity);
  await replaceEmailKeys(tx, scope, identity);
  await updateCountersAndGroups(tx, scope, {
    ...pick(identity, ['id', 'lastModified']),
    before,
    now,
  });
  return true;
}

/** The statements that update an identity and take its lease in a write of the IdP, by the clock of the database. */
function createLeasedUpdates(dialect: Dialect) {
  return {
    update: updateAndLeaseWith(dialect, writtenColumnNames),
    /** For the identities whose keys stay: the indexes of columns that a statement does not name are not written. */
    updateState: updateAndLeaseWith(dialect, writtenStateNames),
  };
}

function updateAndLeaseWith(dialect: Dialect, names: readonly (typeof writtenColumnNames)[number][]) {
  return compiledQuery((db, placeholders: LeasedColumns) =>
    db
      .updateTable('identity')
      .set((row) => ({
        ...pick(placeholders, [...names, 'progress', 'check_at']),
        ...raisedColumns(row, placeholders.writtenAt),
        ...leaseColumns(dialect, placeholders),
      }))
      .where(inScope(placeholders))
      .where('id', '=', placeholders.id)
      .where('revision', '=', placeholders.known)
      .where('lease_token', 'is', null),
  );
}

const leasedUpdatesOf = new WeakMap<Dialect, ReturnType<typeof createLeasedUpdates>>();

function leasedUpdates(dialect: Dialect) {
  const known = leasedUpdatesOf.get(dialect) ?? createLeasedUpdates(dialect);
  leasedUpdatesOf.set(dialect, known);
  return known;
}

type LeasedColumns = ReturnType<typeof writtenColumns> &
  ReturnType<typeof progressColumns> &
  IdentityKey &
  LeaseRequest & { known: number; writtenAt: number };

/** Returns the columns of a lease that begins now. */
export function leaseColumns(dialect: Dialect, { token, ms, now }: LeaseRequest) {
  return { lease_token: token, lease_until: timeAfter(dialect.now(now), ms) };
}

interface LeasedUpdate {
  identity: Identity;
  lease: LeaseRequest & { before: Identity; progress: Progress };
}

interface LeasedScope {
  scope: Scope;
  dialect: Dialect;
}

/**
 * Writes the IdP's columns of an identity, takes its lease and saves the progress of the attempt that begins. Returns
 * false if the stored identity has changed since it was read, or has a lease.
 */
export async function updateAndLease(
  tx: Kysely<Tables>,
  { scope, dialect }: LeasedScope,
  { identity, lease }: LeasedUpdate,
): Promise<boolean> {
  const written = await tx.executeQuery(leasedUpdate(tx, { scope, dialect }, { identity, lease }));
  if (written.numAffectedRows !== 1n) return false;
  const { before } = lease;
  if (!hasSameContacts(identity, before)) await replaceEmailKeys(tx, scope, identity);
  await updateCountersAndGroups(tx, scope, {
    ...pick(identity, ['id', 'lastModified']),
    before: countedIdentity(before),
    now: countedIdentity(identity),
  });
  return true;
}

/** Returns the only statement of `updateAndLease`, or undefined if the write also changes addresses, counters or groups. */
export function onlyLeasedUpdate(
  db: Kysely<Tables>,
  scope: LeasedScope,
  update: LeasedUpdate,
): CompiledQuery<unknown> | undefined {
  const { identity, lease } = update;
  const isAlone = hasSameKeys(identity, lease.before) && hasSameContacts(identity, lease.before);
  return isAlone ? leasedUpdate(db, scope, update) : undefined;
}

function leasedUpdate(
  db: Kysely<Tables>,
  { scope, dialect }: LeasedScope,
  { identity, lease }: LeasedUpdate,
): CompiledQuery<unknown> {
  const { update, updateState } = leasedUpdates(dialect);
  const write = hasSameKeys(identity, lease.before) ? updateState : update;
  const { progress, check_at } = progressColumns(lease.progress);
  const key = { id: identity.id, known: lease.before.revision, writtenAt: writeTime(identity), ...scope };
  return write.compile(db, writtenColumns(identity), withLease(lease, { progress, check_at, ...key }));
}

function withLease<Values extends object>({ token, ms, now }: LeaseRequest, values: Values) {
  return { token, ms, now, ...values };
}

function countedIdentity({ desired, deletedAt, claimed }: Identity): CountedIdentity {
  return {
    active: isActive(desired) ? 1 : 0,
    deleted_at: deletedAt ?? null,
    claimed: claimed ? 1 : 0,
  };
}

function hasSameContacts(identity: Identity, before: Identity): boolean {
  return isDeepStrictEqual(contactKeys(identity.desired), contactKeys(before.desired));
}

/** True if two states of a claimed identity have the same columns that identities are found by. */
function hasSameKeys(identity: Identity, before: Identity): boolean {
  const names = ['userName', 'externalId', 'displayName', 'active'];
  const isSame = (name: string) => identity.desired[name] === before.desired[name];
  return identity.deletedAt === before.deletedAt && names.every(isSame);
}

/** Returns the columns that every write of the IdP raises. */
function raisedColumns(row: ExpressionBuilder<Tables, 'identity'>, writtenAt: number) {
  return {
    revision: row('revision', '+', 1),
    seen_at: laterSeenAt(row, writtenAt),
  };
}

/** The later one of the stored `seen_at` and this time. */
export function laterSeenAt(row: ExpressionBuilder<Tables, 'identity'>, at: number) {
  return row
    .case()
    .when('seen_at', '>', at)
    .then(row.ref('seen_at'))
    .else(row.cast<number>(row.val(at), 'bigint'))
    .end();
}

/**
 * Returns the columns that a write of the IdP changes. All other columns belong to the reconciler, which may be running
 * at the same time.
 */
function writtenColumns(identity: Identity) {
  return {
    claimed: identity.claimed ? (1 as const) : (0 as const),
    state: identity.state,
    version: identity.version,
    attempts: identity.attempts,
    next_attempt_at: identity.nextAttemptAt ?? 0,
    last_modified: identity.lastModified,
    deleted_at: identity.deletedAt ?? null,
    origin: toJson(identity.origin),
    ...desiredColumns(identity.desired),
  };
}

interface IdentityAtVersion extends IdentityKey {
  expected: number;
}

const selectAtVersion = compiledQuery((db, key: IdentityAtVersion) =>
  db
    .selectFrom('identity')
    .select(['claimed', 'travel_id', 'deleted_at', 'active'])
    .where(inScope(key))
    .where('id', '=', key.id)
    .where('version', '=', key.expected),
);

/**
 * Marks the identity as seen by a running import. Its traveler may be newer than the page that would contain it, and
 * must not count as deleted.
 */
export function writeTime({ writtenAt, lastModified }: Identity): number {
  return writtenAt ?? lastModified;
}

const updateAtVersion = compiledQuery(
  (db, placeholders: ReturnType<typeof writtenColumns> & IdentityAtVersion & { writtenAt: number }) =>
    db
      .updateTable('identity')
      .set((row) => ({
        ...pick(placeholders, writtenColumnNames),
        ...raisedColumns(row, placeholders.writtenAt),
      }))
      .where(inScope(placeholders))
      .where('id', '=', placeholders.id)
      .where('version', '=', placeholders.expected),
);

/** Saves the applied values of an identity that becomes claimed: its traveler already has these values. */
async function saveApplied(tx: Kysely<Tables>, scope: Scope, { id, applied }: Identity): Promise<void> {
  await tx
    .updateTable('identity')
    .set({ applied: toAppliedJson(applied) })
    .where(inScope(scope))
    .where('id', '=', id)
    .execute();
}

interface CountedChange extends Pick<Identity, 'id' | 'lastModified'> {
  before: CountedIdentity;
  now: CountedIdentity;
}

async function updateCountersAndGroups(
  tx: Kysely<Tables>,
  scope: Scope,
  { id, lastModified, before, now }: CountedChange,
): Promise<void> {
  const isSame = before.active === now.active && before.claimed === now.claimed;
  if (isLive(before) === isLive(now) && isSame) return;
  await countIdentities(tx, scope, [{ before, now }]);
  if (isLive(before) && !isLive(now)) await removeFromGroups(tx, scope, { ids: [id], at: lastModified });
}

interface IdentityKey extends Scope {
  id: string;
}

/** A leaver whose traveler is taken away, with the values that it had when it was read. */
type ReleasedLeaver = Pick<Identity, 'id' | 'leasedUntil' | 'applied' | 'origin'> & {
  leaseEndedBy?: number | undefined;
};

/**
 * Unlinks the traveler of a leaver and cancels its pending work. Returns false if the leaver does not exist or is active again, or
 * if its lease or applied values have changed since it was read.
 */
export async function releaseTraveler(
  { tx, dialect }: { tx: Kysely<Tables>; dialect: Dialect },
  scope: Scope,
  { id, leasedUntil, applied, origin, leaseEndedBy }: ReleasedLeaver,
): Promise<boolean> {
  const hasNews = origin.movedTo !== undefined || origin.successor !== undefined;
  const { numUpdatedRows } = await tx
    .updateTable('identity')
    // If the traveler moved to another user, the leaver is reconciled once more to record a finding; no call is sent. Otherwise nothing is left
    // to be said: findings about the traveler would be counted in alarms for ever.
    .set((row) => ({
      ...unlinkedColumns(row),
      ...raisedVersion(row),
      ...(hasNews ? {} : findingsColumns([])),
      origin: toJson(origin),
      state: hasNews ? 'dirty' : 'synced',
    }))
    .where(inScope(scope))
    .where('id', '=', id)
    .where(isInactive)
    .where('lease_until', leasedUntil === undefined ? 'is' : '=', leasedUntil ?? null)
    .$if(leaseEndedBy !== undefined && leasedUntil !== undefined, (query) =>
      query.where('lease_until', '<=', dialect.now(leaseEndedBy ?? 0)),
    )
    .where('applied', '=', toAppliedJson(applied))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

function isInactive(row: ExpressionBuilder<Tables, 'identity'>) {
  return row.or([row('deleted_at', 'is not', null), row('active', '=', 0)]);
}

/** The version of a live identity rises with its origin, so that a write of the IdP that has read the old one is repeated. */
function raisedVersion(row: ExpressionBuilder<Tables, 'identity'>) {
  return {
    version: row
      .case()
      .when('deleted_at', 'is', null)
      .then(row('version', '+', 1))
      .else(row.ref('version'))
      .end(),
  };
}

/**
 * Unlinks the traveler of a live identity and makes the identity dirty. If a reconciler holds its lease, the lease
 * ends. With `travelIds`, does so only if the traveler is one of them.
 */
export async function unlinkTraveler(
  tx: Kysely<Tables>,
  { id, ...scope }: IdentityKey,
  travelIds?: readonly string[],
): Promise<boolean> {
  const identity = tx.updateTable('identity').where(inScope(scope)).where('id', '=', id);
  const { numUpdatedRows } = await (travelIds ? identity.where('travel_id', 'in', travelIds) : identity)
    .set((row) => ({ ...unlinkedColumns(row), state: 'dirty' }))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Links a live identity without a traveler. Unclaimed identities of the traveler are deleted. */
export async function linkTraveler(
  tx: Kysely<Tables>,
  { id, travelId, applied, ...scope }: IdentityKey & Pick<Identity, 'applied'> & { travelId: string },
): Promise<boolean> {
  await deleteUnclaimedOf(tx, { ...scope, travelId, keep: id });
  const { numUpdatedRows } = await tx
    .updateTable('identity')
    .set((row) => ({
      ...unlinkedColumns(row),
      travel_id: travelId,
      applied: toAppliedJson(applied),
      state: 'dirty',
    }))
    .where(inScope(scope))
    .where('id', '=', id)
    .where('travel_id', 'is', null)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

function unlinkedColumns(row: ExpressionBuilder<Tables, 'identity'>) {
  return {
    ...creatingColumns(undefined),
    ...observedColumns(undefined),
    ...progressColumns({}),
    travel_id: null,
    applied: toJson({}),
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
 * Returns the columns that belong to the present version, for the next one, which is no write of the IdP: the decision of an admin and the
 * hold of the safety valve stay as they are.
 */
function columnsOfNextVersion({
  version,
  decision,
  progress,
  hold_cause,
}: Pick<Tables['identity'], 'version' | 'decision' | 'progress' | 'hold_cause'>) {
  const decided = decision === '' ? undefined : parseJson<Decision>(decision);
  const before = parseJson<Progress>(progress);
  const isHeld = hold_cause === 'safetyValve' && before.settledVersion === version;
  return {
    ...(decided?.version === version ? { decision: toJson({ ...decided, version: version + 1 }) } : {}),
    ...(isHeld ? progressColumns({ ...before, settledVersion: version + 1 }) : {}),
  };
}

/** A note on a user that another one has taken its place. */
interface SuccessorNote extends IdentityKey {
  successor: Succession;
  givesEmailUp: boolean;
}

/**
 * Notes on a user that another one has taken its place. With `givesEmailUp`, the reconciler frees the email address of its traveler;
 * returns false if there is no such user, or if it is active again.
 */
export async function noteSuccessor(
  tx: Kysely<Tables>,
  { id, successor, givesEmailUp, ...scope }: SuccessorNote,
): Promise<boolean> {
  const found = tx
    .selectFrom('identity')
    .select(['origin', 'version', 'deleted_at', 'decision', 'progress', 'hold_cause'])
    .where(inScope(scope))
    .where('id', '=', id);
  const row = await (givesEmailUp ? found.where(isInactive) : found).executeTakeFirst();
  if (!row) return false;
  const origin: Origin = {
    ...parseJson<Origin>(row.origin),
    successor,
    ...(givesEmailUp ? { givesEmailUp: true } : {}),
  };
  const moved = row.deleted_at === null ? columnsOfNextVersion(row) : {};
  const { numUpdatedRows } = await tx
    .updateTable('identity')
    .set((old) => ({
      ...raisedVersion(old),
      origin: toJson(origin),
      state: 'dirty',
      next_attempt_at: 0,
      revision: old('revision', '+', 1),
      ...moved,
    }))
    .where(inScope(scope))
    .where('id', '=', id)
    .where('origin', '=', row.origin)
    .where('version', '=', row.version)
    .$if(moved.decision !== undefined, (query) => query.where('decision', '=', row.decision))
    .$if(moved.progress !== undefined, (query) => query.where('progress', '=', row.progress))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
