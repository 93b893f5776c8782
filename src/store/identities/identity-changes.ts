import {
  type Expression,
  type ExpressionBuilder,
  type Kysely,
  type SqlBool,
  sql,
  type UpdateObject,
} from 'kysely';
import type { Decision, Identity, Progress } from '../../model/identity.ts';
import type { IdentityChange } from '../../model/store-ports.ts';
import { isActive } from '../../schema/resource.ts';
import { inScope, type Scope, type ScopedId } from '../connection-scopes.ts';
import { keepDeletedMembers, restoreDeletedMembers } from '../lists/deleted-members.ts';
import { type CountedIdentity, countIdentities, isLive } from '../lists/list-counters.ts';
import { identityTables } from '../migrations/identity-tables.ts';
import { type Dialect, isDue, timeAfter } from '../sql/dialect.ts';
import { compiledQuery, parseJson, pick, toJson } from '../sql/queries.ts';
import type { IdentityTable, Tables } from '../sql/tables.ts';
import { deleteUnclaimedOf, removeFromGroups } from './delete-identities.ts';
import { insertEmailKeys, updateEmailKeys } from './email-keys.ts';
import { type ConditionKeys, isLinked, isNewUser, toConditionKeys } from './identities-for-writes.ts';
import {
  callColumns,
  toAppliedJson,
  toIdentity,
  toRow,
  writtenColumns,
  writtenNames,
} from './identity-row.ts';

/** The transaction of a write, and the connection of the identities. */
export interface WriteContext {
  tx: Kysely<Tables>;
  dialect: Dialect;
  scope: Scope;
}

/** A change of this kind. */
export type Change<Kind extends IdentityChange['kind']> = Extract<IdentityChange, { kind: Kind }>;

/** The writes of the IdP, whose statements are compiled once for each database. */
export interface IdentityWrites {
  /**
   * Inserts an identity with its email keys, and counts it. If it is linked to a traveler, the unclaimed identities of that traveler are
   * deleted. Returns false if the condition does not hold, or if a traveler has the address that the identity reserves: the transaction
   * must then be rolled back.
   */
  insert(context: WriteContext, change: Change<'insert'>): Promise<boolean>;
  /**
   * Writes the IdP's columns of an identity. Takes the lease and saves the progress of the attempt that begins, if the identity is
   * still as it was read and has no lease. `unleased`: it is not, but it still has the expected version.
   */
  update(context: WriteContext, change: Change<'update'>): Promise<'done' | 'unleased' | 'stale'>;
}

/** Returns the writes of the IdP for a database of this dialect. */
export function identityWrites(dialect: Dialect): IdentityWrites {
  return { insert: identityInsert(dialect), update: identityUpdate(dialect) };
}

function identityInsert(dialect: Dialect): IdentityWrites['insert'] {
  const insertIfFree = compiledQuery((db, values: InsertValues) =>
    db
      .insertInto('identity')
      .columns(columnNames)
      .expression(
        selectValues(db, dialect, values)
          .where(isNewUser(db, values))
          .where(({ not, exists }) => not(exists(selectEmailHolder(db, values)))),
      ),
  );
  return async ({ tx, scope }, { identity, condition, lease }) => {
    const { id, claimed, travelId } = identity;
    if (claimed && travelId !== undefined) await deleteUnclaimedOf(tx, { ...scope, travelId, keep: id });
    const row = { ...toRow(identity, scope.account), lease_token: lease?.token ?? null };
    const { numAffectedRows } = await insertIfFree(tx, {
      ...row,
      ...toConditionKeys(scope, condition),
      ...{ reserved: travelId === undefined ? row.creating_key : null },
      ...{ ms: lease?.ms ?? null, now: lease?.now ?? 0 },
    });
    if (numAffectedRows !== 1n) return false;
    await countIdentities(tx, scope, [{ now: row }]);
    await insertEmailKeys(tx, scope, [identity]);
    return true;
  };
}

/**
 * The columns of a new identity, the condition, the address that no traveler may have, and the duration and beginning of the lease; the
 * duration is null without a lease.
 */
interface InsertValues extends IdentityTable, ConditionKeys {
  reserved: string | null;
  ms: number | null;
  now: number;
}

const columnNames = Object.keys(identityTables.identity.columns) as (keyof IdentityTable)[]; // The keys of this record.

function selectValues(db: Kysely<Tables>, dialect: Dialect, values: InsertValues) {
  const leaseEnd = timeAfter(dialect.now(values.now), values.ms);
  return db.selectNoFrom(
    columnNames.map((name) => sql`${name === 'lease_until' ? leaseEnd : values[name]}`.as(name)),
  );
}

/**
 * Selects the active user of the account whose traveler has the address that a new identity reserves. It was free when it was checked
 * before the transaction. That of a leaver does not prevent a create, which then gets 409.
 */
function selectEmailHolder(db: Kysely<Tables>, { account, reserved }: InsertValues) {
  return db
    .selectFrom('identity')
    .select('id')
    .where('account', '=', account)
    .where('travel_email_key', '=', reserved)
    .where('claimed', '=', sql.lit(1))
    .where(isLinked('identity'))
    .where('active', '=', sql.lit(1))
    .where('deleted_at', 'is', null);
}

/** The UPDATE of an identity: it changes columns of the one with this id, if that meets a condition. */
export function updateIdentity(
  db: Kysely<Tables>,
  key: ScopedId,
  columns: (row: Row) => UpdateObject<Tables, 'identity'>,
  condition: (row: Row) => Expression<SqlBool>,
) {
  return db
    .updateTable('identity')
    .set(columns)
    .where(inScope(key))
    .where('id', '=', key.id)
    .where(condition);
}

/** Changes columns of an identity. Returns false if there is no identity with this id that meets the condition. */
export async function setColumns(...update: Parameters<typeof updateIdentity>): Promise<boolean> {
  const { numUpdatedRows } = await updateIdentity(...update).executeTakeFirst();
  return numUpdatedRows > 0n;
}

export type Row = ExpressionBuilder<Tables, 'identity'>;

function identityUpdate(dialect: Dialect): IdentityWrites['update'] {
  const updateExpected = compiledQuery((db, values: WrittenValues) =>
    updateIdentity(
      db,
      values,
      (row) => writtenAndLeased(row, dialect, values),
      (row) => row('version', '=', values.expected),
    ).returning('lease_token'),
  );
  return async (context, { identity, expected, lease }) => {
    const { tx, scope } = context;
    const key = { ...scope, id: identity.id };
    // Whatever these columns contain changes with the version alone.
    const before = lease?.before ?? (await readExpected(tx, key, expected));
    if (!before) return 'stale';
    const becomesClaimed = !before.claimed && identity.claimed;
    if (becomesClaimed && before.travelId !== undefined)
      await deleteUnclaimedOf(tx, { ...scope, travelId: before.travelId, keep: identity.id });
    const { rows } = await updateExpected(tx, {
      ...{ ...key, expected, writtenAt: identity.writtenAt ?? null, ...writtenColumns(identity) },
      // The traveler of an identity that becomes claimed already has these values.
      claimedApplied: becomesClaimed ? toAppliedJson(identity.applied) : null,
      ...callColumns(lease?.call ?? identity),
      ...{ token: lease?.token ?? null, now: lease?.now ?? 0, ms: lease?.ms ?? 0 },
      known: lease?.before.revision ?? UNKNOWN_REVISION,
    });
    if (!rows[0]) return 'stale';
    await updateEmailKeys(tx, scope, { ...identity, before: before.desired });
    await updateCountersAndGroups(context, { before, identity });
    return lease && rows[0].lease_token !== lease.token ? 'unleased' : 'done';
  };
}

async function readExpected(
  tx: Kysely<Tables>,
  { id, ...scope }: ScopedId,
  expected: number,
): Promise<Identity | undefined> {
  const found = tx.selectFrom('identity').selectAll().where(inScope(scope)).where('id', '=', id);
  const row = await found.where('version', '=', expected).executeTakeFirst();
  return row && toIdentity(row);
}

/** The revision that no identity has: a write without a lease takes none. */
const UNKNOWN_REVISION = -1;

/**
 * The values of a write: `known` is the revision that was read, `claimedApplied` the records of an identity that becomes claimed, and `now` and
 * `ms` are those of the lease.
 */
interface WrittenValues extends ScopedId, ReturnType<typeof writtenColumns>, ReturnType<typeof callColumns> {
  expected: number;
  known: number;
  writtenAt: number | null;
  claimedApplied: string | null;
  token: string | null;
  now: number;
  ms: number;
}

/** The columns that a write of the IdP changes. The lease, and what its first call commits, change only if the identity is as it was read, and has no lease. */
function writtenAndLeased(row: Row, dialect: Dialect, values: WrittenValues) {
  const isFree = row.and([row('revision', '=', values.known), row('lease_token', 'is', null)]);
  const ifFree = <Name extends 'lease_token' | 'lease_until' | 'progress' | 'read_again_at'>(
    name: Name,
    value: Expression<IdentityTable[Name]>,
  ) => row.case().when(isFree).then(value).else(row.ref(name)).end();
  const claimed = row.fn.coalesce(row.cast<string>(row.val(values.claimedApplied), 'text'), 'applied');
  return {
    ...pick(values, writtenNames),
    revision: row('revision', '+', 1),
    seen_at: laterSeenAt(row, values.writtenAt),
    lease_token: ifFree('lease_token', row.cast(row.val(values.token), 'text')),
    lease_until: ifFree('lease_until', timeAfter(dialect.now(values.now), values.ms)),
    progress: ifFree('progress', row.cast(row.val(values.progress), 'text')),
    applied: row
      .case()
      .when(isFree)
      .then(row.cast<string>(row.val(values.applied), 'text'))
      .else(claimed)
      .end(),
    read_again_at: ifFree('read_again_at', row.cast(row.val(values.read_again_at), 'bigint')),
  };
}

/** No import takes longer, in milliseconds. */
export const LONGEST_IMPORT_MS = 24 * 60 * 60_000;

/**
 * The later one of the stored `seen_at` and this time; null: the stored one. A stored time that is later than any import that has begun
 * by then can end is that of a wrong clock, and does not count.
 */
export function laterSeenAt(row: Row, at: number | null) {
  const time = row.cast<number>(row.val(at), 'bigint');
  return row
    .case()
    .when(isDue(row.ref('seen_at'), time, LONGEST_IMPORT_MS))
    .then(row.fn.coalesce(time, 'seen_at'))
    .else(row.ref('seen_at'))
    .end();
}

async function updateCountersAndGroups(
  { tx, scope }: WriteContext,
  { before, identity }: { before: Identity; identity: Identity },
): Promise<void> {
  const [was, is] = [countedColumns(before), countedColumns(identity)];
  const isSame = was.active === is.active && was.claimed === is.claimed;
  if (isLive(was) === isLive(is) && isSame) return;
  await countIdentities(tx, scope, [{ before: was, now: is }]);
  const { id, lastModified: at } = identity;
  if (isLive(was) && !isLive(is))
    await keepDeletedMembers(tx, scope, await removeFromGroups(tx, scope, { ids: [id], at }));
  if (!isLive(was) && isLive(is)) await restoreDeletedMembers(tx, scope, { id, at });
}

function countedColumns({ desired, claimed, deletedAt }: Identity): CountedIdentity {
  return {
    active: isActive(desired) ? 1 : 0,
    claimed: claimed ? 1 : 0,
    deleted_at: deletedAt ?? null,
  };
}

export function isInactive(row: Row) {
  return row.or([row('deleted_at', 'is not', null), row('active', '=', 0)]);
}

/**
 * Returns the columns that belong to the present version, for the next one, which is no write of the IdP: the decision of an admin and the
 * hold of the safety valve stay as they are.
 */
export function columnsOfNextVersion({
  version,
  decision,
  progress,
  hold_cause,
}: Pick<IdentityTable, 'version' | 'decision' | 'progress' | 'hold_cause'>) {
  const decided = decision === '' ? undefined : parseJson<Decision>(decision);
  const before = parseJson<Progress>(progress);
  const isHeld = hold_cause === 'safetyValve' && before.settledVersion === version;
  return {
    ...(decided?.version === version ? { decision: toJson({ ...decided, version: version + 1 }) } : {}),
    ...(isHeld ? { progress: toJson({ ...before, settledVersion: version + 1 }) } : {}),
  };
}
