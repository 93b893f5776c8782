import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { Identity } from '../provisioning/identity.ts';
import type { LeaseRequest, NewUserCondition } from '../provisioning/store-ports.ts';
import type { Scope } from './connection-scopes.ts';
import { deleteUnclaimedOf } from './delete-identities.ts';
import type { Dialect } from './dialect.ts';
import { storedIdentityEmails } from './email-keys.ts';
import { type ConditionKeys, isNewUser, toConditionKeys } from './identities-for-writes.ts';
import { leaseColumns, writeTime } from './identity-changes.ts';
import { identityColumnNames, outcomeColumns, toRow } from './identity-row.ts';
import { countStoredIdentity } from './list-counters.ts';
import { compiledQuery, pick } from './queries.ts';
import type { IdentityTable, Tables } from './tables.ts';

interface NewIdentity {
  identity: Identity;
  leased: { dialect: Dialect; lease: LeaseRequest } | undefined;
}

/** Inserts an identity. If it is linked to a traveler, deletes the unclaimed identities of that traveler. */
export async function insertIdentity(tx: Kysely<Tables>, scope: Scope, created: NewIdentity): Promise<void> {
  const { id, claimed, travelId } = created.identity;
  if (claimed && travelId !== undefined) await deleteUnclaimedOf(tx, { ...scope, travelId, keep: id });
  for (const query of identityInserts(tx, scope, created)) await tx.executeQuery(query);
}

/** Returns the statements that insert an identity with its email keys, and count it. */
export function identityInserts(
  db: Kysely<Tables>,
  scope: Scope,
  { identity, leased }: NewIdentity,
): CompiledQuery<unknown>[] {
  const row = toRow(identity, scope.account, writeTime(identity));
  const outcome = outcomeColumns(identity);
  if (!leased)
    return [insertIdentityRow.compile(db, outcome, row), ...afterInsert(db, scope, { identity, row })];
  // An object literal with two spreads of this size takes 30 µs, one that ends with its only spread less than one.
  const { token, ms, now } = leased.lease;
  const insert = leasedInserts(leased.dialect).always.compile(db, outcome, { token, ms, now, ...row });
  return [insert, ...afterInsert(db, scope, { identity, row })];
}

/** Returns the statements that do the same if the condition holds. Otherwise they change nothing. */
export function conditionalInserts(
  db: Kysely<Tables>,
  scope: Scope,
  {
    identity,
    leased: { dialect, lease },
    condition,
  }: Required<NewIdentity> & { leased: NonNullable<NewIdentity['leased']>; condition: NewUserCondition },
): CompiledQuery<unknown>[] {
  const row = toRow(identity, scope.account, writeTime(identity));
  const keys = toConditionKeys(scope, condition);
  const { userName, externalId, email, employeeNumber, connection, generation } = keys;
  const { token, ms, now } = lease;
  const values = {
    token,
    ms,
    now,
    userName,
    externalId,
    email,
    employeeNumber,
    connection,
    generation,
    ...row,
  };
  const insert = leasedInserts(dialect).ifNew.compile(db, outcomeColumns(identity), values);
  return [insert, ...afterInsert(db, scope, { identity, row })];
}

/** Returns the statements that count an identity and insert its email keys, if the identity is stored. */
function afterInsert(
  db: Kysely<Tables>,
  scope: Scope,
  { identity, row }: { identity: Identity; row: ReturnType<typeof toRow> },
): CompiledQuery<unknown>[] {
  const { deleted_at, active } = row;
  const claimed = identity.claimed ? 1 : 0;
  return [
    ...countStoredIdentity(db, scope, { id: identity.id, deleted_at, active, claimed }),
    ...storedIdentityEmails(db, scope, identity),
  ];
}

const insertIdentityRow = compiledQuery((db, placeholders: IdentityTable) =>
  db.insertInto('identity').values(pick(placeholders, identityColumnNames)),
);

/** The statements that insert an identity with a lease, by the clock of the database. */
function createLeasedInserts(dialect: Dialect) {
  const valuesOf = (placeholders: IdentityTable & LeaseRequest) => ({
    ...pick(placeholders, identityColumnNames),
    ...leaseColumns(dialect, placeholders),
  });
  return {
    always: compiledQuery((db, placeholders: IdentityTable & LeaseRequest) =>
      db.insertInto('identity').values(valuesOf(placeholders)),
    ),
    ifNew: compiledQuery((db, placeholders: IdentityTable & LeaseRequest & ConditionKeys) => {
      const values = valuesOf(placeholders);
      const selected = identityColumnNames.map((name) => sql`${values[name]}`.as(name));
      const selection = db.selectNoFrom(selected).where(isNewUser(db, placeholders));
      return db.insertInto('identity').columns(identityColumnNames).expression(selection);
    }),
  };
}

const leasedInsertsOf = new WeakMap<Dialect, ReturnType<typeof createLeasedInserts>>();

function leasedInserts(dialect: Dialect) {
  const known = leasedInsertsOf.get(dialect) ?? createLeasedInserts(dialect);
  leasedInsertsOf.set(dialect, known);
  return known;
}
