import {
  type Expression,
  type ExpressionBuilder,
  type Kysely,
  type SqlBool,
  sql,
  type UpdateObject,
} from 'kysely';
import type { Decision, Identity, Progress } from '../../provisioning/identity.ts';
import type { IdentityChange } from '../../provisioning/store-ports.ts';
import { inScope, type Scope, type ScopedId } from '../connection-scopes.ts';
import { keepDeletedMembers, restoreDeletedMembers } from '../lists/deleted-members.ts';
import { type CountedIdentity, countIdentities, isLive } from '../lists/list-counters.ts';
import { identityTables } from '../migrations/identity-tables.ts';
import { type Dialect, timeAfter } from '../sql/dialect.ts';
import { compiledQuery, parseJson, pick, toJson } from '../sql/queries.ts';
import { caseFoldedKey } from '../sql/search-keys.ts';
import type { IdentityTable, Tables } from '../sql/tables.ts';
import { deleteUnclaimedOf, removeFromGroups } from './delete-identities.ts';
import { insertEmailKeys, replaceEmailKeys, updateEmailKeys } from './email-keys.ts';
import { type ConditionKeys, isLinked, isNewUser, toConditionKeys } from './identities-for-writes.ts';
import { recordColumns, toAppliedJson, toRow, writeTime, writtenColumns } from './identity-row.ts';

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
  const updateOf = leasedUpdates(dialect);
  return {
    insert: identityInsert(dialect),
    update: async (context, change) => {
      const { identity, lease } = change;
      if (lease && (await updateAndLease(context, updateOf, { identity, lease }))) return 'done';
      const result = await updateExpected(context, change);
      return result === 'done' && lease ? 'unleased' : result;
    },
  };
}

function identityInsert(dialect: Dialect): IdentityWrites['insert'] {
  const insertAlways = compiledQuery((db, values: InsertValues) =>
    insertSelected(db, selectValues(db, dialect, values)),
  );
  const insertIfNew = compiledQuery((db, values: InsertValues & ConditionKeys) =>
    insertSelected(db, selectValues(db, dialect, values).where(isNewUser(db, values))),
  );
  return async ({ tx, scope }, { identity, condition, lease }) => {
    const { id, claimed, travelId } = identity;
    if (claimed && travelId !== undefined) await deleteUnclaimedOf(tx, { ...scope, travelId, keep: id });
    const row = { ...toRow(identity, scope.account), lease_token: lease?.token ?? null };
    const values = { ...row, ms: lease?.ms ?? null, now: lease?.now ?? 0 };
    const { numAffectedRows } = condition
      ? await insertIfNew(tx, { ...values, ...toConditionKeys(scope, condition) })
      : await insertAlways(tx, values);
    if (numAffectedRows !== 1n) return false;
    await countIdentities(tx, scope, [{ now: row }]);
    await insertEmailKeys(tx, scope, [identity]);
    // After the insert: the reserved address then refuses others until the end of the transaction, so a traveler with it is either
    // linked already or will not be.
    return !(await isReservedEmailTaken(tx, scope, identity));
  };
}

/** The columns of a new identity, and the duration and beginning of its lease; the duration is null without a lease. */
interface InsertValues extends IdentityTable {
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

function insertSelected(db: Kysely<Tables>, selection: ReturnType<typeof selectValues>) {
  return db.insertInto('identity').columns(columnNames).expression(selection);
}

/**
 * Returns true if the traveler of an active user of the account now has the address that a new identity reserves. It was free when it was
 * checked before the transaction. That of a leaver does not prevent a create, which then gets 409.
 */
async function isReservedEmailTaken(
  tx: Kysely<Tables>,
  { account }: Scope,
  { creating, travelId }: Identity,
): Promise<boolean> {
  if (creating === undefined || travelId !== undefined) return false;
  return (await selectEmailHolder(tx, { account, key: caseFoldedKey(creating.email) })).rows.length > 0;
}

const selectEmailHolder = compiledQuery((db, { account, key }: { account: string; key: string }) =>
  db
    .selectFrom('identity')
    .select('id')
    .where('account', '=', account)
    .where('travel_email_key', '=', key)
    .where('claimed', '=', sql.lit(1))
    .where(isLinked('identity'))
    .where('active', '=', sql.lit(1))
    .where('deleted_at', 'is', null)
    .limit(sql.lit(1)),
);

/** Changes columns of an identity. Returns false if there is no identity with this id that meets the condition. */
export async function setColumns(
  tx: Kysely<Tables>,
  { id, ...scope }: ScopedId,
  columns: (row: Row) => UpdateObject<Tables, 'identity'>,
  condition: (row: Row) => Expression<SqlBool>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('identity')
    .set(columns)
    .where(inScope(scope))
    .where('id', '=', id)
    .where(condition)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export type Row = ExpressionBuilder<Tables, 'identity'>;

/** Writes the IdP's columns of an identity that still has the expected version. */
async function updateExpected(
  context: WriteContext,
  { identity, expected }: Change<'update'>,
): Promise<'done' | 'stale'> {
  const { tx, scope } = context;
  const before = await tx
    .selectFrom('identity')
    .select(['claimed', 'travel_id', 'deleted_at', 'active'])
    .where(inScope(scope))
    .where('id', '=', identity.id)
    .where('version', '=', expected)
    .executeTakeFirst();
  if (!before) return 'stale';
  const becomesClaimed = before.claimed === 0 && identity.claimed;
  if (becomesClaimed && before.travel_id !== null)
    await deleteUnclaimedOf(tx, { ...scope, travelId: before.travel_id, keep: identity.id });
  const columns = {
    ...writtenColumns(identity),
    // The traveler of an identity that becomes claimed already has these values.
    ...(becomesClaimed ? recordColumns(identity) : {}),
  };
  const isWritten = await setColumns(
    tx,
    { ...scope, id: identity.id },
    (row) => ({ ...columns, ...raisedColumns(row, writeTime(identity)) }),
    (row) => row('version', '=', expected),
  );
  if (!isWritten) return 'stale';
  await replaceEmailKeys(tx, scope, identity);
  await updateCountersAndGroups(context, columns, { before, identity });
  return 'done';
}

type Written = ReturnType<typeof writtenColumns>;

/** The values of an update that takes the lease: `known` is the revision that was read, `now` and `ms` are those of the lease. */
interface LeasedValues extends Written, ScopedId, Pick<IdentityTable, 'progress' | 'applied' | 'read_again_at'> {
  known: number;
  writtenAt: number;
  lease_token: string;
  now: number;
  ms: number;
}

/**
 * Returns the update that writes these columns and takes the lease. There is one for each list of columns, because a database also
 * writes the index of a column whose value stays the same, if the statement names it.
 */
function leasedUpdates(dialect: Dialect) {
  const updateOf = (names: (keyof Written)[]) =>
    compiledQuery((db, values: LeasedValues) =>
      db
        .updateTable('identity')
        .set((row) => ({
          ...pick(values, [...names, 'progress', 'applied', 'read_again_at', 'lease_token']),
          ...raisedColumns(row, values.writtenAt),
          lease_until: timeAfter(dialect.now(values.now), values.ms),
        }))
        .where(inScope(values))
        .where('id', '=', values.id)
        .where('revision', '=', values.known)
        .where('lease_token', 'is', null),
    );
  const updates = new Map<string, ReturnType<typeof updateOf>>();
  return (names: (keyof Written)[]) => {
    const update = updates.get(names.join()) ?? updateOf(names);
    updates.set(names.join(), update);
    return update;
  };
}

async function updateAndLease(
  context: WriteContext,
  updateOf: ReturnType<typeof leasedUpdates>,
  { identity, lease }: { identity: Identity; lease: NonNullable<Change<'update'>['lease']> },
): Promise<boolean> {
  const { tx, scope } = context;
  const { token, ms, now, before, call } = lease;
  const columns = writtenColumns(identity);
  const columnsBefore = writtenColumns(before);
  const names = Object.keys(columns) as (keyof Written)[]; // The keys of this object.
  const { numAffectedRows } = await updateOf(names.filter((name) => columns[name] !== columnsBefore[name]))(
    tx,
    {
      ...{ ...scope, id: identity.id, known: before.revision, writtenAt: writeTime(identity) },
      ...{ ...columns, lease_token: token, now, ms },
      ...{ progress: toJson(call.progress), applied: toAppliedJson(call.applied) },
      read_again_at: call.readAgainAt ?? null,
    },
  );
  if (numAffectedRows !== 1n) return false;
  await updateEmailKeys(tx, scope, { ...identity, before: before.desired });
  await updateCountersAndGroups(context, columns, { before: columnsBefore, identity });
  return true;
}

/** Returns the columns that every write of the IdP raises. */
function raisedColumns(row: Row, writtenAt: number) {
  return { revision: row('revision', '+', 1), seen_at: laterSeenAt(row, writtenAt) };
}

/** The later one of the stored `seen_at` and this time. */
export function laterSeenAt(row: Row, at: number) {
  return row
    .case()
    .when('seen_at', '>', at)
    .then(row.ref('seen_at'))
    .else(row.cast<number>(row.val(at), 'bigint'))
    .end();
}

async function updateCountersAndGroups(
  { tx, scope }: WriteContext,
  now: CountedIdentity,
  { before, identity }: { before: CountedIdentity; identity: Identity },
): Promise<void> {
  const isSame = before.active === now.active && before.claimed === now.claimed;
  if (isLive(before) === isLive(now) && isSame) return;
  await countIdentities(tx, scope, [{ before, now }]);
  const { id, lastModified: at } = identity;
  if (isLive(before) && !isLive(now))
    await keepDeletedMembers(tx, scope, await removeFromGroups(tx, scope, { ids: [id], at }));
  if (!isLive(before) && isLive(now)) await restoreDeletedMembers(tx, scope, { id, at });
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
