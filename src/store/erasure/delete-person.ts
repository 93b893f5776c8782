import type { Kysely } from 'kysely';
import type { LeaseRequest } from '../../provisioning/store-ports.ts';
import { inScope, type Scope } from '../connection-scopes.ts';
import { deleteDepartures, markWaitersDirty, removeFromGroups } from '../identities/delete-identities.ts';
import { recordErasedTraveler } from '../identities/erased-travelers.ts';
import { leases } from '../identities/leases.ts';
import { countIdentities } from '../lists/list-counters.ts';
import type { Database } from '../sql/database.ts';
import type { Tables } from '../sql/tables.ts';
import { type IdentityVersion, readConnectionIds } from './find-person.ts';
import type { NameMatcher } from './matchers.ts';
import { deleteMemberships, deleteReferencesTo, type PersonReferences } from './referrers.ts';

/**
 * Takes the leases of identities, so that no reconciler sends anything for them meanwhile. Takes none and returns
 * false while a reconciler holds one of them.
 */
export async function leaseIdentities(
  database: Database,
  places: readonly IdentityVersion[],
  lease: LeaseRequest,
): Promise<boolean> {
  const held = leases(database);
  const taken: IdentityVersion[] = [];
  for (const place of places) {
    if (!(await held.acquire(place.connection, place.id, lease))) {
      await releaseIdentities(database, taken, lease.token);
      return false;
    }
    taken.push(place);
  }
  return true;
}

/** Releases the leases. */
export async function releaseIdentities(
  database: Database,
  places: readonly IdentityVersion[],
  token: string,
): Promise<void> {
  for (const { connection, id } of places) await leases(database).release(connection, id, token);
}

/** The person whose identities are deleted. */
export interface PersonToDelete extends PersonReferences {
  identities: readonly IdentityVersion[];
}

/** Records the travelers of the person as erased: imports skip them from now on, and no identity is linked to them. */
export async function recordErasedTravelers(
  { transaction, dialect }: Database,
  { account, travelIds }: Pick<PersonToDelete, 'account' | 'travelIds'>,
  now: number,
): Promise<void> {
  await transaction(async (tx) => {
    // Waits for imports that have looked for erased travelers before. Their rows refer to the connection.
    const connections = tx.selectFrom('connection').select('id').where('account', '=', account).orderBy('id');
    await dialect.lockRows(connections).execute();
    for (const travelId of travelIds) await recordErasedTraveler(tx, { account, travelId, now });
  });
}

/**
 * Deletes the identities of a person with their email keys and references, other identities' references to them, and
 * their memberships, in one transaction. Returns `lost`, and changes nothing, if a lease has ended or the IdP has
 * written an identity meanwhile.
 */
export async function deletePersonIdentities(
  { transaction }: Database,
  person: PersonToDelete,
  { token, now }: { token: string; now: number },
): Promise<'done' | 'lost'> {
  const deletion = transaction(async (tx) => {
    const { account, identities } = person;
    for (const { connection, id, version } of identities)
      await deleteIdentity(tx, { account, connection }, { id, version, token });
    await deleteReferencesTo(tx, person);
    await deleteMemberships(tx, person, now);
    // It may name the person. It is computed again.
    await tx.updateTable('rules_change').set({ effect: null }).where('account', '=', account).execute();
    return 'done' as const;
  });
  return deletion.catch((error: unknown) => {
    if (error instanceof LeaseLost) return 'lost' as const;
    throw error;
  });
}

/** Thrown to roll the transaction back. */
class LeaseLost extends Error {}

async function deleteIdentity(
  tx: Kysely<Tables>,
  scope: Scope,
  { id, version, token }: { id: string; version: number; token: string },
): Promise<void> {
  const row = await tx
    .deleteFrom('identity')
    .where(inScope(scope))
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .where('version', '=', version)
    .returning(['active', 'claimed', 'deleted_at', 'travel_id', 'travel_email_key', 'creating_key'])
    .executeTakeFirst();
  if (!row) throw new LeaseLost();
  await countIdentities(tx, scope, [{ before: row }]);
  await removeFromGroups(tx, scope, { ids: [id] });
  await deleteDepartures(tx, scope, [id, row.travel_id]);
  const freed = [row.travel_email_key, row.creating_key].filter((key) => key !== null);
  await markWaitersDirty(tx, scope.account, freed);
}

/** Deletes the API keys and OAuth clients of a travel user, since their names may contain the person's name. */
export async function deleteUserCredentials({ db }: Database, userId: string): Promise<void> {
  await db
    .deleteFrom('travel_api_key')
    .where('user_type', '=', 'user')
    .where('user_id', '=', userId)
    .execute();
  await db.deleteFrom('oauth_client').where('user_type', '=', 'user').where('user_id', '=', userId).execute();
}

/** Recognizes the person in the texts of a travel account and of its travel service. */
export interface PersonMentions extends Pick<PersonReferences, 'account' | 'matcherFor'> {
  inTravel: NameMatcher;
}

/**
 * Finds credentials and groups of the travel account whose names contain the person's name. They are reported to the
 * admin and not changed.
 */
export async function findNamedRecords({ db }: Database, mentions: PersonMentions): Promise<string[]> {
  const connections = new Set(await readConnectionIds(db, mentions.account));
  const found: string[] = [];
  const note = (kind: string, rows: { id: string; name: string; connection_id: string | null }[]) => {
    for (const { id, name, connection_id } of rows) {
      if (connection_id !== null && !connections.has(connection_id)) continue;
      const names = connection_id === null ? mentions.inTravel : mentions.matcherFor(connection_id);
      if (names.matchesSentence(name)) found.push(`${kind} ${id}`);
    }
  };
  note('SCIM token', await db.selectFrom('token').select(['id', 'name', 'connection_id']).execute());
  note('OAuth client', await db.selectFrom('oauth_client').select(['id', 'name', 'connection_id']).execute());
  const keys = await db.selectFrom('travel_api_key').select(['id', 'name']).execute();
  note(
    'API key',
    keys.map((key) => ({ ...key, connection_id: null })),
  );
  note(
    'group',
    await db.selectFrom('scim_group').select(['id', 'attributes as name', 'connection_id']).execute(),
  );
  return found;
}
