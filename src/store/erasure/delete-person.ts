import type { Expression, ExpressionBuilder, Kysely, Selectable, SqlBool } from 'kysely';
import { inScope, type Scope } from '../connection-scopes.ts';
import { deleteDepartures, markWaitersDirty, removeFromGroups } from '../identities/delete-identities.ts';
import { recordErasedTraveler } from '../identities/erased-travelers.ts';
import { desiredColumns, findingsColumns, parseApplied, toAppliedJson } from '../identities/identity-row.ts';
import { countIdentities } from '../lists/list-counters.ts';
import type { Database } from '../sql/database.ts';
import { parseJson, toJson } from '../sql/queries.ts';
import { caseFoldedKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import type { IdentityInAccount } from './find-person.ts';
import { nameMatcher, type PersonNames, redactManagers, withoutManagers } from './names.ts';

/** The identities of a person, and the ids and names by which the records of others refer to the person. */
export interface PersonToDelete {
  account: string;
  identities: readonly Pick<IdentityInAccount, 'connection' | 'id' | 'revision'>[];
  ids: readonly string[];
  travelIds: readonly string[];
  /** Returns the names and ids of the person in a connection of the account. More names count in those that contained the person. */
  namesIn(connection: string): PersonNames;
}

/** Counts the groups with the person, and the other people with a reference to the person. */
export async function countReferences(
  { db }: Database,
  person: PersonToDelete,
): Promise<{ groups: number; otherPeople: number }> {
  let [groups, otherPeople] = [0, 0];
  for (const scope of await readScopes(db, person)) {
    const members = await db
      .selectFrom('group_member')
      .select('group_id')
      .distinct()
      .where(inScope(scope))
      .where('value', 'in', allNames(person, scope))
      .execute();
    groups += members.length;
    otherPeople += (await findReferrers(db, scope, person)).size;
  }
  return { groups, otherPeople };
}

/**
 * Deletes the identities of a person with everything that belongs to them, memberships and references to the person, and records the
 * travelers as erased: imports skip them from now on, and no identity is linked to them. One transaction. Changes nothing and returns
 * false while a reconciler holds an identity that changes, or if an identity of the person has changed since it was read.
 */
export function deletePerson(
  { transaction, dialect }: Database,
  person: PersonToDelete,
  now: number,
): Promise<boolean> {
  const { account, identities, travelIds } = person;
  const isFree = (row: ExpressionBuilder<Tables, 'identity'>) =>
    row.or([row('lease_until', 'is', null), row('lease_until', '<=', dialect.now(now))]);
  const deletion = transaction(async (tx) => {
    // Waits for imports that have looked for erased travelers before. Their rows refer to the connection.
    const connections = tx.selectFrom('connection').select('id').where('account', '=', account).orderBy('id');
    await dialect.lockRows(connections).execute();
    for (const travelId of travelIds) await recordErasedTraveler(tx, { account, travelId, now });
    for (const scope of await readScopes(tx, person)) {
      await removeFromReferrers(tx, scope, { person, now, isFree });
      await removeFromGroups(tx, scope, { ids: allNames(person, scope), at: now });
    }
    for (const identity of identities) await deleteIdentity(tx, account, { ...identity, isFree });
    // It may name the person. It is computed again.
    await tx.updateTable('rules_change').set({ effect: null }).where('account', '=', account).execute();
    return true;
  });
  return deletion.catch((error: unknown) => {
    if (error instanceof Busy) return false;
    throw error;
  });
}

/** Thrown to roll the transaction back. */
class Busy extends Error {}

type IsFree = (row: ExpressionBuilder<Tables, 'identity'>) => Expression<SqlBool>;

async function readScopes(db: Kysely<Tables>, { account }: PersonToDelete): Promise<Scope[]> {
  const rows = await db.selectFrom('connection').select('id').where('account', '=', account).execute();
  return rows.map(({ id }) => ({ account, connection: id }));
}

function allNames({ namesIn }: PersonToDelete, { connection }: Scope): string[] {
  const { unique, whole } = namesIn(connection);
  return [...unique, ...whole];
}

async function deleteIdentity(
  tx: Kysely<Tables>,
  account: string,
  { connection, id, revision, isFree }: PersonToDelete['identities'][number] & { isFree: IsFree },
): Promise<void> {
  const scope = { account, connection };
  const row = await tx
    .deleteFrom('identity')
    .where(inScope(scope))
    .where('id', '=', id)
    .where('revision', '=', revision)
    .where(isFree)
    .returning(['active', 'claimed', 'deleted_at', 'travel_id', 'travel_email_key', 'creating_key'])
    .executeTakeFirst();
  if (!row) throw new Busy();
  await countIdentities(tx, scope, [{ before: row }]);
  await deleteDepartures(tx, scope, [id, row.travel_id]);
  const freed = [row.travel_email_key, row.creating_key].filter((key) => key !== null);
  await markWaitersDirty(tx, account, freed);
}

/** Finds the other identities of a connection that refer to the person, each with the values that do. */
async function findReferrers(
  db: Kysely<Tables>,
  scope: Scope,
  person: PersonToDelete,
): Promise<Map<string, string[]>> {
  const { ids, travelIds } = person;
  const keys = allNames(person, scope).map(caseFoldedKey);
  const rows = await db
    .selectFrom('identity_reference')
    .select(['identity_id', 'raw'])
    .where(inScope(scope))
    .where((reference) =>
      reference.or([
        ...(ids.length === 0 ? [] : [reference('target', 'in', ids)]),
        ...(travelIds.length === 0 ? [] : [reference('travel_id', 'in', travelIds)]),
        // A reference that is resolved to another person with the same name does not mean this person.
        reference.and([
          reference('target', 'is', null),
          reference('travel_id', 'is', null),
          reference('raw_key', 'in', keys),
        ]),
      ]),
    )
    .execute();
  const referrers = new Map<string, string[]>();
  for (const { identity_id: id, raw } of rows)
    if (!ids.includes(id)) referrers.set(id, [...(referrers.get(id) ?? []), raw]);
  return referrers;
}

/** Removes the person as the manager of others, who become dirty, so that their travelers are updated. */
async function removeFromReferrers(
  tx: Kysely<Tables>,
  scope: Scope,
  { person, now, isFree }: { person: PersonToDelete; now: number; isFree: IsFree },
): Promise<void> {
  for (const [id, raws] of await findReferrers(tx, scope, person)) {
    const { unique, whole } = person.namesIn(scope.connection);
    const names = nameMatcher({ unique, whole: [...whole, ...raws] });
    const referrer = tx.selectFrom('identity').selectAll().where(inScope(scope)).where('id', '=', id);
    const row = await referrer.where(isFree).executeTakeFirst();
    if (!row) throw new Busy();
    const { numUpdatedRows } = await tx
      .updateTable('identity')
      .set(withoutPerson(row, names.matchesValue, now))
      .where(inScope(scope))
      .where('id', '=', id)
      .where('revision', '=', row.revision)
      .where(isFree)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Busy();
    await tx
      .deleteFrom('identity_reference')
      .where(inScope(scope))
      .where('identity_id', '=', id)
      .where('raw', 'in', raws)
      .execute();
  }
}

type Row = Selectable<Tables['identity']>;

/** Returns the columns of an identity that change when the person is no longer its manager. */
function withoutPerson(row: Row, isMeant: (text: string) => boolean, now: number): Partial<Row> {
  const redacted = (text: string) => toJson(redactManagers(parseJson(text), isMeant));
  const removed = (text: string) => toJson(withoutManagers(parseJson(text), isMeant));
  const isLive = row.deleted_at === null;
  return {
    // The desired state stays a resource: only members that tell a manager are removed.
    ...desiredColumns(parseJson(removed(row.desired))),
    // Values that become equal are stored once.
    applied: toAppliedJson(parseApplied(redacted(row.applied))),
    ...{ refused: redacted(row.refused), progress: redacted(row.progress), origin: removed(row.origin) },
    observed: row.observed === null ? null : removed(row.observed),
    // The next attempt creates both again.
    ...{ ...findingsColumns([]), trace: '[]' },
    revision: row.revision + 1,
    ...(isLive ? { version: row.version + 1, last_modified: now } : {}),
    // A tombstone's traveler is archived already, and the travelers of unclaimed identities are never written.
    ...(isLive && row.claimed === 1 ? { state: 'dirty', next_attempt_at: 0 } : {}),
  };
}

/** Deletes the API keys and OAuth clients of a travel user, since their names may contain the person's name. */
export async function deleteUserCredentials({ db }: Database, userId: string): Promise<void> {
  for (const table of ['travel_api_key', 'oauth_client'] as const)
    await db.deleteFrom(table).where('user_type', '=', 'user').where('user_id', '=', userId).execute();
}
