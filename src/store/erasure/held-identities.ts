import type { Database } from '../database.ts';
import { forgetErased } from '../erased-travelers.ts';
import { unlink } from '../identity-changes.ts';
import { batches } from '../statements.ts';
import type { Place } from './identities.ts';

/** Whether all of these identities are as they were judged, and their leases are still held. */
export async function areUnchanged(
  { db }: Database,
  places: readonly Place[],
  token: string,
): Promise<boolean> {
  for (const { connection, id, version } of places) {
    const row = await db
      .selectFrom('identity')
      .select('id')
      .where('connection_id', '=', connection)
      .where('id', '=', id)
      .where('version', '=', version)
      .where('lease_token', '=', token)
      .executeTakeFirst();
    if (!row) return false;
  }
  return true;
}

/** Whose identities stay, although their erasure had begun. */
export interface Returned {
  account: string;
  identities: readonly Place[];
  travelIds: readonly string[];
  /** Those of the travelers who were erased before. */
  erased: readonly string[];
}

/**
 * Lets the reconciler make a new traveler for a person whom the IdP wants again after their traveler was erased. The hash of an
 * erased traveler stays, so that no import shows what is left of it; that of a traveler who was not erased goes.
 */
export async function keepIdentities({ db }: Database, person: Returned): Promise<void> {
  const { account, identities, travelIds, erased } = person;
  await db.transaction().execute(async (tx) => {
    for (const place of identities) {
      const row = await tx
        .selectFrom('identity')
        .select('travel_id')
        .where('connection_id', '=', place.connection)
        .where('id', '=', place.id)
        .executeTakeFirst();
      if (row && row.travel_id !== null && erased.includes(row.travel_id)) await unlink(tx, place);
    }
    const kept = travelIds.filter((id) => !erased.includes(id));
    await forgetErased(tx, account, kept);
  });
}

/** Those of these travelers who are linked to an identity of anybody. */
export async function linkedAmong({ db }: Database, travelIds: readonly string[]): Promise<Set<string>> {
  const linked = new Set<string>();
  for (const batch of batches([...travelIds])) {
    const rows = await db
      .selectFrom('identity')
      .select('travel_id')
      .where('travel_id', 'in', batch)
      .execute();
    for (const { travel_id } of rows) if (travel_id !== null) linked.add(travel_id);
  }
  return linked;
}
