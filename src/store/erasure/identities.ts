import type { Kysely } from 'kysely';
import { wakeWaiting } from '../connections.ts';
import { liveOf, recount } from '../counters.ts';
import type { Database } from '../database.ts';
import { leaveGroups } from '../delete-identities.ts';
import { noteErased } from '../erased-travelers.ts';
import { leases } from '../leases.ts';
import type { Tables } from '../tables.ts';
import type { Mentions } from './mentions.ts';
import { type Known, leaveAllGroups, type Referred, removeReferences } from './other-people.ts';
import { connectionsOf } from './shared-names.ts';

/** An identity of the person, as it was judged. */
export interface Place {
  connection: string;
  id: string;
  version: number;
}

/**
 * Takes the leases of identities, so that nobody sends anything for them meanwhile; false, with none taken, while a
 * reconciler holds one of them.
 */
export async function takeLeases(
  database: Database,
  places: readonly Place[],
  lease: { token: string; until: number; now: number },
): Promise<boolean> {
  const held = leases(database);
  const taken: Place[] = [];
  for (const place of places) {
    if (!(await held.acquire(place.connection, place.id, lease))) {
      await releaseLeases(database, taken, lease.token);
      return false;
    }
    taken.push(place);
  }
  return true;
}

/** Gives the leases back. */
export async function releaseLeases(
  database: Database,
  places: readonly Place[],
  token: string,
): Promise<void> {
  for (const { connection, id } of places) await leases(database).release(connection, id, token);
}

/** Who is removed. */
export interface Removed extends Referred {
  identities: readonly Place[];
}

/** From now on imports and links pass over the travelers of the person. */
export async function noteErasedTravelers(
  { db }: Database,
  { account, travelIds }: Removed,
  now: number,
): Promise<void> {
  for (const travelId of travelIds) await noteErased(db, { account, travelId, now });
}

/**
 * Removes the identities of a person with their addresses and references, the references of others to them, and their
 * memberships, in one transaction. `lost`: a lease was lost, or the IdP has written
 * one of them meanwhile, and nothing is changed.
 */
export async function removeIdentities(
  { db }: Database,
  person: Removed,
  { token, now }: { token: string; now: number },
): Promise<'done' | 'lost'> {
  return db
    .transaction()
    .execute(async (tx) => {
      for (const place of person.identities) await removeIdentity(tx, place, token);
      await removeReferences(tx, person);
      await leaveAllGroups(tx, person, now);
      return 'done' as const;
    })
    .catch((error: unknown) => {
      if (error instanceof LeaseLost) return 'lost' as const;
      throw error;
    });
}

/** Undoes the transaction. */
class LeaseLost extends Error {}

async function removeIdentity(
  tx: Kysely<Tables>,
  { connection, id, version }: Place,
  token: string,
): Promise<void> {
  const row = await tx
    .deleteFrom('identity')
    .where('connection_id', '=', connection)
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .where('version', '=', version)
    .returning(['account', 'position', 'active', 'deleted_at', 'travel_email_key', 'creating_key'])
    .executeTakeFirst();
  if (!row) throw new LeaseLost();
  await recount(tx, connection, [{ before: { ...row, live: liveOf(row) } }]);
  await leaveGroups(tx, connection, { ids: [id] });
  await tx
    .deleteFrom('departure')
    .where('connection_id', '=', connection)
    .where('identity_id', '=', id)
    .execute();
  const freed = [row.travel_email_key, row.creating_key].filter((key) => key !== null);
  await wakeWaiting(tx, row.account, freed);
}

/** Removes the API keys and OAuth clients of a user of the travel service, whose names may name the person. */
export async function removeCredentials({ db }: Database, userId: string): Promise<void> {
  await db
    .deleteFrom('travel_api_key')
    .where('user_type', '=', 'user')
    .where('user_id', '=', userId)
    .execute();
  await db.deleteFrom('oauth_client').where('user_type', '=', 'user').where('user_id', '=', userId).execute();
}

/** What names the person in a travel account, and in its travel service. */
export interface Told extends Known {
  inTravel: Mentions;
}

/**
 * Credentials and groups of the travel account whose names, given by an admin or the IdP, name the person; they are left to
 * the admin.
 */
export async function namedElsewhere({ db }: Database, told: Told): Promise<string[]> {
  const connections = new Set(await connectionsOf(db, told.account));
  const found: string[] = [];
  const note = (kind: string, rows: { id: string; name: string; connection_id: string | null }[]) => {
    for (const { id, name, connection_id } of rows) {
      if (connection_id !== null && !connections.has(connection_id)) continue;
      const names = connection_id === null ? told.inTravel : told.mentionsIn(connection_id);
      if (names.isTold(name)) found.push(`${kind} ${id}`);
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
