import type { ExpressionBuilder, Selectable } from 'kysely';
import type { Identity } from '../../model/identity.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { deleteDepartures, removeFromGroups } from '../identities/delete-identities.ts';
import { recordErasedTraveler } from '../identities/erased-travelers.ts';
import { desiredColumns, findingsColumns } from '../identities/identity-row.ts';
import { countIdentities } from '../lists/list-counters.ts';
import { markWaitersDirty } from '../queues/reconcile-queue.ts';
import type { Database } from '../sql/database.ts';
import { parseJson, toJson } from '../sql/queries.ts';
import { caseFoldedKey } from '../sql/search-keys.ts';
import type { Tables } from '../sql/tables.ts';
import { nameMatcher, type PersonNames, redactManagers, withoutManagers } from './names.ts';

/** The identities of a person, and the ids and names by which the records of others in the account refer to the person. */
export interface PersonToDelete extends PersonNames {
  scopes: readonly Scope[];
  identities: readonly Identity[];
  travelIds: readonly string[];
}

/** Counts the groups with the person, and the other people with a reference to the person. */
export async function countReferences(
  { db }: Database,
  person: PersonToDelete,
): Promise<{ groups: number; otherPeople: number }> {
  let [groups, otherPeople] = [0, 0];
  for (const scope of person.scopes) {
    const members = db.selectFrom('group_member').select('group_id').distinct().where(inScope(scope));
    groups += (await members.where('value', 'in', namesOf(person)).execute()).length;
    const people = db.selectFrom('identity_reference').select('identity_id').distinct();
    otherPeople += (await people.where(refersTo(person, scope)).execute()).length;
  }
  return { groups, otherPeople };
}

/**
 * Deletes the identities of a person with everything that belongs to them, memberships and references to the person, and records the
 * travelers as erased: imports skip them from now on, and no identity is linked to them. Returns false, so that the transaction is
 * rolled back, if an identity of the person has changed since it was read, or a reconciler holds it. `database` is within a transaction.
 */
export async function deletePerson(
  database: Database,
  person: PersonToDelete,
  now: number,
): Promise<boolean> {
  const { db: tx, dialect } = database;
  const account = person.scopes[0]?.account ?? '';
  // Waits for imports that have looked for erased travelers before. Their rows refer to the connection.
  const connections = tx.selectFrom('connection').select('id').where('account', '=', account).orderBy('id');
  await dialect.lockRows(connections).execute();
  for (const travelId of person.travelIds) await recordErasedTraveler(tx, { account, travelId, now });
  for (const scope of person.scopes) {
    await removeFromReferrers(database, scope, { person, now });
    await removeFromGroups(tx, scope, { ids: namesOf(person), at: now });
  }
  // The names of these credentials may name the person.
  for (const table of ['travel_api_key', 'oauth_client'] as const)
    await tx
      .deleteFrom(table)
      .where('user_type', '=', 'user')
      .where('user_id', 'in', person.travelIds)
      .execute();
  for (const { connection, id, revision } of person.identities) {
    const scope = { account, connection };
    const row = await tx
      .deleteFrom('identity')
      .where(inScope(scope))
      .where('id', '=', id)
      .where('revision', '=', revision)
      .where((is) => is.or([is('lease_until', 'is', null), is('lease_until', '<=', dialect.now(now))]))
      .returning(['active', 'claimed', 'deleted_at', 'travel_id', 'travel_email_key', 'creating_key'])
      .executeTakeFirst();
    if (!row) return false;
    await countIdentities(tx, scope, [{ before: row }]);
    await deleteDepartures(tx, scope, [id, row.travel_id]);
    await markWaitersDirty(tx, account, {
      keys: [row.travel_email_key ?? '', row.creating_key ?? ''],
      now: 0,
    });
  }
  return true;
}

function namesOf({ unique, whole }: PersonNames): string[] {
  return [...unique, ...whole];
}

/** The condition that another identity of a connection refers to the person. */
function refersTo(person: PersonToDelete, scope: Scope) {
  const ids = person.identities.map(({ id }) => id);
  return (reference: ExpressionBuilder<Tables, 'identity_reference'>) =>
    reference.and([
      inScope(scope),
      reference('identity_id', 'not in', ids),
      reference.or([
        reference('target', 'in', ids),
        reference('travel_id', 'in', person.travelIds),
        // An id means nobody else, also where it leads to the user under which the person has returned.
        reference('raw_key', 'in', [...ids, ...person.travelIds].map(caseFoldedKey)),
        // A reference that is resolved to another person with the same name does not mean this person.
        reference.and([
          reference('target', 'is', null),
          reference('travel_id', 'is', null),
          reference('raw_key', 'in', namesOf(person).map(caseFoldedKey)),
        ]),
      ]),
    ]);
}

/** Removes the person as the manager of others, who become dirty, so that their travelers are updated. */
async function removeFromReferrers(
  { db: tx, dialect }: Database,
  scope: Scope,
  { person, now }: { person: PersonToDelete; now: number },
): Promise<void> {
  const references = tx.deleteFrom('identity_reference').where(refersTo(person, scope));
  const removed = await references.returning(['identity_id', 'raw']).execute();
  const names = nameMatcher({ ...person, whole: [...person.whole, ...removed.map(({ raw }) => raw)] });
  for (const id of new Set(removed.map(({ identity_id }) => identity_id))) {
    const own = tx.selectFrom('identity').selectAll().where(inScope(scope)).where('id', '=', id);
    const row = await dialect.lockRows(own).executeTakeFirstOrThrow();
    const changed = withoutPerson(row, names.matchesValue, now);
    await tx.updateTable('identity').set(changed).where(inScope(scope)).where('id', '=', id).execute();
  }
}

type Row = Selectable<Tables['identity']>;

/**
 * Returns the columns of an identity that change when the person is no longer its manager. If an attempt that is under way saves what it
 * has read before, the next one replaces that, because of the new revision.
 */
function withoutPerson(row: Row, isMeant: (text: string) => boolean, now: number): Partial<Row> {
  const redacted = (text: string) => toJson(redactManagers(parseJson(text), isMeant));
  const isLive = row.deleted_at === null;
  return {
    // The desired state stays a resource: only members that tell a manager are removed.
    ...desiredColumns(withoutManagers(parseJson(row.desired), isMeant)),
    ...{ applied: redacted(row.applied), refused: redacted(row.refused), progress: redacted(row.progress) },
    ...{ origin: redacted(row.origin), observed: row.observed && redacted(row.observed) },
    // The next attempt creates both again.
    ...{ ...findingsColumns([]), trace: '[]' },
    revision: row.revision + 1,
    ...(isLive ? { version: row.version + 1, last_modified: now } : {}),
    // A tombstone's traveler is archived already, and the travelers of unclaimed identities are never written.
    ...(isLive && row.claimed === 1 ? { state: 'dirty', next_attempt_at: 0 } : {}),
  };
}
