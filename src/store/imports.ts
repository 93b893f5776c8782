import { type Kysely, sql } from 'kysely';
import type { Imports, KnownTraveler } from '../bridge/ports.ts';
import { batches } from './batches.ts';
import type { IdentityTable } from './bridge-tables.ts';
import type { Database } from './database.ts';
import { erasedAmong } from './erased-travelers.ts';
import { fromText } from './json.ts';
import { observe } from './observe.ts';
import { missing, sweep } from './sweep.ts';
import type { Tables } from './tables.ts';
import { saveUnclaimed } from './unclaimed.ts';

/** What imports know and keep, in a database. */
export function imports({ db }: Database): Imports {
  return {
    known: (connection, travelIds) => known(db, connection, travelIds),
    linkedElsewhere: (connection, account, travelIds) =>
      linkedElsewhere(db, { connection, account }, travelIds),
    erased: (account, travelIds) => erasedAmong(db, account, travelIds),
    openCreates: async (account) => {
      const rows = await db
        .selectFrom('identity')
        .select('creating_key')
        .where('account', '=', account)
        .where('creating_key', 'is not', null)
        .execute();
      return rows.flatMap(({ creating_key }) => creating_key ?? []);
    },
    saveUnclaimed: (identities, seenAt) => saveUnclaimed(db, identities, seenAt),
    observe: (connection, seen, seenAt) => observe(db, connection, { seen, seenAt }),
    markSeen: async (connection, ids, seenAt) => {
      for (const batch of batches(ids)) {
        await db
          .updateTable('identity')
          .set({ seen_at: seenAt })
          .where('connection_id', '=', connection)
          .where('id', 'in', batch)
          .execute();
      }
    },
    missing: (connection, since) => missing(db, connection, since),
    sweep: (connection, since) => sweep(db, connection, since),
  };
}

async function known(db: Kysely<Tables>, connection: string, travelIds: string[]): Promise<KnownTraveler[]> {
  const found: KnownTraveler[] = [];
  for (const batch of batches(travelIds)) {
    const rows = await db
      .selectFrom('identity')
      .select(['id', 'travel_id', 'claimed', 'observed', 'rules_version', 'deleted_at'])
      .where('connection_id', '=', connection)
      .where('travel_id', 'in', batch)
      .execute();
    found.push(...rows.map(toKnown));
  }
  return found;
}

function toKnown(
  row: Pick<IdentityTable, 'id' | 'travel_id' | 'claimed' | 'observed' | 'rules_version' | 'deleted_at'>,
): KnownTraveler {
  return {
    id: row.id,
    travelId: row.travel_id ?? undefined,
    claimed: row.claimed === 1,
    observed: row.observed === null ? undefined : fromText(row.observed),
    rulesVersion: row.rules_version === '' ? undefined : row.rules_version,
    deletedAt: row.deleted_at ?? undefined,
  };
}

async function linkedElsewhere(
  db: Kysely<Tables>,
  { connection, account }: { connection: string; account: string },
  travelIds: string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const batch of batches(travelIds)) {
    const rows = await db
      .selectFrom('identity')
      .select('travel_id')
      .where('account', '=', account)
      .where('travel_id', 'in', batch)
      .where('claimed', '=', sql.lit(1))
      .where('connection_id', '<>', connection)
      .execute();
    found.push(...rows.flatMap(({ travel_id }) => travel_id ?? []));
  }
  return found;
}
